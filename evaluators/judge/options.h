/* What the caller wants, from the command line and the environment. */
#ifndef ASSAY_JUDGE_OPTIONS_H
#define ASSAY_JUDGE_OPTIONS_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

struct judge_options {
        bool help, version;
        uint64_t runs, tries, max_input, seed, pause_ms, timeout_ms;
        bool seed_given;
        const char *temperature; /* a number; NULL: the server's choice */
        const char *url, *model;
        const char *key;         /* NULL: none; in key_bytes or in the environment */
        struct buffer key_bytes; /* owned */
};
#define JUDGE_OPTIONS_INIT                                                                         \
        {                                                                                          \
                .key_bytes = BUFFER_INIT                                                           \
        }

/* With --help or --version nothing else is looked at. */
int judge_options_read(struct judge_options *ret, int argc, char **argv, struct error *err);
void judge_options_help(void);
void judge_options_free(struct judge_options *o);
#define _cleanup_judge_options_ __attribute__((cleanup(judge_options_free)))

#endif
