/* The system calls of a cell. Three kinds: allowed; known but denied, which fails with EPERM; and
 * everything else, which fails with ENOSYS, as on a kernel that does not have it. Another
 * architecture (i386, x32) kills. Words and conditions are explained in base/filter.h.
 *
 * Three profiles: suite is the table; submission and debug replace some rows, at its end.
 *
 * A call is allowed when ordinary programs need it and it acts on the caller's own processes,
 * memory and descriptors. It is denied when it makes namespaces, mounts, keys or other kernel
 * objects that outlive or leave the cell, looks into other processes, or opens kernel code that
 * has been a way out before. */
#include <asm/socket.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define FILTER_OTHERWISE SCMP_ACT_ERRNO(ENOSYS)

/* Every flag of clone() that makes a namespace. */
#define NAMESPACES                                                                                 \
        (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
                CLONE_NEWPID | CLONE_NEWNET)

/* A set-id file in a directory of the host, which `assay exec --bind` gives, would outlive the
 * cell. */
#define SET_ID     06000
#define NO_SET_ID  "no set-id file, wherever it lies"
#define MAKES_FILE (O_CREAT | 020000000 /* the one bit of O_TMPFILE that is its own */)

/* clang-format off */
#define FILTER_FILES                                                                               \
        ALLOW(read, "") ALLOW(write, "") ALLOW(readv, "") ALLOW(writev, "") ALLOW(pread64, "")     \
        ALLOW(pwrite64, "") ALLOW(preadv, "") ALLOW(pwritev, "") ALLOW_ZERO(preadv2, 5, 8 /* RWF_NOWAIT */, "tells what the page cache holds")                \
        ALLOW(pwritev2, "") ALLOW(lseek, "") ALLOW(close, "") ALLOW(close_range, "")               \
        DENY_MASKS(open, 1, MAKES_FILE, 2, SET_ID, NO_SET_ID)                                      \
        DENY_MASKS(openat, 2, MAKES_FILE, 3, SET_ID, NO_SET_ID)                                    \
        ALLOW_ZERO(creat, 1, SET_ID, NO_SET_ID) ALLOW(dup, "") ALLOW(dup2, "") ALLOW(dup3, "")     \
        ALLOW(fcntl, "") ALLOW(flock, "") ALLOW(fsync, "") ALLOW(fdatasync, "")                    \
        ALLOW(sync_file_range, "") ALLOW(truncate, "") ALLOW(ftruncate, "") ALLOW(fallocate, "")   \
        ALLOW(readahead, "") ALLOW(copy_file_range, "") ALLOW(sendfile, "")                        \
        ALLOW(splice, "between its own descriptors") ALLOW(tee, "")                                \
        ALLOW(vmsplice, "its own pages; submissions do without") ALLOW(pipe, "") ALLOW(pipe2, "")  \
        ALLOW(stat, "") ALLOW(fstat, "") ALLOW(lstat, "") ALLOW(newfstatat, "") ALLOW(statx, "")   \
        ALLOW(statfs, "") ALLOW(fstatfs, "") ALLOW(access, "") ALLOW(faccessat, "")                \
        ALLOW(faccessat2, "") ALLOW(getcwd, "") ALLOW(chdir, "") ALLOW(fchdir, "")                 \
        ALLOW(getdents, "") ALLOW(getdents64, "") ALLOW_ZERO(mkdir, 1, SET_ID, NO_SET_ID)          \
        ALLOW_ZERO(mkdirat, 2, SET_ID, NO_SET_ID) ALLOW(rmdir, "") ALLOW(unlink, "")               \
        ALLOW(unlinkat, "") ALLOW(rename, "") ALLOW(renameat, "") ALLOW(renameat2, "")             \
        ALLOW(link, "") ALLOW(linkat, "") ALLOW(symlink, "") ALLOW(symlinkat, "")                  \
        ALLOW(readlink, "") ALLOW(readlinkat, "")                                                  \
        ALLOW_ZERO(mknod, 1, SET_ID, "fifos and sockets; devices need a capability")               \
        ALLOW_ZERO(mknodat, 2, SET_ID, "fifos and sockets; devices need a capability")             \
        ALLOW_ZERO(chmod, 1, SET_ID, NO_SET_ID) ALLOW_ZERO(fchmod, 1, SET_ID, NO_SET_ID)           \
        ALLOW_ZERO(fchmodat, 2, SET_ID, NO_SET_ID) ALLOW_ZERO(fchmodat2, 2, SET_ID, NO_SET_ID)     \
        ALLOW(chown, "") ALLOW(fchown, "") ALLOW(lchown, "") ALLOW(fchownat, "") ALLOW(utime, "")  \
        ALLOW(utimes, "") ALLOW(utimensat, "") ALLOW(futimesat, "") ALLOW(umask, "")               \
        ALLOW(getxattr, "") ALLOW(lgetxattr, "") ALLOW(fgetxattr, "") ALLOW(listxattr, "")         \
        ALLOW(llistxattr, "") ALLOW(flistxattr, "") ALLOW(setxattr, "") ALLOW(lsetxattr, "")       \
        ALLOW(fsetxattr, "") ALLOW(removexattr, "") ALLOW(lremovexattr, "")                        \
        ALLOW(fremovexattr, "") ALLOW(inotify_init, "") ALLOW(inotify_init1, "")                   \
        ALLOW(inotify_add_watch, "") ALLOW(inotify_rm_watch, "")                                   \
        DENY_VALUES(fadvise64, 3, "what the page cache holds is a channel between cells",          \
                POSIX_FADV_DONTNEED)                                                               \
        DENY_VALUES(ioctl, 1, "typing into a terminal that the cell shares with its caller",       \
                TIOCSTI, TIOCLINUX)                                                                \
        DENY_VALUES(ioctl, 1, "line disciplines are kernel code, loaded on demand", TIOCSETD)

