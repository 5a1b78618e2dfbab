/* What the programs of this directory share: each tries attacks from inside a cell and prints a
 * line for each, "NAME: what came of it". A line that starts with ESCAPED is an attack that worked.
 */
#ifndef ASSAY_ATTEMPT_H
#define ASSAY_ATTEMPT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Something that may be so or not, but is no attack that worked. */
static inline void __attribute__((format(printf, 2, 3)))
note(const char *name, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        printf("%s: ", name);
        vprintf(format, args);
        putchar('\n');
        fflush(stdout);
        va_end(args);
}

/* It must not be so. */
static inline void escaped_if(const char *name, bool so)
{
        printf("%s%s: %s\n", so ? "ESCAPED " : "", name, so ? "REACHED" : "no");
        fflush(stdout);
}

/* A call that must fail: -1 with errno. */
static inline void refused(const char *name, long result)
{
        if (result < 0)
                note(name, "refused (%s)", strerrorname_np(errno));
        else
                escaped_if(name, true);
}

/* A file that must not open with these flags. */
static inline void closed(const char *path, int flags)
{
        int fd = open(path, flags | O_NONBLOCK | O_NOCTTY);
        char name[512];

        snprintf(name, sizeof name, "open(%s, %s)", path,
                (flags & O_ACCMODE) == O_RDONLY ? "read" : "write");
        refused(name, fd);
        if (fd >= 0)
                close(fd);
}

/* The signal that ends a child which runs this, or 0. */
static inline int killed_by(void (*attempt)(void *), void *argument)
{
        int status = 0;
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0) {
                attempt(argument);
                _exit(0);
        }
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#endif
