/* What static libraries that were built for glibc call and musl lacks: the checked forms of
 * ordinary functions, device numbers, random bytes. All else that they need is the same in both,
 * down to the layout of structures: the psABI and the kernel say what that is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

/* Nobody else may name what is the C library's. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int __fprintf_chk(FILE *to, int flag, const char *format, ...)
{
        va_list list;
        int n;

        (void)flag;
        va_start(list, format);
        n = vfprintf(to, format, list);
        va_end(list);
        return n;
}

int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list list)
{
        (void)flag;
        if (size > room)
                abort();
        return vsnprintf(to, size, format, list);
}

int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...)
{
        va_list list;
        int n;

        va_start(list, format);
        n = __vsnprintf_chk(to, size, flag, room, format, list);
        va_end(list);
        return n;
}

char *__strncpy_chk(char *to, const char *from, size_t size, size_t room)
{
        if (size > room)
                abort();
        return strncpy(to, from, size);
}

unsigned gnu_dev_major(dev_t device)
{
        return major(device);
}

unsigned gnu_dev_minor(dev_t device)
{
        return minor(device);
}

dev_t gnu_dev_makedev(unsigned major, unsigned minor)
{
        return makedev(major, minor);
}

void arc4random_buf(void *to, size_t size)
{
        unsigned char *at = to;

        while (size > 0) {
                ssize_t n = getrandom(at, size, 0);

                if (n < 0)
                        abort();
                at += n;
                size -= (size_t)n;
        }
}
