/* A task as frames, in the order of messages.h. */
#include "task.h"

#include "answer.h"
#include "contract.h"

/* A frame of NAME=VALUE for each. */
static void put_env(struct buffer *out, struct json_value env, enum score_message type)
{
        struct json_value value;

        for (struct json_walk w = json_walk(env); json_next(&w, &value);) {
                _cleanup_buffer_ struct buffer pair = BUFFER_INIT;
                size_t at = answer_begin(out, type);

                buffer_add_format(&pair, "%s=%s", w.key, json_string_value(value.node));
                put_text(out, buffer_text(&pair));
                answer_end(out, at);
                out->failed |= pair.failed;
        }
}

static void put_scoring(struct buffer *out, const struct scoring *s)
{
        size_t at = answer_begin(out, TASK_SCORING);
        bool hybrid = s->mode == MODE_HYBRID;

        put_u8(out, (uint8_t)s->scheme);
        put_u8(out, (uint8_t)s->mode);
        put_u8(out, (uint8_t)(hybrid ? s->test_weight : 0));
        put_u8(out, (uint8_t)(hybrid ? s->llm_weight : 0));
        put_u8(out, s->pass_from_suite);
        put_number(out, s->pass);
        put_u8(out, (uint8_t)s->llm_missing);
        answer_end(out, at);
}

/* A limit of less than a millisecond is one all the same. */
static uint64_t milliseconds(const struct duration *d)
{
        uint64_t ms = 0;
        mpq_t value;
        mpz_t whole;

        if (!*d->amount)
                return 0;
        mpq_init(value);
        mpz_init(whole);
        if (number_parse(value, d->amount) == 0) {
                mpz_mul_ui(mpq_numref(value), mpq_numref(value), d->ms);
                mpz_cdiv_q(whole, mpq_numref(value), mpq_denref(value));
                ms = mpz_fits_ulong_p(whole) ? mpz_get_ui(whole) : UINT64_MAX;
        }
        mpz_clear(whole);
        mpq_clear(value);
        return ms;
}

static void put_match(struct buffer *out, const struct scoring *s)
{
        size_t at;

        if (s->scheme != SCHEME_DIMENSIONS)
                return;
        at = answer_begin(out, TASK_MATCH);
        put_u64(out, milliseconds(&s->spec.time_limit));
        put_u8(out, (uint8_t)s->spec.difficulty);
        answer_end(out, at);
}

static void put_criterion(struct buffer *out, const struct criterion *c)
{
        size_t at = answer_begin(out, TASK_CRITERION);

        put_text(out, c->name);
        put_text(out, c->description);
        put_u8(out, (uint8_t)c->weight);
        put_u8(out, (uint8_t)c->source);
        put_texts(out, &c->tests);
        answer_end(out, at);
}

/* What the judge is asked about, of the scheme dimensions. A weight tells it what matters, no more.
 */
static void put_judged(struct buffer *out, const struct spec *spec)
{
        const struct dimension *d = spec->dimensions.items;

        for (size_t i = 0; i < spec->dimensions.count; i++) {
                struct criterion c = {.weight = 1, .source = SOURCE_LLM};
                mpq_t weight;

                if (d[i].source != FROM_JUDGE)
                        continue;
                mpq_init(weight);
                if (number_parse(weight, d[i].weight) == 0) {
                        mpz_mul_ui(mpq_numref(weight), mpq_numref(weight), 100);
                        mpz_cdiv_q(mpq_numref(weight), mpq_numref(weight), mpq_denref(weight));
                        c.weight = mpz_get_ui(mpq_numref(weight));
                }
                mpq_clear(weight);
                c.name = d[i].criterion;
                c.description = dimension_look(&d[i]).description;
                if (c.weight < 1)
                        c.weight = 1;
                put_criterion(out, &c);
        }
}

static void put_suite(struct buffer *out, const struct suite *s, bool network)
{
        size_t at = answer_begin(out, TASK_SUITE);

        put_u8(out, s->broker);
        put_u8(out, s->sees_submission);
        put_u8(out, network);
        put_texts(out, &s->command);
        answer_end(out, at);
        put_env(out, s->env, TASK_SUITE_ENV);
}

static void put_result(struct buffer *out, const struct task *t)
{
        const struct task_format *format = &task_formats[t->result.format];
        _cleanup_buffer_ struct buffer path = BUFFER_INIT;
        size_t at = answer_begin(out, TASK_RESULT);

        if (t->result.path)
                buffer_add_text(&path, t->result.path);
        else if (*format->file)
                buffer_add_format(&path, "%s/%s", contracts[t->contract].results, format->file);
        put_text(out, format->name);
        put_text(out, buffer_text(&path));
        put_u8(out, (uint8_t)t->result.on_limit);
        put_u8(out, (uint8_t)t->result.exit);
        put_text(out, t->result.key);
        put_number(out, t->result.min);
        put_number(out, t->result.max);
        put_u32(out, (uint32_t)t->result.planned);
        answer_end(out, at);
        out->failed |= path.failed;
}

static void put_build(struct buffer *out, const struct build *b)
{
        size_t at;

        if (b->command.count == 0)
                return;
        at = answer_begin(out, TASK_BUILD);
        put_u8(out, (uint8_t)b->on_failure);
        put_texts(out, &b->command);
        answer_end(out, at);
}

