/* Holding a task to what the operator allows; see policy.h. */
#include "policy.h"

#include "fd.h"
#include "input.h"
#include "privilege.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MACHINES_POLICY "/etc/assay/operator.json"

int policy_open(struct policy *p, const char *path, struct error *err)
{
        struct stat st;

        p->file = input_open(path ? path : MACHINES_POLICY);
        if (p->file < 0 && !path && errno == ENOENT)
                return 0;
        if (p->file < 0)
                return error_errno(
                        err, CODE_POLICY_INVALID, errno, "%s", path ? path : MACHINES_POLICY);
        if (fstat(p->file, &st) == 0 && S_ISREG(st.st_mode))
                return 0;
        return error_set(
                err, CODE_POLICY_INVALID, "%s: not a regular file", path ? path : MACHINES_POLICY);
}

bool policy_is_there(const struct policy *p)
{
        return p->file >= 0;
}

bool policy_allows_host(const struct policy *p)
{
        return !policy_is_there(p) || p->host_image;
}

/* --- reading -------------------------------------------------------------------------------- */

static void take_ceiling(struct policy *p, struct reader *r)
{
        const unsigned kind = get_u8(r), limit = get_u8(r);
        const uint64_t value = get_u64(r);

        if (kind >= CELL_KIND_COUNT || limit >= LIMIT_COUNT) {
                r->bad = true;
                return;
        }
        p->ceilings[kind][limit].given = true;
        p->ceilings[kind][limit].value = value;
}

static void take_judge(struct policy *p, struct reader *r)
{
        if (p->judge_count == SCORE_MAX_JUDGES) {
                r->bad = true;
                return;
        }
        p->judges[p->judge_count].name = scorer_text(r, SCORE_MAX_NAME);
        p->judges[p->judge_count].command = texts_take(r, CELL_MAX_ARGUMENTS);
        r->bad |= !p->judges[p->judge_count].command || !*p->judges[p->judge_count].command;
        p->judge_count++;
}

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct policy *p = to;

        switch (type) {
        case POLICY_PERMITS:
                p->network = get_u8(r);
                p->host_image = get_u8(r);
                p->pull = get_u8(r);
                break;
        case POLICY_CEILING:
                take_ceiling(p, r);
                break;
        case POLICY_SUBMISSION:
                p->total_memory = get_u64(r);
                p->max_entries = get_u64(r);
                p->max_unpacked = get_u64(r);
                p->max_archive = get_u64(r);
                break;
        case POLICY_JUDGE:
                take_judge(p, r);
                break;
        default:
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        }
        return 0;
}

/* --- holding a task to it ------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int object(
        struct task *t, const char *key, const char *format, ...)
{
        char text[512];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        return task_add_problem(t, key, text, NULL);
}

static int hold_limit(const struct policy *p, struct task *t, enum cell_kind kind, enum limit limit)
{
        static const char *const prefixes[CELL_KIND_COUNT] = {"limits", "submission.limits"};
        const uint64_t most = p->ceilings[kind][limit].value;
        uint64_t *value = &t->limits[kind].value[limit];
        char key[64], wanted[32], allowed[32];

        if (!p->ceilings[kind][limit].given || *value <= most)
                return 0;
        snprintf(key, sizeof key, "%s.%s", prefixes[kind], limit_info(limit)->name);
        if (!task_gives(t, key)) {
                *value = most;
                return 0;
        }
        limit_format(limit, *value, wanted, sizeof wanted);
        limit_format(limit, most, allowed, sizeof allowed);
        return object(t, key, "is %s; the operator allows at most %s", wanted, allowed);
}

/* The processor time that nobody gave follows from the others, once these are settled. */
static int hold_limits(const struct policy *p, struct task *t)
{
        int r = 0;

        if (!task_gives(t, "limits.cpu"))
                t->limits[CELL_SUITE].value[LIMIT_CPU] = 0;
        for (unsigned kind = 0; kind < CELL_KIND_COUNT; kind++)
                for (unsigned i = 0; i < LIMIT_COUNT; i++)
                        if (i != LIMIT_CPU && r == 0)
                                r = hold_limit(p, t, (enum cell_kind)kind, (enum limit)i);
        for (unsigned kind = 0; kind < CELL_KIND_COUNT && r == 0; kind++) {
                limits_settle(&t->limits[kind]);
                r = hold_limit(p, t, (enum cell_kind)kind, LIMIT_CPU);
        }
        return r;
}

static int hold_number(struct task *t, const char *key, uint64_t *value, uint64_t most, bool bytes)
{
        char wanted[32], allowed[32];

        if (most == 0 || *value <= most)
                return 0;
        if (!task_gives(t, key)) {
                *value = most;
                return 0;
        }
        limit_format(bytes ? LIMIT_MEMORY : LIMIT_PIDS, *value, wanted, sizeof wanted);
        limit_format(bytes ? LIMIT_MEMORY : LIMIT_PIDS, most, allowed, sizeof allowed);
        return object(t, key, "is %s; the operator allows at most %s", wanted, allowed);
}

