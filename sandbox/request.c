/* CELL_START decoded and checked; pure but for the descriptors it takes over. */
#include "request.h"

#include "beneath.h"
#include "fd.h"

#include <fcntl.h>
#include <sys/stat.h>

void request_free(struct cell_request *r)
{
        for (char **s = r->argv; s && *s; s++)
                free(*s);
        for (char **s = r->envp; s && *s; s++)
                free(*s);
        free(r->argv);
        free(r->envp);
        for (int i = 0; i < CELL_STDIO; i++)
                fd_close(r->stdio[i]);
        for (unsigned i = 0; i < r->mount_count; i++)
                fd_close(r->mounts[i].tree);
        *r = (struct cell_request)REQUEST_INIT;
}

static char **get_list(struct reader *r)
{
        uint32_t count = get_u32(r);
        char **list;

        if (count > CELL_MAX_ARGUMENTS || !(list = calloc(count + 1, sizeof *list))) {
                r->bad = true;
                return NULL;
        }
        for (uint32_t i = 0; i < count && !r->bad; i++)
                list[i] = get_new_text(r, CELL_MAX_ARGUMENT);
        return list;
}

static void get_mounts(struct reader *r, struct frame *f, struct cell_request *ret)
{
        uint32_t count = get_u32(r);

        if (count > CELL_MAX_MOUNTS || f->fd_count != CELL_STDIO + count) {
                r->bad = true;
                return;
        }
        for (uint32_t i = 0; i < count; i++) {
                struct request_mount *m = &ret->mounts[ret->mount_count++];

                m->tree = take_fd(&f->fds[CELL_STDIO + i]);
                m->kind = get_u8(r);
                get_text(r, m->place, sizeof m->place);
                if (m->kind >= PLACE_KIND_COUNT || !beneath_is_place(m->place))
                        r->bad = true;
        }
}

static bool limits_ok(const struct limits *l)
{
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                if (l->value[i] < limit_info((enum limit)i)->least ||
                        l->value[i] > limit_info((enum limit)i)->most)
                        return false;
        return true;
}

/* A directory as standard input would be a way to the host's tree, and so would a descriptor that
 * was opened for its path alone. */
static bool stdio_ok(int fd)
{
        int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
        struct stat st;

        return flags >= 0 && !(flags & O_PATH) && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode);
}

int request_decode(struct frame *f, struct cell_request *ret, struct error *err)
{
        struct cell_request q = REQUEST_INIT;
        struct reader r = reader_of(f->payload.data, f->payload.len);

        q.id = get_u32(&r);
        q.profile = get_u8(&r);
        q.flags = get_u8(&r);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                q.limits.value[i] = get_u64(&r);
        q.uid = get_u32(&r);
        q.gid = get_u32(&r);
        get_text(&r, q.workdir, sizeof q.workdir);
        q.argv = get_list(&r);
        q.envp = get_list(&r);
        get_mounts(&r, f, &q);
        get_text(&r, q.result_dir, sizeof q.result_dir);
        get_text(&r, q.result_file, sizeof q.result_file);
        for (unsigned i = 0; i < CELL_STDIO && i < f->fd_count; i++)
                q.stdio[i] = take_fd(&f->fds[i]);
        for (int i = 0; i < CELL_STDIO; i++)
                r.bad |= !stdio_ok(q.stdio[i]);
        if (!reader_done(&r) || q.profile >= PROFILE_COUNT ||
                q.flags & ~(CELL_ALLOW_WEAK | CELL_TRACE_DENIED | CELL_NETWORK) ||
                (q.flags & CELL_NETWORK && q.profile == PROFILE_SUBMISSION) ||
                q.uid >= IDS_NETWORK || q.gid >= IDS_NETWORK || !q.argv[0] || *q.workdir != '/' ||
                !limits_ok(&q.limits) || (*q.result_dir && !beneath_is_place(q.result_dir))) {
                request_free(&q);
                return error_set(err, CODE_INTERNAL_FRAME, "a request for a cell is malformed");
        }
        *ret = q;
        return 0;
}
