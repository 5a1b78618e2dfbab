/* assay doctor: what this machine can enforce, what each missing piece costs, how to mend it. */
#include "verbs.h"

#include "channel.h"
#include "fd.h"
#include "report/json.h"
#include "setup.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

struct finding {
        const char *name;
        bool good;
        char value[160];
        const char *lost;   /* when not good */
        const char *remedy; /* when not good */
};

enum { FINDINGS_MAX = 20 };

struct findings {
        struct finding rows[FINDINGS_MAX];
        unsigned count;
        uint32_t
                setup_us[SETUP_COUNT]; /* of the cell that was tried; 0: that step was not needed */
};

static struct finding *add(
        struct findings *f, const char *name, bool good, const char *lost, const char *remedy)
{
        struct finding *row = &f->rows[f->count++];

        *row = (struct finding){.name = name, .good = good, .lost = lost, .remedy = remedy};
        snprintf(row->value, sizeof row->value, "%s", good ? "yes" : "no");
        return row;
}

/* --- what the kernel has ------------------------------------------------------------------- */

/* A call that is there fails for its arguments, or works. */
static bool has_call(long number)
{
        long r = syscall(number, -1, NULL, 0, NULL, 0, 0);

        if (r >= 0)
                close((int)r);
        return r >= 0 || errno != ENOSYS;
}

static bool has_openat2(void)
{
        return has_call(SYS_openat2);
}

static bool has_mount_calls(void)
{
        return has_call(SYS_fsopen) && has_call(SYS_open_tree) && has_call(SYS_move_mount) &&
               has_call(SYS_mount_setattr);
}

static bool has_clone3(void)
{
        return has_call(SYS_clone3);
}

