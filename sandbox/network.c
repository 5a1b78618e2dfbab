/* Starting, awaiting and ending pasta, and the filter on its device; see network.h. Runs in the
 * supervisor. */
#include "network.h"

#include "fd.h"
#include "spawn.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
        MOST_ADDRESSES = 128, /* of the host's own */
        MOST_DESCRIPTORS = 1024,
        MOST_SAID = 512,
};

/* Its descriptors: 0 the namespace, 1 where it writes its pid, 2 for its errors. Later versions
 * close all others at once. */
static const char *const arguments[] = {
        "pasta",
        "--foreground",
        "--quiet",
        "--netns",
        "/proc/self/fd/0",
        "--no-netns-quit",
        "--pid",
        "/proc/self/fd/1",
        "--config-net",
        /* The gateway's address would be the host. */
        "--no-map-gw",
        "--dns-forward",
        NETWORK_RESOLVER,
        "--dns-forward",
        NETWORK_RESOLVER_IPV6,
        /* No port leads in, and none past the device. */
        "-t",
        "none",
        "-u",
        "none",
        "-T",
        "none",
        "-U",
        "none",
        NULL,
};

/* In the cell's user namespace only: to make the device there, and a place to hide itself. */
static const uint64_t rights = 1ULL << CAP_SYS_ADMIN | 1ULL << CAP_NET_ADMIN;

static int open_pasta(struct error *err)
{
        int fd = open(NETWORK_PASTA, O_PATH | O_CLOEXEC);

        return fd < 0 ? error_errno(err, CODE_INFRA_NETWORK, errno,
                                "a cell cannot have a network: " NETWORK_PASTA)
                      : fd;
}

int network_start(struct network *n, int namespace, const struct ids *ids, struct error *err)
{
        _cleanup_fd_ int program = open_pasta(err);
        _cleanup_fd_ int user = -EBADF, up = -EBADF, errors = -EBADF;
        struct spawn spawn = SPAWN_INIT;
        int pipes[2];

        if (program < 0 || n->pid != 0 || fd_pipe(pipes, err) < 0)
                return -1;
        n->ready = pipes[0];
        up = pipes[1];
        if (fd_pipe(pipes, err) < 0)
                return -1;
        n->said = pipes[0];
        errors = pipes[1];
        user = ioctl(namespace, NS_GET_USERNS);
        /* It opens the one pipe by name, as somebody else; and is not held up by the other. */
        if (user < 0 || fchmod(up, 0666) < 0 || fcntl(errors, F_SETFL, O_NONBLOCK) < 0 ||
                fcntl(n->said, F_SETFL, O_NONBLOCK) < 0)
                return error_errno(err, CODE_INFRA_NETWORK, errno, "cannot prepare a network");
        spawn.program = program;
        spawn.argv = arguments;
        spawn.fds[0] = namespace;
        spawn.fds[1] = up;
        spawn.fds[2] = errors;
        spawn.fd_count = 3;
        /* As root: nobody on the host, and nobody in the cell. */
        spawn.change_ids = ids->kind == IDS_BLOCK;
        spawn.uid = ids->uid + IDS_NETWORK;
        spawn.gid = ids->gid + IDS_NETWORK;
        spawn.namespace = user;
        spawn.rights = rights;
        n->pid = spawn_process(&spawn, &n->pidfd, err);
        if (n->pid > 0)
                return 0;
        n->pid = 0;
        err->code = CODE_INFRA_NETWORK; /* it is none of our programs */
        return -1;
}

/* --- the filter ----------------------------------------------------------------------------- */

/* Services that listen on all addresses of the host are reached by each. */
static int find_own_addresses(struct network_block *ret, unsigned *ret_count, struct error *err)
{
        struct ifaddrs *list;
        unsigned count = 0;

        if (getifaddrs(&list) < 0)
                return error_errno(
                        err, CODE_INFRA_NETWORK, errno, "cannot list the machine's addresses");
        for (const struct ifaddrs *i = list; i && count < MOST_ADDRESSES; i = i->ifa_next) {
                int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
                struct network_block b = {.family = (uint8_t)family};

                if (family == AF_INET) {
                        b.bits = 32;
                        memcpy(b.address, &((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr,
                                4);
                } else if (family == AF_INET6) {
                        b.bits = 128;
                        memcpy(b.address, &((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr,
                                16);
                } else
                        continue;
                ret[count++] = b;
        }
        freeifaddrs(list);
        *ret_count = count;
        return count < MOST_ADDRESSES
                       ? 0
                       : error_set(err, CODE_INFRA_NETWORK,
                                 "the machine has more addresses than can be kept from a cell (%d)",
                                 MOST_ADDRESSES);
}

/* The end of the device that pasta holds: only a holder may give it a filter. */
static int take_device(const struct network *n)
{
        struct ifreq name;

        for (int i = 3; i < MOST_DESCRIPTORS; i++) {
                int fd = (int)syscall(SYS_pidfd_getfd, n->pidfd, i, 0);

                if (fd >= 0 && ioctl(fd, TUNGETIFF, &name) == 0)
                        return fd;
                if (fd < 0 && errno != EBADF)
                        return -1;
                fd_close(fd);
        }
        errno = ENODEV;
        return -1;
}

static int filter_device(const struct network *n, struct error *err)
{
        struct sock_filter program[NETWORK_FILTER_MAX];
        struct network_block own[MOST_ADDRESSES];
        struct sock_fprog filter = {.filter = program};
        _cleanup_fd_ int device = -EBADF;
        unsigned count = 0;

        if (find_own_addresses(own, &count, err) < 0)
                return -1;
        filter.len = (unsigned short)network_filter(own, count, program);
        device = take_device(n);
        if (device < 0 || ioctl(device, TUNATTACHFILTER, &filter) < 0)
                return error_errno(
                        err, CODE_INFRA_NETWORK, errno, "cannot filter the network of a cell");
        return 0;
}

/* --- its life ------------------------------------------------------------------------------- */

/* Why it ended: the last line that it wrote. */
static int tell_why(const struct network *n, struct error *err)
{
        char said[MOST_SAID + 1];
        ssize_t len = read(n->said, said, MOST_SAID);
        const char *line;

        while (len > 0 && said[len - 1] == '\n')
                len--;
        said[len > 0 ? len : 0] = '\0';
        line = strrchr(said, '\n');
        return error_set(err, CODE_INFRA_NETWORK, "pasta cannot give a cell a network: %s",
                line    ? line + 1
                : *said ? said
                        : "it ended without a word");
}

int network_ready(struct network *n, struct error *err)
{
        char pid[16];
        ssize_t len = read(n->ready, pid, sizeof pid);

        n->ready = fd_close(n->ready);
        return len <= 0 ? tell_why(n, err) : filter_device(n, err);
}

void network_stop(struct network *n)
{
        if (n->pid > 0) {
                kill(n->pid, SIGKILL); /* our child, not waited for yet: the number is its own */
                spawn_wait(n->pidfd, NULL);
        }
        fd_close(n->pidfd);
        fd_close(n->ready);
        fd_close(n->said);
        *n = (struct network)NETWORK_INIT;
}
