/* Following all ways through a regular expression at once; see pattern.h. */
#include "pattern.h"

#include <string.h>

struct list {
        size_t count;
        uint16_t steps[PATTERN_MAX_STEPS]; /* that take a byte */
};

struct walk {
        const struct pattern *p;
        bool begins, ends;                /* where we are in the text */
        uint32_t now;                     /* the same as a number, from 1 */
        uint32_t seen[PATTERN_MAX_STEPS]; /* when each step was reached last */
        struct list lists[2];
};

static bool set_has(const struct byte_set *set, unsigned char byte)
{
        return set->bits[byte / 32] >> byte % 32 & 1;
}

/* Reach a step and all that need no byte behind it. True when the end is among them. */
static bool reach(struct walk *w, struct list *list, size_t from)
{
        /* A step is looked at once and leads to two at most. */
        uint16_t waiting[2 * PATTERN_MAX_STEPS + 1];
        size_t count = 0;

        waiting[count++] = (uint16_t)from;
        while (count > 0) {
                const uint16_t at = waiting[--count];
                const struct step *s = &w->p->steps[at];

                if (w->seen[at] == w->now)
                        continue;
                w->seen[at] = w->now;
                if (s->kind == STEP_MATCH)
                        return true;
                if (s->kind <= STEP_SET)
                        list->steps[list->count++] = at;
                else if (s->kind == STEP_FORK || s->kind == STEP_JUMP)
                        waiting[count++] = (uint16_t)(at + s->to);
                if (s->kind == STEP_FORK || (s->kind == STEP_BEGIN && w->begins) ||
                        (s->kind == STEP_END && w->ends))
                        waiting[count++] = (uint16_t)(at + 1);
        }
        return false;
}

static bool takes(const struct pattern *p, const struct step *s, unsigned char byte)
{
        if (s->kind == STEP_SET)
                return set_has(&p->sets[s->to], byte);
        return s->kind == STEP_ANY || s->byte == byte;
}

static void start(struct walk *w, const struct pattern *p)
{
        w->p = p;
        w->begins = w->ends = false;
        w->now = 1;
        w->lists[0].count = w->lists[1].count = 0;
        memset(w->seen, 0, p->count * sizeof *w->seen);
}

void pattern_find_first(struct pattern *p)
{
        struct walk w;

        p->first = (struct byte_set){0};
        start(&w, p);
        (void)reach(&w, &w.lists[0], 0);
        for (size_t i = 0; i < w.lists[0].count; i++)
                for (unsigned c = 0; c < 256; c++)
                        if (takes(p, &p->steps[w.lists[0].steps[i]], (unsigned char)c))
                                p->first.bits[c / 32] |= 1U << c % 32;
}

bool pattern_match(const struct pattern *p, const void *text, size_t len)
{
        const unsigned char *bytes = text;
        struct walk w;

        start(&w, p);
        for (size_t at = 0;; at++) {
                struct list *here = &w.lists[at % 2], *next = &w.lists[(at + 1) % 2];

                /* A match begins at either end, or with a byte. */
                w.begins = at == 0;
                w.ends = at == len;
                w.now = (uint32_t)at + 1;
                if ((w.begins || w.ends || set_has(&p->first, bytes[at])) && reach(&w, here, 0))
                        return true;
                if (w.ends)
                        return false;
                w.begins = false;
                w.ends = at + 1 == len;
                w.now++;
                next->count = 0;
                for (size_t i = 0; i < here->count; i++) {
                        const uint16_t step = here->steps[i];

                        if (takes(p, &p->steps[step], bytes[at]) && reach(&w, next, step + 1U))
                                return true;
                }
        }
}
