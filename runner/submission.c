/* A submission; see submission.h. The archive's bytes are hashed here and parsed elsewhere. */
#include "submission.h"

#include "beneath.h"
#include "fd.h"
#include "helper.h"
#include "images/messages.h"
#include "input.h"

#include <sys/stat.h>
#include <unistd.h>

enum { SUBMISSION_MOST_TEXT = 1 << 20 };

const char *submission_section(unsigned i)
{
        static const char *const sections[] = UNPACK_SECTIONS;

        return i < SUBMISSION_SECTIONS ? sections[i] : "";
}

void submission_free(struct submission *s)
{
        fd_close(s->archive);
        fd_close(s->root);
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                free(s->section_texts[i]);
        for (unsigned i = 0; i < s->warning_count; i++) {
                free(s->warnings[i].field);
                free(s->warnings[i].message);
        }
        *s = (struct submission)SUBMISSION_INIT;
}

int submission_open(struct submission *s, const char *path, struct error *err)
{
        struct stat st;

        s->archive = input_open(path);
        if (s->archive < 0 || fstat(s->archive, &st) < 0)
                return error_errno(err, CODE_SUBMISSION_MISSING, errno, "%s", path);
        s->is_directory = S_ISDIR(st.st_mode);
        return 0;
}

/* Done while the unpacker is at work on the same bytes. */
static int hash(struct submission *s, struct error *err)
{
        uint64_t bytes;

        if (input_digest(s->archive, &bytes, s->sha256, err) < 0)
                return error_add(err, "the submission");
        return bytes == s->bytes
                       ? 0
                       : error_set(err, CODE_INFRA_IO, "the submission changed while it was read");
}

