/* Findings in a document; see reading.h. */
#include "reading.h"

#include "answer.h"

#include "text.h"

#include <stdarg.h>

int reading_open(struct json *ret_doc, const struct buffer *in, enum code code, struct error *err)
{
        struct json_fault fault;

        if (json_read(ret_doc, in->data, in->len, &fault) < 0)
                return error_set(
                        err, code, "line %u, column %u: %s", fault.line, fault.column, fault.text);
        return 0;
}

void reading_begin(struct reading *r, const struct json *doc)
{
        r->doc = doc;
        r->prefix = "";
        r->problems.count = r->warnings.count = 0;
}

/* The slot for a finding at `offset`, in order; NULL when there are enough. */
static struct finding *findings_add(struct findings *f, size_t offset)
{
        size_t i = f->count++;

        if (i >= FINDINGS_MAX)
                return NULL;
        for (; i > 0 && f->list[i - 1].offset > offset; i--)
                f->list[i] = f->list[i - 1];
        f->list[i].offset = offset;
        return &f->list[i];
}

static void put_path(struct buffer *b, const struct spot *s)
{
        if (!s->up)
                return;
        put_path(b, s->up);
        if (!s->key)
                buffer_add_format(b, "[%zu]", s->index);
        else
                buffer_add_format(b, "%s%.200s", b->len > 0 ? "." : "", s->key);
}

__attribute__((format(printf, 2, 0))) static void finding_text(
        struct finding *f, const char *format, va_list args)
{
        char raw[sizeof f->text];

        vsnprintf(raw, sizeof raw, format, args);
        text_escape(f->text, sizeof f->text, raw, strlen(raw));
}

__attribute__((format(printf, 3, 0))) static void find_here(
        struct findings *list, const struct spot *s, const char *format, va_list args)
{
        struct finding *f = findings_add(list, json_offset(s->value));
        _cleanup_buffer_ struct buffer path = BUFFER_INIT;

        if (!f)
                return;
        put_path(&path, s);
        text_escape(f->key, sizeof f->key, path.data, path.len);
        finding_text(f, format, args);
}

enum { PATH_SIZE = 1024 };

/* From the root of the document. */
static const char *full_path(const struct reading *r, const char *path, char out[PATH_SIZE])
{
        snprintf(out, PATH_SIZE, "%s%s", r->prefix, path);
        return out;
}

__attribute__((format(printf, 4, 0))) static void find_at(struct findings *list,
        const struct reading *r, const char *path, const char *format, va_list args)
{
        char full[PATH_SIZE];
        struct finding *f = findings_add(
                list, json_offset(json_locate(r->doc, full_path(r, path, full), NULL)));

        if (!f)
                return;
        text_escape(f->key, sizeof f->key, full, strlen(full));
        finding_text(f, format, args);
}

void reading_problem(struct reading *r, const struct spot *s, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        find_here(&r->problems, s, format, args);
        va_end(args);
}

void reading_warning(struct reading *r, const struct spot *s, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        find_here(&r->warnings, s, format, args);
        va_end(args);
}

void reading_problem_at(struct reading *r, const char *path, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        find_at(&r->problems, r, path, format, args);
        va_end(args);
}

void reading_warning_at(struct reading *r, const char *path, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        find_at(&r->warnings, r, path, format, args);
        va_end(args);
}

bool reading_has(const struct reading *r, const char *path)
{
        char full[PATH_SIZE];
        bool found;

        json_locate(r->doc, full_path(r, path, full), &found);
        return found;
}

static size_t listed(const struct findings *f)
{
        return f->count < FINDINGS_MAX ? f->count : FINDINGS_MAX;
}

void reading_put_problems(const struct reading *r, struct buffer *out)
{
        for (size_t i = 0; i < listed(&r->problems); i++) {
                const struct finding *f = &r->problems.list[i];
                unsigned line, column;

                json_place(r->doc, f->offset, &line, &column);
                answer_problem(out, line, column, f->key, f->text);
        }
}

void reading_put_warnings(const struct reading *r, struct buffer *out)
{
        for (size_t i = 0; i < listed(&r->warnings); i++)
                answer_warning(out, r->warnings.list[i].key, r->warnings.list[i].text);
}

int reading_error(const struct reading *r, enum code code, struct error *err)
{
        const struct finding *first = &r->problems.list[0];
        unsigned line, column;

        if (r->problems.count == 0)
                return 0;
        json_place(r->doc, first->offset, &line, &column);
        return error_set(err, code, "line %u, column %u: %s%s%s", line, column, first->key,
                first->key[0] ? ": " : "", first->text);
}
