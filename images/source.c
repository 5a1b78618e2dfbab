/* Reading the archive with libarchive, which has far more formats than we want to trust: one of two
 * is registered, tar on what decompress.h gives, or zip on the file. What its messages mean for the
 * submitter is the table `meanings`. */
#include "images/source.h"

#include "fd.h"
#include "images/decompress.h"
#include "images/folder.h"
#include "images/tar_walk.h"
#include "text.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        BLOCK_SIZE = 64 << 10,
        PADDING_MOST = 1 << 20, /* behind the end mark; GNU tar fills up to 10 KiB, or as told */
};

/* Files that people send for archives, by their first bytes: named in the refusal. */
/* clang-format off */
static const struct magic {
        off_t offset;
        const char *bytes;
        size_t len;
        enum code code;
        const char *what;
} magics[] = {
#define MAGIC(offset, bytes, code, what) {offset, bytes, sizeof(bytes) - 1, code, what}
        MAGIC(0, "PK\3\4", CODE_ARCHIVE_TRUNCATED,
                "a zip archive whose directory, at the end, is missing"),
        MAGIC(0, "PK\5\6", CODE_ARCHIVE_EMPTY, "a zip archive with nothing in it"),
        MAGIC(0, "Rar!\x1a\x07", CODE_ARCHIVE_UNSUPPORTED, "a RAR archive"),
        MAGIC(0, "7z\xbc\xaf\x27\x1c", CODE_ARCHIVE_UNSUPPORTED, "a 7-Zip archive"),
        MAGIC(32769, "CD001", CODE_ARCHIVE_UNSUPPORTED, "an ISO 9660 disk image"),
        MAGIC(0, "MSCF", CODE_ARCHIVE_UNSUPPORTED, "a Windows cabinet"),
        MAGIC(0, "xar!", CODE_ARCHIVE_UNSUPPORTED, "a xar archive"),
        MAGIC(0, "!<arch>\n", CODE_ARCHIVE_UNSUPPORTED, "an ar archive or Debian package"),
        MAGIC(0, "07070", CODE_ARCHIVE_UNSUPPORTED, "a cpio archive"),
        MAGIC(0, "\xed\xab\xee\xdb", CODE_ARCHIVE_UNSUPPORTED, "an RPM package"),
        MAGIC(0, "#mtree", CODE_ARCHIVE_UNSUPPORTED, "an mtree specification"),
        MAGIC(0, "\x04\x22\x4d\x18", CODE_ARCHIVE_UNSUPPORTED, "compressed with lz4"),
        MAGIC(0, "LZIP", CODE_ARCHIVE_UNSUPPORTED, "compressed with lzip"),
        MAGIC(0, "\x1f\x9d", CODE_ARCHIVE_UNSUPPORTED, "compressed with compress"),
        MAGIC(0, "%PDF", CODE_ARCHIVE_UNSUPPORTED, "a PDF document"),
        MAGIC(0, "\177ELF", CODE_ARCHIVE_UNSUPPORTED, "a program"),
#undef MAGIC
};
/* clang-format on */

static const struct magic *magic_of(int fd)
{
        char start[16];

        for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
                const struct magic *m = &magics[i];

                if (pread(fd, start, m->len, m->offset) == (ssize_t)m->len &&
                        memcmp(start, m->bytes, m->len) == 0)
                        return m;
        }
        return NULL;
}

static int refuse_unknown(struct source *s, struct error *err)
{
        const char *compressed = s->bytes ? decompress_name(s->bytes) : NULL;
        const struct magic *m = s->is_layer ? NULL : magic_of(s->fd);
        char first;

        if (s->twice)
                return error_set(
                        err, CODE_ARCHIVE_UNSUPPORTED, "the file is compressed more than once");
        if (compressed)
                return error_set(err, CODE_ARCHIVE_UNSUPPORTED,
                        "the file is compressed with %s, but not a tar file", compressed);
        if (m)
                return error_set(err, m->code, "the file is %s", m->what);
        if (s->is_layer)
                return error_set(err, s->given > 0 ? CODE_ARCHIVE_UNSUPPORTED : CODE_ARCHIVE_EMPTY,
                        "it is not a tar archive");
        if (pread(s->fd, &first, 1, 0) == 0)
                return error_set(err, CODE_ARCHIVE_EMPTY, "the file is empty");
        return error_set(err, CODE_ARCHIVE_UNSUPPORTED, "the file is not a tar or zip archive");
}

