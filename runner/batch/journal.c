/* The journal of a batch; see journal.h. */
#include "batch/journal.h"

#include "fd.h"
#include "quantity.h"
#include "text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_JOURNAL = 512 << 20, FIELDS = 13 };

static const char mark[] = "assay-batch/1";

/* --- fields --------------------------------------------------------------------------------- */

static void put_field(struct buffer *out, const char *text, char end)
{
        const char *at = text ? text : "";

        if (!*at)
                buffer_add_char(out, '-');
        for (; *at; at++)
                if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == '%' ||
                        (*at == '-' && at == text))
                        buffer_add_format(out, "%%%02X", (unsigned char)*at);
                else
                        buffer_add_char(out, *at);
        buffer_add_char(out, end);
}

static void put_count(struct buffer *out, uint64_t n)
{
        buffer_add_format(out, "%llu\t", (unsigned long long)n);
}

static int hex(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place; false: not as put_field() writes it. */
static bool take_field(char *text)
{
        const char *at = text;
        char *to = text;

        if (strcmp(text, "-") == 0)
                *text = '\0';
        else if (*text == '\0' || *text == '-')
                return false;
        while (*at) {
                const bool escaped = *at == '%';
                const int high = escaped ? hex(at[1]) : 0;
                const int low = escaped && high >= 0 ? hex(at[2]) : 0;

                if ((unsigned char)*at <= ' ' || high < 0 || low < 0 ||
                        (escaped && high + low == 0))
                        return false;
                *to++ = (char)(escaped ? high << 4 | low : *at);
                at += escaped ? 3 : 1;
        }
        *to = '\0';
        return true;
}

static bool find_status(const char *name, enum status *ret)
{
        for (unsigned i = 0; i <= STATUS_ERROR; i++)
                if (strcmp(name, status_name((enum status)i)) == 0) {
                        *ret = (enum status)i;
                        return true;
                }
        return false;
}

static bool is_sum(const char *text)
{
        return !*text || (strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64);
}

static bool is_outcome(const char *text)
{
        static const char *const known[] = {"", "pass", "fail", "win", "draw", "loss"};

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (strcmp(text, known[i]) == 0)
                        return true;
        return false;
}

static bool is_number(const char *text)
{
        return !*text || (*text != '-' && scorer_is_decimal(text));
}

/* --- lines ---------------------------------------------------------------------------------- */

static bool split(char *line, char **fields, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                fields[i] = line;
                line = strchr(line, '\t');
                if (!line != (i + 1 == count))
                        return false;
                if (line)
                        *line++ = '\0';
                if (!take_field(fields[i]))
                        return false;
        }
        return true;
}

static bool copy(char **to, const char *text)
{
        *to = strdup(text);
        return *to;
}

/* The fields of a record, as the header has them. */
static bool take_record(char *const *f, struct batch_record *r)
{
        uint64_t end;

        if (!*f[0] || strchr(f[0], '/') || !is_sum(f[1]) || !find_status(f[2], &r->status) ||
                quantity_parse_count(f[3], &end) < 0 || end > 255 || !is_outcome(f[5]) ||
                !is_number(f[6]) || !is_number(f[7]) || !is_number(f[8]) ||
                quantity_parse_count(f[9], &r->ms) < 0 ||
                quantity_parse_count(f[10], &r->size) < 0 ||
                quantity_parse_count(f[11], &r->changed) < 0 ||
                !text_utf8_valid(f[12], strlen(f[12])))
                return false;
        r->exit = (unsigned)end;
        r->code = code_find(f[4]);
        if (*f[4] && r->code == CODE_NONE)
                return false;
        return copy(&r->sha256, f[1]) && copy(&r->outcome, f[5]) && copy(&r->score, f[6]) &&
               copy(&r->test_score, f[7]) && copy(&r->llm_score, f[8]) && copy(&r->reason, f[12]);
}

struct index { /* rows by name */
        struct batch_named *rows;
        unsigned count;
};

static bool take_line(char *line, const struct index *index)
{
        char *fields[FIELDS];
        struct batch_record record = {0};
        struct batch_named key, *found;
        struct batch_row *row;

        if (!split(line, fields, FIELDS))
                return false;
        if (!take_record(fields, &record)) {
                batch_record_free(&record);
                return false;
        }
        key.name = fields[0];
        found = bsearch(&key, index->rows, index->count, sizeof key, batch_named_compare);
        if (!found) {
                batch_record_free(&record);
                return true;
        }
        row = found->row;
        batch_record_free(&row->record);
        row->record = record;
        row->done = row->kept = row->evaluated = true;
        return true;
}

