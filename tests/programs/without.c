/* Run a command on a kernel that lacks some system calls: each named one fails with ENOSYS, for it
 * and for everything that it starts.
 *
 *   without CALL[,CALL…] COMMAND… */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
        const char *name;
        long number;
} calls[] = {
        {"clone3", SYS_clone3},
        {"close_range", SYS_close_range},
        {"fsconfig", SYS_fsconfig},
        {"fsmount", SYS_fsmount},
        {"fsopen", SYS_fsopen},
        {"landlock_create_ruleset", SYS_landlock_create_ruleset},
        {"mount_setattr", SYS_mount_setattr},
        {"move_mount", SYS_move_mount},
        {"open_tree", SYS_open_tree},
        {"openat2", SYS_openat2},
        {"pidfd_open", SYS_pidfd_open},
        {"pidfd_send_signal", SYS_pidfd_send_signal},
};

static long number_of(const char *name)
{
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
                if (strcmp(calls[i].name, name) == 0)
                        return calls[i].number;
        return -1;
}

int main(int argc, char **argv)
{
        struct sock_filter program[64] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        };
        struct sock_fprog filter = {1, program};

        if (argc < 3)
                return 2;
        for (char *name = strtok(argv[1], ","); name && filter.len < 60; name = strtok(NULL, ",")) {
                long number = number_of(name);

                if (number < 0) {
                        fprintf(stderr, "without: %s: not a call that can be taken away\n", name);
                        return 2;
                }
                program[filter.len++] = (struct sock_filter)BPF_JUMP(
                        BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
                program[filter.len++] =
                        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
        }
        program[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 &&
                (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)) {
                perror("without");
                return 2;
        }
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        return 127;
}
