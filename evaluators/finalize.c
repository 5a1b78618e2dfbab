/* A result that waits, and a verdict, become a result (see finalize.h): what the evaluation found
 * stays as it was written, byte for byte; what the verdict decides is computed as in `assay run`.
 */
#include "finalize.h"

#include "answer.h"
#include "finalize_document.h"
#include "request.h"
#include "schemes/dimensions.h"

enum { PLACES = 2, OF_HUNDRED = 10 };

static void show(const mpq_t x, struct shown *ret)
{
        mpq_t rounded;

        mpq_init(rounded);
        mpq_set(rounded, x);
        number_round(rounded, PLACES);
        number_format(rounded, PLACES, ret->decimal, sizeof ret->decimal);
        ret->exact = mpq_get_str(NULL, 10, x);
        mpq_clear(rounded);
}

static void forget(struct final *f)
{
        free(f->score.exact);
        free(f->test.exact);
        free(f->llm.exact);
        for (size_t i = 0; i < STORED_MOST_DIMENSIONS; i++) {
                free(f->rows[i].exact);
                free(f->weighted[i].exact);
        }
}

/* --- the verdict ---------------------------------------------------------------------------- */

/* Each criterion that is the judge's once, and nothing else. */
static int check_verdict(const struct final *f, struct error *err)
{
        const struct stored_criterion *c = f->old->criteria.items;
        size_t wanted = 0;

        if (*f->number)
                return 0;
        for (size_t i = 0; i < f->old->criteria.count; i++) {
                if (c[i].source != SOURCE_LLM)
                        continue;
                wanted++;
                if (!final_opinion(f->verdict, c[i].name))
                        return error_set(err, CODE_JUDGE_INVALID,
                                "the verdict does not score the criterion \"%.200s\"", c[i].name);
        }
        return wanted == f->verdict->opinions.count
                       ? 0
                       : error_set(err, CODE_JUDGE_INVALID,
                                 "the verdict has %zu criteria, the rubric has %zu for the judge",
                                 f->verdict->opinions.count, wanted);
}

/* The judge's word on a criterion. */
static int judged(const struct final *f, const char *criterion, mpq_t ret, struct error *err)
{
        const struct opinion *o = *f->number ? NULL : final_opinion(f->verdict, criterion);

        if (!*f->number && !o)
                return error_set(err, CODE_RESULT_INVALID,
                        "the result waits for a criterion \"%.200s\" that its rubric lacks",
                        criterion);
        return number_parse(ret, o ? o->score : f->number) < 0
                       ? error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed")
                       : 0;
}

/* --- scores --------------------------------------------------------------------------------- */

static int blend_verdict(const struct final *f, struct blend *b, struct error *err)
{
        const struct stored_criterion *c = f->old->criteria.items;
        mpq_t score, weight;
        int r = 0;

        if (*f->number)
                return number_parse(b->llm, f->number) < 0
                               ? error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed")
                               : 0;
        mpq_inits(score, weight, NULL);
        for (size_t i = 0; r == 0 && i < f->old->criteria.count; i++) {
                if (c[i].source != SOURCE_LLM)
                        continue;
                r = judged(f, c[i].name, score, err);
                mpq_set_ui(weight, c[i].weight, 1);
                mpq_mul(score, score, weight);
                mpq_add(b->llm, b->llm, score);
                b->criteria_weight += (unsigned)c[i].weight;
        }
        mpq_clears(score, weight, NULL);
        return r;
}

