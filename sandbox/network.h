/* A cell's way out, where it has one: pasta, a program that is not ours, carries its connections.
 * It reads frames from a device in the cell's network namespace and makes ordinary connections of
 * them, as any program of the host might; nothing leads in. What it is never handed, the device's
 * filter decides, so that no route, address or option that a cell chooses can change it. */
#ifndef ASSAY_NETWORK_H
#define ASSAY_NETWORK_H

#include "ids.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdint.h>
#include <sys/types.h>

/* Questions to these pasta puts to the host's first resolver, on loopback too. Both are addresses
 * that nobody can have: the dummy address of RFC 7600, one of the discard prefix of RFC 6666. */
#define NETWORK_RESOLVER      "192.0.0.8"
#define NETWORK_RESOLVER_IPV6 "100::53"

struct network {
        pid_t pid; /* 0: none */
        int pidfd;
        int ready; /* pasta writes its pid here when the network is up; -EBADF once it was */
        int said;  /* its standard error */
};

#define NETWORK_INIT                                                                               \
        {                                                                                          \
                .pidfd = -EBADF, .ready = -EBADF, .said = -EBADF                                   \
        }

/* network.c, by the supervisor
 *
 * Start pasta for a cell's network namespace; `ready` is to be waited for. */
int network_start(struct network *n, int namespace, const struct ids *ids, struct error *err);
/* Something came through `ready`: the network is up and filtered, or cannot be had. */
int network_ready(struct network *n, struct error *err);
/* Also where nothing was started, or it ended by itself. */
void network_stop(struct network *n);

/* network_filter.c; pure */
struct network_block {
        uint8_t family; /* AF_INET or AF_INET6 */
        uint8_t bits;   /* of the address that count */
        uint8_t address[16];
};

enum { NETWORK_FILTER_MAX = 2048 };

/* A classic BPF program over the frames that leave a cell: what goes to one of `blocks`, or to what
 * no cell may reach, is dropped, and so is what is neither IP nor what finds neighbours. Returns
 * its length, or 0 when NETWORK_FILTER_MAX instructions are too few. */
unsigned network_filter(const struct network_block *blocks, unsigned count,
        struct sock_filter ret[NETWORK_FILTER_MAX]);

#endif