static int take_header(char *line, const char *task, struct error *err)
{
        char *fields[2];

        if (!split(line, fields, 2) || strcmp(fields[0], mark) != 0)
                return error_set(err, CODE_USAGE,
                        "batch.log is not what a batch writes; give another directory with "
                        "--results, or remove it");
        if (strcmp(fields[1], task) != 0)
                return error_set(err, CODE_USAGE,
                        "batch.log is of the task %s; give another directory with --results",
                        fields[1]);
        return 0;
}

/* --- files ---------------------------------------------------------------------------------- */

static int take_lines(struct buffer *all, const char *task, const struct index *index,
        size_t *ret_whole, struct error *err)
{
        char *at = (char *)all->data, *end = at + all->len, *newline;

        if (memchr(at, '\0', all->len))
                return error_set(err, CODE_USAGE, "batch.log has a NUL; remove it to start afresh");
        for (unsigned number = 1; (newline = memchr(at, '\n', (size_t)(end - at))); number++) {
                *newline = '\0';
                if (number == 1 && take_header(at, task, err) < 0)
                        return -1;
                if (number > 1 && !take_line(at, index))
                        return error_set(err, CODE_USAGE,
                                "batch.log, line %u: is not what a batch writes; remove the file "
                                "to start afresh",
                                number);
                at = newline + 1;
        }
        *ret_whole = (size_t)(at - (char *)all->data);
        return 0;
}

static int read_all(int journal, const char *task, struct batch_rows *rows, size_t *ret_whole,
        struct error *err)
{
        _cleanup_buffer_ struct buffer all = BUFFER_INIT;
        struct index index = {batch_rows_by_name(rows, err), rows->count};
        int r;

        if (!index.rows)
                return -1;
        r = fd_read_all(journal, &all, MOST_JOURNAL, CODE_USAGE, err);
        if (r == 0)
                r = take_lines(&all, task, &index, ret_whole, err);
        free(index.rows);
        return r;
}

static int add_line(int journal, const struct buffer *line, struct error *err)
{
        if (!buffer_ok(line))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        if (fd_write_all(journal, line->data, line->len) < 0 || fdatasync(journal) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "batch.log cannot be written");
        return 0;
}

static int begin(
        int journal, const char *task, bool resume, struct batch_rows *rows, struct error *err)
{
        _cleanup_buffer_ struct buffer line = BUFFER_INIT;
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        size_t whole = 0;
        struct stat st;

        if (fcntl(journal, F_SETLK, &lock) < 0)
                return error_set(err, CODE_USAGE, "another batch is at work there");
        if (fstat(journal, &st) < 0 || !S_ISREG(st.st_mode))
                return error_set(err, CODE_USAGE, "batch.log is no regular file");
        if (resume && read_all(journal, task, rows, &whole, err) < 0)
                return -1;
        if (ftruncate(journal, (off_t)whole) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "batch.log");
        if (whole > 0)
                return 0;
        put_field(&line, mark, '\t');
        put_field(&line, task, '\n');
        return add_line(journal, &line, err);
}

int journal_open(
        int results, const char *task, bool resume, struct batch_rows *rows, struct error *err)
{
        _cleanup_fd_ int fd = openat(results, "batch.log",
                O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);

        if (fd < 0)
                return error_errno(err, CODE_USAGE, errno, "batch.log");
        return begin(fd, task, resume, rows, err) < 0 ? -1 : take_fd(&fd);
}

int journal_add(int journal, const struct batch_row *row, struct error *err)
{
        _cleanup_buffer_ struct buffer line = BUFFER_INIT;
        const struct batch_record *r = &row->record;

        put_field(&line, row->name, '\t');
        put_field(&line, r->sha256, '\t');
        put_field(&line, status_name(r->status), '\t');
        put_count(&line, r->exit);
        put_field(&line, code_info(r->code)->name, '\t');
        put_field(&line, r->outcome, '\t');
        put_field(&line, r->score, '\t');
        put_field(&line, r->test_score, '\t');
        put_field(&line, r->llm_score, '\t');
        put_count(&line, r->ms);
        put_count(&line, r->size);
        put_count(&line, r->changed);
        put_field(&line, r->reason, '\n');
        return add_line(journal, &line, err);
}
