/* Names without conversion tables.
 *
 * libarchive converts names between the archive's character set and the locale's. A static
 * program without a locale would ask glibc's iconv, which opens files of this machine after we
 * locked ourselves in, and would lose the zip names that are marked as UTF-8. These take the
 * places of libc's functions in this program: the character set is UTF-8, always, and there is
 * nothing to convert it to. */
#include <errno.h>
#include <iconv.h>
#include <langinfo.h>

char *nl_langinfo(nl_item item)
{
        static char utf8[] = "UTF-8", nothing[] = "";

        return item == CODESET ? utf8 : nothing;
}

iconv_t iconv_open(const char *to, const char *from)
{
        (void)to;
        (void)from;
        errno = EINVAL;
        return (iconv_t)-1; /* NOLINT(performance-no-int-to-ptr): POSIX spells failure so */
}

size_t iconv(iconv_t conversion, char **in, size_t *in_left, char **out, size_t *out_left)
{
        (void)conversion;
        (void)in;
        (void)in_left;
        (void)out;
        (void)out_left;
        errno = EBADF;
        return (size_t)-1;
}

int iconv_close(iconv_t conversion)
{
        (void)conversion;
        errno = EBADF;
        return -1;
}
