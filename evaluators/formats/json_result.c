/* Result files that are JSON; see json_result.h. */
#include "evaluators/formats/json_result.h"

int result_json(struct json *doc, const struct buffer *file, const struct field *whole, void *to,
        struct outcome *o, struct error *err)
{
        struct reading r;
        struct spot root;

        if (reading_open(doc, file, CODE_SUITE_RESULT_INVALID, err) < 0)
                return -1;
        root = (struct spot){.value = json_root(doc)};
        reading_begin(&r, doc);
        field_read(&r, whole, &root, to);
        if (reading_error(&r, CODE_SUITE_RESULT_INVALID, err) < 0)
                return -1;
        reading_put_warnings(&r, &o->warnings);
        return 0;
}

static bool find_number(const struct json *doc, const char *key, struct json_value *ret)
{
        for (struct json_walk w = json_walk(json_root(doc)); json_next(&w, ret);)
                if (!*key || strcmp(w.key, key) == 0)
                        return true;
        return false;
}

int result_json_number(struct json *doc, const struct buffer *file, const char *key,
        const char *usual, char ret[NUMBER_TEXT_SIZE], struct error *err)
{
        static const struct field number = {.type = &field_number};
        struct reading r;
        struct spot spot = {0};

        if (reading_open(doc, file, CODE_SUITE_RESULT_INVALID, err) < 0)
                return -1;
        reading_begin(&r, doc);
        spot.value = json_root(doc);
        if (!*key && usual && json_object_get(doc->root, usual))
                key = usual;
        if (!json_is_object(doc->root))
                reading_problem(&r, &spot, "must be an object");
        else if (!*key && json_object_size(doc->root) != 1)
                reading_problem(&r, &spot,
                        "has %zu keys; result.key must say which one is the score",
                        json_object_size(doc->root));
        else if (!find_number(doc, key, &spot.value))
                reading_problem(&r, &spot, "has no key \"%s\"", key);
        else
                field_read(&r, &number, &spot, ret);
        return reading_error(&r, CODE_SUITE_RESULT_INVALID, err);
}
