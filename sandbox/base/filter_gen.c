/* Build tool: compile one system call table and print it as a C array.
 *
 *   filter_gen NAME > filter_NAME.h        (TABLE is the table's header, set by the Makefile)
 *
 * libseccomp knows the numbers of the calls. The program is laid out here, because the kernel walks
 * it once for every number when a cell loads it, and compiles it: a search over ranges of numbers
 * with the same answer is a sixth of what a comparison for each call takes, and so is loading it.
 *
 *   architecture, x32  →  binary search over ranges  →  an answer, or the block of one call that
 *                                                       looks at an argument
 *
 * Conditions compare the low 32 bits of an argument with equality, or with a mask. The tests run
 * the result for every number against the table (tests/unit/test_cell_filter.c). */
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include TABLE

static const struct filter_row rows[] = {FILTER_ROWS};
#define ROWS(list) (sizeof(list) / sizeof(struct filter_row))

#ifdef FILTER_PROFILES
FILTER_PROFILES
#endif

enum { ROWS_EACH = 4, NUMBERS = 1024, MOST = 1024, X32_BIT = 0x40000000 };

#if defined(__x86_64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_AARCH64 };
#endif

/* The program is written from its end, so that every jump goes to what is there already: index 0 is
 * the last instruction, and a jump of 0 leads to the one that was put before. */
static struct sock_filter program[MOST];
static unsigned length;

static void must(bool good, const char *what)
{
        if (!good) {
                fprintf(stderr, "filter_gen: %s\n", what);
                exit(1);
        }
}

/* Each of the following puts something in front and gives its place, to jump to. */
static unsigned put(unsigned code, uint32_t k)
{
        must(length < MOST, "the program is too long");
        program[length] = (struct sock_filter){(uint16_t)code, 0, 0, k};
        return length++;
}

enum { FARTHEST = 255 };

/* A conditional jump reaches no farther; for more a plain one stands in front of the target's
 * neighbours. Two may be needed, so one is left free. */
static unsigned within_reach(unsigned target)
{
        return length - target - 1 < FARTHEST ? target : put(BPF_JMP | BPF_JA, length - target - 1);
}

static unsigned test(unsigned condition, uint32_t k, unsigned if_true, unsigned if_false)
{
        unsigned yes = within_reach(if_true), no = within_reach(if_false);
        unsigned at = put(BPF_JMP | condition | BPF_K, k);

        must(at - yes - 1 <= FARTHEST && at - no - 1 <= FARTHEST, "a jump is too long");
        program[at].jt = (uint8_t)(at - yes - 1);
        program[at].jf = (uint8_t)(at - no - 1);
        return at;
}

/* Many share one answer. */
static unsigned answer(uint32_t action)
{
        for (unsigned at = length; at-- > 0 && length - at <= FARTHEST / 2;)
                if (program[at].code == (BPF_RET | BPF_K) && program[at].k == action)
                        return at;
        return put(BPF_RET | BPF_K, action);
}

/* --- what each number gets ------------------------------------------------------------------ */

/* The rows of one call; most have one. */
struct rule {
        const struct filter_row *rows[ROWS_EACH];
        unsigned count;
};

/* A table's words are libseccomp's actions, which are the kernel's. */
static uint32_t plain_answer(const struct rule *rule)
{
        const struct filter_row *row = rule->rows[0];

        if (rule->count == 0)
                return FILTER_OTHERWISE;
        return row->rule == RULE_DENY ? SECCOMP_RET_ERRNO | row->mask : SECCOMP_RET_ALLOW;
}

static bool is_plain(const struct rule *rule)
{
        return rule->count == 0 || rule->rows[0]->rule == RULE_ALLOW ||
               rule->rows[0]->rule == RULE_DENY;
}

struct range {
        uint32_t first;
        const struct rule *rule; /* plain: the whole range has one answer */
};

static unsigned find_ranges(const struct rule *by_number, struct range *ranges)
{
        unsigned count = 0;

        for (uint32_t n = 0; n <= NUMBERS; n++) {
                const struct rule *before = count > 0 ? ranges[count - 1].rule : NULL;

                if (before && is_plain(&by_number[n]) && is_plain(before) &&
                        plain_answer(before) == plain_answer(&by_number[n]))
                        continue;
                ranges[count++] = (struct range){n, &by_number[n]};
        }
        return count;
}

/* --- laying it out -------------------------------------------------------------------------- */

/* In front of the test that was put last. */
static unsigned load_argument(unsigned argument)
{
        return put(BPF_LD | BPF_W | BPF_ABS,
                (uint32_t)offsetof(struct seccomp_data, args) + argument * 8);
}

/* Is the argument one of the row's values? */
static unsigned compare(const struct filter_row *row, unsigned if_one, unsigned if_none)
{
        must(row->value_count > 0, row->call);
        for (unsigned i = row->value_count; i-- > 0;)
                if_none = test(BPF_JEQ, row->values[i], if_one, if_none);
        return if_none;
}

