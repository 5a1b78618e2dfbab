/* What is said of the build, declared or tried, to the judge and in the result. */
#include "report/report.h"

static void add_command(struct json_writer *w, const char *const *command)
{
        _cleanup_buffer_ struct buffer line = BUFFER_INIT;

        if (!command) {
                json_add_null(w, "command");
                return;
        }
        for (const char *const *word = command; *word; word++)
                buffer_add_format(&line, "%s%s", line.len > 0 ? " " : "", *word);
        json_text(w, "command", buffer_text(&line));
}

static void add_end(struct json_writer *w, const struct build_result *b)
{
        if (b->ran && !b->unknown)
                json_bool(w, "ok", b->good);
        else
                json_add_null(w, "ok");
        if (b->ran && b->outcome.end == CELL_EXITED)
                json_number(w, "exit", b->outcome.status);
        else
                json_add_null(w, "exit");
        if (b->ran)
                json_number(w, "ms", b->outcome.wall_us / 1000);
        else
                json_add_null(w, "ms");
}

void report_build_check(struct json_writer *w, const struct evaluation *e)
{
        _cleanup_buffer_ struct buffer output = BUFFER_INIT;
        const struct build_result *b = &e->build;

        if (!b->detected && !build_check_is_wanted(e)) {
                json_add_null(w, "build_check");
                return;
        }
        for (unsigned i = 0; i < 2; i++)
                buffer_add(&output, b->output[i].head, b->output[i].head_len);
        json_open_object(w, "build_check");
        if (b->detected)
                json_text(w, "detected", b->detected);
        else
                json_add_null(w, "detected");
        add_command(w, b->command);
        add_end(w, b);
        json_bytes(w, "output", output.data, output.len);
        if (!b->detected)
                json_text(w, "reason", "nothing to build");
        else if (b->unknown)
                json_text(w, "reason", b->reason);
        else
                json_add_null(w, "reason");
        json_close(w);
}
