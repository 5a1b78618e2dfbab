/* Which cells may start; see admission.h. */
#include "admission.h"

static uint64_t memory_of(const struct cell_request *request)
{
        return request->limits.value[LIMIT_MEMORY];
}

static unsigned descriptors_of(const struct cell_request *request)
{
        return CELL_STDIO + request->mount_count;
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
        if (a->count > 0 || !fits(a, request))
                return false;
        take(a, request);
        return true;
}

void admission_give_back(struct admission *a, const struct cell_request *request)
{
        a->given -= memory_of(request);
        a->running--;
}

int admission_wait(
        struct admission *a, struct cell_request *request, struct buffer *payload, struct error *err)
{
        unsigned descriptors = descriptors_of(request);

        if (a->total > 0 && memory_of(request) > a->total)
                return error_set(err, CODE_INFRA_LIMITS,
                        "a cell of %llu bytes of memory in an evaluation of %llu",
                        (unsigned long long)memory_of(request), (unsigned long long)a->total);
        for (unsigned i = 0; i < a->count; i++)
                descriptors += descriptors_of(&a->queue[i].request);
        if (a->count == ADMISSION_MAX_WAITING || descriptors > a->most_descriptors)
                return error_set(err, CODE_INFRA_LIMITS,
                        "%u cells wait for others already, and no more can", a->count);
        a->queue[a->count++] = (struct waiting){*request, *payload};
        *request = (struct cell_request)REQUEST_INIT;
        *payload = (struct buffer)BUFFER_INIT;
        return 0;
}

static struct waiting remove_at(struct admission *a, unsigned i)
{
        struct waiting taken = a->queue[i];

        a->count--;
        memmove(&a->queue[i], &a->queue[i + 1], (a->count - i) * sizeof *a->queue);
        return taken;
}

bool admission_next(struct admission *a, struct waiting *ret)
{
        if (a->count == 0 || !fits(a, &a->queue[0].request))
                return false;
        *ret = remove_at(a, 0);
        take(a, &ret->request);
        return true;
}

bool admission_withdraw(struct admission *a, uint32_t id)
{
        for (unsigned i = 0; i < a->count; i++)
                if (a->queue[i].request.id == id) {
                        struct waiting unwanted = remove_at(a, i);

                        request_free(&unwanted.request);
                        buffer_free(&unwanted.payload);
                        return true;
                }
        return false;
}

void admission_free(struct admission *a)
{
        while (a->count > 0)
                admission_withdraw(a, a->queue[0].request.id);
}