#define FILTER_MEMORY                                                                              \
        ALLOW(brk, "") ALLOW(mmap, "") ALLOW(munmap, "") ALLOW(mremap, "") ALLOW(mprotect, "")     \
        DENY_VALUES(madvise, 2, "evicts pages that others see", MADV_PAGEOUT) ALLOW(msync, "") ALLOW(mlock, "limited by rlimit") ALLOW(mlock2, "")    \
        ALLOW(munlock, "") ALLOW(mlockall, "") ALLOW(munlockall, "")                               \
        ALLOW(memfd_create, "memory of the cell; its group counts it") ALLOW(membarrier, "")       \
        ALLOW(pkey_alloc, "") ALLOW(pkey_free, "") ALLOW(pkey_mprotect, "")                        \
        ALLOW(remap_file_pages, "its own mappings; submissions do without") ALLOW(mseal, "")       \
        ALLOW(set_mempolicy, "") ALLOW(get_mempolicy, "") ALLOW(mbind, "")                         \
        ALLOW(map_shadow_stack, "")

#define FILTER_PROCESSES                                                                           \
        ALLOW_ZERO(clone, 0, NAMESPACES, "threads and processes, but no namespaces")               \
        ALLOW(fork, "") ALLOW(vfork, "") ALLOW(execve, "")                                         \
        ALLOW(execveat, "no file of the host is within reach") ALLOW(exit, "")                     \
        ALLOW(exit_group, "") ALLOW(wait4, "") ALLOW(waitid, "")                                   \
        ALLOW(kill, "reaches the cell's own processes only") ALLOW(tkill, "") ALLOW(tgkill, "")    \
        ALLOW(pidfd_open, "") ALLOW(pidfd_send_signal, "reaches the cell's own processes only")    \
        ALLOW(getpid, "") ALLOW(getppid, "") ALLOW(gettid, "") ALLOW(getpgid, "")                  \
        ALLOW(getpgrp, "") ALLOW(setpgid, "") ALLOW(getsid, "") ALLOW(setsid, "")                  \
        ALLOW(getuid, "") ALLOW(geteuid, "") ALLOW(getgid, "") ALLOW(getegid, "")                  \
        ALLOW(getresuid, "") ALLOW(getresgid, "") ALLOW(getgroups, "")                             \
        ALLOW(setuid, "no capability: to its own ids only") ALLOW(setgid, "") ALLOW(setreuid, "")  \
        ALLOW(setregid, "") ALLOW(setresuid, "") ALLOW(setresgid, "") ALLOW(setgroups, "")         \
        ALLOW(setfsuid, "") ALLOW(setfsgid, "") ALLOW(capget, "")                                  \
        ALLOW(capset, "no capability is left to set")                                              \
        DENY_VALUES(prctl, 0, "filters take kernel memory that no group counts", PR_SET_SECCOMP)   \
        ALLOW(arch_prctl, "")                                                                      \
        ALLOW(personality, "its own process; address randomisation is no fence of ours")           \
        ALLOW(set_tid_address, "") ALLOW(set_robust_list, "") ALLOW(get_robust_list, "")           \
        ALLOW(set_thread_area, "") ALLOW(get_thread_area, "") ALLOW(rseq, "") ALLOW(futex, "")     \
        ALLOW(futex_waitv, "") ALLOW(futex_wake, "") ALLOW(futex_wait, "")                         \
        ALLOW(futex_requeue, "") ALLOW(restart_syscall, "") ALLOW(getrlimit, "")                   \
        ALLOW(setrlimit, "") ALLOW(getrusage, "")                                                  \
        ALLOW_VALUES(prlimit64, 0, "its own limits, not those of the cell's first process", 0)     \
        ALLOW(getpriority, "") ALLOW(setpriority, "") ALLOW(ioprio_get, "") ALLOW(ioprio_set, "")  \
        ALLOW(sched_yield, "") ALLOW(sched_getaffinity, "") ALLOW(sched_setaffinity, "")           \
        ALLOW(sched_getparam, "") ALLOW(sched_setparam, "") ALLOW(sched_getscheduler, "")          \
        ALLOW(sched_setscheduler, "") ALLOW(sched_getattr, "") ALLOW(sched_setattr, "")            \
        ALLOW(sched_get_priority_max, "") ALLOW(sched_get_priority_min, "")                        \
        ALLOW(sched_rr_get_interval, "") ALLOW(getcpu, "")

