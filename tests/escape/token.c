/* Passing a token from one cell to another: `token send TOKEN [hold]` puts it wherever a cell may
 * put anything, says "ready", and with `hold` stays to serve and lock; `token receive TOKEN` looks
 * in each of these places. */
#include "attempt.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <mqueue.h>
#include <poll.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>

enum { KEY = 0x61737361, PORT = 4711, SIZE = 64, NICE = 7, IO_PRIORITY = 2 << 13 | 3 };

static char token[SIZE];

static const char *const directories[] = {"/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/run",
        "/root", "/home", "/etc", "/var", "/usr", "/usr/bin", "/usr/lib", "/usr/share", "/proc",
        "/dev/pts", "/escape", "/etc/alternatives"};

/* Files whose inodes cells might share. */
static const char *const common[] = {"/usr", "/usr/bin", "/usr/bin/env", "/usr/bin/sh", "/usr/lib",
        "/etc/passwd", "/etc/alternatives", "/escape", "/escape/token", "/proc", "/proc/version",
        "/proc/sys", "/proc/self/ns/uts", "/dev/pts", "/dev/ptmx", "/", "/tmp", "/dev/shm",
        "/common-file", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

enum {
        DIRECTORIES = sizeof directories / sizeof *directories,
        COMMON = sizeof common / sizeof *common
};

static struct timespec token_time(void)
{
        struct timespec t = {0, 0};

        for (const char *c = token; *c; c++)
                t.tv_sec = (t.tv_sec * 31 + *c) % 1000000000;
        return t;
}

static struct sockaddr_un unix_address(bool abstract, socklen_t *ret_len)
{
        struct sockaddr_un at = {.sun_family = AF_UNIX};

        snprintf(at.sun_path, sizeof at.sun_path, "%s%s", abstract ? "@" : "/tmp/", token);
        *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(at.sun_path));
        if (abstract)
                at.sun_path[0] = '\0';
        return at;
}

/* --- sending ------------------------------------------------------------------------------ */

static void send_files(void)
{
        for (size_t i = 0; i < DIRECTORIES; i++) {
                char path[256];
                int fd;

                snprintf(path, sizeof path, "%s/%s", directories[i], token);
                fd = open(path, O_WRONLY | O_CREAT, 0666);
                if (fd >= 0 && write(fd, token, SIZE) == SIZE)
                        note(path, "sent");
                close(fd);
        }
        for (size_t i = 0; i < COMMON; i++) {
                const struct timespec times[] = {token_time(), token_time()};

                setxattr(common[i], "user.token", token, SIZE, 0);
                utimensat(AT_FDCWD, common[i], times, 0);
        }
}

static void send_ipc(void)
{
        struct {
                long type;
                char text[SIZE];
        } message = {1, {0}};
        int id = shmget(KEY, SIZE, IPC_CREAT | 0666);
        void *at = id < 0 ? NULL : shmat(id, NULL, 0);
        mqd_t q;

        if (at)
                memcpy(at, token, SIZE);
        memcpy(message.text, token, SIZE);
        msgsnd(msgget(KEY, IPC_CREAT | 0666), &message, SIZE, IPC_NOWAIT);
        semctl(semget(KEY, 1, IPC_CREAT | 0666), 0, SETVAL, NICE);
        q = mq_open("/token", O_RDWR | O_CREAT | O_NONBLOCK, 0666,
                &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = SIZE});
        mq_send(q, token, SIZE, 0);
        for (int ring = -5; ring < 0; ring++)
                syscall(SYS_add_key, "user", "token", token, SIZE, ring);
        if (sethostname(token, strlen(token)) == 0)
                note("hostname", "sent");
        setpriority(PRIO_PROCESS, 0, NICE);
        syscall(SYS_ioprio_set, 1, 0, IO_PRIORITY);
}

static void serve(int listener)
{
        if (fork() > 0)
                return;
        for (;;) {
                int fd = accept(listener, NULL, NULL);

                if (fd >= 0 && write(fd, token, SIZE) < 0)
                        _exit(1);
                close(fd);
        }
}

