/* What the kernel charges for a cell at least: the same namespaces, one clone3, one exec.
 *
 *   floor PROGRAM */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        struct clone_args args = {
                .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                         CLONE_NEWUTS | CLONE_NEWCGROUP,
                .exit_signal = SIGCHLD,
        };
        char *nothing[] = {NULL};
        int status;
        long pid;

        if (argc != 2)
                return 2;
        pid = syscall(SYS_clone3, &args, sizeof args);
        if (pid == 0) {
                execve(argv[1], argv + 1, nothing);
                _exit(127);
        }
        if (pid < 0 || waitpid((pid_t)pid, &status, 0) < 0 || !WIFEXITED(status))
                return 1;
        return WEXITSTATUS(status);
}
