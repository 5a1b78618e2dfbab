/* Which cells may start; see admission.h. */
#include "admission.h"

static uint64_t memory_of(const struct cell_request *request)
{
        return request->limits.value[LIMIT_MEMORY];
}

static unsigned descriptors_of(const struct cell_request *request)
{
        return CELL_STDIO + request->mount_count + request->layer_count;
}

static bool fits(const struct admission *a, const struct cell_request *request)
{
        return a->running < a->most &&
               (a->total == 0 || (memory_of(request) <= a->total &&
                                         a->given <= a->total - memory_of(request)));
}

static void take(struct admission *a, const struct cell_request *request)
{
        a->given += memory_of(request);
        a->running++;
}

bool admission_take(struct admission *a, const struct cell_request *request)
{
        if (a->first || !fits(a, request))
                return false;
        take(a, request);
        return true;
}

void admission_give_back(struct admission *a, const struct limits *limits)
{
        a->given -= limits->value[LIMIT_MEMORY];
        a->running--;
}

int admission_wait(struct admission *a, struct cell_request *request, struct buffer *payload,
        struct error *err)
{
        unsigned descriptors = descriptors_of(request);
        struct waiting **end = &a->first, *w;

        if (a->total > 0 && memory_of(request) > a->total)
                return error_set(err, CODE_INFRA_LIMITS,
                        "a cell of %llu bytes of memory in an evaluation of %llu",
                        (unsigned long long)memory_of(request), (unsigned long long)a->total);
        for (; *end; end = &(*end)->next)
                descriptors += descriptors_of(&(*end)->request);
        if (descriptors > a->most_descriptors)
                return error_set(err, CODE_INFRA_LIMITS,
                        "cells that wait for others hold %u descriptors, and no more are there",
                        descriptors - descriptors_of(request));
        w = malloc(sizeof *w);
        if (!w)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        *w = (struct waiting){*request, *payload, NULL};
        *end = w;
        request_forget(request);
        *payload = (struct buffer)BUFFER_INIT;
        return 0;
}

struct waiting *admission_next(struct admission *a)
{
        struct waiting *w = a->first;

        if (!w || !fits(a, &w->request))
                return NULL;
        a->first = w->next;
        take(a, &w->request);
        return w;
}

void waiting_free(struct waiting *w)
{
        request_free(&w->request);
        buffer_free(&w->payload);
        free(w);
}

bool admission_withdraw(struct admission *a, uint32_t id)
{
        for (struct waiting **at = &a->first; *at; at = &(*at)->next)
                if ((*at)->request.id == id) {
                        struct waiting *unwanted = *at;

                        *at = unwanted->next;
                        waiting_free(unwanted);
                        return true;
                }
        return false;
}

void admission_reset(struct admission *a)
{
        while (a->first)
                admission_withdraw(a, a->first->request.id);
        a->total = a->given = 0;
        a->running = 0;
}
