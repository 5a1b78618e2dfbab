/* Asking assay-score; see scorer.h. It is not trusted: it reads what outsiders wrote, and may have
 * been taken over by it. All it can do is to give wrong numbers for its own input. */
#include "scorer.h"

#include "helper.h"
#include "text.h"

#include <errno.h>

/* Whose fault an answer may say that its input is. */
static const enum error_class blamed[HELPER_MODE_COUNT] = {
        [HELPER_TASK] = CLASS_USAGE,
        [HELPER_RESULT_SCORE_JSON] = CLASS_SUITE,
        [HELPER_VERDICT] = CLASS_JUDGE,
};

char *scorer_text(struct reader *r, size_t max)
{
        char *text = get_new_text(r, max);

        if (text && !text_utf8_valid(text, strlen(text)))
                r->bad = true;
        return text;
}

bool scorer_is_decimal(const char *text)
{
        size_t whole, fraction = 0;

        text += *text == '-';
        whole = strspn(text, "0123456789");
        if (whole > 1 && *text == '0')
                return false;
        text += whole;
        if (*text == '.') {
                fraction = strspn(text + 1, "0123456789");
                if (fraction == 0)
                        return false;
                text += 1 + fraction;
        }
        return whole > 0 && *text == '\0';
}

bool scorer_is_score(const char *text)
{
        size_t whole = strspn(text, "0123456789");

        if (!scorer_is_decimal(text) || *text == '-' || strlen(text) > SCORE_MAX_PLAIN)
                return false;
        return whole < 3 || (strncmp(text, "100", whole) == 0 && whole == 3 &&
                                    strspn(text + whole, ".0") == strlen(text + whole));
}

struct asked {
        scorer_take take;
        void *to;
};

static int take(void *to, unsigned type, struct reader *r, struct error *err)
{
        const struct asked *a = to;

        return type == SCORE_END ? 1 : a->take(a->to, type, r, err);
}

int scorer_ask(struct channel *c, enum helper_mode mode, int input, scorer_take take_frame,
        void *to, struct error *err)
{
        struct asked asked = {take_frame, to};
        const struct helper_question q = {
                .which = HELPER_SCORE,
                .mode = mode,
                .input = input,
                .tree = -EBADF,
                .error_type = SCORE_ERROR,
                .blamed = blamed[mode],
                .too_slow = CODE_INTERNAL_HELPER,
                .take = take,
                .to = &asked,
        };

        return helper_ask(c, &q, err);
}
