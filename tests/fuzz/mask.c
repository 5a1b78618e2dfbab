/* Fuzzing what hides parts of an image: texts with a NUL between them. The first is where a link of
 * the upper of two layers leads, then a path to hide, WORKDIR, PATH, and the words of a command.
 * What comes out must be a layer, which shows nothing that the others do not, and with which
 * nothing is found that was to be hidden. */
#include "images/layer.h"
#include "images/mask.h"
#include "images/remove.h"
#include "images/search.h"
#include "tests/fuzz/shared.h"

#include <fcntl.h>

enum { MOST = 4096, MOST_WORDS = 64 };

static int store = -EBADF, null = -EBADF, mask_tree = -EBADF;
static char lower[] = "lower", upper[] = "upper", mask[] = "mask";
static char *layers[] = {lower, upper, mask};

static void make_store(void)
{
        static const char *const directories[] = {"lower", "lower/tree", "lower/tree/bin",
                "lower/tree/a", "lower/tree/a/b", "upper", "upper/tree", "upper/tree/a", "mask",
                "mask/tree"};

        store = fuzz_directory();
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        umask(0);
        for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
                must(mkdirat(store, directories[i], 0755) == 0);
        fuzz_write(store, "lower/tree/bin/sh", "\177ELF", 4);
        fuzz_write(store, "lower/tree/a/b/s", "#!", 2);
        fuzz_write(store, "lower/tree/c", "x", 1);
        fuzz_write(store, "upper/tree/a/d", "secret", 6);
        mask_tree = openat(store, "mask/tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void open_layers(struct merged *m, unsigned count)
{
        struct error err;

        must(merged_open(m, store, layers, count, &err) == 0);
}

static void unpack_mask(int file, struct report *report)
{
        const struct layer_request q = {.length = UINT64_MAX,
                .member = (char[]){""},
                .max_entries = 100000,
                .max_unpacked = 1 << 20};
        struct layer_outcome outcome;
        struct error err = {0};

        must(layer_unpack(file, mask_tree, &q, report, &outcome, &err) == 0);
}

/* Whatever the path is called, what it leads to must be gone. */
static void look_for(const char *path)
{
        struct merged_item item;
        struct path real;
        struct merged m;
        struct error err = {0};

        open_layers(&m, 3);
        if (merged_follow(&m, path, true, &real, &item, &err) > 0)
                must(S_ISDIR(item.st.st_mode) && !*real.text); /* the root, which is empty then */
        merged_close(&m);
}

static void hide(const struct mask_request *q, struct report *report)
{
        _cleanup_fd_ int file = memfd_create("mask", MFD_CLOEXEC);
        struct error err = {0};
        uint64_t hidden = 0;
        struct merged m;
        int made;

        open_layers(&m, 2);
        made = mask_write(&m, q, file, report, &hidden, &err);
        merged_close(&m);
        must(made == 0 || err.code == CODE_IMAGE_UNSUPPORTED);
        if (made == 0 && hidden > 0) {
                must(lseek(file, 0, SEEK_SET) == 0);
                unpack_mask(file, report);
        }
        if (made == 0)
                look_for(q->paths[0].path);
        must(remove_below(mask_tree, &hidden, &err) == 0);
}

static void search(struct report *report)
{
        struct wanted wanted[] = {{.size = 6}, {.size = 1, .number = 1}};
        struct error err = {0};
        struct merged m;

        open_layers(&m, 2);
        must(search_tree(&m, wanted, 2, report, &err) == 0);
        merged_close(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        static char link[MOST], path[MOST], workdir[MOST], along[MOST], text[MOST_WORDS][MOST];
        char *words[MOST_WORDS];
        struct hiding hiding = {path, UNPACK_HIDE_NAMED};
        struct mask_request q = {&hiding, 1, {words, 0, workdir, along}};
        struct report report;

        if (store < 0)
                make_store();
        report = (struct report){.fd = null};
        unlinkat(store, "upper/tree/l", 0);
        if (fuzz_text(&data, &len, link, sizeof link) > 0)
                must(symlinkat(link, store, "upper/tree/l") == 0);
        fuzz_text(&data, &len, path, sizeof path);
        fuzz_text(&data, &len, workdir, sizeof workdir);
        fuzz_text(&data, &len, along, sizeof along);
        while (len > 0 && q.command.count < MOST_WORDS) {
                fuzz_text(&data, &len, text[q.command.count], MOST);
                words[q.command.count] = text[q.command.count];
                q.command.count++;
        }
        hide(&q, &report);
        search(&report);
        return 0;
}
