/* The score of cases; see cases.h and messages.h. */
#include "evaluators/schemes/cases.h"

#include "evaluators/answer.h"
#include "evaluators/number.h"
#include "evaluators/schemes/blend.h"

struct group {
        bool open;
        char name[SCORE_MAX_NAME + 1];
        bool has_points;
        unsigned aggregate;
        mpq_t points;      /* of the group, if it has some of its own */
        mpq_t sum, earned; /* of its cases */
        mpq_t least;       /* part of one of them */
        bool all;          /* earned their whole points */
};

struct total {
        mpq_t points, earned;
        struct buffer rows; /* RESULT_BREAKDOWN */
};

static int malformed(struct error *err)
{
        return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
}

/* What part of the group's points was earned. Where no case has points, all must have passed. */
static void find_part(const struct group *g, mpq_t ret)
{
        if (g->aggregate == AGGREGATE_MIN)
                mpq_set(ret, g->least);
        else if (g->aggregate == AGGREGATE_ALL || mpq_sgn(g->sum) == 0)
                mpq_set_ui(ret, g->all, 1);
        else
                mpq_div(ret, g->earned, g->sum);
}

static void put_row(struct buffer *out, const char *name, const mpq_t part)
{
        mpq_t hundred;
        size_t at;

        if (!*name)
                return;
        mpq_init(hundred);
        mpq_set_ui(hundred, 100, 1);
        mpq_mul(hundred, hundred, part);
        at = answer_begin(out, RESULT_BREAKDOWN);
        put_text(out, name);
        put_rounded(out, hundred, 2);
        answer_end(out, at);
        mpq_clear(hundred);
}

static void end_group(struct group *g, struct total *t)
{
        mpq_t part;

        if (!g->open)
                return;
        mpq_init(part);
        find_part(g, part);
        put_row(&t->rows, g->name, part);
        if (!g->has_points)
                mpq_set(g->points, g->sum);
        mpq_add(t->points, t->points, g->points);
        mpq_mul(part, part, g->points);
        mpq_add(t->earned, t->earned, part);
        mpq_clear(part);
}

static bool begin_group(struct group *g, struct reader *r)
{
        char points[SCORE_MAX_NAME];

        get_text(r, g->name, sizeof g->name);
        get_text(r, points, sizeof points);
        g->aggregate = get_u8(r);
        g->has_points = *points;
        g->open = g->all = true;
        mpq_set_ui(g->sum, 0, 1);
        mpq_set_ui(g->earned, 0, 1);
        mpq_set_ui(g->least, 1, 1);
        return reader_done(r) && g->aggregate < AGGREGATE_COUNT &&
               (!g->has_points || number_parse_plain(g->points, points) == 0) &&
               mpq_sgn(g->points) >= 0;
}

static bool add_case(struct group *g, struct reader *r)
{
        char points[SCORE_MAX_NAME], earned[SCORE_MAX_NAME];
        mpq_t worth, part;
        bool good;

        get_text(r, points, sizeof points);
        get_text(r, earned, sizeof earned);
        mpq_inits(worth, part, NULL);
        good = reader_done(r) && g->open && number_parse_plain(worth, points) == 0 &&
               number_parse_plain(part, earned) == 0 && mpq_sgn(worth) >= 0 && mpq_sgn(part) >= 0 &&
               mpq_cmp_ui(part, 1, 1) <= 0;
        if (good) {
                g->all = g->all && mpq_cmp_ui(part, 1, 1) == 0;
                if (mpq_cmp(part, g->least) < 0)
                        mpq_set(g->least, part);
                mpq_add(g->sum, g->sum, worth);
                mpq_mul(worth, worth, part);
                mpq_add(g->earned, g->earned, worth);
        }
        mpq_clears(worth, part, NULL);
        return good;
}

static int read_request(
        const struct buffer *in, struct group *g, struct total *t, struct error *err)
{
        struct reader r = reader_of(in->data, in->len), payload;
        uint16_t type = 0;

        while (type != SCORE_END && answer_next(&r, &type, &payload)) {
                bool good = type == SCORE_END;

                if (type == CASES_GROUP || type == SCORE_END)
                        end_group(g, t);
                if (type == CASES_GROUP)
                        good = begin_group(g, &payload);
                else if (type == CASES_CASE)
                        good = add_case(g, &payload);
                if (!good)
                        return malformed(err);
        }
        return type == SCORE_END && reader_done(&r) ? 0 : malformed(err);
}

static int put_answer(struct total *t, struct buffer *out, struct error *err)
{
        size_t at;
        mpq_t score;

        if (mpq_sgn(t->points) == 0)
                return error_set(err, CODE_TASK_INVALID, "no case is worth any point");
        mpq_init(score);
        mpq_set_ui(score, 100, 1);
        mpq_mul(score, score, t->earned);
        mpq_div(score, score, t->points);
        at = answer_begin(out, RESULT_SCORE);
        put_exact(out, score);
        put_u8(out, SUITE_DID_NOT_SAY);
        put_u8(out, false);
        put_text(out, "");
        answer_end(out, at);
        mpq_clear(score);
        buffer_add(out, t->rows.data, t->rows.len);
        out->failed |= t->rows.failed;
        return 0;
}

int cases_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        struct total t = {.rows = BUFFER_INIT};
        struct group g = {.open = false};
        int r;

        mpq_inits(t.points, t.earned, g.points, g.sum, g.earned, g.least, NULL);
        r = read_request(in, &g, &t, err);
        if (r == 0)
                r = put_answer(&t, out, err);
        mpq_clears(t.points, t.earned, g.points, g.sum, g.earned, g.least, NULL);
        buffer_free(&t.rows);
        return r;
}
