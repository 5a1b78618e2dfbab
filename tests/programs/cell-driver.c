/* Asks a supervisor for a cell, as a runner that was taken over might: the directory /tmp in a way
 * that it may not ask for. Prints "refused" when the supervisor ends, else what it answered.
 *
 *   cell-driver ASSAY-CELL owned|bind|debug|network|late|view
 *
 * "network" asks for one that nobody allowed, "late" allows it itself after another request. */
#include "fd.h"
#include "frame.h"
#include "sandbox/messages.h"
#include "spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void fill(struct buffer *b, enum place_kind kind, enum cell_profile profile, uint8_t flags)
{
        struct limits limits;

        limits_standard(&limits, CELL_SUITE);
        limits_settle(&limits);
        put_u32(b, 1);
        put_u8(b, (uint8_t)profile);
        put_u8(b, CELL_ALLOW_WEAK | flags);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u64(b, limits.value[i]);
        put_u32(b, 0);
        put_u32(b, 0);
        put_text(b, "/");
        put_u32(b, 1);
        put_text(b, "true");
        put_u32(b, 0);
        put_u32(b, 1);
        put_u8(b, (uint8_t)kind);
        put_text(b, "/host");
        put_text(b, "");
        put_text(b, "");
}

int main(int argc, char **argv)
{
        static const char *const serve[] = {"assay-cell", "serve", NULL};
        _cleanup_buffer_ struct buffer request = BUFFER_INIT, allowed = BUFFER_INIT;
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_frame_ struct frame answer = FRAME_INIT;
        struct spawn spawn = SPAWN_INIT;
        struct error err = {0};
        int pair[2], pidfd = -1, fds[CELL_STDIO + 1], r;
        const char *how = argc == 3 ? argv[2] : "";
        const bool late = strcmp(how, "late") == 0;

        spawn.program = argc == 3 ? open(argv[1], O_PATH | O_CLOEXEC) : -1;
        if (spawn.program < 0 || fd_socketpair(pair, &err) < 0)
                return 2;
        spawn.argv = serve;
        spawn.fd_count = 4;
        spawn.fds[0] = spawn.fds[1] = spawn.fds[2] = -EBADF;
        spawn.fds[SUPERVISOR_SOCKET] = pair[1];
        if (spawn_process(&spawn, &pidfd, &err) < 0)
                return 2;
        fd_close(pair[1]);
        if (frame_receive(pair[0], &answer, CELL_MAX_REQUEST, 1, &err) <= 0)
                return 2;
        fill(&request,
                strcmp(how, "owned") == 0  ? PLACE_OWNED
                : strcmp(how, "bind") == 0 ? PLACE_BIND
                                           : PLACE_VIEW,
                strcmp(how, "debug") == 0 ? PROFILE_DEBUG : PROFILE_SUITE,
                strcmp(how, "network") == 0 || late ? CELL_NETWORK : 0);
        put_u8(&allowed, CELL_NETWORK);
        if (late && (frame_send(pair[0], CELL_PREPARE, &nothing, NULL, 0, &err) < 0 ||
                            frame_send(pair[0], CELL_ALLOW, &allowed, NULL, 0, &err) < 0))
                return 2;
        for (int i = 0; i < CELL_STDIO; i++)
                fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        fds[CELL_STDIO] = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
        /* Which fails when it has ended already. */
        (void)frame_send(pair[0], CELL_START, &request, fds, CELL_STDIO + 1, &err);
        r = frame_receive(pair[0], &answer, CELL_MAX_REQUEST, 1, &err);
        if (r <= 0)
                puts("refused");
        else
                puts(answer.type == CELL_DONE ? "done" : "failed");
        fd_close(pair[0]);
        spawn_wait(pidfd, NULL);
        return 0;
}