#define FILTER_SIGNALS_AND_TIME                                                                    \
        ALLOW(rt_sigaction, "") ALLOW(rt_sigprocmask, "") ALLOW(rt_sigpending, "")                 \
        ALLOW(rt_sigreturn, "") ALLOW(rt_sigsuspend, "") ALLOW(rt_sigtimedwait, "")                \
        ALLOW(rt_sigqueueinfo, "") ALLOW(rt_tgsigqueueinfo, "") ALLOW(sigaltstack, "")             \
        ALLOW(signalfd, "") ALLOW(signalfd4, "") ALLOW(pause, "") ALLOW(alarm, "")                 \
        ALLOW(nanosleep, "") ALLOW(clock_nanosleep, "") ALLOW(clock_gettime, "")                   \
        ALLOW(clock_getres, "") ALLOW(gettimeofday, "") ALLOW(time, "") ALLOW(times, "")           \
        ALLOW(getitimer, "") ALLOW(setitimer, "") ALLOW(timer_create, "")                          \
        ALLOW(timer_settime, "") ALLOW(timer_gettime, "") ALLOW(timer_getoverrun, "")              \
        ALLOW(timer_delete, "") ALLOW(timerfd_create, "") ALLOW(timerfd_settime, "")               \
        ALLOW(timerfd_gettime, "")

