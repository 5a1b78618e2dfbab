/* Scores of workflows, a row for each that an agent has: what windows are made of; see match.h. */
#include "store/match.h"

int match_workflow_mac(
        const struct store *s, const struct value *row, char ret[DIGEST_SIZE], struct error *err)
{
        _cleanup_buffer_ struct buffer rows = BUFFER_INIT;

        chain_add_row(&rows, TABLE_WORKFLOWS, row);
        if (!buffer_ok(&rows))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        chain_mac(&s->key, "", &rows, ret);
        return 0;
}

static bool is(const struct value *v, const char *text)
{
        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

int match_workflow_add(
        struct store *s, const struct value *result, const char *agent, struct error *err)
{
        _cleanup_buffer_ struct buffer sql = BUFFER_INIT;
        char mac[DIGEST_SIZE];
        struct value row[FLOW_COLUMNS] = {
                [FLOW_RESULT] = result[STORED_ID],
                [FLOW_AGENT] = value_text(agent),
                [FLOW_TASK] = result[STORED_TASK],
                [FLOW_SCORE] = result[STORED_FINAL],
                [FLOW_EXACT] = result[STORED_FINAL_EXACT],
                [FLOW_COMPLETED] = result[STORED_COMPLETED],
        };

        if (!*agent || !is(&result[STORED_STATUS], "graded") ||
                !is(&result[STORED_EVAL_MODE], "workflow"))
                return 0;
        if (match_workflow_mac(s, row, mac, err) < 0)
                return -1;
        row[FLOW_MAC] = value_text(mac);
        schema_insert(&sql, TABLE_WORKFLOWS);
        return store_do(s, buffer_text(&sql), row, FLOW_COLUMNS, err);
}
