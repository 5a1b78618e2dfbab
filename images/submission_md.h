/* SUBMISSION.md: which of the sections that the contract names are there. */
#ifndef ASSAY_IMAGES_SUBMISSION_MD_H
#define ASSAY_IMAGES_SUBMISSION_MD_H

#include <stddef.h>
#include <stdint.h>

enum { SUBMISSION_MD_MAX = 1 << 20 }; /* bytes looked at */

/* A bit for each heading of UNPACK_SECTIONS that occurs in the Markdown text: any level, any
 * letter case, not inside a fenced block. Pure. */
uint32_t submission_md_sections(const char *text, size_t len);

#endif