static void put_judge(struct buffer *out, const struct task *t)
{
        size_t at = answer_begin(out, TASK_JUDGE);

        put_text(out, t->judge_name ? t->judge_name : "");
        put_texts(out, &t->judge_command);
        answer_end(out, at);
}

static void put_visibility(struct buffer *out, const struct visibility *v)
{
        size_t at = answer_begin(out, TASK_VISIBILITY);

        put_u8(out, (uint8_t)v->tests);
        put_u8(out, (uint8_t)v->output);
        put_text(out, v->due);
        answer_end(out, at);
}

static void put_limits(struct buffer *out, const struct task_limits *limits, enum cell_kind kind)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                size_t at;

                if (!limits->given[i])
                        continue;
                at = answer_begin(out, TASK_LIMIT);
                put_u8(out, (uint8_t)kind);
                put_u8(out, (uint8_t)i);
                put_u64(out, limits->value[i]);
                answer_end(out, at);
        }
}

static void put_submission_image(struct buffer *out, const struct submission_image *i)
{
        size_t at;

        if (!i->given)
                return;
        at = answer_begin(out, TASK_SUBMISSION_IMAGE);
        put_text(out, i->name ? i->name : "");
        put_u32(out, (uint32_t)i->layers);
        put_texts(out, &i->hide);
        answer_end(out, at);
}

static void put_submission(struct buffer *out, const struct submission *s)
{
        const struct required_file *files = s->required_files.items;
        const struct required_pattern *patterns = s->required_patterns.items;
        size_t at = answer_begin(out, TASK_SUBMISSION);

        put_u64(out, s->max_entries);
        put_u64(out, s->max_unpacked);
        put_u64(out, s->max_archive);
        put_u8(out, s->strip_common_root);
        put_u8(out, (uint8_t)s->links_drop);
        answer_end(out, at);
        put_submission_image(out, &s->image);
        for (size_t i = 0; i < s->required_files.count; i++) {
                at = answer_begin(out, TASK_REQUIRED);
                put_text(out, files[i].path);
                put_u64(out, files[i].max_size);
                answer_end(out, at);
        }
        for (size_t i = 0; i < s->required_patterns.count; i++) {
                at = answer_begin(out, TASK_PATTERN);
                put_text(out, patterns[i].glob);
                put_u64(out, patterns[i].min_files);
                answer_end(out, at);
        }
}

void task_put(const struct task *t, struct buffer *out)
{
        const struct criterion *criteria = t->scoring.rubric.items;
        size_t at = answer_begin(out, TASK_IDENTITY);

        put_text(out, t->name);
        put_text(out, t->title);
        put_text(out, t->description);
        answer_end(out, at);
        at = answer_begin(out, TASK_IMAGE);
        put_text(out, t->image);
        answer_end(out, at);
        at = answer_begin(out, TASK_CONTRACT);
        put_u8(out, (uint8_t)t->contract);
        answer_end(out, at);
        put_scoring(out, &t->scoring);
        workflow_put(&t->workflow, out);
        for (size_t i = 0; i < t->scoring.rubric.count; i++)
                put_criterion(out, &criteria[i]);
        put_judged(out, &t->scoring.spec);
        if (spec_needs_time(&t->scoring.spec))
                answer_empty(out, TASK_TIME);
        put_match(out, &t->scoring);
        put_suite(out, &t->suite, t->limits.network);
        put_result(out, t);
        put_build(out, &t->build);
        put_env(out, t->submission.env, TASK_SUBMISSION_ENV);
        put_visibility(out, &t->visibility);
        put_judge(out, t);
        cases_put(&t->cases, out);
        put_limits(out, &t->limits, CELL_SUITE);
        put_limits(out, &t->submission.limits, CELL_SUBMISSION);
        if (t->limits.total_memory > 0) {
                at = answer_begin(out, TASK_TOTAL_MEMORY);
                put_u64(out, t->limits.total_memory);
                answer_end(out, at);
        }
        put_submission(out, &t->submission);
}

static void put_place(const struct reading *r, struct buffer *out, const char *key)
{
        bool found;
        const struct json_value value = json_locate(r->doc, key, &found);
        unsigned line, column;
        size_t at;

        if (!found)
                return;
        json_place(r->doc, json_offset(value), &line, &column);
        at = answer_begin(out, TASK_PLACE);
        put_u32(out, line);
        put_u32(out, column);
        put_text(out, key);
        answer_end(out, at);
}

void task_put_places(const struct reading *r, struct buffer *out)
{
        static const char *const keys[] = {"image", "judge", "cases", "limits.network",
                "limits.total_memory", "submission.image", "submission.max_entries",
                "submission.max_unpacked", "submission.max_archive"};
        static const char *const limits[CELL_KIND_COUNT] = {"limits", "submission.limits"};
        char key[64];

        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
                put_place(r, out, keys[i]);
        for (unsigned kind = 0; kind < CELL_KIND_COUNT; kind++)
                for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                        snprintf(key, sizeof key, "%s.%s", limits[kind],
                                limit_info((enum limit)i)->name);
                        put_place(r, out, key);
                }
}