int submission_receive(struct submission *s, const struct task *t, struct error *err)
{
        struct stat st;

        if (s->is_directory)
                return 0; /* it is measured as it is copied */
        if (input_settle(&s->archive, t->max_archive, &s->bytes, err) < 0)
                return error_add(err, "the submission");
        if (fstat(s->archive, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot measure the submission");
        s->changed = st.st_ctim;
        if (s->bytes > t->max_archive)
                return error_set(err, CODE_ARCHIVE_TOO_LARGE,
                        "the archive has more than the %llu bytes that the task allows",
                        (unsigned long long)t->max_archive);
        return 0;
}

static void add_warning(struct submission *s, struct reader *r)
{
        struct warning w = {scorer_text(r, UNPACK_MAX_PATH), scorer_text(r, SCORE_MAX_TEXT)};

        if (r->bad || s->warning_count == SUBMISSION_MAX_WARNINGS) {
                free(w.field);
                free(w.message);
                r->bad = true;
                return;
        }
        s->warnings[s->warning_count++] = w;
}

void submission_take_warning(struct submission *s, struct reader *r)
{
        if (s->warning_count < SUBMISSION_MAX_WARNINGS) {
                add_warning(s, r);
                return;
        }
        free(scorer_text(r, UNPACK_MAX_PATH));
        free(scorer_text(r, SCORE_MAX_TEXT));
}

static void add_section(struct submission *s, struct reader *r)
{
        unsigned number = get_u8(r);

        if (number >= SUBMISSION_SECTIONS || s->section_texts[number])
                r->bad = true;
        else
                s->section_texts[number] = scorer_text(r, SUBMISSION_MOST_TEXT);
}

/* The root of a directory is the directory. */
static void put_request(struct buffer *payload, const struct task *t, const struct submission *s)
{
        put_u64(payload, t->max_entries);
        put_u64(payload, t->max_unpacked);
        put_u8(payload, t->strip_common_root && !s->is_directory && !s->keep_folder);
        put_u8(payload, t->links_drop);
        put_u32(payload, t->required_count);
        for (unsigned i = 0; i < t->required_count; i++) {
                put_text(payload, t->required[i].path);
                put_u64(payload, t->required[i].max_size);
        }
        put_u32(payload, t->pattern_count);
        for (unsigned i = 0; i < t->pattern_count; i++) {
                put_text(payload, t->patterns[i].glob);
                put_u64(payload, t->patterns[i].min_files);
        }
}

/* Where an answer goes to. */
struct unpacking {
        struct submission *submission;
        const struct workspace *workspace;
};

static int take_done(
        struct submission *s, struct reader *r, const struct workspace *w, struct error *err)
{
        char root[256], digest[sizeof s->sha256];

        s->entries = get_u64(r);
        s->unpacked_bytes = get_u64(r);
        s->sections = get_u32(r);
        s->has_submission_md = get_u8(r);
        get_text(r, root, sizeof root);
        get_text(r, digest, sizeof digest);
        if (!reader_done(r) || strchr(root, '/') || (*digest != '\0') != s->is_directory ||
                strspn(digest, "0123456789abcdef") != strlen(digest))
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent a malformed answer");
        if (s->is_directory) {
                memcpy(s->sha256, digest, sizeof digest);
                s->bytes = s->unpacked_bytes;
        }
        s->root = beneath_open(w->tree, *root ? root : ".", O_PATH | O_DIRECTORY, 0);
        if (s->root < 0)
                return error_errno(err, CODE_INTERNAL_FRAME, errno, "the unpacker left no tree");
        return 1;
}

static int meanwhile(void *to, struct error *err)
{
        struct unpacking *u = to;

        return u->submission->is_directory ? 0 : hash(u->submission, err);
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct unpacking *u = to;

        switch (type) {
        case UNPACK_DONE:
                return take_done(u->submission, r, u->workspace, err);
        case UNPACK_WARNING:
                add_warning(u->submission, r);
                return 0;
        case UNPACK_SECTION:
                add_section(u->submission, r);
                return 0;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the unpacker sent an unknown frame");
        }
}

/* The recorded hash is that of the graded bytes: nobody wrote to the archive meanwhile. */
static int check_unchanged(const struct submission *s, struct error *err)
{
        struct stat st;

        if (s->is_directory)
                return 0;
        if (fstat(s->archive, &st) < 0 || (uint64_t)st.st_size != s->bytes ||
                st.st_ctim.tv_sec != s->changed.tv_sec || st.st_ctim.tv_nsec != s->changed.tv_nsec)
                return error_set(
                        err, CODE_ARCHIVE_DAMAGED, "the archive changed while it was unpacked");
        return 0;
}

int submission_unpack(struct submission *s, const struct task *t, const struct workspace *w,
        struct channel *c, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        struct unpacking to = {s, w};
        const struct helper_question q = {
                .which = HELPER_UNPACK,
                .input = s->archive,
                .tree = w->tree,
                .request = UNPACK_REQUEST,
                .payload = &payload,
                .error_type = UNPACK_ERROR,
                .blamed = 1U << CLASS_SUBMISSION,
                .too_slow = CODE_ARCHIVE_TIMEOUT,
                .meanwhile = meanwhile,
                .take = take,
                .to = &to,
        };

        put_request(&payload, t, s);
        if (helper_ask(c, &q, err) == 0)
                return check_unchanged(s, err);
        /* An archive that brings its reader down is a bad one, and no free retry. */
        if (err->code == CODE_INTERNAL_HELPER || err->code == CODE_INTERNAL_FRAME)
                err->code = CODE_ARCHIVE_UNREADABLE;
        return -1;
}

/* --- SUBMISSION.md -------------------------------------------------------------------------- */

static const char not_addressed[] = "(not addressed by agent)\n";

void submission_describe(const struct submission *s, const struct task *t, struct buffer *out)
{
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++) {
                const char *text = s->section_texts[i];

                buffer_add_format(out, "%s## %s\n\n", i > 0 ? "\n" : "", submission_section(i));
                buffer_add_text(out, text ? text : not_addressed);
        }
        if (s->has_submission_md)
                return;
        buffer_add_text(out, "\n## Rubric\n\n");
        for (unsigned i = 0; i < t->criterion_count; i++)
                buffer_add_format(out, "- %s: %s", t->criteria[i].name, not_addressed);
}

void submission_template(const struct task *t, struct buffer *out)
{
        static const char *const hints[SUBMISSION_SECTIONS] = {
                "One paragraph: what it is.",
                "The exact commands, from a fresh copy.",
                "The major decisions, and why.",
                "What is tested and can be relied on.",
                "What does not work. Honesty counts.",
                "What was given up to get the rest right.",
        };

        buffer_add_format(out, "# %s\n", t->title && *t->title ? t->title : t->name);
        for (unsigned i = 0; i < SUBMISSION_SECTIONS; i++)
                buffer_add_format(out, "\n## %s\n\n<!-- %s -->\n", submission_section(i), hints[i]);
        if (t->criterion_count == 0)
                return;
        buffer_add_text(out, "\n<!-- What it is judged by:\n");
        for (unsigned i = 0; i < t->criterion_count; i++)
                buffer_add_format(out, "  - %s\n", t->criteria[i].name);
        buffer_add_text(out, "-->\n");
}
