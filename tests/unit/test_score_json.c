/* What is JSON for us, and where a document that is none goes wrong. */
#include "evaluators/json.h"
#include "evaluators/number.h"

#include <criterion/criterion.h>

#define THIRTY    "123456789012345678901234567890"
#define DEEP(x)   x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x
#define NESTED_64 DEEP("[[") DEEP("]]")
#define NESTED_65 "[" NESTED_64 "]"

static const struct {
        const char *text;
        unsigned line, column;
        const char *why;
} malformed[] = {
        {"", 1, 1, "the document is empty"},
        {" \n\t ", 1, 1, "the document is empty"},
        {"\xef\xbb\xbf", 1, 1, "the document is empty"},
        {"{", 1, 2, "the document ends too early"},
        {"[", 1, 2, "the document ends too early"},
        {"[1", 1, 3, "the document ends too early"},
        {"[1,", 1, 4, "the document ends too early"},
        {"{\"a\"", 1, 5, "the document ends too early"},
        {"{\"a\":", 1, 6, "the document ends too early"},
        {"{\"a\":1", 1, 7, "the document ends too early"},
        {"\"abc", 1, 5, "the document ends too early"},
        {"\"abc\\", 1, 6, "the document ends too early"},
        {"-", 1, 2, "the document ends too early"},
        {"1.", 1, 3, "the document ends too early"},
        {"1e", 1, 3, "the document ends too early"},
        {"{} {}", 1, 4, "nothing may follow the document"},
        {"1 2", 1, 3, "nothing may follow the document"},
        {"{}\n\nx", 3, 1, "nothing may follow the document"},
        {"\xef\xbb\xbf{}x", 1, 3, "nothing may follow the document"},
        {"nullx", 1, 5, "nothing may follow the document"},
        {"[1,]", 1, 4, "no comma may stand before ']'"},
        {"[1,}", 1, 4, "expected a value"},
        {"[,1]", 1, 2, "expected a value"},
        {"[1,,2]", 1, 4, "expected a value"},
        {"]", 1, 1, "expected a value"},
        {"tru", 1, 1, "expected a value"},
        {"True", 1, 1, "expected a value"},
        {"undefined", 1, 1, "expected a value"},
        {"\xef\xbb\xbf\xef\xbb\xbf{}", 1, 1, "expected a value"},
        {"{\"a\":}", 1, 6, "expected a value"},
        {"[1 2]", 1, 4, "expected ',' or ']'"},
        {"[1;2]", 1, 3, "expected ',' or ']'"},
        {"[1}", 1, 3, "expected ',' or ']'"},
        {"[\n1\n\"x\"]", 3, 1, "expected ',' or ']'"},
        {"{\"a\":1]", 1, 7, "expected ',' or '}'"},
        {"{\"a\":1 \"b\":2}", 1, 8, "expected ',' or '}'"},
        {"{\"a\":1,}", 1, 8, "no comma may stand before '}'"},
        {"{\"a\":1,]", 1, 8, "expected a key in double quotes"},
        {"{ // x\n\"a\":1}", 1, 3, "JSON has no comments"},
        {"{\"a\":1, # x", 1, 9, "JSON has no comments"},
        {"\xff\xfe{", 1, 1, "this is UTF-16; save it as UTF-8"},
        {"\xfe\xff{", 1, 1, "this is UTF-16; save it as UTF-8"},
        {"{a:1}", 1, 2, "expected a key in double quotes"},
        {"{1:1}", 1, 2, "expected a key in double quotes"},
        {"{'a':1}", 1, 2, "expected a key in double quotes"},
        {"{\"a\" 1}", 1, 6, "expected ':' after the key"},
        {"{\"a\"=1}", 1, 5, "expected ':' after the key"},
        {"{\"a\",1}", 1, 5, "expected ':' after the key"},
        {"NaN", 1, 1, "NaN is not JSON"},
        {"[1, NaN]", 1, 5, "NaN is not JSON"},
        {"Infinity", 1, 1, "Infinity is not JSON"},
        {"-Infinity", 1, 2, "a number needs a digit here"},
        {"'a'", 1, 1, "a text needs double quotes"},
        {"// x\n1", 1, 1, "JSON has no comments"},
        {"[1, /* x */ 2]", 1, 5, "JSON has no comments"},
        {"# x", 1, 1, "JSON has no comments"},
        {"+1", 1, 1, "a number must not begin with +"},
        {".5", 1, 1, "a number needs a digit before the point"},
        {"[-.5]", 1, 3, "a number needs a digit here"},
        {"[- 5]", 1, 3, "a number needs a digit here"},
        {"01", 1, 1, "a number must not begin with 0"},
        {"[-01]", 1, 3, "a number must not begin with 0"},
        {"00", 1, 1, "a number must not begin with 0"},
        {"[1.]", 1, 4, "a digit must follow the decimal point"},
        {"[1.e5]", 1, 4, "a digit must follow the decimal point"},
        {"[1e]", 1, 4, "an exponent needs a digit"},
        {"[1e+]", 1, 5, "an exponent needs a digit"},
        {"0x10", 1, 2, "nothing may follow the document"},
        {"1_000", 1, 2, "nothing may follow the document"},
        {"[" THIRTY "1]", 1, 2, "a number must not have more than 30 digits"},
        {"[0." THIRTY "]", 1, 2, "a number must not have more than 30 digits"},
        {"[1e101]", 1, 4, "an exponent must be between -100 and 100"},
        {"[1e-101]", 1, 5, "an exponent must be between -100 and 100"},
        {"[1e99999999999999999999]", 1, 4, "an exponent must be between -100 and 100"},
        {"[1e0001]", 1, 4, "an exponent must be between -100 and 100"},
        {"\"a\nb\"", 1, 3,
                "a control character or line end in a text; write it as an escape such as \\n"},
        {"[\"a\tb\"]", 1, 4,
                "a control character or line end in a text; write it as an escape such as \\n"},
        {"\"\\x41\"", 1, 2, "no such escape; a backslash is written as \\\\"},
        {"[\"C:\\dir\"]", 1, 5, "no such escape; a backslash is written as \\\\"},
        {"\"\\u12\"", 1, 2, "\\u must be followed by four hexadecimal digits"},
        {"\"\\u12g4\"", 1, 2, "\\u must be followed by four hexadecimal digits"},
        {"\"\\u0000\"", 1, 2, "\\u0000 is not accepted in a text"},
        {"{\"\\u0000\":1}", 1, 3, "\\u0000 is not accepted in a text"},
        {"\"\\ud800\"", 1, 2, "half of a surrogate pair is not a character"},
        {"\"\\udc00\"", 1, 2, "half of a surrogate pair is not a character"},
        {"\"\\ud800\\u0041\"", 1, 2, "half of a surrogate pair is not a character"},
        {"\"a\xff\"", 1, 3, "not valid UTF-8"},
        {"\"\xc0\xaf\"", 1, 2, "not valid UTF-8"},
        {"\"\xed\xa0\x80\"", 1, 2, "not valid UTF-8"},
        {"\"\xf4\x90\x80\x80\"", 1, 2, "not valid UTF-8"},
        {"\"\xe2\x82\"", 1, 2, "not valid UTF-8"},
        {"[\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\" 1]", 1, 8, "expected ',' or ']'"},
        {NESTED_65, 1, 65, "nested deeper than 64 levels"},
        {"{\"a\":1,\"a\":2}", 1, 8, "this key is already there"},
        {"{\"a\":1,\n \"\\u0061\":2}", 2, 2, "this key is already there"},
        {"{\"a\":{\"b\":1},\"c\":[{\"b\":1,\"d\":2,\"b\":3}]}", 1, 32, "this key is already there"},
        {"{\"\":1,\"\":1}", 1, 7, "this key is already there"},
        {"{\"a\":{\"x\":[1,2]},\n\"a\":{\"x\":1,\"x\":2}}", 2, 1, "this key is already there"},
};

