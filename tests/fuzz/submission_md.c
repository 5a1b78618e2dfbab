/* Fuzzing the parser of SUBMISSION.md, and patterns: the text before the first NUL is a pattern for
 * the rest. */
#include "glob.h"
#include "images/name.h"
#include "images/submission_md.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        struct submission_md md;
        struct path normal;
        char *text = malloc(len + 1);
        size_t first;

        if (!text)
                abort();
        if (len > 0)
                memcpy(text, data, len);
        text[len] = '\0';
        submission_md_parse(text, len, &md);
        for (unsigned i = 0; i < UNPACK_SECTION_COUNT; i++)
                if (md.text[i].len > 3 * len + 1 || (md.filled & ~md.present) != 0)
                        abort();
        submission_md_free(&md);
        first = strlen(text);
        if (first < len)
                glob_match(text, text + first + 1);
        name_normalise(text, &normal, NULL);
        free(text);
        return 0;
}
