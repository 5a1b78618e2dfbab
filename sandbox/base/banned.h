/* Functions we do not call, each with what takes its place. Included first by every file (the
 * Makefile passes it with -include), so that a slip is a compile error.
 *
 *   strcpy strcat sprintf vsprintf gets   buffer.h, snprintf
 *   strtok                                strchr, a reader of its own
 *   system popen                          spawn.h: no shell anywhere
 *   tmpnam mktemp tempnam                 O_TMPFILE, memfd_create, a directory of our own
 *   atoi atol atof strtod                 quantity.h; numbers of outsiders are text for assay-score
 */
#ifndef ASSAY_BANNED_H
#define ASSAY_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __clang__ /* its fortified headers define some of these as macros; gcc's word is enough */
#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok
#pragma GCC poison system popen tmpnam mktemp tempnam
#pragma GCC poison atoi atol atof strtod
#endif

#endif