/* What the row forbids is denied; what it does not goes on at `next`. */
static unsigned put_condition(const struct filter_row *row, unsigned next)
{
        unsigned deny = answer(SECCOMP_RET_ERRNO | EPERM), second;

        switch (row->rule) {
        case RULE_ALLOW_ZERO:
                test(BPF_JSET, row->mask, deny, next);
                break;
        case RULE_ALLOW_VALUES:
                compare(row, next, deny);
                break;
        case RULE_DENY_VALUES:
                compare(row, deny, next);
                break;
        case RULE_DENY_MASKS:
                test(BPF_JSET, row->second_mask, deny, next);
                second = load_argument(row->second);
                test(BPF_JSET, row->mask, second, next);
                break;
        case RULE_DENY_PAIR:
                compare(row, deny, next);
                second = load_argument(row->second);
                test(BPF_JEQ, row->mask, second, next);
                break;
        default:
                must(false, row->call);
        }
        return load_argument(row->argument);
}

static unsigned put_rule(const struct rule *rule)
{
        unsigned next = answer(is_plain(rule) ? plain_answer(rule) : SECCOMP_RET_ALLOW);

        for (unsigned i = is_plain(rule) ? 0 : rule->count; i-- > 0;)
                next = put_condition(rule->rows[i], next);
        return next;
}

/* The accumulator holds the number, which is in one of these ranges. */
static unsigned put_search(const struct range *ranges, unsigned count)
{
        unsigned half = count / 2, above, below;

        if (count == 1)
                return put_rule(ranges[0].rule);
        above = put_search(ranges + half, count - half);
        below = put_search(ranges, half);
        return test(BPF_JGE, ranges[half].first, above, below);
}

static void compile(const struct rule *by_number)
{
        struct range ranges[NUMBERS + 1] = {0};
        unsigned count = find_ranges(by_number, ranges), number;

        number = put_search(ranges, count);
        number = test(BPF_JGE, X32_BIT, answer(SECCOMP_RET_KILL_PROCESS), number);
        /* -1 is no number at all: a tracer's mark, and what a skipped call leaves. */
        test(BPF_JEQ, UINT32_MAX, answer(FILTER_OTHERWISE), number);
        number = put(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        test(BPF_JEQ, (uint32_t)ARCHITECTURE, number, answer(SECCOMP_RET_KILL_PROCESS));
        put(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
}

/* Rows by number; those of a profile replace the table's own. */
static void sort_rows(
        struct rule *by_number, const struct filter_row *list, size_t count, bool replace)
{
        for (size_t i = 0; i < count; i++) {
                int number = seccomp_syscall_resolve_name(list[i].call);
                struct rule *rule = &by_number[number < 0 ? 0 : number];

                if (number < 0)
                        continue; /* another architecture's, or newer than this libseccomp */
                must(number < NUMBERS && (rule->count > 0) >= replace, list[i].call);
                if (replace)
                        rule->count = 0;
                must(rule->count < ROWS_EACH, list[i].call);
                rule->rows[rule->count++] = &list[i];
                must(rule->count == 1 || !is_plain(rule), list[i].call);
        }
}

static void print_program(
        const char *table, const char *profile, const struct filter_row *list, size_t count)
{
        struct rule by_number[NUMBERS + 1] = {0};

        length = 0;
        sort_rows(by_number, rows, ROWS(rows), false);
        sort_rows(by_number, list, count, true);
        compile(by_number);
        printf("static const struct sock_filter filter_%s%s%s[] = {\n", table, *profile ? "_" : "",
                profile);
        for (unsigned i = length; i-- > 0;)
                printf("        {0x%04x, %u, %u, 0x%08x},\n", program[i].code, program[i].jt,
                        program[i].jf, program[i].k);
        printf("};\n\n");
}

#ifdef FILTER_PROFILES
/* For people who ask what was denied: the table's row of a number, or just its name. */
static void print_calls(const char *table)
{
        struct rule by_number[NUMBERS + 1] = {0};

        sort_rows(by_number, rows, ROWS(rows), false);
        printf("static const struct filter_call filter_%s_calls[] = {\n", table);
        for (int n = 0; n < NUMBERS; n++) {
                const struct filter_row *row = by_number[n].rows[0];
                char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, n);

                if (name)
                        printf("        [%d] = {\"%s\", %u, \"%s\"},\n", n, name,
                                !row                     ? ENOSYS
                                : row->rule == RULE_DENY ? row->mask
                                                         : EPERM,
                                row ? row->why : "");
                free(name);
        }
        printf("};\n");
}

#endif

int main(int argc, char **argv)
{
        if (argc != 2)
                return 2;
        printf("/* Made by sandbox/base/filter_gen.c; do not edit. */\n"
               "#include \"filter.h\"\n\n#include <linux/filter.h>\n\n");
#ifdef FILTER_PROFILES
        for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
                print_program(argv[1], profiles[i].name, profiles[i].rows, profiles[i].count);
        print_calls(argv[1]);
#else
        print_program(argv[1], "", NULL, 0);
#endif
        return fflush(stdout) == 0 ? 0 : 1;
}