static int blend(struct final *f, struct error *err)
{
        const struct stored *old = f->old;
        struct blend b;
        mpq_t final;
        int r;

        if (old->mode == MODE_HYBRID && !*old->exact_test)
                return error_set(err, CODE_RESULT_INVALID, "the result lacks exact.test_score");
        if (!old->pass_given)
                return error_set(err, CODE_RESULT_INVALID, "the result lacks `pass`");
        blend_init(&b);
        mpq_init(final);
        b.mode = old->mode;
        b.test_weight = (unsigned)old->test_weight;
        b.llm_weight = (unsigned)old->llm_weight;
        b.suite_pass = old->suite_pass;
        b.pass_from_suite = !*old->pass;
        if (*old->pass)
                number_parse(b.pass, old->pass);
        if (*old->exact_test)
                number_parse_exact(b.test, old->exact_test);
        r = blend_verdict(f, &b, err);
        if (r == 0) {
                blend_final(&b, final);
                f->passed = blend_passes(&b, final);
                f->outcome = f->passed ? "pass" : "fail";
                show(final, &f->score);
                show(b.llm, &f->llm);
                if (old->mode == MODE_HYBRID)
                        show(b.test, &f->test);
        }
        mpq_clear(final);
        blend_free(&b);
        return r;
}

static int dimension(struct final *f, size_t i, mpq_t sum, struct error *err)
{
        const struct stored_dimension *d = &f->old->dimensions.rows[i];
        mpq_t score, weight;
        int r = 0;

        mpq_inits(score, weight, NULL);
        number_parse(weight, d->weight);
        if (*d->exact)
                number_parse_exact(score, d->exact);
        else if (!*d->criterion)
                r = error_set(err, CODE_RESULT_INVALID,
                        "the dimension \"%.100s\" has no score, and waits for no judge", d->name);
        else if ((r = judged(f, d->criterion, score, err)) == 0)
                mpz_mul_ui(mpq_numref(score), mpq_numref(score), OF_HUNDRED);
        mpq_canonicalize(score);
        show(score, &f->rows[i]);
        mpq_mul(score, score, weight);
        show(score, &f->weighted[i]);
        mpq_add(sum, sum, score);
        mpq_clears(score, weight, NULL);
        return r;
}

static int add_dimensions(struct final *f, struct error *err)
{
        static const char *const outcomes[] = {"win", "draw", "loss"};
        unsigned outcome;
        int r = 0;
        mpq_t sum;

        mpq_init(sum);
        for (size_t i = 0; r == 0 && i < f->old->dimensions.count; i++)
                r = dimension(f, i, sum, err);
        f->total = dimensions_total(sum, &outcome);
        f->outcome = outcomes[outcome];
        f->passed = outcome == 0;
        show(sum, &f->score);
        mpq_clear(sum);
        return r;
}

/* --- answers -------------------------------------------------------------------------------- */

static void put_score(const struct final *f, struct buffer *out)
{
        size_t at = answer_begin(out, FINAL_SCORE);
        char total[24];

        snprintf(total, sizeof total, "%lu", f->total);
        put_u8(out, f->passed);
        put_text(out, f->outcome);
        put_text(out, final_is_dimensions(f) ? total : f->score.decimal);
        put_u32(out, final_is_dimensions(f) ? 1000 : 100);
        put_text(out, f->test.decimal);
        put_text(out, f->llm.decimal);
        put_text(out, f->score.exact);
        put_cut(out, *f->number ? "" : f->verdict->summary, SCORE_MAX_TEXT);
        answer_end(out, at);
}

static void put_part(struct buffer *out, const char *name, enum final_source source,
        const char *weight, const char *score, const char *reasoning)
{
        size_t at = answer_begin(out, FINAL_PART);

        put_cut(out, name, SCORE_MAX_TEXT);
        put_u8(out, source);
        put_number(out, weight);
        put_number(out, score);
        put_cut(out, reasoning, SCORE_MAX_TEXT);
        answer_end(out, at);
}

static void put_parts(const struct final *f, struct buffer *out)
{
        const struct stored_criterion *c = f->old->criteria.items;

        for (size_t i = 0; final_is_dimensions(f) && i < f->old->dimensions.count; i++) {
                const struct stored_dimension *d = &f->old->dimensions.rows[i];

                put_part(out, d->name, FINAL_OF_DIMENSION, d->weight, f->rows[i].decimal, "");
        }
        for (size_t i = 0; !final_is_dimensions(f) && i < f->old->criteria.count; i++) {
                const bool judges = c[i].source == SOURCE_LLM;
                const struct opinion *o =
                        judges && !*f->number ? final_opinion(f->verdict, c[i].name) : NULL;
                char weight[24];

                snprintf(weight, sizeof weight, "%lu", (unsigned long)c[i].weight);
                put_part(out, c[i].name, judges ? FINAL_BY_LLM : FINAL_BY_TEST, weight,
                        o ? o->score : c[i].score, o ? o->reasoning : c[i].reasoning);
        }
}

