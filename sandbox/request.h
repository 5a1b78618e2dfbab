/* The supervisor's side of CELL_START: decoded, checked, owned. */
#ifndef ASSAY_REQUEST_H
#define ASSAY_REQUEST_H

#include "frame.h"
#include "messages.h"

#include <errno.h>

struct request_mount {
        int tree; /* a directory or file of the host */
        uint8_t kind;
        char place[CELL_MAX_PLACE];
};

struct request_file { /* that is made for the cell */
        char place[CELL_MAX_PLACE];
        bool executable;
        unsigned char *bytes;
        size_t size;
};

struct cell_request {
        uint32_t id;
        uint8_t profile;
        uint8_t flags;
        struct limits limits;
        uint32_t uid, gid;   /* inside */
        char **argv, **envp; /* NULL at the end */
        int stdio[CELL_STDIO];
        unsigned mount_count, file_count, result_count;
        unsigned layer_count; /* 0: the image `host` */
        char workdir[CELL_MAX_PLACE], result_dir[CELL_MAX_PLACE];
        struct request_mount mounts[CELL_MAX_MOUNTS];
        int layers[CELL_MAX_LAYERS]; /* of the image, the lowest first */
        struct request_file files[CELL_MAX_FILES];
        char results[CELL_MAX_RESULTS][CELL_MAX_PLACE];
};

/* In memory that is zero. */
void request_init(struct cell_request *r);
/* Decode a CELL_START frame, taking its descriptors. On success `ret` owns them, until
 * request_free(). */
int request_decode(struct frame *f, struct cell_request *ret, struct error *err);
void request_free(struct cell_request *r);
/* They are not needed any more. */
void request_close_layers(struct cell_request *r);
/* Somebody else has taken it over: it holds nothing any more. */
void request_forget(struct cell_request *r);

#endif
