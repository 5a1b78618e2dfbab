/* assay match rate: what a match does to a rating. */
#include "match.h"

#include "evaluators/rating.h"
#include "fd.h"
#include "scoring.h"

enum { MOST_RATING = 100000, MOST_MATCHES = 1000000000 };

static int take_amount(
        const char *option, const char *text, uint32_t most, uint32_t *ret, struct error *err)
{
        unsigned long value;

        if (!text || strspn(text, "0123456789") != strlen(text) || !*text || strlen(text) > 9)
                return error_set(err, CODE_USAGE, "match rate: %s needs a whole number", option);
        value = strtoul(text, NULL, 10);
        if (value > most)
                return error_set(err, CODE_USAGE, "%s %s: above %u", option, text, most);
        *ret = (uint32_t)value;
        return 0;
}

static int take_opponent(const char *text, uint32_t *ret, struct error *err)
{
        for (size_t i = 0; text && i < RATING_OPPONENTS; i++)
                if (strcmp(rating_opponents[i].name, text) == 0) {
                        *ret = (uint32_t)rating_opponents[i].rating;
                        return 0;
                }
        return take_amount("--opponent", text, MOST_RATING, ret, err);
}

static int take_result(const char *text, uint8_t *ret, struct error *err)
{
        static const char *const names[] = {"win", "draw", "loss"};

        for (uint8_t i = 0; text && i < 3; i++)
                if (strcmp(names[i], text) == 0) {
                        *ret = i;
                        return 0;
                }
        return error_set(err, CODE_USAGE, "match rate: --result needs win, draw or loss");
}

struct answer {
        uint32_t after;
        bool present;
};

static int take_rating(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct answer *a = to;

        if (type != RATING || a->present)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        a->after = get_u32(r);
        a->present = true;
        r->bad |= a->after > 2 * MOST_RATING;
        return 0;
}

int match_rate(const struct match_options *o, char **words, struct error *err)
{
        _cleanup_buffer_ struct buffer options = BUFFER_INIT;
        struct scoring s = {.file_count = 0};
        struct answer a = {0};
        uint32_t own = 0, opponent = 0, matches = 0;
        uint8_t result = 0;
        int r;

        (void)words;
        if (take_amount("--own", o->own, MOST_RATING, &own, err) < 0 ||
                take_opponent(o->opponent, &opponent, err) < 0 ||
                take_result(o->result, &result, err) < 0 ||
                take_amount("--matches", o->matches, MOST_MATCHES, &matches, err) < 0)
                return -1;
        put_u32(&options, own);
        put_u32(&options, opponent);
        put_u8(&options, result);
        put_u32(&options, matches);
        put_u8(&options, o->verified);
        put_u8(&options, o->verified && o->memoryless && o->first_attempt);
        r = scoring_open(&s, err);
        if (r == 0)
                r = scoring_ask(&s, HELPER_RATE, REQUEST_RATE, &options, take_rating, &a, err);
        scoring_close(&s);
        if (r < 0)
                return -1;
        if (o->common.json)
                printf("{\"elo_before\": %u, \"elo_after\": %u, \"elo_change\": %d}\n", own,
                        a.after, (int)a.after - (int)own);
        else if (!o->common.quiet)
                printf("%u %+d = %u\n", own, (int)a.after - (int)own, a.after);
        return 0;
}
