/* Whom an image's USER means. */
#ifndef ASSAY_IMAGES_USER_H
#define ASSAY_IMAGES_USER_H

#include "images/merged.h"

enum {
        USER_MAX_ID = 65534, /* the last that a cell has for its processes */
        USER_MAX_HOME = 256,
};

/* USER as Dockerfiles say it: NAME or UID, and a group after a colon. Names are looked up in the
 * image's own /etc/passwd and /etc/group, which may be links, but only to regular files of the
 * image. -1 with image.unsupported: there is no such user, or its number is too high. */
struct user {
        uint32_t uid, gid;
        char home[USER_MAX_HOME]; /* as /etc/passwd says; "": it does not */
};

int user_resolve(struct merged *m, const char *text, struct user *ret, struct error *err);

#endif
