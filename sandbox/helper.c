/* Helpers are started by the supervisor because only it can give each an id of its own. They
 * confine themselves further before they read anything. */
#include "supervisor.h"

#include "fd.h"
#include "spawn.h"

#include <sys/capability.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOWHERE = -1 }; /* /dev/null */

/* Which of the request's descriptors becomes which of the helper's. */
static const struct {
        const char *program;
        uid_t id;
        unsigned asked;  /* descriptors in a request */
        unsigned places; /* descriptors of the helper */
        int from[SPAWN_MAX_FDS];
        int root; /* which of the request's descriptors becomes its root */
} helpers[HELPER_COUNT] = {
        [HELPER_UNPACK] = {"assay-unpack", IDS_UNPACK, 3, 4, {0, 1, NOWHERE, 2}, 2},
        [HELPER_SCORE] = {"assay-score", IDS_SCORE, 2, 3, {0, 1, NOWHERE}, NOWHERE},
};

static const char *const modes[HELPER_MODE_COUNT][2] = {
        [HELPER_TASK] = {"task"},
        [HELPER_RESULT] = {"result"},
        [HELPER_VERDICT] = {"verdict"},
        [HELPER_BLEND] = {"blend"},
        [HELPER_LAYER] = {"layer"},
        [HELPER_DIMENSIONS] = {"score"},
        [HELPER_DIMENSIONS_BATCH] = {"score-batch"},
        [HELPER_COMPOSITE] = {"composite"},
        [HELPER_WINDOW] = {"window"},
        [HELPER_RATE] = {"rate"},
        [HELPER_METADATA] = {"metadata"},
        [HELPER_BUILT] = {"built"},
        [HELPER_COMPARE] = {"compare"},
        [HELPER_CASES] = {"cases"},
        [HELPER_EXPECT] = {"expect"},
        [HELPER_POLICY] = {"policy"},
        [HELPER_STORED] = {"stored"},
        [HELPER_FINALIZE] = {"finalize"},
        [HELPER_DIFFER] = {"differ"},
        [HELPER_WORKFLOW] = {"workflow"},
};

/* What unpacking and removing layers of images takes, in a user namespace with the ids of their
 * files: to give each file to its owner, and to go on beside that. */
static const uint64_t layer_rights =
        1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER;

static int enter_images(struct supervisor *s, struct spawn *spawn, struct error *err)
{
        const struct ids block = {IDS_BLOCK, IDS_IMAGES, IDS_IMAGES, IDS_BLOCK_SIZE, 0, 0};
        const struct ids own = s->machine.root ? block : ids_for(s->machine.ids, 0);

        if (s->image_ids < 0)
                s->image_ids = ids_make_own_namespace(&own);
        if (s->image_ids < 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "cannot map the ids of images");
        spawn->rights = layer_rights;
        spawn->namespace = s->image_ids;
        return 0;
}

/* What a cell left belongs to its block of ids, whose files the unpacker may all read: as root of a
 * user namespace of that block. An ordinary user's cells have the user's own id. */
static int enter_built(const struct supervisor *s, int tree, struct spawn *spawn, struct error *err)
{
        struct ids block = {.kind = IDS_BLOCK, .count = IDS_BLOCK_SIZE};
        struct stat st;

        if (!s->machine.root)
                return 0;
        if (fstat(tree, &st) < 0 || !S_ISDIR(st.st_mode) ||
                st.st_uid - IDS_FIRST < IDS_BLOCK_SIZE ||
                st.st_uid - IDS_FIRST >= (IDS_BLOCKS + 1U) * IDS_BLOCK_SIZE)
                return error_set(err, CODE_INTERNAL_FRAME, "a tree is no cell's");
        block.uid = block.gid = st.st_uid - (st.st_uid - IDS_FIRST) % IDS_BLOCK_SIZE;
        spawn->namespace = ids_make_own_namespace(&block);
        if (spawn->namespace < 0)
                return error_errno(err, CODE_INFRA_HELPER, errno, "cannot map the ids of a cell");
        spawn->rights = 1ULL << CAP_DAC_READ_SEARCH;
        return 0;
}

static struct helper_process *find_free(struct supervisor *s)
{
        for (unsigned i = 0; i < SUPERVISOR_MAX_HELPERS; i++)
                if (s->now.helpers[i].pid == 0)
                        return &s->now.helpers[i];
        return NULL;
}

