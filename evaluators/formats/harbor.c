/* reward.json or reward.txt of Harbor's verifiers: a number from 0 to 1, in JSON under result.key,
 * else "reward", else the only key. Where both files are there, they must agree. */
#include "evaluators/formats/json_result.h"

static int read_text(const struct buffer *text, char ret[NUMBER_TEXT_SIZE], struct error *err)
{
        static const char space[] = " \t\r\n";
        const char *start = buffer_text(text);
        struct decimal d;
        size_t len;

        start += strspn(start, space);
        len = strlen(start);
        while (len > 0 && strchr(space, start[len - 1]))
                len--;
        if (strlen(buffer_text(text)) != text->len || len >= NUMBER_TEXT_SIZE ||
                decimal_scan(start, len, &d) || d.length != len)
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "reward.txt: line 1, column 1: must be one number and nothing else");
        snprintf(ret, NUMBER_TEXT_SIZE, "%.*s", (int)len, start);
        return 0;
}

static int compare(const char *json, const char *text, struct error *err)
{
        mpq_t left, right;
        int r = 0;

        mpq_inits(left, right, NULL);
        number_parse(left, json);
        number_parse(right, text);
        if (!mpq_equal(left, right))
                r = error_set(err, CODE_SUITE_RESULT_INVALID,
                        "reward.json says %s, reward.txt says %s", json, text);
        mpq_clears(left, right, NULL);
        return r;
}

int harbor_read(const struct result_request *q, struct outcome *ret, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT;
        static const struct result_request from_0_to_1 = {0};
        char json[NUMBER_TEXT_SIZE], text[NUMBER_TEXT_SIZE];
        const char *reward = q->file ? json : text;

        if (!q->file && !q->text)
                return error_set(
                        err, CODE_SUITE_NO_RESULT, "there is neither reward.json nor reward.txt");
        if (q->file && result_json_number(&doc, q->file, q->key, "reward", json, err) < 0)
                return error_add(err, "reward.json");
        if (q->text && read_text(q->text, text, err) < 0)
                return -1;
        if (q->file && q->text && compare(json, text, err) < 0)
                return -1;
        if (!number_between(reward, 0, 1))
                return error_set(err, CODE_SUITE_RESULT_INVALID,
                        "a reward must be a number from 0 to 1, not %s", reward);
        return result_scale(ret, &from_0_to_1, reward, 1, err);
}
