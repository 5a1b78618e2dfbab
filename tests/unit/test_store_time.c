/* Times as a store writes them: they sort as texts, and are read back only as they were written. */
#include "store/store.h"

#include <criterion/criterion.h>

Test(store_time, goes_and_comes_back)
{
        const int64_t times[] = {0, 1, 999, 1000, 1763550177123, 4102444799999};

        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
                char text[STORE_TIME_SIZE];
                int64_t again = -1;

                store_time_text(times[i], text);
                cr_assert_eq(store_time_parse(text, &again, NULL), 0, "%s", text);
                cr_assert_eq(again, times[i], "%s", text);
        }
}

Test(store_time, looks_like_this)
{
        char text[STORE_TIME_SIZE];

        store_time_text(1763550177023, text);
        cr_assert_str_eq(text, "2025-11-19T11:02:57.023Z");
}

Test(store_time, anything_else_is_refused)
{
        const char *const texts[] = {"", "2025-11-19T11:02:57Z", "2025-11-19T11:02:57.1Z",
                "2025-11-19T11:02:57.023", "2025-11-19T11:02:57.023Z ", "2025-13-19T11:02:57.023Z",
                "2025-11-31T11:02:57.023Z", "2025-11-19T24:02:57.023Z", "1969-11-19T11:02:57.023Z",
                "2025-11-19T11:02:57.-23Z", "now"};

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                struct error err = {0};
                int64_t ms;

                cr_assert_eq(store_time_parse(texts[i], &ms, &err), -1, "%s", texts[i]);
                cr_assert_eq(err.code, CODE_INFRA_STORE, "%s", texts[i]);
        }
}
