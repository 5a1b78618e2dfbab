/* What a submitter may see; see visible.h. */
#include "report/visible.h"

time_t visible_time(const char *text)
{
        struct tm tm = {0};
        int hours = 0, minutes = 0, used = 0;
        char sign = 'Z';

        if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                    &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6)
                return -1;
        text += used;
        if (*text == '.')
                text += 1 + strspn(text + 1, "0123456789");
        if (strcmp(text, "Z") != 0 && sscanf(text, "%c%2d:%2d", &sign, &hours, &minutes) != 3)
                return -1;
        tm.tm_year -= 1900;
        tm.tm_mon--;
        return timegm(&tm) - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

bool visible_at(enum task_visibility v, const char *due, time_t now)
{
        const time_t from = v == VISIBILITY_AFTER_DUE ? visible_time(due) : -1;

        return v == VISIBILITY_VISIBLE || (from >= 0 && now >= from);
}

static bool shows(const struct evaluation *e, enum task_visibility v)
{
        return !e->options->for_submitter || visible_at(v, e->task.due, time(NULL));
}

bool visible_test(const struct evaluation *e, const struct test_result *t)
{
        return shows(e, t->visibility == VISIBILITY_COUNT ? e->task.visible_tests : t->visibility);
}

bool visible_output(const struct evaluation *e)
{
        return shows(e, e->task.visible_output);
}
