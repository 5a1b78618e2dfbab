/* How messages call a store of PostgreSQL's: without what proves who one is. */
#include "store/postgres.h"

#include <criterion/criterion.h>

Test(store_postgres, a_label_has_no_password)
{
        static const struct {
                const char *url, *label;
        } cases[] = {
                {"postgresql:///assay", "postgresql:///assay"},
                {"postgres://host:5432/assay", "postgresql://host:5432/assay"},
                {"postgresql://ann@host/assay", "postgresql://host/assay"},
                {"postgresql://ann:secret@host/assay", "postgresql://host/assay"},
                {"postgresql://ann:se?cret@host/assay", "postgresql://host/assay"},
                {"postgresql://:secret@/assay?host=/run", "postgresql:///assay"},
                {"postgresql:///assay?password=secret", "postgresql:///assay"},
                {"postgresql://a,b:1/assay?user=x", "postgresql://a,b:1/assay"},
                /* Where it is not sure what is the password: nothing. */
                {"postgresql://ann:se/cret@host/assay", "postgresql://..."},
                {"postgresql://ann:se@cret@host/assay", "postgresql://..."},
                {"postgresql://host/assay?password=se@cret", "postgresql://..."},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                char label[100];

                postgres_label(cases[i].url, label, sizeof label);
                cr_expect_str_eq(label, cases[i].label, "%s: %s", cases[i].url, label);
        }
}
