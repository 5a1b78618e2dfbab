/* The compiled system call filter of a cell against its table: an interpreter runs the program for
 * every number, with garbage above 32-bit arguments. */
#include "filter.h"
#include "filter_sandbox.h"

#include "sandbox/filter_table.h"

#include <criterion/criterion.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>

static const struct filter_row rows[] = {FILTER_ROWS};
FILTER_PROFILES
enum {
        ROWS = sizeof rows / sizeof *rows,
        NUMBERS = 1024,
        PROFILES = sizeof profiles / sizeof *profiles
};

static const struct {
        const struct sock_filter *program;
        size_t length;
} compiled[PROFILES] = {
        {filter_sandbox_suite, sizeof filter_sandbox_suite / sizeof(struct sock_filter)},
        {filter_sandbox_submission, sizeof filter_sandbox_submission / sizeof(struct sock_filter)},
        {filter_sandbox_debug, sizeof filter_sandbox_debug / sizeof(struct sock_filter)},
};

static uint32_t load(const struct seccomp_data *d, uint32_t offset)
{
        uint32_t v;

        cr_assert_leq(offset, sizeof *d - sizeof v);
        memcpy(&v, (const char *)d + offset, sizeof v);
        return v;
}

static bool jumps(const struct sock_filter *at, uint32_t a)
{
        switch (BPF_OP(at->code)) {
        case BPF_JEQ:
                return a == at->k;
        case BPF_JGT:
                return a > at->k;
        case BPF_JGE:
                return a >= at->k;
        case BPF_JSET:
                return (a & at->k) != 0;
        default:
                cr_assert_fail("jump 0x%x", at->code);
        }
        return false;
}

static uint32_t run(unsigned profile, const struct seccomp_data *d)
{
        uint32_t a = 0;

        for (size_t pc = 0; pc < compiled[profile].length; pc++) {
                const struct sock_filter *at = &compiled[profile].program[pc];

                switch (BPF_CLASS(at->code)) {
                case BPF_LD:
                        a = load(d, at->k);
                        break;
                case BPF_ALU:
                        cr_assert_eq(at->code, BPF_ALU | BPF_AND | BPF_K);
                        a &= at->k;
                        break;
                case BPF_JMP:
                        if (BPF_OP(at->code) == BPF_JA)
                                pc += at->k;
                        else
                                pc += jumps(at, a) ? at->jt : at->jf;
                        break;
                case BPF_RET:
                        return at->k;
                default:
                        cr_assert_fail("instruction 0x%x", at->code);
                }
        }
        cr_assert_fail("the program has no end");
        return 0;
}

static uint32_t deny(uint32_t number)
{
        return SECCOMP_RET_ERRNO | number;
}

/* The rows of one call: all with conditions are asked. */
struct rule {
        const struct filter_row *rows[4];
        unsigned count;
};

static bool is_among(const struct filter_row *row, uint32_t value)
{
        for (unsigned i = 0; i < row->value_count; i++)
                if (row->values[i] == value)
                        return true;
        return false;
}

/* Does the row forbid the call with these arguments, whatever stands above 32 bits? */
static bool forbids(const struct filter_row *row, const uint64_t *args)
{
        uint32_t first = (uint32_t)args[row->argument], second = (uint32_t)args[row->second];

        switch (row->rule) {
        case RULE_ALLOW_ZERO:
                return first & row->mask;
        case RULE_ALLOW_VALUES:
                return !is_among(row, first);
        case RULE_DENY_VALUES:
                return is_among(row, first);
        case RULE_DENY_MASKS:
                return first & row->mask && second & row->second_mask;
        case RULE_DENY_PAIR:
                return first == row->mask && is_among(row, second);
        default:
                return false;
        }
}

static uint32_t wanted(const struct rule *rule, const uint64_t *args)
{
        if (rule->count == 0)
                return deny(ENOSYS);
        if (rule->rows[0]->rule == RULE_DENY)
                return deny(rule->rows[0]->mask);
        for (unsigned i = 0; i < rule->count; i++)
                if (forbids(rule->rows[i], args))
                        return deny(EPERM);
        return SECCOMP_RET_ALLOW;
}

static void check(unsigned profile, const struct rule *rule, int number, const uint64_t *args)
{
        struct seccomp_data d = {.nr = number, .arch = AUDIT_ARCH_X86_64};
        uint32_t want = wanted(rule, args), got;

        memcpy(d.args, args, sizeof d.args);
        got = run(profile, &d);
        cr_expect_eq(got, want,
                "%s: %s (%d) with 0x%llx 0x%llx 0x%llx 0x%llx: 0x%x, the table says 0x%x",
                profiles[profile].name, rule->count ? rule->rows[0]->call : "unknown", number,
                (unsigned long long)args[0], (unsigned long long)args[1],
                (unsigned long long)args[2], (unsigned long long)args[3], got, want);
}

enum { MOST_VALUES = 256 };

/* What is worth trying as an argument of the rule: usual numbers, each bit, and its own values with
 * each bit the other way. */
