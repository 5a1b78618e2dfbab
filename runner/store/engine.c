/* Values that go to a database and come from it; see engine.h. */
#include "store/engine.h"

struct value value_text(const char *text)
{
        return (struct value){.kind = VALUE_TEXT, .text = text, .len = strlen(text)};
}

struct value value_number(int64_t number)
{
        return (struct value){.kind = VALUE_NUMBER, .number = number};
}

struct value value_bytes(const void *bytes, size_t len)
{
        return (struct value){.kind = VALUE_BYTES, .text = bytes, .len = len};
}

struct value value_text_or_null(const char *text)
{
        return *text ? value_text(text) : (struct value){.kind = VALUE_NULL};
}

void value_copy(const struct value *v, char *out, size_t size)
{
        const size_t len = v->kind != VALUE_TEXT ? 0 : v->len < size ? v->len : size - 1;

        if (len > 0)
                memcpy(out, v->text, len);
        out[len] = '\0';
}

uint32_t text_hash(const char *text)
{
        uint32_t hash = 2166136261;

        for (const char *c = text; *c; c++)
                hash = (hash ^ (unsigned char)*c) * 16777619;
        return hash;
}