#define FILTER_EVENTS_AND_SOCKETS                                                                  \
        ALLOW(poll, "") ALLOW(ppoll, "") ALLOW(select, "") ALLOW(pselect6, "")                     \
        ALLOW(epoll_create, "") ALLOW(epoll_create1, "") ALLOW(epoll_ctl, "")                      \
        ALLOW(epoll_wait, "") ALLOW(epoll_pwait, "") ALLOW(epoll_pwait2, "") ALLOW(eventfd, "")    \
        ALLOW(eventfd2, "")                                                                        \
        ALLOW_VALUES(socket, 0, "other families have been ways into the kernel",                   \
                AF_UNIX, AF_INET, AF_INET6)                                                        \
        ALLOW_VALUES(socket, 2, "other protocols are kernel modules, loaded on demand",            \
                0, 1, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6)                                    \
        ALLOW_VALUES(socketpair, 0, "the one family that has pairs", AF_UNIX) ALLOW(bind, "")      \
        ALLOW(listen, "") ALLOW(accept, "") ALLOW(accept4, "") ALLOW(connect, "")                  \
        ALLOW(getsockname, "") ALLOW(getpeername, "") ALLOW(sendto, "") ALLOW(recvfrom, "")        \
        ALLOW(sendmsg, "") ALLOW(recvmsg, "") ALLOW(sendmmsg, "") ALLOW(recvmmsg, "")              \
        ALLOW(shutdown, "") ALLOW(getsockopt, "")                                                  \
        DENY_PAIR(setsockopt, 1, SOL_SOCKET, 2, "filters take kernel memory that no group counts", \
                SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF)

/* The ipc namespace is the cell's own; its memory is counted by its group. */
#define FILTER_IPC                                                                                 \
        ALLOW(shmget, "") ALLOW(shmat, "") ALLOW(shmdt, "") ALLOW(shmctl, "")                      \
        ALLOW(semget, "") ALLOW(semop, "") ALLOW(semtimedop, "") ALLOW(semctl, "")                 \
        ALLOW(msgget, "") ALLOW(msgsnd, "") ALLOW(msgrcv, "") ALLOW(msgctl, "")                    \
        ALLOW(mq_open, "") ALLOW(mq_unlink, "") ALLOW(mq_timedsend, "")                            \
        ALLOW(mq_timedreceive, "") ALLOW(mq_notify, "") ALLOW(mq_getsetattr, "")

#define FILTER_SYSTEM                                                                              \
        ALLOW(uname, "") ALLOW(sysinfo, "") ALLOW(getrandom, "")

#define FILTER_DENIED                                                                              \
        DENY(clone3, ENOSYS, "its flags lie in memory, where no filter sees them; libc falls back")\
                                                                                                   \
        DENY(unshare, EPERM, "namespaces") DENY(setns, EPERM, "namespaces")                        \
        DENY(mount, EPERM, "mounts") DENY(umount2, EPERM, "mounts")                                \
        DENY(pivot_root, EPERM, "mounts") DENY(chroot, EPERM, "mounts")                            \
        DENY(open_tree, EPERM, "mounts") DENY(move_mount, EPERM, "mounts")                         \
        DENY(fsopen, EPERM, "mounts") DENY(fsconfig, EPERM, "mounts")                              \
        DENY(fsmount, EPERM, "mounts") DENY(fspick, EPERM, "mounts")                               \
        DENY(mount_setattr, EPERM, "mounts") DENY(ptrace, EPERM, "other processes")                \
        DENY(process_vm_readv, EPERM, "other processes")                                           \
        DENY(process_vm_writev, EPERM, "other processes") DENY(kcmp, EPERM, "other processes")     \
        DENY(pidfd_getfd, EPERM, "other processes")                                                \
        DENY(process_madvise, EPERM, "other processes")                                            \
        DENY(process_mrelease, EPERM, "other processes")                                           \
        DENY(move_pages, EPERM, "other processes") DENY(migrate_pages, EPERM, "other processes")   \
        DENY(bpf, EPERM, "kernel code") DENY(perf_event_open, EPERM, "kernel code")                \
        DENY(userfaultfd, EPERM, "stalls the kernel at will")                                      \
        DENY(io_uring_setup, EPERM, "calls that no filter sees")                                   \
        DENY(io_uring_enter, EPERM, "calls that no filter sees")                                   \
        DENY(io_uring_register, EPERM, "calls that no filter sees")                                \
        DENY(io_setup, ENOSYS, "kernel memory outside the limits; libraries fall back")            \
        DENY(seccomp, EPERM, "a listener could answer for others")                                 \
        DENY(landlock_create_ruleset, EPERM, "not needed inside")                                  \
        DENY(landlock_add_rule, EPERM, "not needed inside")                                        \
        DENY(landlock_restrict_self, EPERM, "not needed inside") DENY(add_key, EPERM, "keyrings")  \
        DENY(request_key, EPERM, "keyrings") DENY(keyctl, EPERM, "keyrings")                       \
        DENY(open_by_handle_at, EPERM, "files by number, past every path")                         \
        DENY(name_to_handle_at, EPERM, "files by number, past every path")                         \
        DENY(fanotify_init, EPERM, "other processes' files")                                       \
        DENY(fanotify_mark, EPERM, "other processes' files")                                       \
        DENY(quotactl, EPERM, "administration") DENY(quotactl_fd, EPERM, "administration")         \
        DENY(acct, EPERM, "administration") DENY(swapon, EPERM, "administration")                  \
        DENY(swapoff, EPERM, "administration") DENY(reboot, EPERM, "administration")               \
        DENY(syslog, EPERM, "administration") DENY(vhangup, EPERM, "administration")               \
        DENY(sethostname, EPERM, "administration") DENY(setdomainname, EPERM, "administration")    \
        DENY(settimeofday, EPERM, "administration") DENY(clock_settime, EPERM, "administration")   \
        DENY(adjtimex, EPERM, "administration") DENY(clock_adjtime, EPERM, "administration")       \
        DENY(init_module, EPERM, "kernel code") DENY(finit_module, EPERM, "kernel code")           \
        DENY(delete_module, EPERM, "kernel code") DENY(kexec_load, EPERM, "kernel code")           \
        DENY(kexec_file_load, EPERM, "kernel code") DENY(iopl, EPERM, "hardware")                  \
        DENY(ioperm, EPERM, "hardware") DENY(modify_ldt, EPERM, "kernel code")                     \
        DENY(memfd_secret, EPERM, "memory that no limit reclaims")                                 \
        DENY(lookup_dcookie, EPERM, "kernel code")                                                 \
        DENY(sync, EPERM, "flushes every file system of the machine")                              \
        DENY(syncfs, EPERM, "flushes a file system of the machine")                                \
        DENY(mincore, EPERM, "what the page cache holds is a channel between cells")               \
        DENY(openat2, ENOSYS, "its mode lies in memory, where no filter sees set-id bits")

