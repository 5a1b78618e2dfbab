/* assay doctor: what this machine can enforce, what each missing piece costs, how to mend it. */
#include "verbs.h"

#include "channel.h"
#include "fd.h"
#include "report/json.h"

#include <linux/openat2.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

struct finding {
        const char *name;
        bool good;
        char value[160];
        const char *lost;   /* when not good */
        const char *remedy; /* when not good */
};

enum { FINDINGS_MAX = 16 };

struct findings {
        struct finding rows[FINDINGS_MAX];
        unsigned count;
};

static struct finding *add(
        struct findings *f, const char *name, bool good, const char *lost, const char *remedy)
{
        struct finding *row = &f->rows[f->count++];

        *row = (struct finding){.name = name, .good = good, .lost = lost, .remedy = remedy};
        return row;
}

static void look_at_kernel(struct findings *f)
{
        struct utsname name;
        struct open_how how = {.flags = O_PATH, .resolve = RESOLVE_BENEATH};
        long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);
        struct finding *row;

        row = add(f, "kernel", uname(&name) == 0, "", "");
        snprintf(row->value, sizeof row->value, "%s %s", name.sysname, name.release);
        row = add(f, "openat2", fd >= 0, "some speed when opening files of submissions",
                "use a kernel of version 5.6 or later");
        snprintf(row->value, sizeof row->value, "%s", fd >= 0 ? "yes" : "no");
        if (fd >= 0)
                fd_close((int)fd);
}

static void look_at_machine(struct findings *f, const struct machine_facts *m)
{
        struct finding *row;

        row = add(f, "landlock", m->landlock > 0, "a second fence around cells and helper programs",
                "boot a kernel with CONFIG_SECURITY_LANDLOCK, and landlock in its lsm= list");
        snprintf(row->value, sizeof row->value, m->landlock ? "ABI %u" : "none", m->landlock);
        row = add(f, "ids", m->ids == IDS_BLOCK, "cells run under your own id on the host",
                "run as root");
        snprintf(row->value, sizeof row->value, "%s",
                m->ids == IDS_BLOCK ? "a block of its own for each cell" : "single");
        row = add(f, "cgroup", m->cgroup_version != 0, "exact limits and accounting",
                "run as root, or with cgroup v2: systemd-run --user --scope -p Delegate=yes assay "
                "…");
        snprintf(row->value, sizeof row->value, m->cgroup_version ? "version %u" : "none to use",
                m->cgroup_version);
}

/* One real cell tells more than any list of features. */
static void try_cell(struct findings *f, struct channel *c)
{
        static const char *const argv[] = {"true", NULL}, *const envp[] = {NULL};
        _cleanup_fd_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        struct cell_order order = {.profile = PROFILE_SUITE,
                .allow_weak = true,
                .workdir = "/",
                .argv = argv,
                .envp = envp,
                .stdio = {null, null, null},
                .result_dir = "",
                .result_file = ""};
        struct cell_outcome outcome = {.result_fd = -EBADF};
        struct error err = {0};
        struct finding *row;
        uint32_t id;
        bool good;

        limits_standard(&order.limits, CELL_SUITE);
        limits_settle(&order.limits);
        id = channel_start_cell(c, &order, &err);
        good = id != 0 && channel_cell_done(c, id, &outcome, &err) == 0 &&
               outcome.failed.code == CODE_NONE && outcome.end == CELL_EXITED &&
               outcome.status == 0;
        row = add(f, "cell", good, "everything: no cell can be made here",
                "allow user namespaces: sysctl user.max_user_namespaces=10000, and where it exists "
                "sysctl kernel.unprivileged_userns_clone=1");
        if (good)
                snprintf(row->value, sizeof row->value, "made in %llu us",
                        (unsigned long long)outcome.setup_us);
        else
                snprintf(row->value, sizeof row->value, "%s",
                        outcome.failed.code != CODE_NONE ? outcome.failed.text
                        : err.code != CODE_NONE          ? err.text
                                                         : "its command did not run");
}

static void show_text(const struct findings *f, const struct machine_facts *m)
{
        for (unsigned i = 0; i < f->count; i++) {
                const struct finding *row = &f->rows[i];

                printf("%-4s %-10s %s\n", row->good ? "ok" : "--", row->name, row->value);
                if (!row->good)
                        printf("       lost: %s\n       remedy: %s\n", row->lost, row->remedy);
        }
        puts("\nlimits are enforced by:");
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                printf("%-4s %-10s %s\n", m->weak & 1ULL << i ? "weak" : "ok",
                        limit_info((enum limit)i)->name, enforcer_name(m->enforcers[i]));
}

static void show_json(const struct findings *f, const struct machine_facts *m)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        json_object(&w, NULL);
        json_array(&w, "findings");
        for (unsigned i = 0; i < f->count; i++) {
                json_object(&w, NULL);
                json_text(&w, "name", f->rows[i].name);
                json_bool(&w, "ok", f->rows[i].good);
                json_text(&w, "value", f->rows[i].value);
                if (!f->rows[i].good) {
                        json_text(&w, "lost", f->rows[i].lost);
                        json_text(&w, "remedy", f->rows[i].remedy);
                }
                json_close(&w);
        }
        json_close(&w);
        json_object(&w, "limits");
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                json_object(&w, limit_info((enum limit)i)->name);
                json_text(&w, "enforced_by", enforcer_name(m->enforcers[i]));
                json_bool(&w, "weak", (m->weak & 1ULL << i) != 0);
                json_close(&w);
        }
        json_close(&w);
        json_close(&w);
        printf("%s\n", buffer_text(&out));
}

int verb_doctor(int argc, char **argv, struct error *err)
{
        struct common_options common = {0};
        struct channel channel = CHANNEL_INIT;
        struct findings f = {0};
        int rest = options_parse(NULL, 0, &common, argc, argv, err);
        bool every_limit;

        if (rest < 0)
                return -1;
        if (common.help)
                return options_help("doctor",
                        "Shows what this machine can enforce and how to mend what it cannot.\n\n"
                        "exit status: 0 when every limit of a cell can be enforced, else 4",
                        NULL, 0);
        if (rest != 0)
                return error_set(err, CODE_USAGE, "doctor: takes no argument");
        if (channel_open(&channel, err) < 0 || channel_ready(&channel, err) < 0) {
                channel_close(&channel);
                return -1;
        }
        look_at_kernel(&f);
        look_at_machine(&f, &channel.facts);
        try_cell(&f, &channel);
        channel_close(&channel);
        if (common.json)
                show_json(&f, &channel.facts);
        else if (!common.quiet)
                show_text(&f, &channel.facts);
        every_limit = channel.facts.weak == 0 && f.rows[f.count - 1].good;
        return every_limit ? 0 : END_ERROR;
}
