/* Rules that SQLite keeps for a table, for the migrations. */
#ifndef ASSAY_STORE_SCHEMA_RULES_H
#define ASSAY_STORE_SCHEMA_RULES_H

/* A row that replaces another one would delete it without asking a trigger for deletes: so
 * inserting is refused where there is a row of the same key. */
#define NEVER_CHANGED(table, same)                                                                 \
        "CREATE TRIGGER " table "_no_update BEFORE UPDATE ON " table                               \
        " BEGIN SELECT RAISE(ABORT, '" table " is never changed'); END",                           \
                "CREATE TRIGGER " table "_no_delete BEFORE DELETE ON " table                       \
                " BEGIN SELECT RAISE(ABORT, '" table " is never deleted from'); END",              \
                "CREATE TRIGGER " table "_no_replace BEFORE INSERT ON " table                      \
                " WHEN EXISTS (SELECT 1 FROM " table " WHERE " same ")"                            \
                " BEGIN SELECT RAISE(ABORT, '" table " is never changed'); END"

#endif
