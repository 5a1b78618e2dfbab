/* assay leaderboard URL: the agents of a store, by the best score of each. */
#include "verbs.h"

#include "fd.h"
#include "match.h"
#include "report/csv.h"
#include "text.h"

#include <unistd.h>

struct leaderboard {
        struct common_options common;
        const char *task;
        bool csv;
        uint64_t rank;
        struct buffer out;
        struct json_writer w;
};

enum { ENOUGH_TO_WRITE = 64 << 10 };

#define X(table, column, kind, name, who) {table##_##column, name, SHOW_AS_IT_IS},
static const struct store_column columns[LEADER_COLUMNS] = {STORE_LEADER_COLUMNS(X)};
#undef X

static int flush(struct leaderboard *l, struct error *err)
{
        int r = 0;

        if (!buffer_ok(&l->out))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory for the report");
        if (l->common.json || !l->common.quiet)
                r = fd_write_all(STDOUT_FILENO, l->out.data, l->out.len);
        buffer_clear(&l->out);
        return r == 0 ? 0 : error_errno(err, CODE_INFRA_IO, errno, "cannot write the report");
}

/* --- the three forms ------------------------------------------------------------------------ */

static void add_json(struct leaderboard *l, const struct store_values *v)
{
        struct store_column shown[LEADER_COLUMNS];

        memcpy(shown, columns, sizeof shown);
        shown[LEADER_SCORE].how = SHOW_DECIMAL;
        json_open_object(&l->w, NULL);
        json_number(&l->w, "rank", l->rank);
        store_values_json(v, shown, LEADER_COLUMNS, &l->w);
        json_close(&l->w);
}

static void add_csv(struct leaderboard *l, const struct store_values *v)
{
        char number[32];

        snprintf(number, sizeof number, "%llu", (unsigned long long)l->rank);
        csv_cell(&l->out, number, ",");
        for (unsigned i = 0; i < LEADER_COLUMNS; i++)
                csv_cell(&l->out, store_value_text(v, i, number),
                        i + 1 < LEADER_COLUMNS ? "," : "\r\n");
}

static void add_csv_head(struct leaderboard *l)
{
        csv_cell(&l->out, "rank", ",");
        for (unsigned i = 0; i < LEADER_COLUMNS; i++)
                csv_cell(&l->out, columns[i].key, i + 1 < LEADER_COLUMNS ? "," : "\r\n");
}

/* For a terminal; "-" where there is nothing. */
static void add_padded(
        struct leaderboard *l, const struct store_values *v, unsigned column, int width)
{
        char number[32], escaped[400];
        const char *text = store_value_text(v, column, number);

        text_escape(escaped, sizeof escaped, *text ? text : "-", *text ? strlen(text) : 1);
        buffer_add_format(&l->out, "  %*s", width, escaped);
}

static void add_line(struct leaderboard *l, const struct store_values *v)
{
        buffer_add_format(&l->out, "%5llu", (unsigned long long)l->rank);
        add_padded(l, v, LEADER_SCORE, 8);
        add_padded(l, v, LEADER_SCALE, 5);
        add_padded(l, v, LEADER_ELO, 6);
        add_padded(l, v, LEADER_MATCHES, 7);
        add_padded(l, v, LEADER_STREAK, 6);
        add_padded(l, v, LEADER_COMPLETED, -24);
        add_padded(l, v, LEADER_AGENT, 0);
        add_padded(l, v, LEADER_TASK, 0);
        buffer_add_char(&l->out, '\n');
}

static int take(void *to, const struct store_values *v, struct error *err)
{
        struct leaderboard *l = to;

        l->rank++;
        if (l->common.json)
                add_json(l, v);
        else if (l->csv)
                add_csv(l, v);
        else
                add_line(l, v);
        return l->out.len > ENOUGH_TO_WRITE ? flush(l, err) : 0;
}

static void add_head(struct leaderboard *l)
{
        if (l->common.json) {
                json_open_object(&l->w, NULL);
                json_open_array(&l->w, "leaderboard");
        } else if (l->csv)
                add_csv_head(l);
        else
                buffer_add_format(&l->out, "%5s  %8s  %5s  %6s  %7s  %6s  %-24s  %s  %s\n", "rank",
                        "score", "scale", "rating", "matches", "streak", "when", "agent", "task");
}

static int run(struct leaderboard *l, const char *url, struct error *err)
{
        l->w.out = &l->out;
        add_head(l);
        if (match_end_overdue(url, err) < 0 ||
                match_each(url, MATCH_LEADERS, l->task ? l->task : "", LEADER_COLUMNS, take, l,
                        err) < 0)
                return -1;
        if (l->common.json) {
                json_close(&l->w);
                json_close(&l->w);
                buffer_add_char(&l->out, '\n');
        }
        return flush(l, err);
}

int verb_leaderboard(int argc, char **argv, struct error *err)
{
        struct leaderboard l = {.out = BUFFER_INIT};
        const struct option table[] = {
                {"--task", OPTION_TEXT, &l.task, "NAME", "of that task alone"},
                {"--csv", OPTION_FLAG, &l.csv, NULL, "as comma-separated values"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &l.common, argc, argv, err);
        int r;

        if (rest < 0)
                return -1;
        if (l.common.help)
                return options_help("leaderboard URL [--task NAME]",
                        "The agents of a store (assay run --store, assay match), by the best score "
                        "of each;\nof equal ones the earlier is first. Of several tasks it counts "
                        "how much of the full\nscore it is.\n\n"
                        "exit status: 0, 2 usage, 4 the store cannot be read",
                        table, sizeof table / sizeof *table);
        if (rest != 1 || (l.csv && l.common.json))
                return error_set(err, CODE_USAGE,
                        "leaderboard: needs a store, and --csv or --json, not both");
        if (l.task && match_check_name("--task", l.task, err) < 0)
                return -1;
        r = run(&l, argv[0], err);
        buffer_free(&l.out);
        return r;
}
