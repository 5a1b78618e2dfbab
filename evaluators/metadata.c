/* metadata.yaml, as far as it is flat; see metadata.h. Pure. */
#include "metadata.h"

#include "answer.h"

#include "text.h"

enum { MOST_LINE = 4096 };

static const struct {
        const char *name, *place;
} variables[] = {
        {"$program", "/app/program"},
        {"$input", "/app/input"},
        {"$output", "/app/output"},
        {"$hidden", "/app/input/ref"},
        {"$predictions", "/app/input/res"},
        {"$tmp", "/app/output"},
};

static int invalid(struct error *err, unsigned line, const char *why)
{
        return error_set(err, CODE_TASK_INVALID, "line %u: %s", line, why);
}

/* Without blanks at both ends, and without the quotes around the whole. */
static void trim(char *text)
{
        size_t len;

        memmove(text, text + strspn(text, " \t"), strlen(text + strspn(text, " \t")) + 1);
        len = strlen(text);
        while (len > 0 && strchr(" \t\r", text[len - 1]))
                text[--len] = '\0';
        if (len >= 2 && (*text == '"' || *text == '\'') && text[len - 1] == *text &&
                strchr(text + 1, *text) == text + len - 1) {
                text[len - 1] = '\0';
                memmove(text, text + 1, len - 1);
        }
}

/* A comment begins behind a blank, but not in a value that begins with a quote, where it ends. */
static void cut_comment(char *value)
{
        char *at = value + strspn(value, " \t");

        if (*at == '"' || *at == '\'')
                at = strchr(at + 1, *at);
        for (; at && (at = strchr(at, '#')); at++)
                if (at[-1] == ' ' || at[-1] == '\t') {
                        *at = '\0';
                        return;
                }
}

/* --- the command's words -------------------------------------------------------------------- */

static void put_word(struct buffer *out, const char *word)
{
        _cleanup_buffer_ struct buffer full = BUFFER_INIT;
        size_t at;

        while (*word) {
                bool replaced = false;

                for (size_t i = 0; !replaced && i < sizeof variables / sizeof *variables; i++) {
                        const size_t len = strlen(variables[i].name);

                        if (strncmp(word, variables[i].name, len) != 0)
                                continue;
                        buffer_add_text(&full, variables[i].place);
                        word += len;
                        replaced = true;
                }
                if (!replaced)
                        buffer_add_char(&full, *word++);
        }
        at = answer_begin(out, METADATA_WORD);
        put_text(out, buffer_text(&full));
        answer_end(out, at);
        out->failed |= full.failed;
}

/* As a shell parts words, by blanks, quotes and backslashes; nothing else has a meaning. */
static int put_words(char *text, unsigned line, struct buffer *out, struct error *err)
{
        unsigned count = 0;

        for (char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
                char word[MOST_LINE], quote = '\0';
                size_t len = 0;

                for (; *at && (quote || !strchr(" \t", *at)); at++) {
                        if (quote ? *at == quote : *at == '"' || *at == '\'')
                                quote = quote ? '\0' : *at;
                        else if (*at == '\\' && quote != '\'' && at[1])
                                word[len++] = *++at;
                        else
                                word[len++] = *at;
                }
                word[len] = '\0';
                if (quote)
                        return invalid(err, line, "a quote in `command` is not closed");
                if (++count > SCORE_MAX_WORDS)
                        return invalid(err, line, "`command` has too many words");
                put_word(out, word);
        }
        return count > 0 ? 0 : invalid(err, line, "`command` is empty");
}

/* --- lines ---------------------------------------------------------------------------------- */

static bool is_empty(const char *text)
{
        return text[strspn(text, " \t\r")] == '\0';
}

static int take_line(
        char *line, unsigned number, bool *found, struct buffer *out, struct error *err)
{
        static const char yaml[] = "|>[{&*!%@`"; /* begin what is no plain text */
        char *colon;

        if (is_empty(line) || *line == '#' || strncmp(line, "---", 3) == 0)
                return 0;
        colon = strchr(line, ':');
        if (*line == ' ' || *line == '\t' || *line == '-' || !colon || !strchr(" \t\r", colon[1]))
                return invalid(err, number, "is not `key: value`, and nothing else is read");
        *colon = '\0';
        trim(line);
        if (strcmp(line, "command") != 0)
                return 0;
        if (*found)
                return invalid(err, number, "`command` is there twice");
        *found = true;
        cut_comment(colon + 1);
        if (strchr(yaml, colon[1 + strspn(colon + 1, " \t\r")]) && !is_empty(colon + 1))
                return invalid(err, number, "write `command` as one text on its line");
        trim(colon + 1);
        return put_words(colon + 1, number, out, err);
}

int metadata_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        static const char mark[] = "\xef\xbb\xbf";
        const char *at = (const char *)in->data, *end = at + in->len;
        bool found = false;

        if (in->len >= sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0)
                at += sizeof mark - 1;
        if (!text_utf8_valid(at, (size_t)(end - at)) || memchr(at, '\0', (size_t)(end - at)))
                return error_set(err, CODE_TASK_INVALID, "is no UTF-8 text");
        for (unsigned number = 1; at < end; number++) {
                const char *newline = memchr(at, '\n', (size_t)(end - at));
                const size_t len = (size_t)((newline ? newline : end) - at);
                char line[MOST_LINE];

                if (len >= sizeof line)
                        return invalid(err, number, "is too long");
                memcpy(line, at, len);
                line[len] = '\0';
                if (take_line(line, number, &found, out, err) < 0)
                        return -1;
                at += len + 1;
        }
        return found ? 0 : error_set(err, CODE_TASK_INVALID, "names no `command`");
}
