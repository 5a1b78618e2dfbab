/* Reading the archive with libarchive, which has far more formats than we want to trust: only tar
 * and zip are registered, behind at most one compression. What its messages mean for the
 * submitter is the table `meanings`. */
#include "images/source.h"

#include "fd.h"
#include "images/zip_directory.h"
#include "text.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

enum {
        BLOCK_SIZE = 64 << 10,
        MAX_FILTERS = 2, /* libarchive counts the plain file as one */
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
        MAGIC(0, "\x1f\x8b", CODE_ARCHIVE_UNSUPPORTED, "compressed with gzip, but not a tar file"),
        MAGIC(0, "\3757zXZ", CODE_ARCHIVE_UNSUPPORTED, "compressed with xz, but not a tar file"),
        MAGIC(0, "\x28\xb5\x2f\xfd", CODE_ARCHIVE_UNSUPPORTED,
                "compressed with zstd, but not a tar file"),
        MAGIC(0, "BZh", CODE_ARCHIVE_UNSUPPORTED, "compressed with bzip2, but not a tar file"),
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

static int refuse_unknown(int fd, struct error *err)
{
        const struct magic *m = magic_of(fd);
        char first;

        if (m)
                return error_set(err, m->code, "the file is %s", m->what);
        if (pread(fd, &first, 1, 0) == 0)
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
        {"No progress", CODE_ARCHIVE_TRUNCATED, "compressed data end too early"}, /* xz */
        {"ncrypt", CODE_ARCHIVE_UNSUPPORTED, "encrypted"},
        {"assphrase", CODE_ARCHIVE_UNSUPPORTED, "encrypted"},
        {"nsupported", CODE_ARCHIVE_UNSUPPORTED, NULL},
        {"memory", CODE_ARCHIVE_UNSUPPORTED, "needs more memory to unpack than we give"},
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

static int failure(const struct source *s, struct error *err)
{
        const char *message = archive_error_string(s->archive);
        const char *name = s->entry ? archive_entry_pathname(s->entry) : NULL;
        const struct meaning *m;

        if (message && strstr(message, "Unrecognized archive format"))
                return refuse_unknown(s->fd, err);
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

int source_open(struct source *s, int fd, struct error *err)
{
        static int (*const formats_and_filters[])(struct archive *) = {
                archive_read_support_format_tar,
                archive_read_support_format_zip_seekable,
                archive_read_support_filter_gzip,
                archive_read_support_filter_bzip2,
                archive_read_support_filter_xz,
                archive_read_support_filter_zstd,
        };

        *s = (struct source){.fd = fd, .converted = BUFFER_INIT};
        s->archive = archive_read_new();
        if (!s->archive)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        for (size_t i = 0; i < sizeof formats_and_filters / sizeof *formats_and_filters; i++)
                if (formats_and_filters[i](s->archive) != ARCHIVE_OK)
                        return error_set(err, CODE_INTERNAL_BUG, "libarchive lacks a format: %s",
                                archive_error_string(s->archive));
        if (lseek(fd, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot read the archive");
        if (archive_read_open_fd(s->archive, fd, BLOCK_SIZE) != ARCHIVE_OK)
                return failure(s, err);
        return 0;
}

void source_close(struct source *s)
{
        archive_read_free(s->archive);
        buffer_free(&s->converted);
        *s = (struct source){.converted = BUFFER_INIT};
}

bool source_is_zip(const struct source *s)
{
        return (archive_format(s->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
}

/* A zip name without the UTF-8 flag is code page 437 by the standard, yet many tools write UTF-8
 * and do not say so, and libarchive does not show the flag. Text in code page 437 is almost never
 * valid UTF-8 by accident, so what is valid is taken as it is. */
static const char *entry_name(struct source *s, bool *ret_renamed)
{
        const char *name = archive_entry_pathname(s->entry);

        *ret_renamed = name && source_is_zip(s) && !text_utf8_valid(name, strlen(name));
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

/* What the first entry shows of the archive as a whole. */
static int check_archive(struct source *s, struct error *err)
{
        s->started = true;
        if (archive_filter_count(s->archive) > MAX_FILTERS)
                return error_set(
                        err, CODE_ARCHIVE_UNSUPPORTED, "the file is compressed more than once");
        return source_is_zip(s) ? zip_directory_check(s->fd, err) : 0;
}

static int check_header(struct source *s, int r, struct error *err)
{
        if (!s->started && check_archive(s, err) < 0)
                return -1;
        if (!archive_entry_pathname(s->entry))
                return failure(s, err);
        /* For zip a warning says that the local header contradicts the directory; for tar, that
         * some attribute, which we do not take over, is not understood. */
        if (r == ARCHIVE_WARN && source_is_zip(s))
                return failure(s, err);
        return 0;
}

/* Zeros are an empty tar archive, but also the start of a disk image. */
static int check_nothing(const struct source *s, struct error *err)
{
        const struct magic *m = magic_of(s->fd);

        return m && m->offset > 0 ? refuse_unknown(s->fd, err) : 0;
}

int source_next(struct source *s, struct entry *ret, bool *ret_renamed, struct error *err)
{
        int r;

        s->entry = NULL;
        r = archive_read_next_header(s->archive, &s->entry);
        if (r == ARCHIVE_EOF) {
                s->entry = NULL;
                return s->started ? 0 : check_nothing(s, err);
        }
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
                s->entry = NULL; /* half filled */
                return failure(s, err);
        }
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

int source_data(struct source *s, const void **ret_data, size_t *ret_len, uint64_t *ret_offset,
        struct error *err)
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
