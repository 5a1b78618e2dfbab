/* Errors: a stable code and one sentence, passed down and filled where something fails.
 *
 * A function that can fail returns -1 and fills its `struct error *err`; callers on the way up
 * add context; only a main() prints. Each code belongs to one class (who caused it), ends an
 * evaluation in one way (the exit status) and has one remedy: all of it one row of codes.h. */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

#include <stdbool.h>
#include <stddef.h>

enum error_class {
        CLASS_NONE,
        CLASS_USAGE, /* command line or task: nothing was evaluated */
        CLASS_SUBMISSION,
        CLASS_SUITE,
        CLASS_LIMIT,
        CLASS_JUDGE,
        CLASS_INFRA,
        CLASS_INTERNAL,
};

/* How an evaluation ends; the value is the exit status. */
enum ending {
        END_PASSED = 0,
        END_NOT_PASSED = 1,
        END_USAGE = 2,
        END_REJECTED = 3,
        END_ERROR = 4,
        END_PENDING = 5,
        END_REFUSED = 6,
        END_INTERRUPTED = 130,
};

#define X(name, dotted, class, ending, remedy) CODE_##name,
enum code {
        CODE_NONE,
#include "codes.h"
        CODE_COUNT,
};
#undef X

struct code_info {
        const char *name; /* "archive.unsafe_path" */
        enum error_class class;
        enum ending ending;
        const char
                *remedy; /* what the reader of the message can do, a sentence without full stop */
};

struct error {
        enum code code;
        char text[512]; /* "what: why"; one line, already escaped for terminals */
};

/* The row of a code; never NULL (an unknown number gives the row of internal.bug). */
const struct code_info *code_info(enum code code);
/* The code with that dotted name, or CODE_NONE. */
enum code code_find(const char *name);
const char *error_class_name(enum error_class class);

/* Fill `err` (which may be NULL) and return -1. The text may hold bytes of an outsider: what is
 * not printable UTF-8 is escaped. */
int error_set(struct error *err, enum code code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* The same with ": " and the meaning of `errnum` at the end. Where descriptors have run out the
 * code is infra.memory, whatever was tried. */
int error_errno(struct error *err, enum code code, int errnum, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* Put "context: " before the text; returns -1. */
int error_add(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "assay: code: what: why (what to do)" on standard error: for programs at their end. */
void error_print(const struct error *err);

#endif
