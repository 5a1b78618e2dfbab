/* Plays a runner to a supervisor: cell-driver ASSAY-CELL HOW
 *
 * owned, bind, debug, network, late, file, show, view: a runner that was taken over asks for a cell
 *     that has /tmp, rights or a network in a way that it may not ask for (late: it allows the
 *     network itself, after another request; show: it wants to read /tmp as its owner). Prints
 *     "refused" when the supervisor ends, else what it answered.
 * total: cells that have no room together. Prints which ended in what order.
 * crowd: twenty cells that sleep. Prints how many did, for the time that they should.
 * keep: several runners, one after the other, to a supervisor that is kept. Prints what each has.
 */
#include "fd.h"
#include "frame.h"
#include "sandbox/messages.h"
#include "spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct order {
        uint32_t id;
        enum cell_profile profile;
        unsigned shares; /* of the memory that a cell has by default */
        const char *command;
        enum place_kind kind;
        int input;
        const char *argument; /* NULL: none */
        uint8_t flags;
        const char *shown; /* NULL: /tmp */
};

static void must(bool good, const char *what)
{
        if (!good) {
                perror(what);
                exit(2);
        }
}

static uint64_t share(void)
{
        struct limits limits;

        limits_standard(&limits, CELL_SUITE);
        limits_settle(&limits);
        return limits.value[LIMIT_MEMORY];
}

static void ask(int socket, const struct order *o)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        int fds[CELL_STDIO + 1];
        struct limits limits;

        limits_standard(&limits, CELL_SUITE);
        limits_settle(&limits);
        limits.value[LIMIT_MEMORY] *= o->shares;
        put_u32(&b, o->id);
        put_u8(&b, (uint8_t)o->profile);
        put_u8(&b, CELL_ALLOW_WEAK | o->flags);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u64(&b, limits.value[i]);
        put_u32(&b, 0);
        put_u32(&b, 0);
        put_text(&b, "/");
        put_u32(&b, o->argument ? 2 : 1);
        put_text(&b, o->command);
        if (o->argument)
                put_text(&b, o->argument);
        put_u32(&b, 0);
        put_u32(&b, 1);
        put_u8(&b, (uint8_t)o->kind);
        put_text(&b, "/host");
        put_u32(&b, 0); /* layers */
        put_u32(&b, 0); /* files */
        put_text(&b, "");
        put_u32(&b, 0); /* results */
        for (int i = 0; i < CELL_STDIO; i++)
                fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (o->input >= 0) {
                close(fds[0]);
                fds[0] = o->input;
        }
        fds[CELL_STDIO] = open(o->shown ? o->shown : "/tmp", O_PATH | O_CLOEXEC);
        /* Which fails when it has ended already. */
        (void)frame_send(socket, CELL_START, &b, fds, CELL_STDIO + 1, NULL);
        for (int i = 0; i < CELL_STDIO + 1; i++)
                close(fds[i]);
}

/* False when the supervisor is gone. */
static bool hear(int socket)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct reader r;

        if (frame_receive(socket, &f, CELL_MAX_REQUEST, 1, NULL) <= 0)
                return false;
        r = reader_of(f.payload.data, f.payload.len);
        printf("%u %s\n", (unsigned)get_u32(&r), f.type == CELL_DONE ? "done" : "failed");
        return true;
}

static bool is_quiet(int socket)
{
        struct pollfd wait = {.fd = socket, .events = POLLIN};

        return poll(&wait, 1, 300) == 0;
}

/* Each holds one of two shares until its input ends. */
static int ask_to_wait(int socket, uint32_t id)
{
        const struct order waits = {id, PROFILE_SUITE, 1, "cat", PLACE_VIEW, -1, NULL, 0, NULL};
        struct order with_input = waits;
        int ends[2];

        must(pipe2(ends, O_CLOEXEC) == 0, "pipe");
        with_input.input = ends[0];
        ask(socket, &with_input);
        return ends[1];
}