Test(score_json, names_line_and_column_of_what_is_malformed)
{
        for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
                const char *text = malformed[i].text;
                struct json_fault fault = {0};
                struct json doc;

                cr_expect_eq(json_read(&doc, text, strlen(text), &fault), -1, "taken: %s", text);
                cr_expect(fault.line == malformed[i].line && fault.column == malformed[i].column,
                        "%s: at %u:%u, not at %u:%u", text, fault.line, fault.column,
                        malformed[i].line, malformed[i].column);
                cr_expect(fault.text && strcmp(fault.text, malformed[i].why) == 0,
                        "%s: said \"%s\", not \"%s\"", text, fault.text, malformed[i].why);
                json_free(&doc);
        }
}

Test(score_json, takes_all_strict_json)
{
        static const char *const good[] = {
                "{}",
                "[]",
                "null",
                "true",
                " false ",
                "0",
                "-0",
                "0.0",
                "1e5",
                "1E+05",
                "1e-100",
                THIRTY,
                "-" THIRTY,
                "12345678901234567890123456789e100",
                "\"\"",
                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
                "\"\\ud83d\\ude00\"",
                "\"\x7f\"",
                "\xef\xbb\xbf{\"a\": [1, 2, {\"b\": null}]}\r\n",
                NESTED_64,
                "{\"a\":1,\"A\":2,\"\\u00e4\":3,\"a\\u0308\":4}",
                "[{\"a\":1},{\"a\":1}]",
        };

        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                struct json_fault fault = {0};
                struct json doc;

                cr_expect_eq(json_read(&doc, good[i], strlen(good[i]), &fault), 0,
                        "%s: refused at %u:%u: %s", good[i], fault.line, fault.column, fault.text);
                json_free(&doc);
        }
}

