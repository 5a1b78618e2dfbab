/* What libraries that were built for glibc call and musl does not have. */
#include <stdio.h>

#ifndef __GLIBC__
/* libnettle's, to tell on demand which processor it found. */
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
        (void)file;
        (void)flag;
        (void)format;
        return 0;
}
#endif
