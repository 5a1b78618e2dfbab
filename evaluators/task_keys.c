/* The keys of task.json that are not regular; see task_keys.h. */
#include "task_keys.h"

#include "text.h"

static bool has_control(const char *text, bool allow_lines)
{
        const unsigned char *p = (const unsigned char *)text;

        while (*p) {
                uint32_t code = 0;

                p += text_utf8_next(p, strlen((const char *)p), &code);
                if (text_is_control(code) && !(allow_lines && (code == '\n' || code == '\t')))
                        return true;
        }
        return false;
}

const char *task_check_line(const char *text)
{
        return has_control(text, false) ? "must not hold control characters" : NULL;
}

const char *task_check_name(const char *text)
{
        return strchr(text, '/') ? "must not hold a '/'" : task_check_line(text);
}

/* A name, a digest, or both; whether there is such an image is seen when it is needed. */
const char *task_check_image(const char *text)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-/:@";

        return text[strspn(text, letters)] || *text == '-'
                       ? "must be \"host\" or the name of an image, such as \"debian:12\""
                       : NULL;
}

/* No empty part, "." or "..", each name at most 255 bytes. */
static bool path_plain(const char *path)
{
        while (true) {
                size_t n = strcspn(path, "/");

                if (n == 0 || n > 255 || (n == 1 && path[0] == '.') ||
                        (n == 2 && memcmp(path, "..", 2) == 0))
                        return false;
                if (path[n] == '\0')
                        return true;
                path += n + 1;
        }
}

/* YYYY-MM-DDThh:mm:ss, perhaps with a fraction, then Z or an offset; that there is such a day is
 * not looked at. */
const char *task_check_time(const char *text)
{
        static const char shape[] = "0000-00-00T00:00:00";
        size_t i = 0;

        for (; shape[i]; i++)
                if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
                        return "must be a time such as \"2026-12-01T00:00:00Z\"";
        if (text[i] == '.')
                i += 1 + strspn(text + i + 1, "0123456789");
        if (strcmp(text + i, "Z") == 0)
                return NULL;
        if ((text[i] == '+' || text[i] == '-') && strlen(text + i) == 6 && text[i + 3] == ':' &&
                strspn(text + i + 1, "0123456789") == 2 && strspn(text + i + 4, "0123456789") == 2)
                return NULL;
        return "must end in Z or an offset such as +01:00";
}

const char *task_check_test_pattern(const char *glob)
{
        unsigned names = 1;

        for (const char *at = strchr(glob, '/'); at; at = strchr(at + 1, '/'))
                names++;
        return names > 63 ? "must not have more than 63 parts" : task_check_line(glob);
}

const char *task_check_relative(const char *path)
{
        if (path[0] == '/')
                return "must be relative to the submission's root";
        if (!path_plain(path))
                return "must not hold \"..\", \".\" or an empty part";
        if (strchr(path, '\\'))
                return "must not hold a backslash";
        return task_check_line(path);
}

const char *task_check_pattern(const char *glob)
{
        unsigned names = 1;

        for (const char *at = strchr(glob, '/'); at; at = strchr(at + 1, '/'))
                names++;
        return names > 63 ? "must not have more than 63 parts" : task_check_relative(glob);
}

const char *task_check_place(const char *path)
{
        return *path != '/' || !path_plain(path + 1) || strlen(path) >= SCORE_MAX_NAME
                       ? "must be an absolute path without \"..\", \".\" or an empty part"
                       : task_check_line(path);
}

enum { PASS_SUITE, PASS_NUMBER };

static const struct choice pass_words[] = {{"suite", true}, {0}};
const struct field task_pass_forms[] = {
        [PASS_SUITE] = {.type = &field_choice, .choices = pass_words},
        [PASS_NUMBER] = {.type = &field_decimal, .most = 100},
        {0},
};

static bool read_pass(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct scoring *scoring = to;
        unsigned from_suite = false;

        scoring->pass_given = true;
        field_choice.read(r, &f->forms[PASS_SUITE], s, &from_suite);
        scoring->pass_from_suite = from_suite;
        return from_suite || field_decimal.read(r, &f->forms[PASS_NUMBER], s, scoring->pass);
}