Test(score_json, a_nul_byte_is_not_the_end)
{
        static const char text[] = "{}\0";
        struct json_fault fault;
        struct json doc;

        cr_expect_eq(json_read(&doc, text, sizeof text, &fault), -1);
        cr_expect_eq(fault.column, 3);
        json_free(&doc);
}

Test(score_json, each_value_has_its_place_and_digits)
{
        static const char text[] = "{\"a\": [1.50, {\"deep\": 2}],\n"
                                   " \"\\u0062\": \"\xc3\xa4\", \"c\": 0.1000000000000000055}";
        static const struct {
                const char *path;
                bool found;
                unsigned line, column;
                const char *is;
        } rows[] = {
                {"", true, 1, 1, "an object"},
                {"a", true, 1, 2, "an array"},
                {"a[0]", true, 1, 8, "1.50"},
                {"a[1]", true, 1, 14, "an object"},
                {"a[1].deep", true, 1, 15, "2"},
                {"a[2]", false, 1, 2, "an array"},
                {"a[1].other.thing", false, 1, 14, "an object"},
                {"b", true, 2, 2, "the text \"\xc3\xa4\""},
                {"c", true, 2, 17, "0.1000000000000000055"},
                {"d", false, 1, 1, "an object"},
        };
        struct json_fault fault;
        struct json doc;

        cr_assert_eq(json_read(&doc, text, strlen(text), &fault), 0, "%s", fault.text);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                bool found;
                struct json_value v = json_locate(&doc, rows[i].path, &found);
                unsigned line, column;
                char is[128];

                json_place(&doc, json_offset(v), &line, &column);
                json_describe(v, is, sizeof is);
                cr_expect_eq(found, rows[i].found, "%s: found %d", rows[i].path, found);
                cr_expect(line == rows[i].line && column == rows[i].column, "%s: at %u:%u",
                        rows[i].path, line, column);
                cr_expect_str_eq(is, rows[i].is, "%s: is %s", rows[i].path, is);
        }
        json_free(&doc);
}

Test(score_json, the_number_of_values_is_bounded)
{
        size_t len = 2 * (size_t)JSON_MAX_VALUES + 1;
        char *text = malloc(len);
        struct json_fault fault;
        struct json doc;

        memset(text, '0', len);
        for (size_t i = 2; i < len; i += 2)
                text[i] = ',';
        text[0] = '[';
        text[len - 1] = ']';
        cr_expect_eq(json_read(&doc, text, len, &fault), -1);
        cr_expect_str_eq(fault.text, "the document has more than 1000000 values");
        json_free(&doc);
        free(text);
}
