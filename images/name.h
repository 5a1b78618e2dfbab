/* Names of entries: which ones we take, and in what form. Pure. */
#ifndef ASSAY_IMAGES_NAME_H
#define ASSAY_IMAGES_NAME_H

#include "buffer.h"
#include "error.h"
#include "images/messages.h"

enum {
        NAME_MAX_COMPONENT = 255, /* what every Linux file system can hold */
        NAME_MAX_DEPTH = 100,
};

/* A path in normal form: relative, components joined by one '/', none of them "." or "..". */
struct path {
        char text[UNPACK_MAX_PATH + 1];
};

/* The normal form of an entry's path; empty for the root itself ("." or "./"). -1 with
 * archive.unsafe_path or archive.bad_name when it is one we refuse. */
int name_normalise(const char *raw, struct path *ret, struct error *err);
/* Number of directories above the last component of a path in normal form. */
unsigned name_depth(const char *path);
/* What operating systems leave in archives unasked: __MACOSX/…, .DS_Store, Thumbs.db. */
bool name_is_junk(const char *path);
/* Append the form of one component (valid UTF-8) in which equal means "the same file on some
 * system": case folded, then NFC. */
void name_fold(const char *component, size_t len, struct buffer *out);
/* Append the UTF-8 form of bytes in code page 437, which zip means when it says nothing else. */
void name_from_cp437(const char *bytes, struct buffer *out);

/* How many directories a symlink's target climbs before it goes down: "../../a/b" is 2. -1 when it
 * is not of that form (absolute, empty, ".." after a name), which nothing can be proved about. */
int name_climb(const char *target);

#endif