#define FILTER_ROWS                                                                                \
        FILTER_FILES FILTER_MEMORY FILTER_PROCESSES FILTER_SIGNALS_AND_TIME                        \
        FILTER_EVENTS_AND_SOCKETS FILTER_IPC FILTER_SYSTEM FILTER_DENIED

/* Code that is graded needs less than a suite. What is missing here was a way into the kernel
 * before, or sets priorities among processors. */
#define FILTER_SUBMISSION                                                                          \
        DENY(vmsplice, EPERM, "pages of other files were overwritten through it")                  \
        DENY(remap_file_pages, EPERM, "obsolete; emulated with much code")                         \
        DENY(sched_setattr, EPERM, "priorities") DENY(sched_setscheduler, EPERM, "priorities")     \
        DENY(sched_setparam, EPERM, "priorities") DENY(ioprio_set, EPERM, "priorities")            \
        DENY(mbind, EPERM, "memory of several nodes")                                              \
        DENY(set_mempolicy, EPERM, "memory of several nodes")

/* For people who look for a fault, in cells that are not graded. */
#define FILTER_DEBUG                                                                               \
        ALLOW(ptrace, "debuggers and leak checkers")                                               \
        ALLOW(process_vm_readv, "debuggers") ALLOW(process_vm_writev, "debuggers")                 \
        ALLOW(kcmp, "debuggers")

#define FILTER_PROFILES                                                                            \
        static const struct filter_row submission_rows[] = {FILTER_SUBMISSION};                    \
        static const struct filter_row debug_rows[] = {FILTER_DEBUG};                              \
        static const struct filter_profile profiles[] = {                                          \
                {"suite", NULL, 0},                                                                \
                {"submission", submission_rows, sizeof submission_rows / sizeof *submission_rows}, \
                {"debug", debug_rows, sizeof debug_rows / sizeof *debug_rows},                     \
        };
/* clang-format on */
