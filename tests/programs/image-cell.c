/* Plays a runner that wants a cell whose root is an image:
 *
 *   image-cell ASSAY-CELL LAYER… -- COMMAND…
 *
 * The layers are directories, the lowest first. The command's output goes where ours goes; its exit
 * status is ours. 99: the supervisor ended without an answer; 98: the cell could not be made. */
#include "fd.h"
#include "frame.h"
#include "sandbox/messages.h"
#include "spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_FAILED = 98, STATUS_REFUSED = 99, STATUS_OURS = 2 };

static void put_limits(struct buffer *b)
{
        struct limits limits;

        limits_standard(&limits, CELL_SUITE);
        limits_settle(&limits);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                put_u64(b, limits.value[i]);
}

static void put_command(struct buffer *b, char **command)
{
        uint32_t count = 0;

        while (command[count])
                count++;
        put_u32(b, count);
        for (uint32_t i = 0; i < count; i++)
                put_text(b, command[i]);
}

static int ask(int socket, char **layers, unsigned layer_count, char **command)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        int fds[FRAME_MAX_FDS] = {0, 1, 2};
        struct error err;

        put_u32(&b, 1);
        put_u8(&b, PROFILE_SUITE);
        put_u8(&b, CELL_ALLOW_WEAK);
        put_limits(&b);
        put_u32(&b, 0);
        put_u32(&b, 0);
        put_text(&b, "/");
        put_command(&b, command);
        put_u32(&b, 1);
        put_text(&b, "PATH=/bin:/usr/bin");
        put_u32(&b, 0); /* mounts */
        put_u32(&b, layer_count);
        put_u32(&b, 0);   /* files */
        put_text(&b, ""); /* no directory of results */
        put_u32(&b, 0);
        for (unsigned i = 0; i < layer_count; i++) {
                fds[CELL_STDIO + i] = open(layers[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fds[CELL_STDIO + i] < 0) {
                        perror(layers[i]);
                        return -1;
                }
        }
        return frame_send(socket, CELL_START, &b, fds, CELL_STDIO + layer_count, &err);
}

static int hear(int socket)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error why;
        struct reader r;
        unsigned end;

        if (frame_receive(socket, &f, CELL_MAX_REQUEST, 1, NULL) <= 0)
                return STATUS_REFUSED;
        r = reader_of(f.payload.data, f.payload.len);
        get_u32(&r);
        if (f.type == CELL_FAILED) {
                get_error(&r, &why);
                fprintf(stderr, "%s\n", why.text);
                return STATUS_FAILED;
        }
        end = get_u8(&r);
        return (int)get_u32(&r) + (end == CELL_SIGNALED ? 128 : 0);
}

int main(int argc, char **argv)
{
        static const char *const serve[] = {"assay-cell", "serve", NULL};
        _cleanup_frame_ struct frame ready = FRAME_INIT;
        struct spawn spawn = SPAWN_INIT;
        int pair[2], pidfd = -1, layers = 0, status;

        while (2 + layers < argc && strcmp(argv[2 + layers], "--") != 0)
                layers++;
        if (layers == 0 || layers > CELL_MAX_LAYERS || 3 + layers >= argc) {
                fputs("usage: image-cell ASSAY-CELL LAYER… -- COMMAND…\n", stderr);
                return STATUS_OURS;
        }
        spawn.program = open(argv[1], O_PATH | O_CLOEXEC);
        if (spawn.program < 0 || fd_socketpair(pair, NULL) < 0)
                return STATUS_OURS;
        spawn.argv = serve;
        spawn.fd_count = 4;
        spawn.fds[0] = spawn.fds[1] = spawn.fds[2] = -EBADF;
        spawn.fds[SUPERVISOR_SOCKET] = pair[1];
        if (spawn_process(&spawn, &pidfd, NULL) < 0)
                return STATUS_OURS;
        fd_close(pair[1]);
        if (frame_receive(pair[0], &ready, CELL_MAX_REQUEST, 1, NULL) <= 0)
                return STATUS_REFUSED;
        status = ask(pair[0], argv + 2, (unsigned)layers, argv + 3 + layers) < 0 ? STATUS_OURS
                                                                                 : hear(pair[0]);
        fd_close(pair[0]);
        spawn_wait(pidfd, NULL);
        return status;
}
