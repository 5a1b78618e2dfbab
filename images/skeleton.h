/* The skeleton of a layer: its tar without the content of files that its directory has, so that
 * from both the tar comes back, byte for byte (rebuild.h). It goes to the runner while the layer is
 * unpacked, as the pieces of a gzip file.
 *
 * What is in it: u8 SKELETON_VERSION, then records, each a u8 enum skeleton_record and
 *
 *   SKELETON_TEXT    u32 length, and so many bytes of the tar
 *   SKELETON_FILE    u64 size, u64 CRC-64, u16 length of a path, the path: here stands the content
 *                    of that file, which has so many bytes
 *   SKELETON_END     nothing */
#ifndef ASSAY_IMAGES_SKELETON_H
#define ASSAY_IMAGES_SKELETON_H

#include "images/name.h"
#include "images/report.h"

#include <zlib.h>

enum { SKELETON_VERSION = 1 };

enum skeleton_record { SKELETON_END, SKELETON_TEXT, SKELETON_FILE };

struct skeleton {
        struct report *report;
        z_stream zip;
        bool began;          /* `zip` is there */
        uint64_t sent;       /* bytes of it */
        struct buffer ahead; /* bytes of the tar that nobody knows the meaning of yet */
        struct buffer text;  /* bytes that are in no file */
        uint64_t judged;     /* bytes of the tar: all before those in `ahead` */
        uint64_t file_end;   /* the current file's content ends there */
        uint64_t file_size;
        uint64_t file_crc;
        struct path file;
        size_t packed;
        unsigned char out[8 << 20]; /* mostly all: who hears of it waits for the end of the layer */
};

/* Begin one, in place of what was sent before. To be closed in any case. */
int skeleton_open(struct skeleton *s, struct report *report, struct error *err);
void skeleton_close(struct skeleton *s);

/* The next bytes of the tar, of which its reader has gone past the first `passed`. */
int skeleton_take(struct skeleton *s, const unsigned char *bytes, size_t len, uint64_t passed,
        struct error *err);
/* At `offset`, which the reader has come to, begins the content of the file `path`. 1; 0: that is
 * not certain, and the content goes into the skeleton; -1. */
int skeleton_file(
        struct skeleton *s, const char *path, uint64_t offset, uint64_t size, struct error *err);
/* All bytes were given. */
int skeleton_finish(struct skeleton *s, struct error *err);

#endif
