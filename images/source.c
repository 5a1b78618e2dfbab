/* Entries one after the other, of whatever the submission is; see source.h. libarchive has far more
 * formats than we want to trust: one of two is registered, tar (source_tar.c) or zip
 * (source_zip.c). */
#include "images/source.h"

#include "fd.h"
#include "images/folder.h"
#include "images/source_archive.h"
#include "images/tar_walk.h"
#include "text.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- opening -------------------------------------------------------------------------------- */

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
        return s->kind == SOURCE_ZIP ? source_open_zip(s, err) : source_open_tar(s, err);
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

/* --- what the library says of an entry ------------------------------------------------------- */

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
                return source_failure(s, err);
        /* For zip a warning says that the local header contradicts the directory; for tar, that
         * some attribute, which we do not take over, is not understood. */
        if (r == ARCHIVE_WARN && s->kind == SOURCE_ZIP)
                return source_failure(s, err);
        return 0;
}

/* --- the end -------------------------------------------------------------------------------- */

/* Zeros are an empty tar archive, but also the start of a disk image. */
static int finish(struct source *s, struct error *err)
{
        if (!s->began && !s->is_layer && source_is_disk_image(s))
                return source_refuse_unknown(s, err);
        return s->kind == SOURCE_ZIP ? 0 : source_finish_tar(s, err);
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
                return source_failure(s, err);
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
                return source_failure(s, err);
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

uint64_t source_offset(const struct source *s)
{
        return (uint64_t)archive_filter_bytes(s->archive, 0);
}

bool source_is_whole(const struct source *s)
{
        return archive_entry_sparse_count(s->entry) == 0;
}