static unsigned interesting(const struct rule *rule, uint32_t *values)
{
        static const uint32_t usual[] = {0, 1, 2, 3, 10, 11, 16, 0x7fffffff, 0x80000000, 0xffffffff,
                0x5412, 0x541c, 0x5423, 06000, 0100, 020200000};
        unsigned count = 0;

        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
                values[count++] = usual[i];
        for (int bit = 0; bit < 32; bit++)
                values[count++] = 1U << bit;
        for (unsigned r = 0; r < rule->count; r++) {
                const struct filter_row *row = rule->rows[r];

                values[count++] = row->mask;
                values[count++] = row->second_mask;
                for (unsigned v = 0; v < row->value_count; v++) {
                        values[count++] = row->values[v];
                        for (int bit = 0; bit < 32 && count < MOST_VALUES - 8; bit += 3)
                                values[count++] = row->values[v] ^ 1U << bit;
                }
        }
        return count;
}

/* The two arguments that the rule looks at (or any), each with garbage above. */
static void check_call(unsigned profile, const struct rule *rule, int number)
{
        static const uint64_t high[] = {0, 0xffffffff00000000, 0xdeadbeef00000000, 0x100000000};
        uint32_t values[MOST_VALUES];
        unsigned count = interesting(rule, values), a = rule->count ? rule->rows[0]->argument : 0,
                 b = a;

        for (unsigned r = 0; r < rule->count; r++) {
                b = rule->rows[r]->second ? rule->rows[r]->second : b;
                b = rule->rows[r]->argument != a ? rule->rows[r]->argument : b;
        }
        for (unsigned x = 0; x < count; x++)
                for (unsigned y = 0; y < (a == b ? 1 : count); y++)
                        for (size_t h = 0; h < sizeof high / sizeof *high; h++) {
                                uint64_t args[6] = {0};

                                args[b] = high[(h + 1) % 4] | values[y];
                                args[a] = high[h] | values[x];
                                check(profile, rule, number, args);
                        }
}

static void sort_rows(
        struct rule *by_number, const struct filter_row *list, size_t count, bool replace)
{
        for (size_t i = 0; i < count; i++) {
                int number = seccomp_syscall_resolve_name(list[i].call);

                if (number < 0)
                        continue; /* another architecture's, or newer than the library */
                cr_assert_lt(number, NUMBERS);
                if (replace) {
                        cr_assert_gt(by_number[number].count, 0, "%s", list[i].call);
                        by_number[number].count = 0;
                }
                cr_assert_lt(by_number[number].count, 4);
                by_number[number].rows[by_number[number].count++] = &list[i];
        }
}

Test(filter, every_number_does_what_the_table_says)
{
        for (unsigned p = 0; p < PROFILES; p++) {
                struct rule by_number[NUMBERS] = {0};

                sort_rows(by_number, rows, ROWS, false);
                sort_rows(by_number, profiles[p].rows, profiles[p].count, true);
                for (int number = 0; number < NUMBERS; number++)
                        check_call(p, &by_number[number], number);
        }
}

Test(filter, other_architectures_are_killed)
{
        for (int number = 0; number < NUMBERS; number++) {
                struct seccomp_data i386 = {.nr = number, .arch = AUDIT_ARCH_I386};
                struct seccomp_data x32 = {.nr = 0x40000000 | number, .arch = AUDIT_ARCH_X86_64};

                for (unsigned p = 0; p < PROFILES; p++) {
                        cr_expect_eq(run(p, &i386), SECCOMP_RET_KILL_PROCESS, "i386 %d", number);
                        cr_expect_eq(run(p, &x32), SECCOMP_RET_KILL_PROCESS, "x32 %d", number);
                }
        }
}

/* What has been part of a way out somewhere, allowed or not, needs a reason in its row. */
static const char *const risky[] = {"clone", "execveat", "ioctl", "kcmp", "kill", "memfd_create",
        "mknod", "mknodat", "personality", "pidfd_send_signal", "prctl", "prlimit64",
        "process_vm_readv", "process_vm_writev", "ptrace", "remap_file_pages", "setuid", "socket",
        "socketpair", "splice", "vmsplice", "capset", "fadvise64"};

static bool is_risky(const char *call)
{
        for (size_t i = 0; i < sizeof risky / sizeof *risky; i++)
                if (strcmp(risky[i], call) == 0)
                        return true;
        return false;
}

Test(filter, every_row_that_is_denied_or_risky_says_why)
{
        for (unsigned p = 0; p < PROFILES; p++)
                for (unsigned i = 0; i < profiles[p].count; i++)
                        cr_expect(*profiles[p].rows[i].why, "%s in %s", profiles[p].rows[i].call,
                                profiles[p].name);
        for (size_t i = 0; i < ROWS; i++)
                cr_expect((rows[i].rule == RULE_ALLOW && !is_risky(rows[i].call)) || *rows[i].why,
                        "%s", rows[i].call);
}
