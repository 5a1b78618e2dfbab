/* Fuzzing whom an image's USER means: four texts with a NUL between them, the USER, /etc/passwd and
 * /etc/group of the lower of two layers, and, if it is not empty, where a link of the upper one in
 * the place of /etc/passwd leads. */
#include "images/user.h"
#include "tests/fuzz/shared.h"

enum { MOST = 64 << 10, OUTSIDE = 4242 };

static int store = -EBADF;

static void make_store(void)
{
        static const char *const directories[] = {"etc", "lower", "lower/tree", "lower/tree/etc",
                "upper", "upper/tree", "upper/tree/etc"};

        store = fuzz_directory();
        for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
                must(mkdirat(store, directories[i], 0755) == 0);
        fuzz_write(store, "etc/passwd", "u:x:4242:4242\n", 14);
        fuzz_write(store, "lower/etc-passwd", "u:x:4242:4242\n", 14);
}

static void resolve(const char *user, bool may_be_outside)
{
        static char lower[] = "lower", upper[] = "upper";
        struct merged m;
        struct error err = {0};
        struct user u;

        must(merged_open(&m, store, (char *[]){lower, upper}, 2, &err) == 0);
        if (user_resolve(&m, user, &u, &err) == 0)
                must(u.uid <= USER_MAX_ID && u.gid <= USER_MAX_ID &&
                        (u.uid != OUTSIDE || may_be_outside) &&
                        memchr(u.home, '\0', sizeof u.home));
        else
                must(err.code == CODE_IMAGE_UNSUPPORTED);
        merged_close(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        static char user[MOST], text[MOST];
        const bool may_be_outside = memmem(data, len, "4242", 4) != NULL;

        if (store < 0)
                make_store();
        fuzz_text(&data, &len, user, sizeof user);
        fuzz_write(store, "lower/tree/etc/passwd", text, fuzz_text(&data, &len, text, MOST));
        fuzz_write(store, "lower/tree/etc/group", text, fuzz_text(&data, &len, text, MOST));
        unlinkat(store, "upper/tree/etc/passwd", 0);
        if (fuzz_text(&data, &len, text, UNPACK_MAX_PATH) > 0)
                must(symlinkat(text, store, "upper/tree/etc/passwd") == 0);
        resolve(user, may_be_outside);
        return 0;
}