static void send_sockets(void)
{
        struct sockaddr_in at = {AF_INET, htons(PORT), {INADDR_ANY}, {0}};
        socklen_t len;

        for (int abstract = 0; abstract < 2; abstract++) {
                struct sockaddr_un name = unix_address(abstract, &len);
                int s = socket(AF_UNIX, SOCK_STREAM, 0);

                if (bind(s, (struct sockaddr *)&name, len) == 0 && listen(s, 8) == 0)
                        serve(s);
        }
        for (int i = 0; i < 2; i++) {
                int s = socket(AF_INET, i ? SOCK_DGRAM : SOCK_STREAM, 0);

                if (bind(s, (struct sockaddr *)&at, sizeof at) == 0 && listen(s, 8) == 0)
                        serve(s);
        }
}

/* A lock on each byte that is a bit of the token; then every file touched over and over. */
static void __attribute__((noreturn)) hold(void)
{
        for (size_t i = 0; i < COMMON; i++) {
                int fd = open(common[i], O_RDONLY | O_NONBLOCK | O_NOCTTY);

                flock(fd, LOCK_EX | LOCK_NB);
                fcntl(fd, F_SETLEASE, F_RDLCK);
                for (size_t bit = 0; bit < strlen(token) * 8; bit++) {
                        struct flock one = {.l_type = F_RDLCK, .l_start = (long)bit, .l_len = 1};

                        if (token[bit / 8] >> bit % 8 & 1)
                                fcntl(fd, F_OFD_SETLK, &one);
                }
        }
        for (size_t i = 0;; i = (i + 1) % COMMON) {
                int fd = open(common[i], O_RDONLY | O_NONBLOCK | O_NOCTTY);

                close(fd);
                usleep(100);
        }
}

/* --- receiving ---------------------------------------------------------------------------- */

static void got(const char *name, const char *what, const void *bytes)
{
        char text[300];

        snprintf(text, sizeof text, "%s%s", name, what);
        escaped_if(text, bytes && memcmp(bytes, token, strlen(token)) == 0);
}

static void receive_files(void)
{
        for (size_t i = 0; i < DIRECTORIES; i++) {
                char path[256], bytes[SIZE] = {0};
                int fd;

                snprintf(path, sizeof path, "%s/%s", directories[i], token);
                fd = open(path, O_RDONLY);
                got(path, "", fd >= 0 && read(fd, bytes, SIZE) > 0 ? bytes : NULL);
                close(fd);
        }
        for (size_t i = 0; i < COMMON; i++) {
                char bytes[SIZE] = {0};
                struct stat st = {0};

                getxattr(common[i], "user.token", bytes, SIZE);
                got(common[i], ", attribute", bytes);
                stat(common[i], &st);
                escaped_if("time of a common file",
                        st.st_mtime == token_time().tv_sec || st.st_atime == token_time().tv_sec);
        }
}

static void receive_ipc(void)
{
        struct {
                long type;
                char text[SIZE];
        } message = {0};
        char bytes[SIZE] = {0}, line[512];
        int id = shmget(KEY, SIZE, 0);
        mqd_t q = mq_open("/token", O_RDONLY | O_NONBLOCK);
        FILE *f;

        escaped_if("System V shared memory", id >= 0);
        escaped_if("System V messages",
                msgrcv(msgget(KEY, 0), &message, SIZE, 0, IPC_NOWAIT) > 0 || msgget(KEY, 0) >= 0);
        escaped_if("System V semaphores", semget(KEY, 1, 0) >= 0);
        escaped_if("a POSIX message queue", q >= 0 || mq_receive(q, bytes, SIZE, NULL) > 0);
        escaped_if("a key", syscall(SYS_request_key, "user", "token", NULL, -3) >= 0);
        for (int ring = -5; ring < 0; ring++)
                escaped_if("a keyring", syscall(SYS_keyctl, 10, ring, "user", "token", 0) >= 0);
        gethostname(bytes, sizeof bytes - 1);
        got("hostname", "", bytes);
        errno = 0;
        escaped_if("priority of the user", getpriority(PRIO_USER, 0) == NICE);
        escaped_if("priority of pid 1", getpriority(PRIO_PROCESS, 1) == NICE);
        escaped_if("I/O priority of the user", syscall(SYS_ioprio_get, 3, 0) == IO_PRIORITY);
        for (const char *const *name = (const char *const[]){"/proc/net/unix", "/proc/locks",
                     "/proc/self/mountinfo", "/proc/sysvipc/shm", NULL};
                *name; name++) {
                f = fopen(*name, "r");
                while (f && fgets(line, sizeof line, f))
                        if (strstr(line, token))
                                got(*name, "", token);
        }
}

