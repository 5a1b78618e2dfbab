/* assay exec IMAGE -- CMD…: this process becomes the supervisor of one cell. The request is put
 * into a socket first, and the socket's other end is what the supervisor reads. */
#include "verbs.h"

#include "beneath.h"
#include "channel.h"
#include "evaluators/contract.h"
#include "environment.h"
#include "fd.h"
#include "image/cell.h"
#include "spawn.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS_ASSAY_FAILED = 125, MOST_ARGUMENT_BYTES = 64 << 10 };

struct exec_options {
        struct common_options common;
        struct option_list limits, env, binds, hide;
        const char *report, *workdir, *in, *out, *user, *profile, *layers;
        bool timing, allow_weak, trace_denied;
};

static int take_network(const char *value, struct cell_order *order, struct error *err)
{
        order->network = strcmp(value, "outbound") == 0;
        return order->network || strcmp(value, "none") == 0
                       ? 0
                       : error_set(err, CODE_USAGE,
                                 "--limit network=%s: not network=none or network=outbound", value);
}

static int take_limits(const struct option_list *list, struct cell_order *order, struct error *err)
{
        static const char network[] = "network=";
        struct limits *limits = &order->limits;

        for (unsigned i = 0; i < list->count; i++) {
                const char *equals = strchr(list->values[i], '=');
                char name[32];
                enum limit limit;

                snprintf(name, sizeof name, "%.*s", (int)strcspn(list->values[i], "="),
                        list->values[i]);
                if (strncmp(list->values[i], network, sizeof network - 1) == 0) {
                        if (take_network(equals + 1, order, err) < 0)
                                return -1;
                        continue;
                }
                limit = limit_find(name);
                if (!equals || limit == LIMIT_COUNT)
                        return error_set(err, CODE_USAGE,
                                "--limit %s: not of the form NAME=VALUE with "
                                "a limit's name",
                                list->values[i]);
                if (limit == LIMIT_OUTPUT || limit == LIMIT_RESULT)
                        return error_set(err, CODE_USAGE,
                                "--limit %s: the output of exec is its caller's, and it has no "
                                "result",
                                list->values[i]);
                if (limit_parse(limit, equals + 1, &limits->value[limit], err) < 0)
                        return error_add(err, "--limit %s", list->values[i]);
        }
        limits_settle(limits);
        return 0;
}

static size_t bytes_of(const char *const *list)
{
        size_t sum = 0;

        for (; *list; list++)
                sum += strlen(*list) + sizeof(uint32_t);
        return sum;
}

static int check_env(const struct option_list *list, struct error *err)
{
        for (unsigned i = 0; i < list->count; i++)
                if (!strchr(list->values[i], '='))
                        return error_set(err, CODE_USAGE, "--env %s: not of the form NAME=VALUE",
                                list->values[i]);
        return 0;
}

/* SRC:DST[:ro]. DST is copied to `place`, which the order borrows. */
static int add_bind(
        struct cell_order *order, const char *text, char place[CELL_MAX_PLACE], struct error *err)
{
        const char *colon = strchr(text, ':'),
                   *end = colon ? colon + 1 + strcspn(colon + 1, ":") : NULL;
        bool read_only = end && strcmp(end, ":ro") == 0;
        char source[PATH_MAX];
        int tree;

        if (!colon || (*end && !read_only) || (size_t)(colon - text) >= sizeof source)
                return error_set(err, CODE_USAGE, "--bind %s: not of the form SRC:DST[:ro]", text);
        snprintf(source, sizeof source, "%.*s", (int)(colon - text), text);
        snprintf(place, CELL_MAX_PLACE, "%.*s", (int)(end - colon - 1), colon + 1);
        if (end - colon > CELL_MAX_PLACE || !beneath_is_place(place))
                return error_set(err, CODE_USAGE,
                        "--bind %s: %s is not an absolute path without . and ..", text, place);
        tree = open(source, O_PATH | O_CLOEXEC);
        if (tree < 0)
                return error_errno(err, CODE_USAGE, errno, "--bind %s: %s", text, source);
        order->mounts[order->mount_count].tree = tree;
        order->mounts[order->mount_count].kind = read_only ? PLACE_OWNED : PLACE_BIND;
        order->mounts[order->mount_count++].place = place;
        return 0;
}

/* Standard input or output from a file, which the caller may open anyway. */
static int redirect(const char *option, const char *path, int flags, int *fd, struct error *err)
{
        if (!path)
                return 0;
        *fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
        return *fd < 0 ? error_errno(err, CODE_USAGE, errno, "%s %s", option, path) : 0;
}