/* What to make of libarchive's messages, by a part of them; the first that fits. The library has
 * one number for most of them. */
static const struct meaning {
        const char *part;
        enum code code;
        const char *say; /* instead of the library's words, or NULL */
} meanings[] = {
        {"runcated", CODE_ARCHIVE_TRUNCATED, NULL},
        {"remature", CODE_ARCHIVE_TRUNCATED, NULL},
        {"ncrypt", CODE_ARCHIVE_UNSUPPORTED, "encrypted"},
        {"assphrase", CODE_ARCHIVE_UNSUPPORTED, "encrypted"},
        {"nsupported", CODE_ARCHIVE_UNSUPPORTED, NULL},
        {"memory", CODE_ARCHIVE_WINDOW, "needs more memory to unpack than we give"},
        {"Pathname", CODE_ARCHIVE_BAD_NAME, "an entry's name is not the UTF-8 it claims to be"},
        {"", CODE_ARCHIVE_DAMAGED, NULL},
};

static const struct meaning *meaning_of(const char *message)
{
        const struct meaning *m = meanings;

        while (!strstr(message, m->part))
                m++;
        return m;
}

static int failure(struct source *s, struct error *err)
{
        const char *message = archive_error_string(s->archive);
        const char *name = s->entry ? archive_entry_pathname(s->entry) : NULL;
        const struct meaning *m;

        if (s->why.code != CODE_NONE) {
                *err = s->why;
                return name && !s->rebuilt ? error_add(err, "%.200s", name) : -1;
        }
        if (message && strstr(message, "Unrecognized archive format"))
                return refuse_unknown(s, err);
        if (archive_read_has_encrypted_entries(s->archive) > 0)
                message = "encrypted";
        if (!message)
                message = "unreadable";
        m = meaning_of(message);
        if (m->say)
                message = m->say;
        error_set(err, m->code, "%.*s", (int)strcspn(message, "\n"), message);
        return name ? error_add(err, "%.200s", name) : -1;
}

/* --- opening -------------------------------------------------------------------------------- */

uint64_t source_offset(const struct source *s)
{
        return (uint64_t)archive_filter_bytes(s->archive, 0);
}

bool source_is_whole(const struct source *s)
{
        return archive_entry_sparse_count(s->entry) == 0;
}

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

static int open_tar(struct source *s, struct error *err)
{
        if (archive_read_support_format_tar(s->archive) != ARCHIVE_OK)
                return error_set(err, CODE_INTERNAL_BUG, "libarchive has no tar");
        if (archive_read_open(s->archive, s, NULL, read_piece, NULL) != ARCHIVE_OK)
                return failure(s, err);
        return 0;
}

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

static int open_zip(struct source *s, struct error *err)
{
        if (archive_read_support_format_zip_seekable(s->archive) != ARCHIVE_OK ||
                archive_read_set_seek_callback(s->archive, seek_zip) != ARCHIVE_OK)
                return error_set(err, CODE_INTERNAL_BUG, "libarchive has no zip");
        if (zip_directory_check(s->fd, &s->zip, err) < 0)
                return -1;
        s->left_some = s->zip.left > 0;
        if (archive_read_open(s->archive, s, NULL, read_zip, NULL) != ARCHIVE_OK)
                return failure(s, err);
        return 0;
}

static int open_folder(struct source *s, uint64_t max, struct error *err)
{
        s->folder = malloc(sizeof *s->folder);
        if (!s->folder)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return folder_open(s->folder, s->fd, max, err);
}

/* JSON begins with one of two characters, as answers do. */
static bool is_answer(const unsigned char *head, size_t len)
{
        size_t at = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

        while (at < len && memchr(" \t\r\n", head[at], 4))
                at++;
        return at < len && (head[at] == '{' || head[at] == '[');
}