static void cells_without_room(int socket)
{
        const struct order quick = {3, PROFILE_SUITE, 1, "true", PLACE_VIEW, -1, NULL, 0, NULL};
        const struct order unwanted = {5, PROFILE_SUITE, 2, "true", PLACE_VIEW, -1, NULL, 0, NULL};
        const struct order greedy = {6, PROFILE_SUITE, 3, "true", PLACE_VIEW, -1, NULL, 0, NULL};
        _cleanup_buffer_ struct buffer total = BUFFER_INIT, kill_it = BUFFER_INIT;
        int first, second, fourth;

        put_u64(&total, 2 * share());
        must(frame_send(socket, CELL_TOTAL, &total, NULL, 0, NULL) == 0, "CELL_TOTAL");
        first = ask_to_wait(socket, 1);
        second = ask_to_wait(socket, 2);
        ask(socket, &quick);
        puts(is_quiet(socket) ? "3 waits" : "3 does not wait");
        close(first);
        hear(socket);
        hear(socket);
        fourth = ask_to_wait(socket, 4);
        ask(socket, &unwanted);
        puts(is_quiet(socket) ? "5 waits" : "5 does not wait");
        put_u32(&kill_it, unwanted.id);
        put_u16(&kill_it, CODE_INTERRUPTED);
        must(frame_send(socket, CELL_KILL, &kill_it, NULL, 0, NULL) == 0, "CELL_KILL");
        hear(socket);
        ask(socket, &greedy);
        hear(socket);
        close(second);
        hear(socket);
        close(fourth);
        hear(socket);
}

static uint64_t wall_us(const struct frame *f)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        get_u32(&r); /* id */
        get_u8(&r);  /* end */
        get_u32(&r); /* status */
        get_u16(&r); /* code */
        get_u64(&r); /* cpu time */
        return get_u64(&r);
}

static void crowd(int socket)
{
        struct order o = {0, PROFILE_SUITE, 1, "sleep", PLACE_VIEW, -1, "0.2", 0, NULL};
        unsigned done = 0;

        while (o.id < 20) {
                o.id++;
                ask(socket, &o);
        }
        for (unsigned i = 0; i < o.id; i++) {
                _cleanup_frame_ struct frame f = FRAME_INIT;

                must(frame_receive(socket, &f, CELL_MAX_REQUEST, 1, NULL) > 0, "answer");
                done += f.type == CELL_DONE && wall_us(&f) >= 200000;
        }
        printf("%u\n", done);
}

static void allow_too_late(int socket)
{
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_buffer_ struct buffer allowed = BUFFER_INIT;

        put_u8(&allowed, CELL_NETWORK);
        must(frame_send(socket, CELL_PREPARE, &nothing, NULL, 0, NULL) == 0, "CELL_PREPARE");
        must(frame_send(socket, CELL_ALLOW, &allowed, NULL, 0, NULL) == 0, "CELL_ALLOW");
}

/* As whom it names itself, but a tree that its caller never named. */
static void want_to_read(int socket)
{
        _cleanup_buffer_ struct buffer owner = BUFFER_INIT, wanted = BUFFER_INIT;
        int tree = open("/tmp", O_PATH | O_CLOEXEC);

        put_u32(&owner, 12345);
        put_u32(&wanted, 1);
        must(frame_send(socket, CELL_OWNER, &owner, NULL, 0, NULL) == 0, "CELL_OWNER");
        must(frame_send(socket, CELL_SHOW, &wanted, &tree, 1, NULL) == 0, "CELL_SHOW");
        close(tree);
}

/* --- a supervisor that is kept -------------------------------------------------------------- */

static void be_ready(int socket)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        must(frame_receive(socket, &f, CELL_MAX_REQUEST, 1, NULL) > 0, "ready");
}

static int send_runner(int keeper)
{
        const struct buffer nothing = BUFFER_INIT;
        int pair[2];

        must(fd_socketpair(pair, NULL) == 0, "socketpair");
        must(frame_send(keeper, SUPERVISOR_RUNNER, &nothing, &pair[1], 1, NULL) == 0, "keeper");
        fd_close(pair[1]);
        return pair[0];
}

static int next_runner(int keeper)
{
        int socket = send_runner(keeper);

        be_ready(socket);
        return socket;
}

static void allow_all(int socket)
{
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_buffer_ struct buffer flags = BUFFER_INIT;
        int tree = open("/tmp", O_PATH | O_CLOEXEC);

        put_u8(&flags, CELL_NETWORK);
        must(frame_send(socket, CELL_TREE, &nothing, &tree, 1, NULL) == 0, "CELL_TREE");
        must(frame_send(socket, CELL_ALLOW, &flags, NULL, 0, NULL) == 0, "CELL_ALLOW");
        close(tree);
}

static void try(const char *who, int socket, const struct order *o)
{
        printf("%s: ", who);
        ask(socket, o);
        if (!hear(socket))
                puts("refused");
}

/* What is left of a runner that was taken over: it sends a request that never ends. */
static pid_t leave_behind(int socket)
{
        const unsigned char header[] = {0xff, 0xff, 0, 0, CELL_START, 0, 0, 0};
        pid_t pid;

        must(write(socket, header, sizeof header) == sizeof header, "write");
        must(is_quiet(socket), "a supervisor that waits for more");
        pid = fork();
        must(pid >= 0, "fork");
        if (pid > 0)
                return pid;
        do
                poll(NULL, 0, 500);
        while (write(socket, "x", 1) > 0);
        _exit(0);
}

