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

/* What the row says for this value of its argument, whatever stands above 32 bits. */
static uint32_t wanted(const struct filter_row *row, uint64_t argument)
{
        uint32_t low = (uint32_t)argument;
        bool among = false;

        for (unsigned i = 0; i < row->value_count; i++)
                among |= row->values[i] == low;
        switch (row->rule) {
        case RULE_ALLOW:
                return SECCOMP_RET_ALLOW;
        case RULE_ALLOW_ZERO:
                return low & row->mask ? deny(EPERM) : SECCOMP_RET_ALLOW;
        case RULE_ALLOW_VALUES:
                return among ? SECCOMP_RET_ALLOW : deny(EPERM);
        case RULE_DENY_VALUES:
                return among ? deny(EPERM) : SECCOMP_RET_ALLOW;
        case RULE_DENY:
                return deny(row->mask);
        }
        return 0;
}

static void check(unsigned profile, const struct filter_row *row, int number, uint64_t argument)
{
        struct seccomp_data d = {.nr = number, .arch = AUDIT_ARCH_X86_64};
        uint32_t want = row ? wanted(row, argument) : deny(ENOSYS), got;

        d.args[row ? row->argument : 0] = argument;
        got = run(profile, &d);
        cr_expect_eq(got, want, "%s: %s (%d) with 0x%llx: 0x%x, the table says 0x%x",
                profiles[profile].name, row ? row->call : "unknown", number,
                (unsigned long long)argument, got, want);
}

static void check_call(unsigned profile, const struct filter_row *row, int number)
{
        static const uint64_t high[] = {0, 0xffffffff00000000, 0xdeadbeef00000000, 0x100000000};
        static const uint32_t low[] = {0, 1, 2, 3, 10, 11, 16, 0x7fffffff, 0x80000000, 0xffffffff,
                0x5412, 0x541c, 0x10000000, 0x20000000, 0x40000000, 0x20000, 0x2000000};

        for (size_t h = 0; h < sizeof high / sizeof *high; h++) {
                for (size_t l = 0; l < sizeof low / sizeof *low; l++)
                        check(profile, row, number, high[h] | low[l]);
                for (int bit = 0; bit < 32; bit++)
                        check(profile, row, number, high[h] | 1U << bit);
                for (unsigned v = 0; row && v < row->value_count; v++)
                        for (int bit = 0; bit < 32; bit++)
                                check(profile, row, number, high[h] | (row->values[v] ^ 1U << bit));
        }
}

static void sort_rows(const struct filter_row **by_number, const struct filter_row *list,
        size_t count, bool may_replace)
{
        for (size_t i = 0; i < count; i++) {
                int number = seccomp_syscall_resolve_name(list[i].call);

                if (number < 0)
                        continue; /* another architecture's, or newer than the library */
                cr_assert_lt(number, NUMBERS);
                cr_assert_eq(by_number[number] != NULL, may_replace, "%s", list[i].call);
                by_number[number] = &list[i];
        }
}

Test(filter, every_number_does_what_the_table_says)
{
        for (unsigned p = 0; p < PROFILES; p++) {
                const struct filter_row *by_number[NUMBERS] = {NULL};

                sort_rows(by_number, rows, ROWS, false);
                sort_rows(by_number, profiles[p].rows, profiles[p].count, true);
                for (int number = 0; number < NUMBERS; number++)
                        check_call(p, by_number[number], number);
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
                cr_expect((rows[i].rule == RULE_ALLOW && !is_risky(rows[i].call)) || *rows[i].why, "%s", rows[i].call);
}
