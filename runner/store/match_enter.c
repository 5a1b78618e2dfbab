/* An answer is handed in; see match.h. What is stored here stays, whatever comes of its evaluation:
 * the same answer may be handed in again until it has a result, and its time is that of now. */
#include "store/match.h"

/* --- the trajectory ------------------------------------------------------------------------- */

static bool read_key(const char *digits, struct chain_key *ret)
{
        for (size_t i = 0; i < sizeof ret->bytes; i++) {
                const char two[] = {digits[2 * i], digits[2 * i] ? digits[2 * i + 1] : '\0', '\0'};

                if (strspn(two, "0123456789abcdef") != 2)
                        return false;
                ret->bytes[i] = (unsigned char)strtoul(two, NULL, 16);
        }
        return true;
}

/* With the key of the harness that the answer names, or else of that of the match. */
static int begin_hashing(
        struct match_entry *e, struct store *s, const struct append_order *order, struct error *err)
{
        struct match_row match, harness;
        struct chain_key key;
        int r = match_find(&match, s, order->match, err);

        if (r == 0) {
                r = match_harness_find(&harness, s,
                        *order->harness ? order->harness : match_text(&match, PLAYED_HARNESS), err);
                e->has_key = r > 0 && read_key(match_text(&harness, HARNESS_KEY), &key);
                match_row_free(&harness);
        }
        match_row_free(&match);
        if (e->has_key)
                hmac_sha256_set_key(&e->hmac, sizeof key.bytes, key.bytes);
        e->hashing = true;
        return r < 0 ? -1 : 0;
}

int match_enter_trajectory(struct match_entry *e, struct store *s, const struct append_order *order,
        struct reader *r, struct error *err)
{
        size_t len;
        const unsigned char *bytes = get_bytes(r, STORE_MAX_PIECE, &len);

        if (!*order->match || e->entered || !reader_done(r))
                return store_malformed(err);
        if (!e->hashing && begin_hashing(e, s, order, err) < 0)
                return -1;
        if (e->has_key)
                hmac_sha256_update(&e->hmac, len, bytes);
        return 0;
}

/* What nobody signed is the agent's own word; what is signed by somebody else is nobody's. */
static enum match_signature check_signature(struct match_entry *e, const char *given)
{
        unsigned char bytes[SHA256_DIGEST_SIZE];
        char digits[DIGEST_SIZE];

        if (!*given)
                return SIGNATURE_NONE;
        if (!e->has_key)
                return SIGNATURE_BAD;
        hmac_sha256_digest(&e->hmac, sizeof bytes, bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
                snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
        return strcmp(digits, given) == 0 ? SIGNATURE_GOOD : SIGNATURE_BAD;
}

/* --- the answer ----------------------------------------------------------------------------- */

struct answer {
        char task[STORE_MAX_NAME], task_sha256[STORE_MAX_NAME], sha256[STORE_MAX_NAME],
                signature[STORE_MAX_NAME];
        int64_t arrived;
};

static int read_answer(struct answer *ret, struct reader *r, struct error *err)
{
        get_text(r, ret->task, sizeof ret->task);
        get_text(r, ret->task_sha256, sizeof ret->task_sha256);
        get_text(r, ret->sha256, sizeof ret->sha256);
        get_text(r, ret->signature, sizeof ret->signature);
        return reader_done(r) && strlen(ret->sha256) == DIGEST_SIZE - 1 &&
                               strspn(ret->sha256, "0123456789abcdef") == DIGEST_SIZE - 1
                       ? 0
                       : store_malformed(err);
}

/* Whether it may be handed in at all; the match is as it is now. */
static int check(const struct match_row *m, const struct answer *a, struct error *err)
{
        const char *id = match_text(m, PLAYED_ID);

        if (match_has(m, PLAYED_RESULT, "expired"))
                return error_set(err, CODE_MATCH_EXPIRED, "the time of the match %.64s was over %s",
                        id, match_text(m, PLAYED_EXPIRES));
        if (m->values[PLAYED_RESULT].kind != VALUE_NULL)
                return error_set(err, CODE_MATCH_ENDED, "the match %.64s has ended: %s", id,
                        match_text(m, PLAYED_RESULT));
        if (!match_has(m, PLAYED_TASK, a->task) ||
                !match_has(m, PLAYED_TASK_SHA256, a->task_sha256))
                return error_set(err, CODE_MATCH_TASK,
                        "the task is not the one that the match %.64s was started with", id);
        if (*match_text(m, PLAYED_SUBMITTED) && !match_has(m, PLAYED_ANSWER, a->sha256))
                return error_set(err, CODE_MATCH_ANSWERED,
                        "another answer was handed in to the match %.64s", id);
        return 0;
}

static int check_owner(struct store *s, const struct append_order *order, struct error *err)
{
        struct match_row m;
        int r = match_find(&m, s, order->match, err);

        if (r == 0 && !match_has(&m, PLAYED_AGENT, order->agent))
                r = error_set(err, CODE_MATCH_OWNER, "the match %.64s was started by another agent",
                        order->match);
        match_row_free(&m);
        return r;
}

static int write_down(struct store *s, const struct append_order *order, struct match_row *m,
        const struct answer *a, struct error *err)
{
        const char *started_with = match_text(m, PLAYED_HARNESS);
        char now[STORE_TIME_SIZE];

        if (match_harness_warning(s, *order->harness ? order->harness : started_with, started_with,
                    m->values, err) < 0)
                return -1;
        store_time_text(a->arrived, now);
        const struct value values[] = {value_text(now), value_text(a->sha256),
                m->values[PLAYED_WARNING], value_text(order->match)};

        return store_do(s,
                "UPDATE matches SET submitted_at = coalesce(submitted_at, $1),"
                " answer_sha256 = $2, harness_warning = $3 WHERE id = $4",
                values, 4, err);
}

/* Of the match as it is, an answer that is refused changes nothing. */
static int hand_in(struct store *s, const struct append_order *order, const struct answer *a,
        struct error *err)
{
        struct match_row m;
        int r = match_find(&m, s, order->match, err);

