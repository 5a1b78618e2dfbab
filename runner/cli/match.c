/* assay match: matches of agents, and what they do to ratings (docs/match.md). */
#include "verbs.h"

#include "match.h"

static const struct action {
        const char *name;
        int words;                      /* behind its name */
        bool of_store, of_agent, names; /* the last: its first word is a name or an id */
        int (*run)(const struct match_options *o, char **words, struct error *err);
        const char *needs;
} actions[] = {
        {"start", 1, true, true, false, match_start, "TASK --agent NAME --store URL"},
        {"submit", 2, true, true, true, match_submit, "ID ANSWER --agent NAME --store URL"},
        {"show", 1, true, false, true, match_show, "ID --store URL"},
        {"list", 0, true, false, false, match_list, "--store URL"},
        {"history", 1, true, false, true, match_history, "AGENT --store URL"},
        {"harness", 1, true, false, true, match_harness, "NAME --store URL"},
        {"rate", 0, false, false, false, match_rate, "--own, --opponent, --result and --matches"},
};

static const struct action *find(const char *name)
{
        for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
                if (strcmp(actions[i].name, name) == 0)
                        return &actions[i];
        return NULL;
}

static int check(const struct action *a, int rest, char **words, const struct match_options *o,
        struct error *err)
{
        if (rest != a->words + 1 || (a->of_store && !o->store) || (a->of_agent && !o->agent))
                return error_set(err, CODE_USAGE, "match %s: needs %s", a->name, a->needs);
        if ((a->names && match_check_name("match", words[0], err) < 0) ||
                (o->harness && match_check_name("--harness", o->harness, err) < 0))
                return -1;
        return o->agent ? store_check_agent(o->agent, err) : 0;
}

int verb_match(int argc, char **argv, struct error *err)
{
        struct match_options o = {0};
        const struct option table[] = {
                {"--store", OPTION_TEXT, &o.store, "URL", "where matches are: sqlite:PATH"},
                {"--agent", OPTION_TEXT, &o.agent, "NAME", "start, submit, list: whose"},
                {"--harness", OPTION_TEXT, &o.harness, "NAME",
                        "start, submit: what the agent runs in"},
                {"--memoryless", OPTION_FLAG, &o.memoryless, NULL,
                        "start, rate: the agent knows nothing of earlier matches"},
                {"--task", OPTION_TEXT, &o.task, "TASK",
                        "submit: where the task is now, if not where it was"},
                {"--trajectory", OPTION_TEXT, &o.evaluation.trajectory, "FILE",
                        "submit: what the agent did, as JSON lines"},
                {"--trajectory-hmac", OPTION_TEXT, &o.signature, "HEX|FILE",
                        "submit: its HMAC-SHA256 by the harness's key"},
                {"--llm-score", OPTION_TEXT, &o.evaluation.llm_score, "N|FILE",
                        "submit: the external score: a number, or a verdict as JSON"},
                {"--policy", OPTION_TEXT, &o.evaluation.policy, "FILE",
                        "start, submit: what the operator allows"},
                {"--allow-network", OPTION_FLAG, &o.evaluation.allow_network, NULL,
                        "submit: give a task's suite the network that the task asks for"},
                {"--allow-weak-limits", OPTION_FLAG, &o.evaluation.allow_weak, NULL,
                        "submit: run where limits can only be polled for"},
                {"--key", OPTION_TEXT, &o.key, "FILE",
                        "harness: it signs trajectories with this key, 64 digits"},
                {"--own", OPTION_TEXT, &o.own, "RATING", "rate: before the match"},
                {"--opponent", OPTION_TEXT, &o.opponent, "RATING",
                        "rate: a number, or newcomer, contender, veteran, legendary"},
                {"--result", OPTION_TEXT, &o.result, "RESULT", "rate: win, draw or loss"},
                {"--matches", OPTION_TEXT, &o.matches, "N", "rate: rated before this one"},
                {"--verified", OPTION_FLAG, &o.verified, NULL,
                        "rate: by a valid trajectory, 1.1 times what is won"},
                {"--first-attempt", OPTION_FLAG, &o.first_attempt, NULL,
                        "rate: at this task; with the two others 1.2 times"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);
        const struct action *a;

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help(
                        "match start TASK --agent NAME --store URL\n"
                        "       assay match submit ID ANSWER --agent NAME --store URL\n"
                        "       assay match show ID | list | history AGENT --store URL\n"
                        "       assay match harness NAME [--key FILE] --store URL\n"
                        "       assay match rate OPTIONS",
                        "An agent has a task for some time, hands in one answer, and wins, draws "
                        "or loses\nagainst a rating.\n\n"
                        "exit status: 0 won, 1 drew or lost, 2 usage or task, 3 answer rejected, "
                        "4 no score,\n5 pending, 6 refused: not the owner, expired, ended",
                        table, sizeof table / sizeof *table);
        a = rest > 0 ? find(argv[0]) : NULL;
        if (!a)
                return error_set(err, CODE_USAGE,
                        "match: needs start, submit, show, list, history, harness or rate");
        return check(a, rest, argv + 1, &o, err) < 0 ? -1 : a->run(&o, argv + 1, err);
}