static int hold_numbers(const struct policy *p, struct task *t)
{
        if (!task_gives(t, "limits.total_memory"))
                t->total_memory = 2 * t->limits[CELL_SUITE].value[LIMIT_MEMORY];
        return hold_number(t, "limits.total_memory", &t->total_memory, p->total_memory, true) < 0 ||
                               hold_number(t, "submission.max_entries", &t->max_entries,
                                       p->max_entries, false) < 0 ||
                               hold_number(t, "submission.max_unpacked", &t->max_unpacked,
                                       p->max_unpacked, true) < 0 ||
                               hold_number(t, "submission.max_archive", &t->max_archive,
                                       p->max_archive, true) < 0
                       ? -1
                       : 0;
}

/* A case's own time is not among the limits that its task gives. */
static int hold_case(const struct policy *p, struct task *t, const struct task_case *c)
{
        const uint64_t wanted[LIMIT_COUNT] = {
                [LIMIT_WALL] = task_case_wall(c), [LIMIT_CPU] = c->timeout_us};
        char allowed[32];

        for (unsigned i = LIMIT_WALL; i <= LIMIT_CPU; i++)
                if (p->ceilings[CELL_SUBMISSION][i].given &&
                        wanted[i] > p->ceilings[CELL_SUBMISSION][i].value) {
                        limit_format((enum limit)i, p->ceilings[CELL_SUBMISSION][i].value, allowed,
                                sizeof allowed);
                        return object(t, "cases",
                                "%s: its timeout needs more %s time than the %s that the operator "
                                "allows",
                                c->name, limit_info((enum limit)i)->name, allowed);
                }
        return 0;
}

static int hold_cases(const struct policy *p, struct task *t)
{
        for (unsigned i = 0; i < t->cases.count; i++)
                for (unsigned n = 0; n < t->cases.groups[i].case_count; n++)
                        if (hold_case(p, t, &t->cases.groups[i].cases[n]) < 0)
                                return -1;
        return 0;
}

static int hold_judge(struct policy *p, struct task *t)
{
        if (t->judge_command[0])
                return object(t, "judge", "is a program; the operator allows its own judges only");
        for (unsigned i = 0; i < p->judge_count; i++)
                if (strcmp(p->judges[i].name, t->judge) == 0) {
                        texts_free(t->judge_command);
                        t->judge_command = p->judges[i].command;
                        p->judges[i].command = NULL;
                        t->judge_of_operator = true;
                        return 0;
                }
        return task_gives(t, "judge")
                       ? object(t, "judge", "the operator has no judge \"%s\"", t->judge)
                       : 0;
}

static int hold_rest(const struct policy *p, struct task *t)
{
        const struct submission_image *own = &t->submission_image;

        if (!p->host_image && strcmp(t->image, "host") == 0 && task_runs_something(t) &&
                object(t, "image", "\"host\" is not allowed by the operator; name an image") < 0)
                return -1;
        if (!p->host_image && own->declared && strcmp(own->name, "host") == 0 &&
                object(t, "submission.image", "\"host\" is not allowed by the operator") < 0)
                return -1;
        if (!p->network && t->network &&
                object(t, "limits.network", "the operator allows no network") < 0)
                return -1;
        return 0;
}

int policy_apply(struct policy *p, struct task *t, struct channel *c, struct error *err)
{
        uint64_t bytes;

        if (!policy_is_there(p))
                return 0;
        if (input_digest(p->file, &bytes, p->sha256, err) < 0 ||
                scorer_ask(c, HELPER_POLICY, p->file, take, p, err) < 0)
                return error_add(err, "the operator's policy");
        if (hold_limits(p, t) < 0 || hold_numbers(p, t) < 0 || hold_cases(p, t) < 0 ||
                hold_judge(p, t) < 0 || hold_rest(p, t) < 0)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return t->problem_count == 0 ? 0
                                     : error_set(err, CODE_TASK_NOT_PERMITTED,
                                               "the task asks for more than the operator allows");
}

void policy_lower(const struct policy *p, enum cell_kind kind, struct limits *l)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                if (p->ceilings[kind][i].given && l->value[i] > p->ceilings[kind][i].value)
                        l->value[i] = p->ceilings[kind][i].value;
}

void policy_free(struct policy *p)
{
        fd_close(p->file);
        for (unsigned i = 0; i < p->judge_count; i++) {
                free(p->judges[i].name);
                texts_free(p->judges[i].command);
        }
        *p = (struct policy)POLICY_INIT;
}

int policy_read_task(
        struct task *t, struct policy *p, const char *path, const char *policy, struct error *err)
{
        struct channel channel = CHANNEL_INIT;
        int r = policy_open(p, policy, err);

        if (r == 0)
                r = task_open(t, path, err);
        if (r == 0)
                r = channel_open(&channel, err);
        if (r == 0)
                r = task_trust(t, &channel, err);
        if (r == 0)
                r = privilege_drop(err);
        if (r == 0)
                r = task_read(t, &channel, NULL, err);
        if (r == 0)
                r = policy_apply(p, t, &channel, err);
        if (r == 0)
                r = task_show(t, &channel, err);
        channel_close(&channel);
        return r;
}
