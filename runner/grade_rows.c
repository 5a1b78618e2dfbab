/* Rows of scores; see grade_rows.h. */
#include "grade_rows.h"

void rows_append(void **list, unsigned *count, const void *row, size_t size, struct reader *r)
{
        char *more = NULL;

        if (!r->bad && *count < SCORE_MAX_MANY)
                more = realloc(*list, (*count + 1) * size);
        if (!more) {
                r->bad = true;
                return;
        }
        memcpy(more + *count * size, row, size);
        *list = more;
        (*count)++;
}

char *rows_take_decimal(struct reader *r, bool (*is_such)(const char *text), bool may_be_empty)
{
        char *text = scorer_text(r, SCORE_MAX_NAME);

        if (text && !is_such(text) && !(may_be_empty && *text == '\0'))
                r->bad = true;
        return text;
}

void row_free(struct score_row *row)
{
        free(row->name);
        free(row->score);
        free(row->reasoning);
}

void rows_free(struct score_row *rows, unsigned count)
{
        for (unsigned i = 0; i < count; i++)
                row_free(&rows[i]);
        free(rows);
}

void grade_note(struct evaluation *e, const char *field, const char *message)
{
        if (e->note_count == sizeof e->notes / sizeof *e->notes)
                return;
        snprintf(e->notes[e->note_count].field, sizeof e->notes->field, "%s", field);
        snprintf(e->notes[e->note_count++].message, sizeof e->notes->message, "%s", message);
}

void rows_take(struct score_row **list, unsigned *count, struct reader *r, bool with_reasoning)
{
        struct score_row row = {.name = scorer_text(r, SCORE_MAX_TEXT)};

        row.score = rows_take_decimal(r, scorer_is_score, false);
        if (with_reasoning)
                row.reasoning = scorer_text(r, SCORE_MAX_TEXT);
        rows_append((void **)list, count, &row, sizeof row, r);
        if (r->bad)
                row_free(&row);
}