static int find_kind(struct source *s, struct error *err)
{
        const unsigned char *head;
        struct stat st;
        ssize_t len;

        if (fstat(s->fd, &st) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the submission");
        if (S_ISDIR(st.st_mode)) {
                s->kind = SOURCE_FOLDER;
                return 0;
        }
        s->bytes = decompress_open(s->fd, err);
        len = s->bytes ? decompress_peek(s->bytes, &head, err) : -1;
        if (len < 0)
                return -1;
        if (decompress_name(s->bytes))
                s->twice = decompress_begins(head, (size_t)len);
        else if (len >= TAR_BLOCK && tar_sum_is_right(head))
                s->kind = SOURCE_TAR;
        else if (zip_directory_is_there(s->fd))
                s->kind = SOURCE_ZIP;
        else if (is_answer(head, (size_t)len))
                s->kind = SOURCE_ANSWER;
        return 0;
}

static int open_archive(struct source *s, struct error *err)
{
        s->archive = archive_read_new();
        if (!s->archive)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return s->kind == SOURCE_ZIP ? open_zip(s, err) : open_tar(s, err);
}

/* What the standards for images name. */
static bool is_layer_compression(const char *name)
{
        return !name || strcmp(name, "gzip") == 0 || strcmp(name, "zstd") == 0;
}

int source_open_rebuilt(struct source *s, struct rebuild *rebuilt, struct error *err)
{
        *s = (struct source){.fd = -EBADF,
                .kind = SOURCE_TAR,
                .is_layer = true,
                .rebuilt = rebuilt,
                .converted = BUFFER_INIT};
        return open_archive(s, err);
}

int source_open_layer(
        struct source *s, const struct blob *b, struct skeleton *skeleton, struct error *err)
{
        *s = (struct source){.fd = b->fd,
                .kind = SOURCE_TAR,
                .is_layer = true,
                .skeleton = skeleton,
                .converted = BUFFER_INIT};
        s->bytes = decompress_open_blob(b, err);
        if (!s->bytes)
                return -1;
        if (!is_layer_compression(decompress_name(s->bytes)))
                return error_set(err, CODE_ARCHIVE_UNSUPPORTED,
                        "compressed with %s, not with gzip or zstd", decompress_name(s->bytes));
        return open_archive(s, err);
}

int source_open(struct source *s, int fd, uint64_t max, struct error *err)
{
        *s = (struct source){.fd = fd, .kind = SOURCE_TAR, .converted = BUFFER_INIT};
        if (find_kind(s, err) < 0)
                return -1;
        if (s->kind == SOURCE_FOLDER)
                return open_folder(s, max, err);
        if (s->kind == SOURCE_ANSWER)
                return 0;
        return open_archive(s, err);
}

void source_close(struct source *s)
{
        archive_read_free(s->archive);
        decompress_close(s->bytes);
        if (s->folder)
                folder_close(s->folder);
        free(s->folder);
        buffer_free(&s->converted);
        *s = (struct source){.converted = BUFFER_INIT};
}

/* A zip name without the UTF-8 flag is code page 437 by the standard, yet many tools write UTF-8
 * and do not say so, and libarchive does not show the flag. Text in code page 437 is almost never
 * valid UTF-8 by accident, so what is valid is taken as it is. */
static const char *entry_name(struct source *s, bool *ret_renamed)
{
        const char *name = archive_entry_pathname(s->entry);

        *ret_renamed = name && s->kind == SOURCE_ZIP && !text_utf8_valid(name, strlen(name));
        if (!*ret_renamed)
                return name;
        buffer_clear(&s->converted);
        name_from_cp437(name, &s->converted);
        return buffer_text(&s->converted);
}

static enum entry_type entry_type(struct archive_entry *e)
{
        if (archive_entry_hardlink(e))
                return ENTRY_HARDLINK;
        switch (archive_entry_filetype(e)) {
        case AE_IFREG:
                return ENTRY_FILE;
        case AE_IFDIR:
                return ENTRY_DIRECTORY;
        case AE_IFLNK:
                return ENTRY_SYMLINK;
        case AE_IFIFO:
                return ENTRY_PIPE;
        default:
                return ENTRY_SPECIAL;
        }
}

static const char *entry_target(struct archive_entry *e, enum entry_type type)
{
        const char *target = type == ENTRY_HARDLINK  ? archive_entry_hardlink(e)
                             : type == ENTRY_SYMLINK ? archive_entry_symlink(e)
                                                     : "";

        return target ? target : "";
}

static int check_header(struct source *s, int r, struct error *err)
{
        if (!archive_entry_pathname(s->entry))
                return failure(s, err);
        /* For zip a warning says that the local header contradicts the directory; for tar, that
         * some attribute, which we do not take over, is not understood. */
        if (r == ARCHIVE_WARN && s->kind == SOURCE_ZIP)
                return failure(s, err);
        return 0;
}

/* --- the end -------------------------------------------------------------------------------- */

static bool is_zero(const unsigned char *bytes, size_t len)
{
        return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

/* A tar archive ends with blocks of zeros; without, it was cut off between two entries. What stands
 * behind is read for the checksum at the end of the compressed data, but not for ever. */
static int finish_tar(struct source *s, struct error *err)
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

/* Zeros are an empty tar archive, but also the start of a disk image. */
static int finish(struct source *s, struct error *err)
{
        const struct magic *m = s->began || s->is_layer ? NULL : magic_of(s->fd);

        if (m && m->offset > 0)
                return refuse_unknown(s, err);
        return s->kind == SOURCE_ZIP ? 0 : finish_tar(s, err);
}

bool source_left_some(const struct source *s)
{
        return s->left_some;
}

void source_digest(struct source *s, char ret[65])
{
        ret[0] = '\0';
        if (s->kind == SOURCE_FOLDER)
                folder_digest(s->folder, ret);
}

/* --- entries -------------------------------------------------------------------------------- */

static int next_of_archive(
        struct source *s, struct entry *ret, bool *ret_renamed, struct error *err)
{
        int r;

        s->entry = NULL;
        r = archive_read_next_header(s->archive, &s->entry);
        if (r == ARCHIVE_EOF) {
                s->entry = NULL;
                return finish(s, err);
        }
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
                s->entry = NULL; /* half filled */
                return failure(s, err);
        }
        s->began = true;
        if (check_header(s, r, err) < 0)
                return -1;
        ret->type = entry_type(s->entry);
        ret->path = entry_name(s, ret_renamed);
        ret->target = entry_target(s->entry, ret->type);
        ret->size = archive_entry_size_is_set(s->entry) && archive_entry_size(s->entry) > 0
                            ? (uint64_t)archive_entry_size(s->entry)
                            : 0;
        ret->executable = archive_entry_perm(s->entry) & 0100;
        ret->encrypted = archive_entry_is_encrypted(s->entry) == 1;
        return buffer_ok(&s->converted) ? 1 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int source_next(struct source *s, struct entry *ret, bool *ret_renamed, struct error *err)
{
        *ret_renamed = false;
        switch (s->kind) {
        case SOURCE_FOLDER:
                return folder_next(s->folder, ret, err);
        case SOURCE_ANSWER:
                *ret = (struct entry){.path = "answer.json", .target = "", .type = ENTRY_FILE};
                return !s->began && (s->began = true);
        default:
                return next_of_archive(s, ret, ret_renamed, err);
        }
}

static int data_of_answer(struct source *s, const void **ret_data, size_t *ret_len,
        uint64_t *ret_offset, struct error *err)
{
        const unsigned char *piece;
        ssize_t n = decompress_next(s->bytes, &piece, err);

        if (n < 0)
                return -1;
        *ret_data = piece;
        *ret_len = (size_t)n;
        *ret_offset = s->given;
        s->given += (uint64_t)n;
        return n > 0;
}

static int data_of_archive(struct source *s, const void **ret_data, size_t *ret_len,
        uint64_t *ret_offset, struct error *err)
{
        la_int64_t offset = 0;
        int r = archive_read_data_block(s->archive, ret_data, ret_len, &offset);

        if (r == ARCHIVE_EOF)
                return 0;
        if (r != ARCHIVE_OK || offset < 0)
                return failure(s, err);
        *ret_offset = (uint64_t)offset;
        return 1;
}

int source_data(struct source *s, const void **ret_data, size_t *ret_len, uint64_t *ret_offset,
        struct error *err)
{
        switch (s->kind) {
        case SOURCE_FOLDER:
                return folder_data(s->folder, ret_data, ret_len, ret_offset, err);
        case SOURCE_ANSWER:
                return data_of_answer(s, ret_data, ret_len, ret_offset, err);
        default:
                return data_of_archive(s, ret_data, ret_len, ret_offset, err);
        }
}
