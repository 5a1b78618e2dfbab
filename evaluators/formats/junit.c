/* JUnit XML, as surefire, pytest, gtest, Jest and others write it: `testcase` elements in
 * `testsuite` elements, nested or not. The score comes from the cases, not from the counters of the
 * suites. Read by expat; a document type is refused before anything of it is read, and with it
 * every entity but XML's own five. */
#include "evaluators/formats/formats.h"

#include "evaluators/decimal.h"
#include "evaluators/json.h"

#include "text.h"

#include <expat.h>

enum { MOST_DEPTH = 64, MOST_MESSAGE = 4096 };

enum verdict { PASSED, FAILED, SKIPPED };

struct junit {
        struct outcome *outcome;
        XML_Parser parser;
        struct error *err;
        bool failed; /* with err */
        unsigned depth;
        unsigned other_depth;   /* of an element that is no suite; 0: none */
        unsigned case_depth;    /* of the testcase that we are in; 0: none */
        unsigned message_depth; /* of the failure or error whose text is wanted; 0: none */
        bool in_text;           /* behind what its attribute says */
        enum verdict verdict;
        struct buffer name, message;
        char duration[NUMBER_TEXT_SIZE];
        uint64_t passed, counted;
};

static void refuse(struct junit *j, const char *why)
{
        if (!j->failed)
                error_set(j->err, CODE_SUITE_RESULT_INVALID, "line %lu, column %lu: %s",
                        XML_GetCurrentLineNumber(j->parser),
                        XML_GetCurrentColumnNumber(j->parser) + 1, why);
        j->failed = true;
        XML_StopParser(j->parser, XML_FALSE);
}

static const char *attribute(const char **attributes, const char *name)
{
        for (; *attributes; attributes += 2)
                if (strcmp(attributes[0], name) == 0)
                        return attributes[1];
        return "";
}

/* Seconds as milliseconds: the point goes three digits on. What is no such number is left out. */
static void take_duration(struct junit *j, const char *seconds)
{
        const size_t whole = strspn(seconds, "0123456789");
        const char *fraction = seconds + whole + (seconds[whole] == '.');
        const size_t digits = strspn(fraction, "0123456789");
        char shifted[NUMBER_TEXT_SIZE + 4];
        size_t zeros;

        *j->duration = '\0';
        if (whole == 0 || whole + digits > 20 || fraction[digits] != '\0')
                return;
        snprintf(shifted, sizeof shifted, "%.*s%.*s%.*s%s%.*s", (int)whole, seconds,
                digits < 3 ? (int)digits : 3, fraction, digits < 3 ? 3 - (int)digits : 0, "000",
                digits > 3 ? "." : "", digits > 3 ? (int)digits - 3 : 0,
                digits > 3 ? fraction + 3 : "");
        zeros = strspn(shifted, "0");
        zeros -= zeros > 0 && (shifted[zeros] == '\0' || shifted[zeros] == '.');
        snprintf(j->duration, sizeof j->duration, "%s", shifted + zeros);
}

static void begin_case(struct junit *j, const char **attributes)
{
        const char *class = attribute(attributes, "classname");
        const char *status = attribute(attributes, "status");

        j->case_depth = j->depth;
        j->verdict = strcmp(status, "notrun") == 0 ? SKIPPED : PASSED;
        buffer_clear(&j->name);
        buffer_clear(&j->message);
        buffer_add_text(&j->name, class);
        if (*class)
                buffer_add_char(&j->name, '.');
        buffer_add_text(&j->name, attribute(attributes, "name"));
        take_duration(j, attribute(attributes, "time"));
}

static void begin_inside(struct junit *j, const char *element, const char **attributes)
{
        if (strcmp(element, "skipped") == 0 && j->verdict == PASSED)
                j->verdict = SKIPPED;
        if (strcmp(element, "failure") != 0 && strcmp(element, "error") != 0)
                return;
        j->verdict = FAILED;
        if (j->message.len > 0)
                return;
        buffer_add_text(&j->message, attribute(attributes, "message"));
        j->message_depth = j->depth;
        j->in_text = false;
}

static void begin(void *to, const char *element, const char **attributes)
{
        struct junit *j = to;

        if (j->failed)
                return;
        if (++j->depth > MOST_DEPTH) {
                refuse(j, "nested deeper than 64 levels");
                return;
        }
        if (j->depth == 1) {
                if (strcmp(element, "testsuites") != 0 && strcmp(element, "testsuite") != 0)
                        refuse(j, "the first element must be testsuites or testsuite");
        } else if (j->case_depth > 0) {
                if (strcmp(element, "testcase") == 0)
                        refuse(j, "a testcase within a testcase");
                else if (j->depth == j->case_depth + 1)
                        begin_inside(j, element, attributes);
        } else if (strcmp(element, "testcase") == 0) {
                if (j->other_depth > 0)
                        refuse(j, "a testcase that is in no testsuite");
                else
                        begin_case(j, attributes);
        } else if (j->other_depth == 0 && strcmp(element, "testsuite") != 0 &&
                   strcmp(element, "testsuites") != 0)
                j->other_depth = j->depth;
}

static void end_case(struct junit *j)
{
        const bool passed = j->verdict == PASSED;

        j->case_depth = 0;
        if (j->verdict == SKIPPED)
                return;
        j->counted++;
        j->passed += passed;
        if (!buffer_ok(&j->name) || !buffer_ok(&j->message)) {
                error_set(j->err, CODE_INFRA_MEMORY, "out of memory");
                j->failed = true;
                XML_StopParser(j->parser, XML_FALSE);
        } else if (outcome_test(j->outcome, buffer_text(&j->name), passed, j->duration,
                           buffer_text(&j->message), j->err) < 0) {
                j->failed = true;
                XML_StopParser(j->parser, XML_FALSE);
        }
}

