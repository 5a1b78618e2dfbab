/* Looking at what came out of an archive; see inspect.h. */
#include "images/inspect.h"

#include "beneath.h"
#include "fd.h"
#include "images/submission_md.h"
#include "quantity.h"

#include <sys/stat.h>
#include <unistd.h>

/* A link does not count: what it points at may be anything, and its size would not be that. */
int inspect_required(int top, const struct required *r, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(top, r->path, O_PATH | O_NOFOLLOW, 0);
        char size[32], most[32];
        struct stat st;

        if (fd < 0)
                return error_set(
                        err, CODE_ARCHIVE_REQUIRED, "%.300s: not in the submission", r->path);
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(err, CODE_ARCHIVE_REQUIRED, "%.300s: not a regular file", r->path);
        if (r->max_size > 0 && (uint64_t)st.st_size > r->max_size) {
                quantity_format_bytes(size, sizeof size, (uint64_t)st.st_size);
                quantity_format_bytes(most, sizeof most, r->max_size);
                return error_set(err, CODE_ARCHIVE_REQUIRED_SIZE,
                        "%.300s: has %s, the task allows %s", r->path, size, most);
        }
        return 0;
}

/* Those that are missing, or say nothing, in one warning. */
static int warn_of_gaps(struct report *r, const struct submission_md *md, struct error *err)
{
        static const char *const sections[UNPACK_SECTION_COUNT] = UNPACK_SECTIONS;
        _cleanup_buffer_ struct buffer gaps = BUFFER_INIT;

        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++)
                if (!(md->filled & 1U << i))
                        buffer_add_format(&gaps, "%s%s", gaps.len > 0 ? ", " : "", sections[i]);
        if (gaps.len == 0)
                return 0;
        buffer_add_text(&gaps, ": missing or empty; the judge sees it not addressed");
        return report_warning(r, "SUBMISSION.md", buffer_text(&gaps), err);
}

static int tell_sections(struct report *r, const struct submission_md *md, struct error *err)
{
        if (warn_of_gaps(r, md, err) < 0)
                return -1;
        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++) {
                if (!buffer_ok(&md->text[i]))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                if (md->filled & 1U << i && report_section(r, i, &md->text[i], err) < 0)
                        return -1;
        }
        return 0;
}

int inspect_submission_md(
        int top, const char *name, struct report *report, uint32_t *ret_sections, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(top, name, O_RDONLY | O_NOFOLLOW, 0);
        char *text = fd >= 0 ? malloc(SUBMISSION_MD_MAX) : NULL;
        ssize_t n = text ? pread(fd, text, SUBMISSION_MD_MAX, 0) : -1;
        struct submission_md md;
        int r;

        if (n < 0) {
                free(text);
                return error_errno(err, CODE_INFRA_IO, errno, "%s: cannot be read", name);
        }
        submission_md_parse(text, (size_t)n, &md);
        *ret_sections = md.present;
        r = tell_sections(report, &md, err);
        if (r == 0 && n == SUBMISSION_MD_MAX)
                r = report_warning(report, name, "only its first 256 KiB are looked at", err);
        submission_md_free(&md);
        free(text);
        return r;
}