/* UID[:GID], as the cell numbers them. */
static int take_user(const char *text, struct cell_order *order, struct error *err)
{
        unsigned long uid, gid;
        char *end;

        if (!text)
                return 0;
        uid = gid = strtoul(text, &end, 10);
        if (end != text && *end == ':')
                gid = strtoul(text = end + 1, &end, 10);
        if (end == text || *end || uid >= IDS_NETWORK || gid >= IDS_NETWORK)
                return error_set(err, CODE_USAGE,
                        "--user: not of the form UID[:GID] with numbers below %d", IDS_NETWORK);
        order->uid = (uint32_t)uid;
        order->gid = (uint32_t)gid;
        return 0;
}

static int take_profile(const char *name, enum cell_profile *ret, struct error *err)
{
        static const char *const names[PROFILE_COUNT] = {"suite", "submission", "debug"};

        for (unsigned i = 0; name && i < PROFILE_COUNT; i++)
                if (strcmp(names[i], name) == 0) {
                        *ret = (enum cell_profile)i;
                        return 0;
                }
        return name ? error_set(
                              err, CODE_USAGE, "--profile %s: not suite, submission or debug", name)
                    : 0;
}

static int send_report_request(int socket, const struct exec_options *o, struct error *err)
{
        _cleanup_buffer_ struct buffer payload = BUFFER_INIT;
        _cleanup_fd_ int fd = -EBADF;

        if (!o->report && !o->timing)
                return 0;
        fd = o->report ? open(o->report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644)
                       : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        if (fd < 0)
                return error_errno(err, CODE_USAGE, errno, "--report %s", o->report);
        put_u8(&payload, o->timing);
        return frame_send(socket, EXEC_REPORT, &payload, &fd, 1, err);
}

