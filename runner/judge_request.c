/* What a judge is asked; see judge.h and docs/judge.md. The submission's files are copied into
 * JSON, never understood: names in the order of their bytes, texts until there is enough of them.
 */
#include "judge.h"

#include "beneath.h"
#include "fd.h"
#include "files.h"
#include "report/report.h"
#include "text.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TEXT = 256 << 10, MOST_FILES = 2000 };

static int compare(const void *left, const void *right)
{
        const char *const *a = left, *const *b = right;

        return strcmp(*a, *b);
}

/* Its text, if it is one and there is room for it; else why not. */
static void add_text(struct json_writer *w, int fd, uint64_t size, uint64_t *left)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;

        if (size > *left) {
                json_text(w, "omitted", "too large for this request");
                return;
        }
        if (fd_read_all(fd, &text, (size_t)*left, CODE_INFRA_IO, NULL) < 0) {
                json_text(w, "omitted", "cannot be read");
                return;
        }
        if (memchr(text.data, '\0', text.len) || !text_utf8_valid(text.data, text.len)) {
                json_text(w, "omitted", "not a text");
                return;
        }
        json_bytes(w, "text", text.data, text.len);
        *left -= text.len;
}

static void add_file(struct json_writer *w, int root, const char *path, uint64_t *left)
{
        _cleanup_fd_ int fd = beneath_open(root, path, O_RDONLY | O_NONBLOCK, 0);
        struct stat st;

        json_open_object(w, NULL);
        json_text(w, "path", path);
        if (fd < 0 || fstat(fd, &st) < 0) {
                json_number(w, "bytes", 0);
                json_text(w, "omitted", "cannot be read");
        } else {
                json_number(w, "bytes", (uint64_t)st.st_size);
                add_text(w, fd, (uint64_t)st.st_size, left);
        }
        json_close(w);
}

static int add_files(struct json_writer *w, const struct evaluation *e, struct error *err)
{
        uint64_t left = MOST_TEXT;
        struct files files;
        const int r = files_below(e->submission.root, "", MOST_FILES, &files, err);

        if (files.count > 0)
                qsort(files.paths, files.count, sizeof *files.paths, compare);
        json_open_array(w, "files");
        for (unsigned i = 0; i < files.count; i++)
                add_file(w, e->submission.root, files.paths[i], &left);
        json_close(w);
        json_bool(w, "files_cut", files.cut);
        files_free(&files);
        return r;
}

static void add_task(struct json_writer *w, const struct task *t)
{
        json_open_object(w, "task");
        json_text(w, "name", t->name);
        json_text(w, "title", t->title);
        json_text(w, "description", t->description);
        json_open_array(w, "rubric");
        for (unsigned i = 0; i < t->criterion_count; i++) {
                const struct criterion *c = &t->criteria[i];

                if (c->source != SOURCE_LLM)
                        continue;
                json_open_object(w, NULL);
                json_text(w, "name", c->name);
                json_text(w, "description", c->description);
                json_number(w, "weight", c->weight);
                json_close(w);
        }
        json_close(w);
        json_close(w);
}

/* Of the tests those that submitters may see. */
static void add_tests(struct json_writer *w, const struct evaluation *e)
{
        json_open_array(w, "tests");
        for (unsigned i = 0; i < e->suite.test_count; i++) {
                const struct test_result *t = &e->suite.tests[i];
                const enum task_visibility v =
                        t->visibility == VISIBILITY_COUNT ? e->task.visible_tests : t->visibility;

                if (v != VISIBILITY_VISIBLE)
                        continue;
                json_open_object(w, NULL);
                json_text(w, "name", t->name);
                json_bool(w, "passed", t->passed);
                json_close(w);
        }
        json_close(w);
}

int judge_request(const struct evaluation *e, struct buffer *out, struct error *err)
{
        _cleanup_buffer_ struct buffer described = BUFFER_INIT;
        struct json_writer w = {.out = out, .compact = true};

        submission_describe(&e->submission, &e->task, &described);
        json_open_object(&w, NULL);
        json_text(&w, "schema", "assay.judge/1");
        add_task(&w, &e->task);
        json_bytes(&w, "submission_md", described.data, described.len);
        if (add_files(&w, e, err) < 0)
                return -1;
        report_build_check(&w, e);
        /* Only what is a plain number; a fraction is for computers. */
        if (e->suite.present && scorer_is_decimal(e->suite.score))
                json_decimal(&w, "test_score", e->suite.score);
        else
                json_add_null(&w, "test_score");
        add_tests(&w, e);
        json_close(&w);
        return buffer_ok(out) && buffer_ok(&described)
                       ? 0
                       : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}
