/* assay-unpack: submission archives and layers of images to trees, and trees to nothing; what image
 * files say. Started by assay for each evaluation, or image; reads bytes of outsiders, so it locks
 * itself in first (see filter_table.h) and has no privilege. Descriptors and messages are in
 * messages.h. */
#include "confine.h"
#include "fd.h"
#include "filter_images.h"
#include "filter_images_layer.h"
#include "images/image.h"
#include "images/serve.h"

#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What it was started for. A layer has more in it than a submission, and is larger. */
struct mode {
        const struct sock_filter *filter;
        size_t filter_length;
        uint64_t also_below;
        uint64_t rights;
        uint64_t cpu_seconds;
        uint64_t open_files;
        mode_t umask;
        int (*serve)(const struct frame *f, struct error *err);
};

static const struct mode for_submissions = {
        .filter = filter_images,
        .filter_length = sizeof filter_images / sizeof *filter_images,
        .cpu_seconds = 60,
        .open_files = 16,
        .umask = 022,
        .serve = serve_submission,
};

/* What a cell left belongs to ids of the cell, with whatever modes. */
static const struct mode for_built = {
        .filter = filter_images,
        .filter_length = sizeof filter_images / sizeof *filter_images,
        .rights = 1ULL << CAP_DAC_READ_SEARCH,
        .cpu_seconds = 60,
        .open_files = 16,
        .umask = 022,
        .serve = serve_submission,
};

static const struct mode for_images = {
        .filter = filter_images_layer,
        .filter_length = sizeof filter_images_layer / sizeof *filter_images_layer,
        .also_below = LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                      LANDLOCK_ACCESS_FS_REFER,
        .rights = 1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER,
        .cpu_seconds = 1200,
        .open_files = 16 + UNPACK_MAX_STACK,
        .serve = serve_image,
};

/* jansson 2.14 writes beyond a block when one could not grow. */
static void *allocate(size_t size)
{
        void *p = malloc(size > 0 ? size : 1);

        if (!p)
                _exit(1);
        return p;
}

/* Everything that libc would look up in this machine's files must be looked up before. */
static void prepare(const struct mode *m)
{
        json_set_alloc_funcs(allocate, free);
        json_seed();
        setenv("TZ", "UTC0", 1); /* libarchive turns the times of zip entries */
        tzset();
        umask(m->umask);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error, not the end */
}

static bool input_is_directory(void)
{
        struct stat st;

        return fstat(SERVE_INPUT, &st) == 0 && S_ISDIR(st.st_mode);
}

static int lock_in(const struct mode *m, struct error *err)
{
        const struct confinement c = {
                .name = "assay-unpack",
                .keep_fds = SERVE_TREE + 1,
                .tree = SERVE_TREE,
                .also_below = m->also_below,
                .readable = input_is_directory() ? SERVE_INPUT : -EBADF,
                .rights = m->rights,
                .cpu_seconds = m->cpu_seconds,
                .memory = 256 << 20,
                .file_size = 64ULL << 30, /* what a task allows is counted by ourselves */
                .open_files = m->open_files,
                .filter = m->filter,
                .filter_length = m->filter_length,
        };

        return confine_self(&c, err);
}

static const struct mode *find_mode(int argc, char **argv)
{
        if (argc == 2 && strcmp(argv[1], "layer") == 0)
                return &for_images;
        return argc == 2 && strcmp(argv[1], "built") == 0 ? &for_built : &for_submissions;
}

int main(int argc, char **argv)
{
        const struct mode *mode = find_mode(argc, argv);
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err = {0};
        int r;

        prepare(mode);
        if (lock_in(mode, &err) < 0) {
                fprintf(stderr, "assay-unpack: %s\n", err.text);
                return 1;
        }
        if (takeover_hook)
                takeover_hook();
        while ((r = frame_receive(SERVE_SOCKET, &f, UNPACK_MAX_REQUEST, 0, &err)) > 0)
                if (mode->serve(&f, &err) < 0)
                        return 1;
        return r == 0 ? 0 : 1;
}
