/* Asking assay-score; see scorer.h. It is not trusted: it reads what outsiders wrote, and may have
 * been taken over by it. All it can do is to give wrong numbers for its own input. */
#include "scorer.h"

#include "helper.h"
#include "text.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whose fault an answer may say that its input is. */
static const unsigned blamed[HELPER_MODE_COUNT] = {
        [HELPER_TASK] = 1U << CLASS_USAGE,
        [HELPER_RESULT] = 1U << CLASS_SUITE,
        [HELPER_VERDICT] = 1U << CLASS_JUDGE,
        [HELPER_DIMENSIONS] = 1U << CLASS_USAGE | 1U << CLASS_SUBMISSION,
        [HELPER_DIMENSIONS_BATCH] = 1U << CLASS_USAGE | 1U << CLASS_SUBMISSION,
        [HELPER_COMPOSITE] = 1U << CLASS_USAGE | 1U << CLASS_SUBMISSION,
        [HELPER_WINDOW] = 1U << CLASS_USAGE,
        [HELPER_CASES] = 1U << CLASS_USAGE,
        [HELPER_EXPECT] = 1U << CLASS_USAGE,
        [HELPER_POLICY] = 1U << CLASS_USAGE,
        [HELPER_STORED] = 1U << CLASS_USAGE,
        [HELPER_FINALIZE] = 1U << CLASS_USAGE | 1U << CLASS_JUDGE,
        [HELPER_DIFFER] = 1U << CLASS_USAGE,
        [HELPER_METADATA] = 1U << CLASS_USAGE,
        [HELPER_WORKFLOW] = 1U << CLASS_USAGE | 1U << CLASS_SUBMISSION,
        [HELPER_COMPARE] = 1U << CLASS_USAGE | 1U << CLASS_SUITE,
};

/* Whose input was it that took too long? */
static enum code too_slow(enum helper_mode mode)
{
        if (mode == HELPER_COMPARE)
                return CODE_SUITE_RESULT_INVALID;
        if (mode == HELPER_WORKFLOW)
                return CODE_WORKFLOW_INVALID;
        return blamed[mode] & 1U << CLASS_SUBMISSION ? CODE_SCORE_ANSWER : CODE_INTERNAL_HELPER;
}

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

int scorer_compare(const char *a, const char *b)
{
        const size_t whole_a = strcspn(a, "."), whole_b = strcspn(b, ".");
        int order = whole_a != whole_b ? (whole_a > whole_b ? 1 : -1) : strncmp(a, b, whole_a);

        a += whole_a + (a[whole_a] == '.');
        b += whole_b + (b[whole_b] == '.');
        for (; order == 0 && (*a || *b); a += *a != '\0', b += *b != '\0')
                order = (*a ? *a : '0') - (*b ? *b : '0');
        return order;
}

bool scorer_is_exact(const char *text)
{
        const size_t top = strspn(text, "0123456789");
        const char *bottom = text + top + 1;

        if (text[top] != '/')
                return *text != '-' && scorer_is_decimal(text);
        return top > 0 && *bottom >= '1' && *bottom <= '9' &&
               bottom[strspn(bottom, "0123456789")] == '\0';
}

bool scorer_is_score(const char *text)
{
        size_t whole = strspn(text, "0123456789");

        if (!scorer_is_decimal(text) || *text == '-' || strlen(text) > SCORE_MAX_PLAIN)
                return false;
        return whole < 3 || (strncmp(text, "100", whole) == 0 && whole == 3 &&
                                    strspn(text + whole, ".0") == strlen(text + whole));
}

/* --- requests ------------------------------------------------------------------------------- */

int scorer_request(struct error *err)
{
        int fd = memfd_create("request", MFD_CLOEXEC);

        return fd >= 0 ? fd : error_errno(err, CODE_INFRA_MEMORY, errno, "a request to the scorer");
}

int scorer_put(int request, unsigned type, struct buffer *payload, struct error *err)
{
        int r = buffer_ok(payload) ? frame_send(request, (uint16_t)type, payload, NULL, 0, err)
                                   : error_set(err, CODE_INFRA_MEMORY, "out of memory");

        buffer_clear(payload);
        return r;
}

int scorer_put_document(int request, enum score_document which, int from, uint64_t most,
        enum code too_large, struct error *err)
{
        _cleanup_buffer_ struct buffer bytes = BUFFER_INIT, payload = BUFFER_INIT;
        uint64_t sum = 0;
        ssize_t n = 1;

        while (n > 0) {
                unsigned char *room = buffer_reserve(&bytes, SCORE_MAX_PIECE);

                n = room ? read(from, room, SCORE_MAX_PIECE) : 0;
                if (!room || n < 0)
                        return error_errno(err, CODE_INFRA_IO, errno, "a document cannot be read");
                sum += (uint64_t)n;
                if (sum > most)
                        return error_set(
                                err, too_large, "more than %llu bytes", (unsigned long long)most);
                /* An empty one is there all the same. */
                if (n == 0 && sum > 0)
                        break;
                put_u8(&payload, (uint8_t)which);
                put_bytes(&payload, room, (size_t)n);
                if (scorer_put(request, REQUEST_PIECE, &payload, err) < 0)
                        return -1;
        }
        return 0;
}

int scorer_put_bytes(
        int request, enum score_document which, const struct buffer *bytes, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        size_t at = 0;

        do {
                const size_t left = bytes->len - at;
                const size_t some = left < SCORE_MAX_PIECE ? left : SCORE_MAX_PIECE;

                put_u8(&payload, (uint8_t)which);
                put_bytes(&payload, bytes->data + at, some);
                if (scorer_put(request, REQUEST_PIECE, &payload, err) < 0)
                        return -1;
                at += some;
        } while (at < bytes->len);
        return 0;
}

int scorer_end_request(int request, struct error *err)
{
        struct buffer nothing = BUFFER_INIT;

        if (scorer_put(request, SCORE_END, &nothing, err) < 0)
                return -1;
        return lseek(request, 0, SEEK_SET) == 0
                       ? 0
                       : error_errno(err, CODE_INFRA_IO, errno, "a request to the scorer");
}

/* --- asking --------------------------------------------------------------------------------- */

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
                .too_slow = too_slow(mode),
                .take = take,
                .to = &asked,
        };

        return helper_ask(c, &q, err);
}

/* u16 type, bytes payload; of each frame */
int scorer_record(void *to, unsigned type, struct reader *r, struct error *err)
{
        struct buffer *answer = to;

        put_u16(answer, (uint16_t)type);
        put_bytes(answer, r->at, r->left);
        *r = reader_of(r->at + r->left, 0);
        return buffer_ok(answer) ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

int scorer_replay(const struct buffer *answer, scorer_take take_frame, void *to, struct error *err)
{
        struct reader all = reader_of(answer->data, answer->len);
        int r = 0;

        while (r == 0 && all.left > 0 && !all.bad) {
                const unsigned type = get_u16(&all);
                size_t len;
                const unsigned char *bytes = get_bytes(&all, answer->len, &len);
                struct reader payload = reader_of(bytes, all.bad ? 0 : len);

                if (all.bad)
                        break;
                r = take_frame(to, type, &payload, err);
                if (r >= 0 && !reader_done(&payload))
                        all.bad = true;
        }
        return !all.bad ? r
                        : error_set(err, CODE_INTERNAL_FRAME, "the scorer's answer is malformed");
}