static void want_pass(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "a number from 0 to 100, or \"suite\"");
}

enum { BY_NAME, BY_OBJECT };

static const struct field judge_rows[] = {
        FIELD("command", field_texts, REQUIRED, struct task, judge_command, .least = 1,
                .most = 100),
};
static const struct fields judge_fields = FIELDS(judge_rows, UNKNOWN_IS_PROBLEM);
const struct field task_judge_forms[] = {
        [BY_NAME] = {.type = &field_text, .least = 1, .most = 100, .check = task_check_name},
        [BY_OBJECT] = {.type = &field_object, .fields = &judge_fields},
        {0},
};

/* The name of one that the operator has, or a command, where there is no operator. */
static bool read_judge(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct task *t = to;

        if (json_string_value(s->value.node))
                return field_text.read(r, &f->forms[BY_NAME], s, &t->judge_name);
        t->judge_name = NULL;
        return field_object.read(r, &f->forms[BY_OBJECT], s, t);
}

static void want_judge(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "the name of a judge, or an object with its command");
}

static bool is_env_name(const char *name)
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

        if (!name[0] || !strchr(letters, name[0]))
                return false;
        return name[strspn(name, letters)] == '\0' ||
               strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
                       strlen(name);
}

const struct field task_env_forms[] = {
        {.key = "*", .type = &field_text, .most = SCORE_MAX_TEXT},
        {0},
};

static bool read_env(struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct json_value child;

        (void)f;
        if (!json_is_object(s->value.node) || json_object_size(s->value.node) > SCORE_MAX_ENV)
                return false;
        for (struct json_walk w = json_walk(s->value); json_next(&w, &child);) {
                struct spot below = spot_below(s, &w, child);
                const char *text = json_string_value(child.node);

                if (!is_env_name(w.key))
                        reading_problem(r, &below,
                                "is no name for a variable: letters, digits and _, no digit first");
                else if (!text)
                        reading_problem(r, &below, "must be a text");
                else if (strlen(w.key) + 1 + strlen(text) > SCORE_MAX_TEXT)
                        reading_problem(r, &below, "must be at most %d bytes, name included",
                                SCORE_MAX_TEXT);
        }
        *(struct json_value *)to = s->value;
        return true;
}

static void want_env(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "an object of at most %d texts", SCORE_MAX_ENV);
}

static const struct choice image_sources[] = {{"suite", 0}, {0}};
static const struct field submission_image_rows[] = {
        FIELD("from", field_choice, REQUIRED, struct submission_image, from,
                .choices = image_sources),
        FIELD("layers", field_whole, OPTIONAL, struct submission_image, layers, .least = 1,
                .most = SCORE_MAX_LAYERS),
        FIELD("hide", field_texts, OPTIONAL, struct submission_image, hide, .least = 1,
                .most = SCORE_MAX_HIDDEN, .check = task_check_place),
};
static const struct fields submission_image_fields =
        FIELDS(submission_image_rows, UNKNOWN_IS_PROBLEM);
const struct field task_submission_image_forms[] = {
        [BY_NAME] = {.type = &field_text, .least = 1, .most = 200, .check = task_check_image},
        [BY_OBJECT] = {.type = &field_object, .fields = &submission_image_fields},
        {0},
};

static bool read_submission_image(
        struct reading *r, const struct field *f, const struct spot *s, void *to)
{
        struct submission_image *image = to;

        image->given = true;
        return json_string_value(s->value.node)
                       ? field_text.read(r, &f->forms[BY_NAME], s, &image->name)
                       : field_object.read(r, &f->forms[BY_OBJECT], s, image);
}

static void want_submission_image(const struct field *f, char *out, size_t size)
{
        (void)f;
        snprintf(out, size, "the name of an image, or an object such as {\"from\": \"suite\"}");
}

const struct field_type task_pass = {read_pass, want_pass};
const struct field_type task_judge = {read_judge, want_judge};
const struct field_type task_env = {read_env, want_env};
const struct field_type task_submission_image = {read_submission_image, want_submission_image};
