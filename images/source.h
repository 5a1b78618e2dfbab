/* What is unpacked: a tar stream, perhaps compressed, or a zip file, by libarchive's readers of
 * those two, their answers in our terms; a directory; or a single JSON answer. What it is, its
 * content tells, not its name. */
#ifndef ASSAY_IMAGES_SOURCE_H
#define ASSAY_IMAGES_SOURCE_H

#include "images/decompress.h"
#include "images/entry.h"
#include "images/rebuild.h"
#include "images/skeleton.h"
#include "images/zip_directory.h"

#include <sys/types.h>

enum source_kind { SOURCE_TAR, SOURCE_ZIP, SOURCE_FOLDER, SOURCE_ANSWER };

struct source {
        enum source_kind kind;
        struct archive *archive;
        struct archive_entry *entry; /* the current one; owned by `archive` */
        int fd;                      /* borrowed */
        struct folder *folder;
        struct zip_end zip;
        uint64_t zip_at;            /* where the reader is */
        bool twice, began;          /* twice: compressed */
        bool is_layer;              /* its bytes are a part of `fd` */
        struct decompressor *bytes; /* of a tar archive, or of an answer */
        struct rebuild *rebuilt;    /* where they come from instead; borrowed */
        struct skeleton *skeleton;  /* where they go to also; borrowed, or NULL */
        struct error why;           /* they ended with; code NONE: they did not */
        bool all_read;              /* the reader asked for more than there is */
        bool left_some;             /* behind the end was something else */
        uint64_t given;             /* bytes, to the reader */
        const unsigned char *piece; /* the last of them */
        size_t piece_len;
        unsigned char last[512]; /* all zeros: the end mark, when everything was read */
        struct buffer converted; /* a name that was not UTF-8 */
};

/* Start at the beginning of the file or directory `fd`; a folder may have at most `max` names. `s`
 * must stay where it is until source_close(). */
int source_open(struct source *s, int fd, uint64_t max, struct error *err);
/* The same of a layer of an image, a tar archive in a blob, whose bytes `skeleton` gets. */
int source_open_layer(
        struct source *s, const struct blob *b, struct skeleton *skeleton, struct error *err);
/* The same of a layer whose tar is rebuilt. */
int source_open_rebuilt(struct source *s, struct rebuild *rebuilt, struct error *err);
void source_close(struct source *s);
#define _cleanup_source_ __attribute__((cleanup(source_close)))

/* The next entry, valid until the next call. 1, or 0 at the end, or -1. `ret_renamed` says that
 * the name was not UTF-8 and has been read as code page 437. */
int source_next(struct source *s, struct entry *ret, bool *ret_renamed, struct error *err);
/* After the last entry: something stood behind the end of the archive and was not looked at. */
bool source_left_some(const struct source *s);
/* After the last entry: the digest of a directory (folder.h), or "". */
void source_digest(struct source *s, char ret[65]);

/* Where in the tar the content of the current entry begins. */
uint64_t source_offset(const struct source *s);
/* The tar has all of its content, and nothing else there. */
bool source_is_whole(const struct source *s);
/* The next piece of the current entry's data and where in the file it belongs (pieces of a sparse
 * file leave holes). 1, or 0 at the end, or -1. */
int source_data(struct source *s, const void **ret_data, size_t *ret_len, uint64_t *ret_offset,
        struct error *err);

#endif
