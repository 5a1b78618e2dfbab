/* Command lines: a table of options for each verb, parsed and explained by the same rows. */
#ifndef ASSAY_OPTIONS_H
#define ASSAY_OPTIONS_H

#include "error.h"

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_LIST };

enum { OPTION_LIST_MAX = 64 };

/* The values of an option that may come several times. */
struct option_list {
        const char *values[OPTION_LIST_MAX];
        unsigned count;
};

struct option {
        const char *name; /* with the dashes */
        enum option_kind kind;
        void *to;          /* bool, const char * or struct option_list */
        const char *value; /* its name in the help; NULL for a flag */
        const char *help;
};

/* Every verb has these. */
struct common_options {
        bool help, json, quiet;
};

/* Parse `argv` (without the verb). What is no option is moved to the front of argv, its number
 * returned; "--" ends the options and is dropped. -1: usage error. */
int options_parse(const struct option *table, unsigned count, struct common_options *common,
        int argc, char **argv, struct error *err);
/* The same, but the first word that is no option ends them: what follows is another program's. */
int options_parse_first(const struct option *table, unsigned count, struct common_options *common,
        int argc, char **argv, struct error *err);
/* What --help prints: "usage: …", what it does, the options. Returns 0, for the exit status. */
int options_help(const char *usage, const char *what, const struct option *table, unsigned count);

#endif
