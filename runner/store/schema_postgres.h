/* Rules that PostgreSQL keeps for a table, for the migrations. */
#ifndef ASSAY_STORE_SCHEMA_POSTGRES_H
#define ASSAY_STORE_SCHEMA_POSTGRES_H

#include "store/schema.h"

#define TEXT_C "text COLLATE \"C\""
#define REAL   "double precision"

/* Also where a session says that it repeats what was done elsewhere: ALWAYS. */
#define ALWAYS(table, name) "ALTER TABLE " table " ENABLE ALWAYS TRIGGER " table "_" name

#define NEVER_GONE(table)                                                                          \
        "CREATE TRIGGER " table "_no_delete BEFORE DELETE ON " table                               \
        " FOR EACH ROW EXECUTE FUNCTION never_deleted()",                                          \
                ALWAYS(table, "no_delete"),                                                        \
                "CREATE TRIGGER " table "_no_truncate BEFORE TRUNCATE ON " table                   \
                " FOR EACH STATEMENT EXECUTE FUNCTION never_deleted()",                            \
                ALWAYS(table, "no_truncate")
#define NEVER_CHANGED(table)                                                                       \
        "CREATE TRIGGER " table "_no_update BEFORE UPDATE ON " table                               \
        " FOR EACH ROW EXECUTE FUNCTION never_changed()",                                          \
                ALWAYS(table, "no_update"), NEVER_GONE(table)

#define FUNCTION(name, body)                                                                       \
        "CREATE FUNCTION " name "() RETURNS trigger LANGUAGE plpgsql"                              \
        " SET search_path = pg_catalog, pg_temp AS '" body "'"

/* Nobody else has rights there; the role that needs nothing but to add has these, if there is one.
 */
#define RIGHTS(grants)                                                                             \
        "REVOKE ALL ON ALL TABLES IN SCHEMA assay FROM PUBLIC",                                    \
                "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM PUBLIC",                         \
                "DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'assay_worker') THEN" \
                " " grants " END IF; END $$"

#endif