static void one_after_the_other(int keeper)
{
        const struct order owned = {1, PROFILE_SUITE, 1, "true", PLACE_OWNED, -1, NULL, 0, NULL};
        const struct order plain = {2, PROFILE_SUITE, 1, "true", PLACE_VIEW, -1, NULL, 0, NULL};
        const struct order online = {
                3, PROFILE_SUITE, 1, "true", PLACE_VIEW, -1, NULL, CELL_NETWORK, NULL};
        int socket = next_runner(keeper), other, input;
        pid_t left;
        char byte;

        allow_all(socket);
        try("who named a tree", socket, &owned);
        fd_close(socket);

        socket = next_runner(keeper);
        try("the next, that tree", socket, &owned);
        fd_close(socket);
        socket = next_runner(keeper);
        try("the next, that network", socket, &online);
        fd_close(socket);
        socket = next_runner(keeper);
        allow_all(socket);
        try("who names it again", socket, &owned);
        fd_close(socket);

        /* The end of its own socket comes when its cell is gone, and with that its input. */
        socket = next_runner(keeper);
        input = ask_to_wait(socket, 4);
        must(is_quiet(socket), "a cell that waits");
        shutdown(socket, SHUT_WR);
        printf("closed with its cell: %s\n",
                read(socket, &byte, 1) == 0 && write(input, "x", 1) < 0 ? "yes" : "no");
        fd_close(input);
        fd_close(socket);

        socket = next_runner(keeper);
        input = ask_to_wait(socket, 5);
        must(is_quiet(socket), "a cell that waits");
        other = next_runner(keeper);
        printf("the next one came: %s\n",
                read(socket, &byte, 1) == 0 && write(input, "x", 1) < 0 ? "closed" : "still there");
        fd_close(input);
        fd_close(socket);

        left = leave_behind(other);
        fd_close(other);
        other = next_runner(keeper);
        try("after one that does not end", other, &plain);
        must(waitpid(left, NULL, 0) == left, "waitpid");

        fd_close(keeper);
        try("without its keeper", other, &plain);
        fd_close(other);
}

int main(int argc, char **argv)
{
        const char *const serve[] = {
                "assay-cell", argc == 3 && strcmp(argv[2], "keep") == 0 ? "keep" : "serve", NULL};
        struct spawn spawn = SPAWN_INIT;
        int pair[2], pidfd = -1;
        const char *how = argc == 3 ? argv[2] : "";
        const bool late = strcmp(how, "late") == 0;
        const struct order taken_over = {1,
                strcmp(how, "debug") == 0 ? PROFILE_DEBUG : PROFILE_SUITE, 1, "true",
                strcmp(how, "owned") == 0  ? PLACE_OWNED
                : strcmp(how, "bind") == 0 ? PLACE_BIND
                                           : PLACE_VIEW,
                -1, NULL, strcmp(how, "network") == 0 || late ? CELL_NETWORK : 0,
                strcmp(how, "file") == 0 ? "/etc/passwd" : NULL};

        spawn.program = argc == 3 ? open(argv[1], O_PATH | O_CLOEXEC) : -1;
        must(spawn.program >= 0 && fd_socketpair(pair, NULL) == 0, "assay-cell");
        spawn.argv = serve;
        spawn.fd_count = 4;
        spawn.fds[0] = spawn.fds[1] = spawn.fds[2] = -EBADF;
        spawn.fds[SUPERVISOR_SOCKET] = pair[1];
        must(spawn_process(&spawn, &pidfd, NULL) > 0, "start");
        fd_close(pair[1]);
        signal(SIGPIPE, SIG_IGN);
        if (strcmp(how, "keep") == 0) {
                one_after_the_other(pair[0]);
                spawn_wait(pidfd, NULL);
                return 0;
        }
        be_ready(pair[0]);
        if (strcmp(how, "total") == 0)
                cells_without_room(pair[0]);
        else if (strcmp(how, "crowd") == 0)
                crowd(pair[0]);
        else {
                if (late)
                        allow_too_late(pair[0]);
                if (strcmp(how, "show") == 0)
                        want_to_read(pair[0]);
                else
                        ask(pair[0], &taken_over);
                if (!hear(pair[0]))
                        puts("refused");
        }
        fd_close(pair[0]);
        spawn_wait(pidfd, NULL);
        return 0;
}