static bool has_seccomp(void)
{
        uint32_t action = SECCOMP_RET_KILL_PROCESS;

        return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* In a child, which the new namespace takes along when it ends. */
static bool has_user_namespaces(void)
{
        pid_t pid = fork();
        int status;

        if (pid == 0)
                _exit(unshare(CLONE_NEWUSER) < 0);
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool file_has(const char *path, const char *word)
{
        FILE *file = fopen(path, "re");
        char line[256];
        bool found = false;

        while (file && !found && fgets(line, sizeof line, file))
                found = strstr(line, word) != NULL;
        if (file)
                fclose(file);
        return found;
}

static bool has_overlay(void)
{
        return file_has("/proc/filesystems", "\toverlay\n");
}

static const struct {
        const char *name;
        bool (*there)(void);
        const char *lost, *remedy;
} kernel_rows[] = {
        {"namespaces", has_user_namespaces, "everything: no cell can be made here",
                "sysctl user.max_user_namespaces=10000, and where they exist sysctl "
                "kernel.unprivileged_userns_clone=1 "
                "kernel.apparmor_restrict_unprivileged_userns=0"},
        {"seccomp", has_seccomp, "everything: a cell without it is none",
                "boot a kernel with CONFIG_SECCOMP_FILTER"},
        {"overlay", has_overlay, "everything: the view of /usr is one", "modprobe overlay"},
        {"mount calls", has_mount_calls, "everything: cells are mounted by descriptor",
                "use Linux 5.12 or later, or a container whose filter knows fsopen and "
                "mount_setattr"},
        {"openat2", has_openat2, "some speed when opening files of submissions",
                "use Linux 5.6 or later"},
        {"clone3", has_clone3, "cells are moved into their group, which takes milliseconds",
                "use Linux 5.7 or later"},
};

static void look_at_kernel(struct findings *f)
{
        struct utsname name;
        struct finding *row = add(f, "kernel", uname(&name) == 0, "", "");

        snprintf(row->value, sizeof row->value, "%s %s", name.sysname, name.release);
        for (size_t i = 0; i < sizeof kernel_rows / sizeof *kernel_rows; i++)
                add(f, kernel_rows[i].name, kernel_rows[i].there(), kernel_rows[i].lost,
                        kernel_rows[i].remedy);
}

/* --- what this user may do ----------------------------------------------------------------- */

static void look_at_machine(struct findings *f, const struct machine_facts *m)
{
        struct finding *row;

        row = add(f, "landlock", m->landlock > 0, "a second fence around cells and helper programs",
                "boot a kernel with CONFIG_SECURITY_LANDLOCK, and landlock in its lsm= list");
        snprintf(row->value, sizeof row->value, m->landlock ? "ABI %u" : "none", m->landlock);
        row = add(f, "ids", m->ids != IDS_SINGLE,
                "cells run under your own id on the host, and exec --user cannot choose another",
                "run as root; or apt-get install uidmap, and usermod --add-subuids 100000-165535 "
                "--add-subgids 100000-165535 $USER");
        snprintf(row->value, sizeof row->value, "%s",
                m->ids == IDS_BLOCK   ? "a block of its own for each cell"
                : m->ids == IDS_RANGE ? "your own, and sub-ids for exec --user"
                                      : "single");
        row = add(f, "cgroup", m->cgroup_version != 0, "exact limits and accounting",
                "run as root, or with cgroup v2: systemd-run --user --scope -p Delegate=yes assay "
                "…");
        snprintf(row->value, sizeof row->value, m->cgroup_version ? "version %u" : "none to use",
                m->cgroup_version);
        row = add(f, "processors", !(m->weak & 1ULL << LIMIT_CPUS),
                "a cell may use all processors at once",
                "give the cpu controller too: systemctl edit user@.service, [Service] Delegate=cpu "
                "memory pids");
        snprintf(row->value, sizeof row->value, "limited by %s",
                enforcer_name(m->enforcers[LIMIT_CPUS]));
}

/* Of a program that is not ours, for those tasks alone that ask for a network. */
static void look_for_network(struct findings *f)
{
        bool pasta = access(NETWORK_PASTA, X_OK) == 0;
        bool device = access("/dev/net/tun", R_OK | W_OK) == 0;

        add(f, "network", pasta && device, "run --allow-network, exec --limit network=outbound",
                !pasta ? "apt-get install passt" : "modprobe tun");
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
                .stdio = {null, null, null}};
        struct channel_event end = {.outcome = CELL_OUTCOME_INIT};
        const struct cell_outcome *outcome = &end.outcome;
        struct error err = {0};
        struct finding *row;
        uint32_t id;
        bool good;

        limits_standard(&order.limits, CELL_SUITE);
        limits_settle(&order.limits);
        id = channel_start_cell(c, &order, &err);
        good = id != 0 && channel_next(c, &end, &err) == 0 && end.type == CELL_DONE &&
               outcome->end == CELL_EXITED && outcome->status == 0;
        memcpy(f->setup_us, outcome->setup_us, sizeof f->setup_us);
        row = add(f, "cell", good, "everything: no cell can be made here",
                "see what is missing above; `assay exec host -- true` says where it breaks off");
        if (good)
                snprintf(row->value, sizeof row->value, "made in %u us",
                        (unsigned)outcome->setup_us[SETUP_EXEC]);
        else
                snprintf(row->value, sizeof row->value, "%s",
                        outcome->failed.code != CODE_NONE ? outcome->failed.text
                        : err.code != CODE_NONE           ? err.text
                                                          : "its command did not run");
}

static void show_text(const struct findings *f, const struct machine_facts *m)
{
        for (unsigned i = 0; i < f->count; i++) {
                const struct finding *row = &f->rows[i];

                printf("%-4s %-12s %s\n", row->good ? "ok" : "--", row->name, row->value);
                if (!row->good)
                        printf("       lost: %s\n       remedy: %s\n", row->lost, row->remedy);
        }
        puts("\na cell, in microseconds from the request (some steps run at the same time):");
        for (unsigned i = 0; i < SETUP_COUNT; i++)
                if (f->setup_us[i])
                        printf("     %-12s %6u\n", setup_step_name((enum setup_step)i),
                                (unsigned)f->setup_us[i]);
        puts("\nlimits are enforced by:");
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                printf("%-4s %-12s %s\n", m->weak & 1ULL << i ? "weak" : "ok",
                        limit_info((enum limit)i)->name, enforcer_name(m->enforcers[i]));
}

static void show_json(const struct findings *f, const struct machine_facts *m)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};

        json_open_object(&w, NULL);
        json_open_array(&w, "findings");
        for (unsigned i = 0; i < f->count; i++) {
                json_open_object(&w, NULL);
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
        json_open_object(&w, "setup_us");
        for (unsigned i = 0; i < SETUP_COUNT; i++)
                if (f->setup_us[i])
                        json_number(&w, setup_step_name((enum setup_step)i), f->setup_us[i]);
        json_close(&w);
        json_open_object(&w, "limits");
        for (unsigned i = 0; i < LIMIT_COUNT; i++) {
                json_open_object(&w, limit_info((enum limit)i)->name);
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
        look_for_network(&f);
        try_cell(&f, &channel); /* last: it decides */
        channel_close(&channel);
        if (common.json)
                show_json(&f, &channel.facts);
        else if (!common.quiet)
                show_text(&f, &channel.facts);
        every_limit = channel.facts.weak == 0 && f.rows[f.count - 1].good;
        return every_limit ? 0 : END_ERROR;
}
