/* Holding memory of one KIND until MEBIBYTES are held or no more is given; then it says how much
 * that was and sleeps, unless it was asked to end: KIND MEBIBYTES [end]. */
#include "attempt.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <mqueue.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { PIECE = 256 << 10 };

static char piece[PIECE];

/* Each holds up to PIECE more and returns how much, or 0. */

static long touch(void *p)
{
        if (p == MAP_FAILED || !p)
                return 0;
        for (volatile char *at = p; at < (char *)p + PIECE; at += 4096)
                *at = 1;
        return PIECE;
}

static long heap(void)
{
        return touch(malloc(PIECE));
}

static long anonymous(void)
{
        return touch(mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static long shared(void)
{
        return touch(mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

static long system_v(void)
{
        int id = shmget(IPC_PRIVATE, PIECE, 0600);

        return id < 0 ? 0 : touch(shmat(id, NULL, 0));
}

static long put(int *fd, int opened)
{
        ssize_t n;

        if (*fd < 0)
                *fd = opened;
        n = write(*fd, piece, PIECE);
        return n > 0 ? n : 0;
}

static long tmpfs(void)
{
        static int fd = -1;

        return put(&fd, fd < 0 ? open("/tmp/held", O_WRONLY | O_CREAT, 0600) : -1);
}

static long dev_shm(void)
{
        static int fd = -1;

        return put(&fd, fd < 0 ? open("/dev/shm/held", O_WRONLY | O_CREAT, 0600) : -1);
}

static long unlinked(void)
{
        static int fd = -1;

        return put(&fd, fd < 0 ? open("/var/tmp", O_WRONLY | O_TMPFILE, 0600) : -1);
}

static long memory_file(void)
{
        static int fd = -1;

        return put(&fd, fd < 0 ? memfd_create("held", 0) : -1);
}

static long fill(int fd)
{
        long sum = 0;

        for (ssize_t n; (n = write(fd, piece, 4096)) > 0;)
                sum += n;
        return sum;
}

static long pipes(void)
{
        int fds[2];

        if (pipe2(fds, O_NONBLOCK) < 0)
                return 0;
        fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
        return fill(fds[1]);
}

static long unix_sockets(void)
{
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
                return 0;
        setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &(int){4 << 20}, sizeof(int));
        return fill(fds[1]);
}

/* Data that nobody reads; of a connection that nobody accepts, if it is one. */
static long inet(int type)
{
        struct sockaddr_in at = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
        socklen_t len = sizeof at;
        int to = socket(AF_INET, type | SOCK_NONBLOCK, 0);
        int from = socket(AF_INET, type | SOCK_NONBLOCK, 0);

        if (to < 0 || from < 0)
                return 0;
        setsockopt(to, SOL_SOCKET, SO_RCVBUF, &(int){4 << 20}, sizeof(int));
        if (bind(to, (struct sockaddr *)&at, len) < 0 ||
                getsockname(to, (struct sockaddr *)&at, &len) < 0 ||
                (type == SOCK_STREAM && listen(to, 1) < 0))
                return 0;
        if (connect(from, (struct sockaddr *)&at, len) < 0 && errno != EINPROGRESS)
                return 0;
        /* What a datagram socket does not take is dropped: no more than its buffer. */
        for (long sum = 0;; sum += 4096)
                if (write(from, piece, 4096) < 0 || sum >= 2 * 212992)
                        return sum > 212992 && type == SOCK_DGRAM ? 212992 : sum;
}

static long tcp(void)
{
        return inet(SOCK_STREAM);
}

static long udp(void)
{
        return inet(SOCK_DGRAM);
}

static long message_queues(void)
{
        static struct {
                long type;
                char text[8000];
        } message = {1, {0}};
        int id = msgget(IPC_PRIVATE, 0600);
        long sum = 0;

        while (id >= 0 && msgsnd(id, &message, sizeof message.text, IPC_NOWAIT) == 0)
                sum += (long)sizeof message;
        return sum;
}

static long posix_queues(void)
{
        static int number;
        char name[32];
        struct mq_attr size = {.mq_maxmsg = 4, .mq_msgsize = 8000};
        mqd_t q;
        long sum = 0;

        snprintf(name, sizeof name, "/held-%d", number++);
        q = mq_open(name, O_WRONLY | O_CREAT | O_NONBLOCK, 0600, &size);
        while (q >= 0 && mq_send(q, piece, 8000, 0) == 0)
                sum += 8000;
        return sum;
}

static long semaphores(void)
{
        enum { MANY = 4000 };
        int id = semget(IPC_PRIVATE, MANY, 0600);

        return id < 0 ? 0 : MANY * 64;
}

/* Page tables: a page touched in each 2 MiB, shared so that it costs little else. */
static long page_tables(void)
{
        enum { STEP = 2 << 20, MANY = 64 };
        int fd = open("/usr/bin/env", O_RDONLY);
        char *p = mmap(NULL, (size_t)STEP * MANY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
                return 0;
        for (int i = 0; i < MANY; i++) {
                volatile char *at =
                        mmap(p + (size_t)i * STEP, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);

                if (at == MAP_FAILED)
                        return 0;
                (void)*at;
        }
        close(fd);
        return MANY * 4096;
}

/* What the kernel keeps for a socket that nothing is sent to. */
static long sockets(void)
{
        return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 0 : 2048;
}

static long wanted, seen;

static int read_whole(const char *path, const struct stat *st, int type, struct FTW *where)
{
        int fd = type == FTW_F && S_ISREG(st->st_mode) ? open(path, O_RDONLY) : -1;

        (void)where;
        if (fd < 0)
                return 0;
        for (ssize_t n; seen < wanted && (n = read(fd, piece, PIECE)) > 0;)
                seen += n;
        close(fd);
        return seen >= wanted;
}

/* What is read stays in memory until something else needs it: more than the limit may be read. */
static long page_cache(void)
{
        nftw("/usr", read_whole, 64, FTW_PHYS);
        return seen;
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                long (*hold)(void);
        } kinds[] = {{"heap", heap}, {"mmap", anonymous}, {"shared", shared}, {"sysv", system_v},
                {"tmpfs", tmpfs}, {"dev-shm", dev_shm}, {"unlinked", unlinked},
                {"memfd", memory_file}, {"pipes", pipes}, {"unix", unix_sockets}, {"tcp", tcp},
                {"udp", udp}, {"msgq", message_queues}, {"mqueue", posix_queues},
                {"semaphores", semaphores}, {"page-tables", page_tables}, {"sockets", sockets},
                {"page-cache", page_cache}};
        long sum = 0, more = 1;

        if (argc < 3)
                return 2;
        wanted = strtol(argv[2], NULL, 10) << 20;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                while (strcmp(argv[1], kinds[i].name) == 0 && sum < wanted && more > 0)
                        sum += more = kinds[i].hold();
        note(argv[1], "held %ld KiB (%s)", sum >> 10, more > 0 ? "all" : strerrorname_np(errno));
        while (argc < 4 || strcmp(argv[3], "end") != 0)
                pause();
        return 0;
}
