/* Judging one entry of an archive: what, if anything, to make of it. Pure. */
#ifndef ASSAY_IMAGES_ENTRY_H
#define ASSAY_IMAGES_ENTRY_H

#include "images/catalog.h"
#include "images/name.h"

/* An entry as the archive tells it; nothing of it has been checked. */
struct entry {
        const char *path;
        const char *target; /* of a link */
        uint64_t size;      /* declared */
        enum entry_type {
                ENTRY_FILE,
                ENTRY_DIRECTORY,
                ENTRY_SYMLINK,
                ENTRY_HARDLINK,
                ENTRY_PIPE,
                ENTRY_SPECIAL,
        } type;
        bool executable; /* by its owner */
        bool encrypted;
};

enum plan_step { PLAN_SKIP, PLAN_DIRECTORY, PLAN_FILE, PLAN_SYMLINK, PLAN_COPY };

struct plan {
        enum plan_step step;
        struct path path;
        struct path source;  /* PLAN_COPY: the file unpacked earlier that a hard link names */
        size_t known;        /* the part of `path` that is there already (see catalog_add) */
        bool reaches_top;    /* PLAN_SYMLINK: leaves the common top folder, if there is one */
        const char *warning; /* worth telling the submitter, or NULL */
};

/* What a request changes in the rules. */
enum {
        RULE_LINKS_DROP = 1, /* links out are left out */
        RULE_JUNK_STAYS =
                2, /* what operating systems leave behind is judged like everything else */
};

/* Judge `e` against what `c` holds, and note it there. -1 with the code of the rule it breaks. */
int entry_judge(const struct entry *e, unsigned rules, struct catalog *c, struct plan *ret,
        struct error *err);

#endif
