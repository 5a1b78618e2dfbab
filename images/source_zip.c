/* Zip on the file; see source_archive.h. */
#include "images/source_archive.h"

#include <archive.h>
#include <errno.h>
#include <unistd.h>

enum { BLOCK_SIZE = 64 << 10 };

/* A zip file ends for libarchive where zip_directory.h found its end: what it looks for from behind
 * is then what was checked, and no comment is in its way. */
static la_ssize_t read_zip(struct archive *archive, void *source, const void **ret)
{
        static unsigned char block[BLOCK_SIZE];
        struct source *s = source;
        uint64_t left = s->zip.end - s->zip_at;
        ssize_t n = pread(
                s->fd, block, left < sizeof block ? (size_t)left : sizeof block, (off_t)s->zip_at);

        *ret = block;
        if (n < 0)
                archive_set_error(archive, errno, "cannot read the archive");
        else
                s->zip_at += (uint64_t)n;
        return n;
}

static la_int64_t seek_zip(struct archive *archive, void *source, la_int64_t offset, int whence)
{
        struct source *s = source;
        int64_t from = whence == SEEK_SET   ? 0
                       : whence == SEEK_CUR ? (int64_t)s->zip_at
                                            : (int64_t)s->zip.end;

        if (offset < -from || offset > (int64_t)s->zip.end - from) {
                archive_set_error(archive, EINVAL, "Truncated: a place outside the archive");
                return ARCHIVE_FATAL;
        }
        s->zip_at = (uint64_t)(from + offset);
        return (la_int64_t)s->zip_at;
}

int source_open_zip(struct source *s, struct error *err)
{
        if (archive_read_support_format_zip_seekable(s->archive) != ARCHIVE_OK ||
                archive_read_set_seek_callback(s->archive, seek_zip) != ARCHIVE_OK)
                return error_set(err, CODE_INTERNAL_BUG, "libarchive has no zip");
        if (zip_directory_check(s->fd, &s->zip, err) < 0)
                return -1;
        s->left_some = s->zip.left > 0;
        if (archive_read_open(s->archive, s, NULL, read_zip, NULL) != ARCHIVE_OK)
                return source_failure(s, err);
        return 0;
}
