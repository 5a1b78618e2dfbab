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

int inspect_submission_md(int top, const char *name, uint32_t *ret_sections, struct error *err)
{
        _cleanup_fd_ int fd = beneath_open(top, name, O_RDONLY | O_NOFOLLOW, 0);
        char *text = fd >= 0 ? malloc(SUBMISSION_MD_MAX) : NULL;
        ssize_t n = text ? pread(fd, text, SUBMISSION_MD_MAX, 0) : -1;

        if (n >= 0)
                *ret_sections = submission_md_sections(text, (size_t)n);
        else
                error_errno(err, CODE_INFRA_IO, errno, "%s: cannot be read", name);
        free(text);
        return n >= 0 ? 0 : -1;
}
