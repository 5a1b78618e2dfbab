/* CELL_START decoded and checked; pure but for the descriptors it takes over. */
#include "request.h"

#include "beneath.h"
#include "fd.h"

#include <fcntl.h>
#include <sys/stat.h>

void request_init(struct cell_request *r)
{
        for (int i = 0; i < CELL_STDIO; i++)
                r->stdio[i] = -EBADF;
}

/* What it held is not its own, or never was. */
void request_forget(struct cell_request *r)
{
        r->argv = r->envp = NULL;
        r->mount_count = 0;
        r->layer_count = 0;
        r->file_count = 0;
        r->result_count = 0;
        request_init(r);
}

void request_close_layers(struct cell_request *r)
{
        for (unsigned i = 0; i < r->layer_count; i++)
                r->layers[i] = fd_close(r->layers[i]);
}

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
        request_close_layers(r);
        for (unsigned i = 0; i < r->file_count; i++)
                free(r->files[i].bytes);
        request_forget(r);
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

        if (count > CELL_MAX_MOUNTS || f->fd_count < CELL_STDIO + count) {
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

static void get_layers(struct reader *r, struct frame *f, struct cell_request *ret)
{
        unsigned first = CELL_STDIO + ret->mount_count;
        uint32_t count = get_u32(r);

        if (count > CELL_MAX_LAYERS || f->fd_count != first + count) {
                r->bad = true;
                return;
        }
        for (uint32_t i = 0; i < count; i++)
                ret->layers[ret->layer_count++] = take_fd(&f->fds[first + i]);
}

static void get_files(struct reader *r, struct cell_request *ret)
{
        uint32_t count = get_u32(r);

        if (count > CELL_MAX_FILES) {
                r->bad = true;
                return;
        }
        for (uint32_t i = 0; i < count && !r->bad; i++) {
                struct request_file *f = &ret->files[ret->file_count++];
                const unsigned char *bytes;

                get_text(r, f->place, sizeof f->place);
                f->executable = get_u8(r);
                bytes = get_bytes(r, CELL_MAX_REQUEST, &f->size);
                f->bytes = r->bad ? NULL : malloc(f->size + 1);
                if (f->bytes)
                        memcpy(f->bytes, bytes, f->size);
                r->bad |= !f->bytes || !beneath_is_place(f->place);
        }
}

static void get_results(struct reader *r, struct cell_request *ret)
{
        uint32_t count;

        get_text(r, ret->result_dir, sizeof ret->result_dir);
        count = get_u32(r);
        if (count > CELL_MAX_RESULTS || (count > 0 && !*ret->result_dir)) {
                r->bad = true;
                return;
        }
        for (; ret->result_count < count; ret->result_count++)
                get_text(r, ret->results[ret->result_count], CELL_MAX_PLACE);
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
        struct reader r = reader_of(f->payload.data, f->payload.len);

        request_forget(ret);
        ret->id = get_u32(&r);
        ret->profile = get_u8(&r);
        ret->flags = get_u8(&r);
        for (unsigned i = 0; i < LIMIT_COUNT; i++)
                ret->limits.value[i] = get_u64(&r);
        ret->uid = get_u32(&r);
        ret->gid = get_u32(&r);
        get_text(&r, ret->workdir, sizeof ret->workdir);
        ret->argv = get_list(&r);
        ret->envp = get_list(&r);
        get_mounts(&r, f, ret);
        get_layers(&r, f, ret);
        get_files(&r, ret);
        get_results(&r, ret);
        for (unsigned i = 0; i < CELL_STDIO && i < f->fd_count; i++)
                ret->stdio[i] = take_fd(&f->fds[i]);
        for (int i = 0; i < CELL_STDIO; i++)
                r.bad |= !stdio_ok(ret->stdio[i]);
        if (!reader_done(&r) || ret->profile >= PROFILE_COUNT || ret->flags & ~CELL_ALL_FLAGS ||
                (ret->flags & (CELL_NETWORK | CELL_CALLS) && ret->profile == PROFILE_SUBMISSION) ||
                ret->uid >= IDS_NETWORK || ret->gid >= IDS_NETWORK || !ret->argv[0] ||
                *ret->workdir != '/' || !limits_ok(&ret->limits) ||
                (*ret->result_dir && !beneath_is_place(ret->result_dir))) {
                request_free(ret);
                return error_set(err, CODE_INTERNAL_FRAME, "a request for a cell is malformed");
        }
        return 0;
}