        if (r == 0)
                r = check(&m, a, err);
        if (r == 0)
                r = write_down(s, order, &m, a, err);
        match_row_free(&m);
        return r;
}

int match_hand_in(struct store *s, const struct append_order *order, const struct match_answer *a,
        struct error *err)
{
        struct answer answer = {.arrived = a->arrived};

        snprintf(answer.task, sizeof answer.task, "%s", a->task);
        snprintf(answer.task_sha256, sizeof answer.task_sha256, "%s", a->task_sha256);
        snprintf(answer.sha256, sizeof answer.sha256, "%s", a->sha256);
        return s->engine->lock(s->database, "results", err) < 0 || check_owner(s, order, err) < 0 ||
                               match_expire(s, order->agent, a->arrived, err) < 0 ||
                               hand_in(s, order, &answer, err) < 0
                       ? -1
                       : 0;
}

/* That its time is over stays, also where that refuses the answer. */
static int hand_in_once(struct store *s, const struct append_order *order, const struct answer *a,
        struct error *err)
{
        const struct engine *e = s->engine;
        struct error refused = {0};

        if (e->begin(s->database, false, err) < 0)
                return -1;
        if (e->lock(s->database, "results", err) < 0 || check_owner(s, order, err) < 0 ||
                match_expire(s, order->agent, a->arrived, err) < 0) {
                e->rollback(s->database);
                return -1;
        }
        hand_in(s, order, a, &refused);
        if (e->commit(s->database, err) < 0) {
                e->rollback(s->database);
                return -1;
        }
        if (refused.code != CODE_NONE) {
                *err = refused;
                return -1;
        }
        return 0;
}

static void put_seconds(struct buffer *out, int64_t ms)
{
        char text[32];

        snprintf(text, sizeof text, "%lld.%03d", (long long)(ms / 1000), (int)(ms % 1000));
        put_text(out, text);
}

static int put_times(
        struct store *s, const struct append_order *order, struct buffer *out, struct error *err)
{
        struct match_row m;
        int64_t started = 0, submitted = 0;
        int r = match_find(&m, s, order->match, err);

        if (r == 0)
                r = store_time_parse(match_text(&m, PLAYED_STARTED), &started, err);
        if (r == 0)
                r = store_time_parse(match_text(&m, PLAYED_SUBMITTED), &submitted, err);
        match_row_free(&m);
        if (r < 0)
                return -1;
        put_seconds(out, started);
        put_seconds(out, submitted);
        /* Below 0 when the clock was set back meanwhile. */
        put_seconds(out, submitted > started ? submitted - started : 0);
        return 0;
}

/* Nobody ends the match while the answer is unpacked. */
static int note_arrival(
        struct store *s, const struct append_order *order, int64_t ms, struct error *err)
{
        char now[STORE_TIME_SIZE];

        store_time_text(ms, now);
        const struct value values[] = {
                value_text(now), value_text(order->match), value_text(order->agent)};

        return store_do(s,
                "UPDATE matches SET arrived_at = $1"
                " WHERE id = $2 AND agent = $3 AND result IS NULL",
                values, 3, err);
}

int match_enter_arrived(struct match_entry *e, struct store *s, const struct append_order *order,
        struct reader *r, struct error *err)
{
        const struct engine *engine = s->engine;

        if (!*order->match || e->arrived != 0 || e->entered || !reader_done(r))
                return store_malformed(err);
        if (engine->now(s->database, &e->arrived, err) < 0 ||
                engine->begin(s->database, false, err) < 0)
                return -1;
        if (engine->lock(s->database, "results", err) == 0 &&
                note_arrival(s, order, e->arrived, err) == 0 &&
                engine->commit(s->database, err) == 0)
                return 0;
        engine->rollback(s->database);
        return -1;
}

int match_enter(struct match_entry *e, struct store *s, const struct append_order *order,
        int socket, struct reader *r, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct answer a = {.arrived = e->arrived};

        if (!*order->match || e->entered || read_answer(&a, r, err) < 0)
                return store_malformed(err);
        if (a.arrived == 0 && s->engine->now(s->database, &a.arrived, err) < 0)
                return -1;
        if (hand_in_once(s, order, &a, err) < 0 || put_times(s, order, &out, err) < 0)
                return -1;
        e->entered = true;
        e->signature = check_signature(e, a.signature);
        put_u8(&out, (uint8_t)e->signature);
        return frame_send(socket, MATCH_ENTERED, &out, NULL, 0, err);
}