/* Does not return on success. */
static int become_supervisor(int socket, struct error *err)
{
        char *const argv[] = {(char[]){"assay-cell"}, (char[]){"exec"}, NULL};
        char *const no_environment[] = {NULL};
        _cleanup_fd_ int program = spawn_find("assay-cell", err);

        if (program < 0)
                return -1;
        if (socket == SUPERVISOR_SOCKET)
                fcntl(socket, F_SETFD, 0);
        else if (dup2(socket, SUPERVISOR_SOCKET) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot pass the request on");
        syscall(SYS_execveat, program, "", argv, no_environment, AT_EMPTY_PATH);
        return error_errno(err, CODE_INFRA_HELPER, errno, "cannot start assay-cell");
}

/* As submissions would see it, if the command line says so. */
static int open_image(const struct exec_options *o, const char *reference, struct image_cell *ret,
        struct error *err)
{
        struct view view = {
                .image = reference,
                .hide = o->hide.values,
                .hide_count = o->hide.count,
                .own = contracts[CONTRACT_STRAW].own,
        };
        char *end = NULL;

        if (o->layers)
                view.layers = (unsigned)strtoul(o->layers, &end, 10);
        if (o->layers && (*end || view.layers < 1 || view.layers > CELL_MAX_LAYERS))
                return error_set(err, CODE_USAGE, "--layers %s: not a number from 1 to %d",
                        o->layers, CELL_MAX_LAYERS);
        for (unsigned i = 0; i < o->hide.count; i++)
                if (!beneath_is_place(o->hide.values[i]) ||
                        strlen(o->hide.values[i]) >= SCORE_MAX_NAME)
                        return error_set(err, CODE_USAGE,
                                "--hide %.100s: not an absolute path below %d bytes without . and "
                                "..",
                                o->hide.values[i], SCORE_MAX_NAME);
        if (!o->layers && o->hide.count == 0)
                return image_open(ret, reference, NULL, !o->user, err);
        if (image_open(ret, reference, &view, !o->user, err) == 0)
                return 0;
        image_close(ret);
        return view_make_aside(&view, err) < 0 ? -1
                                               : image_open(ret, reference, &view, !o->user, err);
}

static int exec_cell(const struct exec_options *o, const struct image_cell *image, char **command,
        struct error *err)
{
        const char **env = environment_make(image->env, o->env.values, o->env.count, err);
        char places[CELL_MAX_MOUNTS][CELL_MAX_PLACE];
        struct cell_order order = {
                .profile = PROFILE_SUITE,
                .allow_weak = o->allow_weak,
                .trace_denied = o->trace_denied,
                .workdir = o->workdir ? o->workdir : image->workdir,
                .uid = image->uid,
                .gid = image->gid,
                .layers = image->layers,
                .layer_count = image->layer_count,
                .argv = (const char *const *)command,
                .envp = env,
                .stdio = {0, 1, 2},
        };
        struct stat st;
        int pair[2];

        if (!env)
                return -1;
        limits_standard(&order.limits, CELL_SUITE);
        if (take_limits(&o->limits, &order, err) < 0 || check_env(&o->env, err) < 0)
                return -1;
        if (take_profile(o->profile, &order.profile, err) < 0 ||
                take_user(o->user, &order, err) < 0 ||
                redirect("--stdin", o->in, O_RDONLY, &order.stdio[0], err) < 0 ||
                redirect("--stdout", o->out, O_WRONLY | O_CREAT | O_TRUNC, &order.stdio[1], err) <
                        0)
                return -1;
        if (order.network && order.profile == PROFILE_SUBMISSION)
                return error_set(err, CODE_USAGE,
                        "--limit network=outbound: a submission cell never has a network");
        if (o->binds.count > CELL_MAX_MOUNTS)
                return error_set(
                        err, CODE_USAGE, "--bind: given more than %d times", CELL_MAX_MOUNTS);
        for (unsigned i = 0; i < o->binds.count; i++)
                if (add_bind(&order, o->binds.values[i], places[i], err) < 0)
                        return -1;
        if (*order.workdir != '/')
                return error_set(err, CODE_USAGE, "--workdir %s: not an absolute path", o->workdir);
        for (int fd = 0; fd < CELL_STDIO; fd++)
                if (fstat(order.stdio[fd], &st) == 0 && S_ISDIR(st.st_mode))
                        return error_set(err, CODE_USAGE,
                                "exec: descriptor %d is a directory, a way out of the cell", fd);
        /* Nobody reads the socket before we have become the supervisor. */
        if (bytes_of(order.argv) + bytes_of(order.envp) > MOST_ARGUMENT_BYTES)
                return error_set(err, CODE_USAGE,
                        "exec: the command and its environment have more than %d bytes",
                        MOST_ARGUMENT_BYTES);
        if (fd_socketpair(pair, err) < 0 || send_report_request(pair[0], o, err) < 0 ||
                channel_send_order(pair[0], 1, &order, err) < 0)
                return -1;
        fd_close(pair[0]);
        /* Whatever the caller left open must not reach the supervisor: it all goes at exec. */
        if (fd_close_range(3, UINT_MAX, true) < 0)
                return error_errno(err, CODE_INFRA_IO, errno, "cannot close descriptors");
        return become_supervisor(pair[1], err);
}

int verb_exec(int argc, char **argv, struct error *err)
{
        struct exec_options o = {0};
        struct image_cell image = {.workdir = "/"};
        const struct option table[] = {
                {"--limit", OPTION_LIST, &o.limits, "NAME=VALUE",
                        "such as memory=256MiB, wall=10s, network=outbound"},
                {"--bind", OPTION_LIST, &o.binds, "SRC:DST[:ro]",
                        "show a file or directory of this machine"},
                {"--env", OPTION_LIST, &o.env, "NAME=VALUE", "add to the command's environment"},
                {"--workdir", OPTION_TEXT, &o.workdir, "DIR", "where the command starts (/)"},
                {"--stdin", OPTION_TEXT, &o.in, "FILE", "standard input from FILE"},
                {"--stdout", OPTION_TEXT, &o.out, "FILE", "standard output to FILE"},
                {"--user", OPTION_TEXT, &o.user, "UID[:GID]", "ids inside (0)"},
                {"--hide", OPTION_LIST, &o.hide, "PATH",
                        "the image as submissions see it, without PATH"},
                {"--layers", OPTION_TEXT, &o.layers, "N", "the same, of its lowest N layers"},
                {"--profile", OPTION_TEXT, &o.profile, "NAME",
                        "system calls of a suite, submission or debug cell"},
                {"--trace-denied", OPTION_FLAG, &o.trace_denied, NULL,
                        "name each denied system call"},
                {"--report", OPTION_TEXT, &o.report, "FILE",
                        "how it ended and what it used, as JSON"},
                {"--timing", OPTION_FLAG, &o.timing, NULL, "add the set-up steps to the report"},
                {"--allow-weak-limits", OPTION_FLAG, &o.allow_weak, NULL,
                        "run where limits can only be polled for"},
        };
        int rest = options_parse_first(
                table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("exec [OPTIONS] IMAGE -- CMD…",
                        "Runs one command in a cell and passes its status on.", table,
                        sizeof table / sizeof *table);
        if (rest > 1 && strcmp(argv[1], "--") == 0) {
                memmove(argv + 1, argv + 2, (size_t)(rest - 2) * sizeof *argv);
                rest--;
        }
        if (rest < 2)
                return error_set(err, CODE_USAGE, "exec: needs an image and a command");
        argv[rest] = NULL;
        if (strcmp(argv[0], "host") == 0 && (o.layers || o.hide.count > 0))
                return error_set(
                        err, CODE_USAGE, "exec: --hide and --layers are for container images");
        if ((strcmp(argv[0], "host") != 0 && open_image(&o, argv[0], &image, err) < 0) ||
                exec_cell(&o, &image, argv + 1, err) < 0) {
                if (code_info(err->code)->ending == END_USAGE)
                        return -1;
                error_print(err);
                return STATUS_ASSAY_FAILED;
        }
        return 0;
}
