/* The solutions of a task, solutions/NAME/: each a submission beside its expect.json. Read with the
 * caller's rights. */
#ifndef ASSAY_VERIFY_SOLUTIONS_H
#define ASSAY_VERIFY_SOLUTIONS_H

#include "aside.h"

enum { SOLUTION_MAX_ROUNDS = 2 };

struct solution {
        char *name;
        bool made_up; /* there is no such directory: the submission is empty */
        struct aside_result results[SOLUTION_MAX_ROUNDS];

        /* verdict.h */
        bool met;
        char **differs; /* NULL at the end, or NULL */
        unsigned differ_count;
};

struct solutions {
        int directory;
        struct solution *all; /* in the order of names */
        unsigned count;
};

#define SOLUTIONS_INIT                                                                             \
        {                                                                                          \
                .directory = -EBADF                                                                \
        }

/* Every directory in solutions/ of the task; none is an error. */
int solutions_find(struct solutions *s, const char *task, struct error *err);
/* One more, that there is no directory for. */
int solutions_make_up(struct solutions *s, const char *name, struct error *err);
/* Open what it expects, and pack the rest as a tar archive in memory. */
int solution_open(const struct solutions *s, const struct solution *solution, int *ret_archive,
        int *ret_expect, struct error *err);
/* An archive in memory with these files, which are empty. */
int solution_pack_empty(char *const *names, struct error *err);
void solutions_free(struct solutions *s);

#endif
