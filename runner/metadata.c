/* Reading metadata.yaml; see metadata.h. */
#include "metadata.h"

#include "beneath.h"
#include "fd.h"

#include <stdlib.h>

bool metadata_names_command(const struct task *t)
{
        return t->contract == CONTRACT_CODABENCH && task_has_suite(t) && !t->command[0];
}

struct words {
        char **list;
        unsigned count;
};

static int take_word(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct words *w = to;
        char **more;

        if (type != METADATA_WORD)
                return error_set(err, CODE_INTERNAL_FRAME, "the scorer sent an unknown frame");
        more = w->count < SCORE_MAX_WORDS ? realloc(w->list, (w->count + 2) * sizeof *more) : NULL;
        if (!more) {
                r->bad = true;
                return 0;
        }
        w->list = more;
        more[w->count] = scorer_text(r, SCORE_MAX_TEXT);
        w->count += more[w->count] != NULL;
        more[w->count] = NULL;
        return 0;
}

int metadata_read(const struct task *t, struct channel *c, char ***ret_words, struct error *err)
{
        static const char *const names[] = {"metadata.yaml", "metadata.yml", "metadata"};
        const int tests = task_readable(t, TASK_TESTS);
        _cleanup_fd_ int fd = -EBADF;
        struct words words = {0};
        int r;

        *ret_words = NULL;
        for (size_t i = 0; fd < 0 && i < sizeof names / sizeof *names; i++)
                fd = tests < 0 ? -1 : beneath_open(tests, names[i], O_RDONLY | O_NONBLOCK, 0);
        if (fd < 0)
                return error_set(err, CODE_SUITE_NOT_FOUND,
                        "tests/ has no metadata.yaml that names the command, and the task has no "
                        "suite.command");
        r = scorer_ask(c, HELPER_METADATA, fd, take_word, &words, err);
        *ret_words = words.list;
        return r < 0 ? error_add(err, "tests/metadata.yaml") : 0;
}
