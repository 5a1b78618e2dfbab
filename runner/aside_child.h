/* The other side of aside.h: what runs in an evaluation's own process, and what it says. */
#ifndef ASSAY_ASIDE_CHILD_H
#define ASSAY_ASIDE_CHILD_H

#include "aside.h"

enum aside_message {
        ASIDE_TEST = 1, /* text name, u8 passed; many */
        ASIDE_WARNING,  /* of an intake: text field, text message */
        ASIDE_DIFFERS,  /* text: what is not as expected; many */
        ASIDE_DONE,     /* u8 enum status, u8 exit, u16 enum code, text reason, text outcome, text
                           score, text exact, text test_score, text llm_score, text task, text sha256,
                           u64 us */
        ASIDE_FAILED,   /* error */
};

/* Evaluate, say what came of it, and exit. It ends in good order when `parent` dies. */
_Noreturn void aside_child(const struct aside_order *order, int socket, pid_t parent);
/* End with this process's parent; again after each change of its ids, which clears it. */
void aside_die_with(pid_t parent);

#endif