static bool is_directory(int fd)
{
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A layer of the store that is to be filled, which the runner could not give away by itself. */
static void give_tree(const struct supervisor *s, int tree)
{
        struct stat st;

        if (s->machine.root && s->now.owner != 0 && fstat(tree, &st) == 0 && S_ISDIR(st.st_mode) &&
                st.st_uid == s->now.owner && (st.st_mode & 07777) == 0755)
                /* Where it fails, the helper will say that it cannot write. */
                (void)!fchown(tree, IDS_IMAGES, IDS_IMAGES);
}

/* A directory that the runner named while it had its caller's rights, the helper may read as its
 * owner could; any other that holds layers it may only read, though they are its own. */
static int give_input(const struct supervisor *s, int input, bool layers, uid_t id, int *ret_given,
        struct error *err)
{
        bool trusted = supervisor_trusts(s, input);

        if (!trusted && (!layers || !is_directory(input)))
                return 0;
        *ret_given = trusted ? mounts_give(input, id) : mounts_show(input);
        return trusted || *ret_given >= 0
                       ? 0
                       : error_errno(err, CODE_INFRA_HELPER, errno, "cannot show a directory");
}

int helper_start(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        uint32_t id = get_u32(&r);
        unsigned which = get_u8(&r), mode = get_u8(&r);
        const bool layers = which == HELPER_UNPACK && mode == HELPER_LAYER;
        const bool built = which == HELPER_UNPACK && mode == HELPER_BUILT;
        struct helper_process *h = find_free(s);
        const char *argv[4] = {NULL};
        struct spawn spawn = SPAWN_INIT;
        _cleanup_fd_ int given = -EBADF;
        uid_t uid;

        if (!reader_done(&r) || which >= HELPER_COUNT || mode >= HELPER_MODE_COUNT || !h ||
                f->fd_count != helpers[which].asked)
                return error_set(err, CODE_INTERNAL_FRAME, "a request for a helper is malformed");
        if (s->programs[which] < 0)
                s->programs[which] = spawn_find(helpers[which].program, err);
        if (s->programs[which] < 0)
                return -1;
        uid = layers ? IDS_IMAGES : helpers[which].id;
        argv[0] = helpers[which].program;
        argv[1] = modes[mode][0];
        argv[2] = argv[1] ? modes[mode][1] : NULL;
        spawn.argv = argv;
        spawn.program = s->programs[which];
        if (helpers[which].root != NOWHERE)
                spawn.root = f->fds[helpers[which].root];
        spawn.fd_count = helpers[which].places;
        for (unsigned i = 0; i < spawn.fd_count; i++) {
                int from = helpers[which].from[i];

                spawn.fds[i] = from == NOWHERE ? -EBADF : f->fds[from];
        }
        if (s->machine.root && give_input(s, f->fds[0], layers, uid, &given, err) < 0)
                return -1;
        if (given >= 0)
                spawn.fds[0] = given;
        if (built && enter_built(s, f->fds[0], &spawn, err) < 0)
                return -1;
        if (layers) {
                give_tree(s, f->fds[2]);
                if (enter_images(s, &spawn, err) < 0)
                        return -1;
        }
        spawn.change_ids = s->machine.root;
        spawn.uid = spawn.gid = uid;
        h->pid = spawn_process(&spawn, &h->pidfd, err);
        if (built && spawn.rights)
                fd_close(spawn.namespace);
        if (h->pid < 0) {
                h->pid = 0;
                return -1;
        }
        h->id = id;
        return 0;
}

/* --- judges --------------------------------------------------------------------------------- */

enum { JUDGE_MOST_WORDS = 256, JUDGE_MOST_WORD = 32 << 10 };

static char **get_words(struct reader *r)
{
        uint32_t count = get_u32(r);
        char **list = count <= JUDGE_MOST_WORDS ? calloc(count + 1, sizeof *list) : NULL;

        r->bad |= !list;
        for (uint32_t i = 0; list && i < count && !r->bad; i++)
                list[i] = get_new_text(r, JUDGE_MOST_WORD);
        return list;
}

static void free_words(char **list)
{
        for (char **word = list; word && *word; word++)
                free(*word);
        free(list);
}

void judge_configure(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);

        if (!s->now.sealed && !s->now.judge_env && f->fd_count <= 1)
                s->now.judge_env = get_words(&r);
        if (!s->now.judge_env || !reader_done(&r)) {
                error_set(err, CODE_INTERNAL_FRAME, "a judge comes too late or is malformed");
                return;
        }
        if (f->fd_count == 1)
                s->now.judge_key = take_fd(&f->fds[0]);
}

void judge_forget(struct supervisor *s)
{
        free_words(s->now.judge_env);
        s->now.judge_env = NULL;
        s->now.judge_key = fd_close(s->now.judge_key);
}

/* It is confined by nothing but its id: it needs the network, and is its caller's choice. */
static int spawn_judge(struct supervisor *s, struct helper_process *h, const struct frame *f,
        bool operators, char **argv, char **envp, struct error *err)
{
        const bool given = f->fd_count > CELL_STDIO;
        _cleanup_fd_ int own = given ? -EBADF : spawn_find("assay-judge", err);
        struct spawn spawn = SPAWN_INIT;

        if (!given && own < 0)
                return -1;
        spawn.program = given ? f->fds[CELL_STDIO] : own;
        spawn.argv = (const char *const *)argv;
        spawn.envp = (const char *const *)(operators ? s->now.judge_env : envp);
        spawn.script = true;
        for (unsigned i = 0; i < CELL_STDIO; i++)
                spawn.fds[i] = f->fds[i];
        spawn.fd_count = CELL_STDIO;
        if (operators && s->now.judge_key >= 0) {
                lseek(s->now.judge_key, 0, SEEK_SET);
                spawn.fds[spawn.fd_count++] = s->now.judge_key;
        }
        spawn.change_ids = s->machine.root;
        spawn.uid = spawn.gid = IDS_JUDGE;
        h->pid = spawn_process(&spawn, &h->pidfd, err);
        if (h->pid > 0)
                return 0;
        h->pid = 0;
        return -1;
}

int judge_start(struct supervisor *s, struct frame *f, struct error *err)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        const uint32_t id = get_u32(&r);
        const bool operators = get_u8(&r);
        char **argv = get_words(&r), **envp = get_words(&r);
        struct helper_process *h = find_free(s);
        int result = -1;

        if (!reader_done(&r) || !argv || !argv[0] || !h || f->fd_count < CELL_STDIO ||
                f->fd_count > CELL_STDIO + 1 ||
                (operators ? !s->now.judge_env : f->fd_count == CELL_STDIO))
                error_set(err, CODE_INTERNAL_FRAME, "a request for a judge is malformed");
        else
                result = spawn_judge(s, h, f, operators, argv, envp, err);
        if (result == 0)
                h->id = id;
        free_words(argv);
        free_words(envp);
        return result;
}

uint32_t helper_end(struct helper_process *h)
{
        int status = spawn_wait(h->pidfd, NULL);

        h->pidfd = fd_close(h->pidfd);
        h->pid = 0;
        return status < 0 ? 255 : (uint32_t)status;
}
