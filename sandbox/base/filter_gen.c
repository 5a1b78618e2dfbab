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

enum { ROWS_EACH = 4, NUMBERS = 1024, MOST = 4096, X32_BIT = 0x40000000 };

#if defined(__x86_64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_AARCH64 };
#endif

static struct sock_filter program[MOST];
static unsigned length;

static void must(bool good, const char *what)
{
        if (!good) {
                fprintf(stderr, "filter_gen: %s\n", what);
                exit(1);
        }
}

static unsigned emit(unsigned code, unsigned jump_true, unsigned jump_false, uint32_t k)
{
        must(length < MOST && jump_true < 256 && jump_false < 256, "the program is too long");
        program[length] =
                (struct sock_filter){(uint16_t)code, (uint8_t)jump_true, (uint8_t)jump_false, k};
        return length++;
}

static unsigned answer(uint32_t action)
{
        return emit(BPF_RET | BPF_K, 0, 0, action);
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

static void load_argument(unsigned argument)
{
        emit(BPF_LD | BPF_W | BPF_ABS, 0, 0,
                (uint32_t)offsetof(struct seccomp_data, args) + argument * 8);
}

/* Deny when the test is true, else go on. */
static void deny_if(unsigned test, uint32_t k)
{
        emit(BPF_JMP | test | BPF_K, 0, 1, k);
        answer(SECCOMP_RET_ERRNO | EPERM);
}

/* What the row forbids is denied; what it does not goes on behind. */
static void emit_condition(const struct filter_row *row)
{
        load_argument(row->argument);
        switch (row->rule) {
        case RULE_ALLOW_ZERO:
                deny_if(BPF_JSET, row->mask);
                break;
        case RULE_ALLOW_VALUES:
                for (unsigned i = 0; i < row->value_count; i++)
                        emit(BPF_JMP | BPF_JEQ | BPF_K, row->value_count - i, 0, row->values[i]);
                answer(SECCOMP_RET_ERRNO | EPERM);
                break;
        case RULE_DENY_VALUES:
                for (unsigned i = 0; i < row->value_count; i++)
                        deny_if(BPF_JEQ, row->values[i]);
                break;
        case RULE_DENY_MASKS:
                emit(BPF_JMP | BPF_JSET | BPF_K, 0, 3, row->mask);
                load_argument(row->second);
                deny_if(BPF_JSET, row->second_mask);
                break;
        case RULE_DENY_PAIR:
                emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1 + 2 * row->value_count, row->mask);
                load_argument(row->second);
                for (unsigned i = 0; i < row->value_count; i++)
                        deny_if(BPF_JEQ, row->values[i]);
                break;
        default:
                must(false, row->call);
        }
}

static void emit_rule(const struct rule *rule)
{
        if (is_plain(rule)) {
                answer(plain_answer(rule));
                return;
        }
        for (unsigned i = 0; i < rule->count; i++)
                emit_condition(rule->rows[i]);
        answer(SECCOMP_RET_ALLOW);
}

/* The accumulator holds the number, which is in one of these ranges. */
static void emit_search(const struct range *ranges, unsigned count)
{
        unsigned half = count / 2, jump;

        if (count == 1) {
                emit_rule(ranges[0].rule);
                return;
        }
        jump = emit(BPF_JMP | BPF_JGE | BPF_K, 0, 0, ranges[half].first);
        emit_search(ranges, half);
        if (length - jump - 1 < 256) {
                program[jump].jt = (uint8_t)(length - jump - 1);
        } else {
                /* Too far for a conditional jump: a long one stands behind it. */
                must(length + 1 < MOST, "the program is too long");
                memmove(&program[jump + 2], &program[jump + 1],
                        (length - jump - 1) * sizeof *program);
                length++;
                program[jump].jf = 1;
                program[jump + 1] = (struct sock_filter){BPF_JMP | BPF_JA, 0, 0, length - jump - 2};
        }
        emit_search(ranges + half, count - half);
}

static void compile(const struct rule *by_number)
{
        struct range ranges[NUMBERS + 1] = {0};
        unsigned count = find_ranges(by_number, ranges);

        emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
        emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)ARCHITECTURE);
        answer(SECCOMP_RET_KILL_PROCESS);
        emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
        /* -1 is no number at all: a tracer's mark, and what a skipped call leaves. */
        emit(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, UINT32_MAX);
        emit(BPF_JMP | BPF_JGE | BPF_K, 0, 2, X32_BIT);
        answer(SECCOMP_RET_KILL_PROCESS);
        answer(FILTER_OTHERWISE);
        emit_search(ranges, count);
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
        for (unsigned i = 0; i < length; i++)
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
