/* Build tool: compile one system call table with libseccomp and print it as a C array.
 *
 *   filter_gen NAME > filter_NAME.h        (TABLE is the table's header, set by the Makefile)
 *
 * libseccomp picks one rule for a call when some have conditions and one has none, so the two
 * halves of a condition are both written out: what is allowed, and the masked comparisons that
 * cover exactly the rest. */
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include TABLE

static const struct filter_row rows[] = {FILTER_ROWS};

static scmp_filter_ctx context;

static void must(int r, const char *what)
{
        if (r < 0) {
                fprintf(stderr, "filter_gen: %s: %s\n", what, strerror(-r));
                exit(1);
        }
}

static void add(const struct filter_row *row, uint32_t action, uint32_t mask, uint32_t value)
{
        struct scmp_arg_cmp compare = {row->argument, SCMP_CMP_MASKED_EQ, mask, value};

        must(seccomp_rule_add_exact_array(
                     context, action, seccomp_syscall_resolve_name(row->call), 1, &compare),
                row->call);
}

/* `action` for every 32-bit number that is not among the values: descend from the highest bit;
 * where no value shares the bits so far, one masked comparison covers all that is below. */
static void add_others(
        const struct filter_row *row, uint32_t action, uint32_t prefix, uint32_t mask, int bit)
{
        bool shared = false;

        for (unsigned i = 0; i < row->value_count; i++)
                shared |= (row->values[i] & mask) == prefix;
        if (!shared) {
                add(row, action, mask, prefix);
                return;
        }
        if (bit < 0)
                return;
        add_others(row, action, prefix, mask | 1U << bit, bit - 1);
        add_others(row, action, prefix | 1U << bit, mask | 1U << bit, bit - 1);
}

static void add_values(const struct filter_row *row, uint32_t on_match, uint32_t otherwise)
{
        for (unsigned i = 0; i < row->value_count; i++)
                add(row, on_match, UINT32_MAX, row->values[i]);
        add_others(row, otherwise, 0, 0, 31);
}

static void add_row(const struct filter_row *row)
{
        const uint32_t deny = SCMP_ACT_ERRNO(EPERM);
        int call = seccomp_syscall_resolve_name(row->call);

        if (call == __NR_SCMP_ERROR)
                return; /* newer than this libseccomp: stays unknown */
        switch (row->rule) {
        case RULE_ALLOW:
                must(seccomp_rule_add_exact(context, SCMP_ACT_ALLOW, call, 0), row->call);
                break;
        case RULE_DENY:
                if (SCMP_ACT_ERRNO(row->mask) == FILTER_OTHERWISE)
                        break; /* libseccomp refuses rules that change nothing */
                must(seccomp_rule_add_exact(context, SCMP_ACT_ERRNO(row->mask), call, 0),
                        row->call);
                break;
        case RULE_ALLOW_ZERO:
                add(row, SCMP_ACT_ALLOW, row->mask, 0);
                for (int bit = 0; bit < 32; bit++)
                        if (row->mask & 1U << bit)
                                add(row, deny, 1U << bit, 1U << bit);
                break;
        case RULE_ALLOW_VALUES:
                add_values(row, SCMP_ACT_ALLOW, deny);
                break;
        case RULE_DENY_VALUES:
                add_values(row, deny, SCMP_ACT_ALLOW);
                break;
        }
}

int main(int argc, char **argv)
{
        struct sock_filter program[4096];
        int file = memfd_create("filter", MFD_CLOEXEC);
        ssize_t size;

        if (argc != 2 || file < 0)
                return 2;
        context = seccomp_init(FILTER_OTHERWISE);
        if (!context)
                return 1;
        must(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "arch");
        must(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimize");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                add_row(&rows[i]);
        must(seccomp_export_bpf(context, file), "export");
        size = pread(file, program, sizeof program, 0);
        if (size <= 0 || (size_t)size == sizeof program)
                return 1;
        printf("/* Made by sandbox/base/filter_gen.c; do not edit. */\n"
               "#include <linux/filter.h>\n\n"
               "static const struct sock_filter filter_%s[] = {\n",
                argv[1]);
        for (size_t i = 0; i < (size_t)size / sizeof *program; i++)
                printf("        {0x%04x, %u, %u, 0x%08x},\n", program[i].code, program[i].jt,
                        program[i].jf, program[i].k);
        printf("};\n");
        return fflush(stdout) == 0 ? 0 : 1;
}
