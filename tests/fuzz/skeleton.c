/* Fuzzing what a skeleton says: its bytes, uncompressed, over a small directory. Only the store's
 * own programs write one, but a disk may damage it. */
#include "images/report.h"
#include "images/verify.h"
#include "tests/fuzz/shared.h"

enum { MAX_ENTRIES = 1000 };

static int store = -EBADF, scratch = -EBADF;

static void make_store(void)
{
        static const char *const directories[] = {"layer", "layer/tree", "layer/tree/d", "scratch"};

        store = fuzz_directory();
        for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
                must(mkdirat(store, directories[i], 0755) == 0);
        fuzz_write(store, "layer/tree/a", "hello\n", 6);
        fuzz_write(store, "layer/tree/d/b", "", 0);
        fuzz_write(store, "outside", "secret\n", 7);
        must(symlinkat("../../outside", store, "layer/tree/link") == 0);
        scratch = openat(store, "scratch", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(scratch >= 0);
}

static void check(int done, const struct error *err)
{
        must(done == 0 || strncmp(code_info(err->code)->name, "image.", 6) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_fd_ int nobody = open("/dev/null", O_WRONLY | O_CLOEXEC);
        _cleanup_fd_ int tar = fuzz_file("", 0);
        struct report report = {.fd = nobody};
        struct layer_outcome done = {0};
        struct error err = {0};

        if (store < 0)
                make_store();
        fuzz_write(store, "layer/skeleton", data, len);
        check(layer_write_tar(store, "layer", tar, &done, &err), &err);
        err = (struct error){0};
        check(layer_verify(store, "layer", scratch, MAX_ENTRIES, &report, &done, &err), &err);
        return 0;
}
