/* Requests of calls; see call.h. They come from the suite's cell, where anything may be at work. */
#include "call.h"

#include "sandbox/messages.h"

#include <stdlib.h>

enum { CALL_LIMITS = 4 };

static const enum limit call_limits[CALL_LIMITS] = {
        LIMIT_WALL, LIMIT_CPU, LIMIT_MEMORY, LIMIT_OUTPUT};

void call_request_free(struct call_request *q)
{
        for (char **word = q->command; word && *word; word++)
                free(*word);
        free(q->command);
        q->command = NULL;
}

static int take_limit(struct reader *r, enum limit limit, const struct limits *most,
        struct limits *to, struct error *err)
{
        const uint64_t value = get_u64(r);
        char text[32];

        if (value == 0)
                return 0;
        to->value[limit] = value;
        if (value >= limit_info(limit)->least && value <= most->value[limit])
                return 0;
        limit_format(limit, most->value[limit], text, sizeof text);
        return error_set(err, CODE_USAGE,
                "%s: more than the suite itself has (%s), or too little to run",
                limit_info(limit)->name, text);
}

int call_decode(struct reader *r, const struct limits *usual, const struct limits *most,
        struct call_request *ret, struct error *err)
{
        uint32_t count;
        int result = 0;

        *ret = (struct call_request){.limits = *usual};
        for (unsigned i = 0; i < CALL_LIMITS; i++)
                if (take_limit(r, call_limits[i], most, &ret->limits, result == 0 ? err : NULL) < 0)
                        result = -1;
        get_text(r, ret->session, sizeof ret->session);
        count = get_u32(r);
        r->bad |= count < 1 || count > CELL_MAX_ARGUMENTS;
        if (!r->bad)
                ret->command = calloc(count + 1, sizeof *ret->command);
        for (uint32_t i = 0; ret->command && i < count && !r->bad; i++)
                ret->command[i] = get_new_text(r, CELL_MAX_ARGUMENT);
        if (!ret->command || !reader_done(r))
                return error_set(err, CODE_INTERNAL_FRAME, "a call is malformed");
        return result;
}
