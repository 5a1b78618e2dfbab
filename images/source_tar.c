/* Tar on what decompress.h gives, or on what is rebuilt; see source_archive.h. */
#include "images/source_archive.h"
#include "images/tar_walk.h"

#include <archive.h>

enum { PADDING_MOST = 1 << 20 }; /* behind the end mark; GNU tar fills up to 10 KiB, or as told */

/* The next bytes of a tar. */
static ssize_t next_piece(struct source *s, const unsigned char **ret, struct error *err)
{
        ssize_t n = s->rebuilt ? rebuild_next(s->rebuilt, ret, err)
                               : decompress_next(s->bytes, ret, err);

        if (n > 0 && s->skeleton &&
                skeleton_take(s->skeleton, *ret, (size_t)n, source_offset(s), err) < 0)
                return -1;
        return n;
}

static la_ssize_t read_piece(struct archive *archive, void *source, const void **ret)
{
        struct source *s = source;
        const unsigned char *piece = NULL;
        ssize_t n = next_piece(s, &piece, &s->why);

        (void)archive;
        *ret = s->piece = piece;
        s->all_read |= n == 0;
        s->piece_len = n > 0 ? (size_t)n : 0;
        s->given += s->piece_len;
        if (n >= TAR_BLOCK)
                memcpy(s->last, piece + n - TAR_BLOCK, TAR_BLOCK);
        else if (n > 0) {
                memmove(s->last, s->last + n, (size_t)(TAR_BLOCK - n));
                memcpy(s->last + TAR_BLOCK - n, piece, (size_t)n);
        }
        return n;
}

int source_open_tar(struct source *s, struct error *err)
{
        if (archive_read_support_format_tar(s->archive) != ARCHIVE_OK)
                return error_set(err, CODE_INTERNAL_BUG, "libarchive has no tar");
        if (archive_read_open(s->archive, s, NULL, read_piece, NULL) != ARCHIVE_OK)
                return source_failure(s, err);
        return 0;
}

static bool is_zero(const unsigned char *bytes, size_t len)
{
        return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

/* A tar archive ends with blocks of zeros; without, it was cut off between two entries. What stands
 * behind is read for the checksum at the end of the compressed data, but not for ever. */
int source_finish_tar(struct source *s, struct error *err)
{
        const unsigned char *piece;
        uint64_t behind = s->given - source_offset(s);
        ssize_t n;

        if (behind > 0 && behind <= s->piece_len)
                s->left_some = !is_zero(s->piece + s->piece_len - behind, behind);
        if (s->all_read && !is_zero(s->last, sizeof s->last))
                return error_set(
                        err, CODE_ARCHIVE_TRUNCATED, "the archive ends without its end mark");
        while ((n = next_piece(s, &piece, err)) > 0) {
                s->left_some |= !is_zero(piece, (size_t)n);
                behind += (uint64_t)n;
                if (behind > PADDING_MOST)
                        return error_set(err, CODE_ARCHIVE_DAMAGED,
                                "more than 1 MiB behind the end of the archive");
        }
        s->left_some |= s->bytes && decompress_left_some(s->bytes);
        return n < 0 ? -1 : 0;
}
