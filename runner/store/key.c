/* The key of a store; see key.h. */
#include "store/key.h"

#include "fd.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 2 * CHAIN_KEY_SIZE };

static int write_new(int fd, struct error *err)
{
        unsigned char bytes[CHAIN_KEY_SIZE];
        char text[DIGITS + 2];

        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
                return error_errno(err, CODE_INFRA_STORE, errno, "no random bytes for a key");
        for (size_t i = 0; i < sizeof bytes; i++)
                snprintf(text + 2 * i, 3, "%02x", bytes[i]);
        text[DIGITS] = '\n';
        if (fd_write_all(fd, text, DIGITS + 1) < 0 || fsync(fd) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return error_errno(err, CODE_INFRA_STORE, errno, "the key cannot be written");
        return 0;
}

static int digit(char c)
{
        const char *const digits = "0123456789abcdef";
        const char *at = c ? strchr(digits, c) : NULL;

        return at ? (int)(at - digits) : -1;
}

static int read_digits(struct chain_key *ret, int fd, struct error *err)
{
        char text[DIGITS + 2] = {0};
        const ssize_t n = read(fd, text, sizeof text);
        bool bad = n != DIGITS && !(n == DIGITS + 1 && text[DIGITS] == '\n');

        for (size_t i = 0; !bad && i < CHAIN_KEY_SIZE; i++) {
                const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

                bad = high < 0 || low < 0;
                ret->bytes[i] = (unsigned char)(high * 16 + low);
        }
        return bad ? error_set(err, CODE_INFRA_STORE, "a key is 64 digits of 0-9a-f on one line")
                   : 0;
}

static int read_locked(struct chain_key *ret, int fd, bool make, struct error *err)
{
        struct stat st;

        /* Several that begin at once make one key. */
        if (flock(fd, make ? LOCK_EX : LOCK_SH) < 0 || fstat(fd, &st) < 0)
                return error_errno(err, CODE_INFRA_STORE, errno, "the key");
        if (!S_ISREG(st.st_mode) || st.st_mode & 077)
                return error_set(err, CODE_INFRA_STORE,
                        "the key must be a file that only its owner can read (chmod 600)");
        if (make && st.st_size == 0 && write_new(fd, err) < 0)
                return -1;
        return read_digits(ret, fd, err);
}

int key_read(struct chain_key *ret, const char *path, bool make, struct error *err)
{
        _cleanup_fd_ int fd =
                open(path, (make ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK, 0600);

        if (fd < 0)
                return error_errno(err, CODE_INFRA_STORE, errno, "the store's key, %s", path);
        return read_locked(ret, fd, make, err) < 0 ? error_add(err, "%s", path) : 0;
}
