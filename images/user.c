/* Users and groups of an image; see user.h. */
#include "images/user.h"

#include "fd.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST_BYTES = 4 << 20, MOST_FIELDS = 7 };

static int refuse(const char *text, const char *why, struct error *err)
{
        return error_set(err, CODE_IMAGE_UNSUPPORTED, "its USER `%.100s`: %s", text, why);
}

/* The whole of a file; empty if it is none. */
static int read_file(struct merged *m, const char *name, struct buffer *ret, struct error *err)
{
        _cleanup_fd_ int fd = -EBADF;
        struct merged_item item;
        struct path path;
        ssize_t n;
        unsigned char *to;
        int r = merged_follow(m, name, true, &path, &item, err);

        if (r <= 0 || !S_ISREG(item.st.st_mode))
                return r < 0 ? -1 : 0;
        if (item.st.st_size > MOST_BYTES)
                return error_set(err, CODE_IMAGE_UNSUPPORTED, "its /%s is too large", name);
        fd = merged_open_file(m, &path, &item, err);
        if (fd < 0)
                return -1;
        while ((to = buffer_reserve(ret, 4096)) && (n = read(fd, to, 4096)) > 0 &&
                ret->len < MOST_BYTES)
                buffer_advance(ret, (size_t)n);
        return 0;
}

/* Only digits are a number. */
static bool is_number(const char *text, uint32_t *ret)
{
        size_t len = strspn(text, "0123456789");

        if (len == 0 || text[len] || len > 18)
                return false;
        *ret = strtoul(text, NULL, 10) > USER_MAX_ID ? USER_MAX_ID + 1
                                                     : (uint32_t)strtoul(text, NULL, 10);
        return true;
}

/* Take the line apart at its colons; it is changed. */
static unsigned split(char *line, char *fields[MOST_FIELDS])
{
        unsigned count = 0;

        while (count < MOST_FIELDS && (fields[count] = strsep(&line, ":")))
                count++;
        return count;
}

struct account {
        bool found;
        uint32_t id;    /* of the user or group */
        uint32_t group; /* of a user */
        char home[USER_MAX_HOME];
};

/* NAME:PASSWORD:ID, and of a user :GROUP: the first line that has the name, or the number. */
static void find(char *file, const char *wanted, bool of_user, struct account *ret)
{
        const unsigned least = of_user ? 4 : 3;
        uint32_t number = 0;
        const bool by_number = is_number(wanted, &number);

        for (char *line, *rest = file; (line = strsep(&rest, "\n"));) {
                struct account a = {.found = true};
                char *fields[MOST_FIELDS];
                unsigned count = split(line, fields);

                if (count < least || !is_number(fields[2], &a.id) ||
                        (of_user && !is_number(fields[3], &a.group)))
                        continue;
                if (strcmp(fields[0], wanted) == 0 || (by_number && a.id == number)) {
                        if (of_user && count > 5 && strlen(fields[5]) < sizeof a.home)
                                snprintf(a.home, sizeof a.home, "%s", fields[5]);
                        *ret = a;
                        return;
                }
        }
        if (by_number)
                ret->id = number;
}

/* -1: it is neither in the file nor a number. */
static int find_in(struct merged *m, const char *file, const char *wanted, bool of_user,
        struct account *ret, struct error *err)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;
        uint32_t number;

        *ret = (struct account){0};
        if (read_file(m, file, &text, err) < 0)
                return -1;
        buffer_add(&text, "", 1);
        if (!buffer_ok(&text))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        find((char *)text.data, wanted, of_user, ret);
        if (!ret->found && !is_number(wanted, &number))
                return error_set(err, CODE_IMAGE_UNSUPPORTED,
                        "its USER names `%.100s`, which its /%s does not have", wanted, file);
        return 0;
}

int user_resolve(struct merged *m, const char *text, struct user *ret, struct error *err)
{
        const char *colon = strchr(text, ':');
        char user[256];
        struct account who, group = {0};

        if (strlen(text) >= sizeof user)
                return refuse(text, "too long", err);
        snprintf(user, sizeof user, "%.*s", (int)strcspn(text, ":"), text);
        if (find_in(m, "etc/passwd", *user ? user : "0", true, &who, err) < 0 ||
                (colon && colon[1] && find_in(m, "etc/group", colon + 1, false, &group, err) < 0))
                return -1;
        *ret = (struct user){who.id, colon && colon[1] ? group.id : who.group, ""};
        snprintf(ret->home, sizeof ret->home, "%s", who.home);
        if (ret->uid > USER_MAX_ID || ret->gid > USER_MAX_ID)
                return refuse(text, "a number above 65534", err);
        return 0;
}
