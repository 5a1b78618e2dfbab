/* SUBMISSION.md: what it says in each of the sections that the contract names. Pure. */
#ifndef ASSAY_IMAGES_SUBMISSION_MD_H
#define ASSAY_IMAGES_SUBMISSION_MD_H

#include "buffer.h"
#include "images/messages.h"

enum { SUBMISSION_MD_MAX = 256 << 10 }; /* bytes looked at */

struct submission_md {
        uint32_t present; /* a bit for each heading of UNPACK_SECTIONS that occurs */
        uint32_t filled;  /* with something below it beside comments */
        struct buffer text[UNPACK_SECTION_COUNT];
};

/* Find the sections: their headings at any level, in any letter case, not inside a fenced block. A
 * section goes on to the next heading of its level or above, or to that of another section. What is
 * no UTF-8, and NUL, becomes U+FFFD. */
void submission_md_parse(const char *text, size_t len, struct submission_md *ret);
void submission_md_free(struct submission_md *md);

#endif
