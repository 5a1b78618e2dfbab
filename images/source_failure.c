/* What is wrong with an archive; see source_archive.h. */
#include "images/source_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

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

bool source_is_disk_image(const struct source *s)
{
        const struct magic *m = magic_of(s->fd);

        return m && m->offset > 0;
}

int source_refuse_unknown(struct source *s, struct error *err)
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

int source_failure(struct source *s, struct error *err)
{
        const char *message = archive_error_string(s->archive);
        const char *name = s->entry ? archive_entry_pathname(s->entry) : NULL;
        const struct meaning *m;

        if (s->why.code != CODE_NONE) {
                *err = s->why;
                return name && !s->rebuilt ? error_add(err, "%.200s", name) : -1;
        }
        if (message && strstr(message, "Unrecognized archive format"))
                return source_refuse_unknown(s, err);
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
