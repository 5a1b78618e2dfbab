/* Is everything as the migrations made it? What PostgreSQL's catalogs say of our tables and of what
 * acts on them, in words that are the same in all of its versions, is compared with the words in
 * schema_postgres.c. Nothing is made for it: who may only read can check. Owners and rights are the
 * operator's, and not looked at. */
#include "store/postgres.h"

enum { MAX_OBJECTS = 500 };

/* Rows of: name, definition, the table that it belongs to. */
static const char catalog[] =
        "WITH tables AS ("
        " SELECT c.* FROM pg_class c WHERE c.relnamespace = to_regnamespace('assay')"
        "  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
        ") "
        /* Its columns; stored on disk, seen by everyone, and no part of another table. */
        "SELECT c.relname, concat('table', CASE c.relkind WHEN 'r' THEN '' ELSE ' of another kind'"
        "  END, CASE c.relpersistence WHEN 'p' THEN '' ELSE ' that is not kept' END,"
        "  CASE WHEN c.relrowsecurity THEN ' with policies' END,"
        "  CASE WHEN EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid OR"
        "   i.inhparent = c.oid) THEN ' of several' END, ': ',"
        "  (SELECT string_agg(concat(a.attname, ' ', format_type(a.atttypid, a.atttypmod),"
        "    CASE WHEN a.attcollation <> 0 THEN (SELECT ' ' || l.collname FROM pg_collation l"
        "     WHERE l.oid = a.attcollation AND l.collname <> 'C') END,"
        "    CASE WHEN a.attnotnull THEN ' not null' END,"
        "    CASE WHEN a.atthasdef THEN concat(' ', a.attgenerated, ' ',"
        "     (SELECT pg_get_expr(f.adbin, f.adrelid) FROM pg_attrdef f"
        "      WHERE f.adrelid = c.oid AND f.adnum = a.attnum)) END), ', ' ORDER BY a.attnum)"
        "   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)),"
        " c.relname FROM tables c "
        /* Newer versions have a constraint for each NOT NULL, too. What a foreign key does is done
         * by triggers, which can be switched off. */
        "UNION ALL SELECT o.conname, concat('constraint: ', pg_get_constraintdef(o.oid),"
        "  CASE WHEN NOT o.convalidated THEN ' (not for all)' END,"
        "  CASE WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = o.oid"
        "   AND t.tgenabled <> 'O') THEN ' (off)' END), c.relname"
        " FROM pg_constraint o JOIN tables c ON c.oid = o.conrelid WHERE o.contype <> 'n' "
        "UNION ALL SELECT n.relname, concat('index: ', pg_get_indexdef(n.oid),"
        "  CASE WHEN NOT (i.indisvalid AND i.indisready AND i.indislive) THEN ' (off)' END),"
        "  c.relname"
        " FROM pg_index i JOIN tables c ON c.oid = i.indrelid JOIN pg_class n"
        "  ON n.oid = i.indexrelid "
        /* When (pg_trigger.h numbers it), what, and whether it is on: A is always. */
        "UNION ALL SELECT t.tgname, concat('trigger: ', t.tgtype, ' ', t.tgfoid::regproc, ' ',"
        "  t.tgenabled, CASE WHEN t.tgqual IS NOT NULL OR t.tgattr::text <> '' OR t.tgnargs > 0"
        "   THEN ' (at times)' END), c.relname"
        " FROM pg_trigger t JOIN tables c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal "
        "UNION ALL SELECT r.rulename, 'rule', c.relname"
        " FROM pg_rewrite r JOIN tables c ON c.oid = r.ev_class "
        "UNION ALL SELECT p.polname, 'policy', c.relname"
        " FROM pg_policy p JOIN tables c ON c.oid = p.polrelid "
        /* Whatever has such a name belongs to all of the tables. */
        "UNION ALL SELECT p.proname, concat('function: ', l.lanname, ' ',"
        "  array_to_string(p.proconfig, ' '), ' ', p.prosrc), 'store'"
        " FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang"
        " WHERE p.pronamespace = to_regnamespace('assay') ORDER BY 1, 2";

struct check {
        bool found[MAX_OBJECTS];
        take_row take;
        void *to;
};

static bool is(const struct value *v, const char *text)
{
        return v->kind == VALUE_TEXT && v->len == strlen(text) &&
               memcmp(v->text, text, v->len) == 0;
}

/* Are both of one kind? Its word ends with a colon or a space, or is all there is. */
static bool same_kind(const struct value *definition, const char *expected)
{
        const size_t len = strcspn(expected, ": ");

        return definition->len >= len && memcmp(definition->text, expected, len) == 0;
}

/* Does `e` have that name and kind? */
static bool is_meant(const struct postgres_object *e, const struct value *row)
{
        return is(&row[0], e->name) && same_kind(&row[1], e->definition);
}

static bool is_ours(const struct value *table)
{
        for (unsigned i = 0; i < postgres_object_count; i++)
                if (is(table, postgres_objects[i].name) &&
                        strncmp(postgres_objects[i].definition, "table", 5) == 0)
                        return true;
        return false;
}

static int compare(void *to, const struct value *row, unsigned count, struct error *err)
{
        struct check *c = to;
        bool known = false;

        (void)count;
        for (unsigned i = 0; i < postgres_object_count; i++) {
                const struct postgres_object *e = &postgres_objects[i];

                if (!is_meant(e, row))
                        continue;
                known = true;
                c->found[i] = c->found[i] || is(&row[1], e->definition);
        }
        return known || !is_ours(&row[2]) ? 0 : c->take(c->to, row, 1, err);
}

int postgres_check_schema(struct database *d, take_row take, void *to, struct error *err)
{
        struct check c = {.take = take, .to = to};

        if (postgres_object_count > MAX_OBJECTS)
                return error_set(err, CODE_INTERNAL_BUG, "more objects than MAX_OBJECTS");
        /* Without the schema's own functions and operators, which may fit what is asked better than
         * PostgreSQL's: they are what is checked. */
        if (postgres_run(d, "SET LOCAL search_path = pg_catalog, pg_temp", NULL, 0, NULL, NULL,
                    err) < 0 ||
                postgres_run(d, catalog, NULL, 0, compare, &c, err) < 0 ||
                postgres_run(
                        d, "SET LOCAL search_path = " POSTGRES_PATH, NULL, 0, NULL, NULL, err) < 0)
                return -1;
        for (unsigned i = 0; i < postgres_object_count; i++) {
                const struct value name = value_text(postgres_objects[i].name);

                if (!c.found[i] && take(to, &name, 1, err) < 0)
                        return -1;
        }
        return 0;
}