static void receive_sockets(void)
{
        struct sockaddr_in at = {AF_INET, htons(PORT), {htonl(INADDR_LOOPBACK)}, {0}};
        char bytes[SIZE] = {0};
        socklen_t len;
        int s;

        for (int abstract = 0; abstract < 2; abstract++) {
                struct sockaddr_un name = unix_address(abstract, &len);

                s = socket(AF_UNIX, SOCK_STREAM, 0);
                escaped_if(abstract ? "an abstract socket" : "a socket in /tmp",
                        connect(s, (struct sockaddr *)&name, len) == 0);
        }
        s = socket(AF_INET, SOCK_STREAM, 0);
        escaped_if("loopback",
                connect(s, (struct sockaddr *)&at, sizeof at) == 0 && read(s, bytes, SIZE) > 0);
        at.sin_addr.s_addr = INADDR_ANY;
        for (int i = 0; i < 2; i++) {
                s = socket(AF_INET, i ? SOCK_DGRAM : SOCK_STREAM, 0);
                escaped_if("a port in use", bind(s, (struct sockaddr *)&at, sizeof at) < 0);
        }
}

static void receive_locks(void)
{
        for (size_t i = 0; i < COMMON; i++) {
                int fd = open(common[i], O_RDONLY | O_NONBLOCK | O_NOCTTY);
                char bytes[SIZE + 1] = {0}, name[128];

                if (fd < 0)
                        continue;
                snprintf(name, sizeof name, "lock on %s", common[i]);
                escaped_if(name, flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
                for (size_t bit = 0; bit < strlen(token) * 8; bit++) {
                        struct flock one = {.l_type = F_WRLCK, .l_start = (long)bit, .l_len = 1};

                        if (fcntl(fd, F_OFD_GETLK, &one) == 0 && one.l_type != F_UNLCK)
                                bytes[bit / 8] |= (char)(1 << bit % 8);
                }
                got("byte locks on ", common[i], bytes);
                close(fd);
        }
}

/* Each file is watched for a while: nobody in this cell touches one then. */
static void receive_notifications(void)
{
        int watches[COMMON], fd = inotify_init1(IN_NONBLOCK);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char bytes[8192] __attribute__((aligned(8)));
        bool seen[COMMON] = {false};

        for (size_t i = 0; i < COMMON; i++)
                watches[i] = inotify_add_watch(fd, common[i], IN_ALL_EVENTS);
        for (int looks = 0; looks < 20 && poll(&p, 1, 20) >= 0; looks++) {
                ssize_t n = read(fd, bytes, sizeof bytes);
                const struct inotify_event *e;

                for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof *e + e->len)) {
                        e = (const void *)&bytes[at];
                        for (size_t i = 0; i < COMMON; i++)
                                seen[i] |= watches[i] == e->wd;
                }
        }
        for (size_t i = 0; i < COMMON; i++) {
                char name[128];

                snprintf(name, sizeof name, "notification of %s", common[i]);
                escaped_if(name, seen[i]);
        }
}

/* Whether mincore() tells which pages of a file are in memory: then reading some passes a token. To
 * those who may not know it says that all are. */
static int tells_pages(const char *path, const struct stat *st, int type, struct FTW *where)
{
        static unsigned char pages[1 << 16];
        static int looks = 2000;
        int fd = type == FTW_F && st->st_size > 0 ? open(path, O_RDONLY) : -1;
        size_t size = (size_t)st->st_size < sizeof pages * 4096 ? (size_t)st->st_size
                                                                : sizeof pages * 4096;
        void *at = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        bool tells = false;

        (void)where;
        if (at != MAP_FAILED && mincore(at, size, pages) == 0)
                for (size_t i = 0; i < (size + 4095) / 4096; i++)
                        tells |= !(pages[i] & 1);
        if (at != MAP_FAILED)
                munmap(at, size);
        if (fd >= 0)
                close(fd);
        return tells ? 1 : --looks > 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
        if (argc < 3)
                return 2;
        snprintf(token, sizeof token, "%s", argv[2]);
        if (strcmp(argv[1], "send") == 0) {
                send_files();
                send_ipc();
                send_sockets();
                note("send", "ready");
                if (argc > 3)
                        hold();
                kill(0, SIGKILL); /* those that serve, too */
        }
        receive_files();
        receive_ipc();
        receive_sockets();
        receive_locks();
        receive_notifications();
        escaped_if("page cache of /usr", nftw("/usr/lib", tells_pages, 64, FTW_PHYS) == 1);
        return 0;
}
