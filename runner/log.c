/* What a cell prints; see log.h. Pure: bytes of outsiders go in and are never looked at. */
#include "log.h"

int log_init(struct log *l, uint64_t head, uint64_t tail, struct error *err)
{
        *l = (struct log){.head_size = (size_t)head, .tail_size = (size_t)tail};
        l->head = malloc(l->head_size + 1);
        l->tail = malloc(l->tail_size + 1);
        if (!l->head || !l->tail)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        return 0;
}

void log_free(struct log *l)
{
        free(l->head);
        free(l->tail);
        *l = (struct log){0};
}

void log_add(struct log *l, const void *bytes, size_t len)
{
        const unsigned char *at = bytes;
        size_t room = l->head_size - l->head_len, take = len < room ? len : room;

        memcpy(l->head + l->head_len, at, take);
        l->head_len += take;
        l->total += take;
        at += take;
        len -= take;
        while (len > 0 && l->tail_size > 0) {
                size_t place = (size_t)((l->total - l->head_len) % l->tail_size);

                room = l->tail_size - place;
                take = len < room ? len : room;
                memcpy(l->tail + place, at, take);
                l->total += take;
                at += take;
                len -= take;
        }
        l->total += len;
}

uint64_t log_dropped(const struct log *l)
{
        uint64_t behind = l->total - l->head_len;

        return behind > l->tail_size ? behind - l->tail_size : 0;
}

size_t log_tail(const struct log *l, unsigned char *out)
{
        uint64_t behind = l->total - l->head_len;
        size_t start;

        if (behind <= l->tail_size) {
                memcpy(out, l->tail, (size_t)behind);
                return (size_t)behind;
        }
        start = (size_t)(behind % l->tail_size);
        memcpy(out, l->tail + start, l->tail_size - start);
        memcpy(out + l->tail_size - start, l->tail, start);
        return l->tail_size;
}
