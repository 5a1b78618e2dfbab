/* Writing the body; see body.h. */
#include "evaluators/judge/body.h"

#include "runner/report/json.h"

static void add_message(struct json_writer *w, const char *role, const struct buffer *text)
{
        json_open_object(w, NULL);
        json_text(w, "role", role);
        json_bytes(w, "content", text->data, text->len);
        json_close(w);
}

/* The begin of an object schema that has its properties and no others; they follow. */
static void open_properties(struct json_writer *w, const char *key)
{
        json_open_object(w, key);
        json_text(w, "type", "object");
        json_bool(w, "additionalProperties", false);
        json_open_object(w, "properties");
}

static void close_properties(struct json_writer *w,
        const char *(*name_at)(const void *names, size_t i), const void *names, size_t count)
{
        json_close(w);
        json_open_array(w, "required");
        for (size_t i = 0; i < count; i++)
                json_text(w, NULL, name_at(names, i));
        json_close(w);
        json_close(w);
}

static void add_type(struct json_writer *w, const char *key, const char *type)
{
        json_open_object(w, key);
        json_text(w, "type", type);
        json_close(w);
}

static const char *word_at(const void *words, size_t i)
{
        return ((const char *const *)words)[i];
}

static const char *criterion_at(const void *criteria, size_t i)
{
        return ((const struct judge_criterion *)criteria)[i].name;
}

/* The score has no bounds here: servers exist that refuse a schema with them. The reasoning comes
 * first, so that a score follows from it. */
static void add_schema(struct json_writer *w, const struct list *rubric)
{
        static const char *const opinion[] = {"reasoning", "score"}, *const verdict[] = {
                                                                             "criteria", "summary"};

        open_properties(w, "schema");
        open_properties(w, "criteria");
        for (size_t i = 0; i < rubric->count; i++) {
                open_properties(w, criterion_at(rubric->items, i));
                add_type(w, "reasoning", "string");
                add_type(w, "score", "number");
                close_properties(w, word_at, opinion, COUNT(opinion));
        }
        close_properties(w, criterion_at, rubric->items, rubric->count);
        add_type(w, "summary", "string");
        close_properties(w, word_at, verdict, COUNT(verdict));
}

static void add_response_format(struct json_writer *w, const struct list *rubric)
{
        json_open_object(w, "response_format");
        json_text(w, "type", "json_schema");
        json_open_object(w, "json_schema");
        json_text(w, "name", "verdict");
        json_bool(w, "strict", true);
        add_schema(w, rubric);
        json_close(w);
        json_close(w);
}

void body_write(struct buffer *out, const struct body *b, const struct prompt *p,
        const struct judge_request *q)
{
        struct json_writer w = {.out = out, .compact = true};

        json_open_object(&w, NULL);
        json_text(&w, "model", b->model);
        json_open_array(&w, "messages");
        add_message(&w, "system", &p->rules);
        add_message(&w, "user", &p->question);
        json_close(&w);
        if (b->temperature)
                json_decimal(&w, "temperature", b->temperature);
        if (b->seeded)
                json_number(&w, "seed", b->seed);
        if (b->schema)
                add_response_format(&w, &q->rubric);
        json_close(&w);
}
