/* Ratings of matches, decided exactly. Pure. */
#ifndef ASSAY_EVALUATORS_RATING_H
#define ASSAY_EVALUATORS_RATING_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stdint.h>

enum { RATING_LEAST = 100, RATING_MOST = 100000 };

struct match {
        int32_t own, opponent; /* ratings */
        unsigned result;       /* 0 win, 1 draw, 2 loss */
        uint32_t matches;      /* that were rated before */
        bool verified;
        bool benchmark; /* verified, memoryless, and the first attempt */
};

/* Opponents by difficulty, in the order of enum task_difficulty. */
enum { RATING_OPPONENTS = 4 };
extern const struct rating_opponent {
        const char *name;
        int32_t rating;
} rating_opponents[RATING_OPPONENTS];

/* The rating after it. */
int32_t rating_after(const struct match *m);

int rating_answer(const struct buffer *in, struct buffer *out, struct error *err);

#endif