static void put_pieces(struct buffer *out, enum score_message type, const struct buffer *text)
{
        for (size_t done = 0; done < text->len;) {
                const size_t left = text->len - done;
                const size_t n = left < FINAL_MAX_PIECE ? left : FINAL_MAX_PIECE;
                size_t at = answer_begin(out, type);

                put_bytes(out, text->data + done, n);
                answer_end(out, at);
                done += n;
        }
}

static int put_result(const struct final *f, struct buffer *out, struct error *err)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT, data = BUFFER_INIT;

        final_write(f, &text);
        if (f->data)
                final_write_data(f, &data);
        if (!buffer_ok(&text) || !buffer_ok(&data))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        put_score(f, out);
        put_parts(f, out);
        put_pieces(out, FINAL_PIECE, &text);
        put_pieces(out, FINAL_DATA, &data);
        return 0;
}

static int check_waits(const struct stored *s, struct error *err)
{
        if (s->status == STORED_PENDING || (s->status == STORED_ERROR && s->class == CLASS_JUDGE))
                return 0;
        return error_set(
                err, CODE_RESULT_FINAL, "the result %.64s does not wait for an llm score", s->id);
}

static int finalize(struct final *f, struct buffer *out, struct error *err)
{
        if (check_waits(f->old, err) < 0 || check_verdict(f, err) < 0)
                return -1;
        return (final_is_dimensions(f) ? add_dimensions(f, err) : blend(f, err)) < 0
                       ? -1
                       : put_result(f, out, err);
}

static int answer(const struct request *q, struct buffer *out, struct error *err)
{
        _cleanup_json_ struct json doc = JSON_INIT, verdict_doc = JSON_INIT, data = JSON_INIT;
        const bool with_data = q->documents[DOCUMENT_SOURCES].given;
        struct verdict verdict = {.summary = ""};
        char id[64], number[SCORE_MAX_NAME];
        struct reader options = q->options;
        struct stored old = {0};
        struct final f = {.doc = &doc,
                .data = with_data ? &data : NULL,
                .old = &old,
                .verdict = &verdict,
                .id = id,
                .number = number};
        int r;

        get_text(&options, id, sizeof id);
        get_text(&options, number, sizeof number);
        if (!reader_done(&options) || !q->documents[DOCUMENT_RECORD].given ||
                q->documents[DOCUMENT_VERDICT].given == (*number != '\0'))
                return error_set(err, CODE_INTERNAL_FRAME, "a request is not as agreed");
        r = reading_open(&doc, &q->documents[DOCUMENT_RECORD].bytes, CODE_RESULT_INVALID, err);
        if (r == 0)
                r = stored_read(&doc, &old, err);
        if (r == 0 && with_data)
                r = reading_open(
                        &data, &q->documents[DOCUMENT_SOURCES].bytes, CODE_RESULT_INVALID, err);
        if (r == 0 && !*number)
                r = reading_open(&verdict_doc, &q->documents[DOCUMENT_VERDICT].bytes,
                            CODE_JUDGE_INVALID, err) < 0 ||
                                    verdict_read(&verdict_doc, &verdict, err) < 0
                            ? error_add(err, "the verdict")
                            : 0;
        if (r == 0)
                r = finalize(&f, out, err);
        forget(&f);
        verdict_free(&verdict);
        stored_free(&old);
        return r;
}

int finalize_answer(const struct buffer *in, struct buffer *out, struct error *err)
{
        return request_answer(in, out, REQUEST_FINALIZE, answer, err);
}