static void end(void *to, const char *element)
{
        struct junit *j = to;

        (void)element;
        if (j->failed)
                return;
        if (j->depth == j->message_depth)
                j->message_depth = 0;
        if (j->depth == j->other_depth)
                j->other_depth = 0;
        if (j->depth == j->case_depth)
                end_case(j);
        j->depth--;
}

static void text(void *to, const char *bytes, int len)
{
        struct junit *j = to;

        if (j->message_depth == 0 || j->message.len > MOST_MESSAGE)
                return;
        if (!j->in_text && j->message.len > 0)
                buffer_add_char(&j->message, '\n');
        j->in_text = true;
        buffer_add(&j->message, bytes, (size_t)len);
}

static void doctype(void *to, const char *name, const char *file, const char *public, int subset)
{
        (void)name;
        (void)file;
        (void)public;
        (void)subset;
        refuse(to, "a document type is not accepted");
}

static bool is_plain(unsigned char c)
{
        return (c >= 0x20 && c < 0x80) || c == '\n';
}

/* How many of these there are at the start; eight at a time. */
static size_t plain_length(const unsigned char *text, size_t len)
{
        static const uint64_t high = 0x8080808080808080, space = 0x2020202020202020;
        size_t n = 0;

        for (;;) {
                uint64_t eight;

                for (; n + sizeof eight <= len; n += sizeof eight) {
                        memcpy(&eight, text + n, sizeof eight);
                        if ((eight | (eight - space)) & high) /* above ASCII, or below a space */
                                break;
                }
                if (n == len || !is_plain(text[n]))
                        return n;
                n++;
        }
}

/* A suite prints what it likes into its report: a byte that is no character there would make all of
 * it unreadable. */
static void mend(const struct buffer *file, struct buffer *ret, unsigned *ret_mended)
{
        static const char unknown[] = "\xef\xbf\xbd";
        size_t n;

        *ret_mended = 0;
        for (size_t at = 0; at < file->len; at += n) {
                uint32_t code = 0;

                n = plain_length(file->data + at, file->len - at);
                buffer_add(ret, file->data + at, n);
                at += n;
                if (at == file->len)
                        break;

                n = text_utf8_next(file->data + at, file->len - at, &code);
                if (n > 0 && (code >= 0x20 || code == '\t' || code == '\n' || code == '\r') &&
                        code != 0xfffe && code != 0xffff) {
                        buffer_add(ret, file->data + at, n);
                        continue;
                }
                n = n > 0 ? n : 1;
                buffer_add(ret, unknown, sizeof unknown - 1);
                (*ret_mended)++;
        }
}

/* Bytes of another encoding than UTF-8 are left to expat. */
static bool is_utf8(const struct buffer *file)
{
        static const char declared[] = "encoding=";
        char head[201];
        const char *encoding;
        size_t len = file->len < sizeof head - 1 ? file->len : sizeof head - 1;

        memcpy(head, file->data, len);
        head[len] = '\0';
        if (len >= 2 && ((unsigned char)head[0] >= 0xfe || head[0] == '\0' || head[1] == '\0'))
                return false;
        encoding = strstr(head, declared);
        if (!encoding || !strstr(head, "<?xml"))
                return true;
        encoding += sizeof declared - 1;
        encoding += *encoding == '"' || *encoding == '\'';
        return strncasecmp(encoding, "utf-8", 5) == 0;
}

static int parse(struct junit *j, const struct buffer *xml)
{
        if (XML_Parse(j->parser, buffer_text(xml), (int)xml->len, 1) == XML_STATUS_OK || j->failed)
                return j->failed ? -1 : 0;
        refuse(j, XML_ErrorString(XML_GetErrorCode(j->parser)));
        return -1;
}

static int read_xml(struct junit *j, const struct buffer *xml)
{
        j->parser = XML_ParserCreate(NULL);
        if (!j->parser)
                return error_set(j->err, CODE_INFRA_MEMORY, "out of memory");
        /* Without one expat would ask the kernel, which is not allowed. */
        XML_SetHashSalt(j->parser, (unsigned long)json_random());
        XML_SetUserData(j->parser, j);
        XML_SetElementHandler(j->parser, begin, end);
        XML_SetCharacterDataHandler(j->parser, text);
        XML_SetStartDoctypeDeclHandler(j->parser, doctype);
        return parse(j, xml);
}

int junit_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer mended = BUFFER_INIT;
        struct junit j = {.outcome = ret, .err = err, .name = BUFFER_INIT, .message = BUFFER_INIT};
        const struct buffer *xml = q->file;
        unsigned bad;
        int r;

        if (is_utf8(xml)) {
                mend(xml, &mended, &bad);
                if (!buffer_ok(&mended))
                        return error_set(err, CODE_INFRA_MEMORY, "out of memory");
                if (bad > 0)
                        outcome_warn(ret, "",
                                "%u bytes that are no characters of XML were replaced", bad);
                xml = &mended;
        }
        r = read_xml(&j, xml);
        XML_ParserFree(j.parser);
        buffer_free(&j.name);
        buffer_free(&j.message);
        return r < 0 ? -1 : outcome_count(ret, j.passed, j.counted, err);
}
