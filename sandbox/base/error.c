/* Errors and the table of codes; see error.h. Used by every program, with any privilege. */
#include "error.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>

#define X(name, dotted, class, ending, remedy) [CODE_##name] = {dotted, class, ending, remedy},
static const struct code_info codes[CODE_COUNT] = {
        [CODE_NONE] = {"", CLASS_NONE, END_PASSED, ""},
#include "codes.h"
};
#undef X

static const char *const class_names[] = {
        [CLASS_NONE] = "",
        [CLASS_USAGE] = "usage",
        [CLASS_SUBMISSION] = "submission",
        [CLASS_SUITE] = "suite",
        [CLASS_LIMIT] = "limit",
        [CLASS_JUDGE] = "judge",
        [CLASS_INFRA] = "infra",
        [CLASS_INTERNAL] = "internal",
};

const struct code_info *code_info(enum code code)
{
        return (unsigned)code < CODE_COUNT ? &codes[code] : &codes[CODE_INTERNAL_BUG];
}

enum code code_find(const char *name)
{
        for (unsigned i = CODE_NONE + 1; i < CODE_COUNT; i++)
                if (strcmp(codes[i].name, name) == 0)
                        return (enum code)i;
        return CODE_NONE;
}

const char *error_class_name(enum error_class class)
{
        return (unsigned)class <= CLASS_INTERNAL ? class_names[class] : class_names[CLASS_INTERNAL];
}

/* Format, then escape: a file name of an outsider must not reach a terminal raw. */
__attribute__((format(printf, 2, 0))) static void error_format(
        struct error *err, const char *format, va_list args)
{
        char raw[sizeof err->text];

        vsnprintf(raw, sizeof raw, format, args);
        text_escape(err->text, sizeof err->text, raw, strlen(raw));
}

int error_set(struct error *err, enum code code, const char *format, ...)
{
        va_list args;

        if (!err)
                return -1;
        err->code = code;
        va_start(args, format);
        error_format(err, format, args);
        va_end(args);
        return -1;
}

/* ": cause" at the end. When there is no room for both, the context loses its end and a long cause
 * its beginning: what is at the very end is why it failed. */
static int error_add_cause(struct error *err, const char *cause)
{
        size_t room = sizeof err->text - sizeof ": …", need = strlen(cause),
               used = strlen(err->text);
        const char *cut = "";

        if (need > room / 2 && used + need > room) {
                cause += need - room / 2;
                need = room / 2;
                cut = "…";
        }
        if (used > room - need)
                used = room - need;
        snprintf(err->text + used, sizeof err->text - used, ": %s%s", cut, cause);
        return -1;
}

int error_errno(struct error *err, enum code code, int errnum, const char *format, ...)
{
        va_list args;

        if (!err)
                return -1;
        err->code = errnum == EMFILE || errnum == ENFILE ? CODE_INFRA_MEMORY : code;
        va_start(args, format);
        error_format(err, format, args);
        va_end(args);
        return error_add_cause(err, strerror(errnum));
}

int error_add(struct error *err, const char *format, ...)
{
        struct error whole = {0};
        va_list args;

        if (!err)
                return -1;
        va_start(args, format);
        error_format(&whole, format, args);
        va_end(args);
        error_add_cause(&whole, err->text);
        memcpy(err->text, whole.text, sizeof err->text);
        return -1;
}

void error_print(const struct error *err)
{
        const struct code_info *code = code_info(err->code);

        fprintf(stderr, "assay: %s: %s (%s)\n", code->name, err->text, code->remedy);
}
