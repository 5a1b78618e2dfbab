/* Where a cell's frames may not go; see network.h. Pure. */
#include "network.h"

#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { ANYWHERE = 0x40000, NOWHERE = 0 }; /* bytes of the frame that pass */

/* Places in a frame. */
enum {
        AT_TYPE = 12,
        AT_IPV4_TO = 14 + 16,
        AT_IPV6_NEXT = 14 + 6,
        AT_IPV6_TO = 14 + 24,
        AT_ICMPV6_TYPE = 14 + 40,
};

/* What belongs to the host or to its own wire, whichever host it is. */
static const struct network_block never[] = {
        {AF_INET, 8, {0}},                   /* "this host": connects to loopback */
        {AF_INET, 8, {127}},                 /* loopback */
        {AF_INET, 16, {169, 254}},           /* link-local, cloud metadata */
        {AF_INET, 32, {100, 100, 100, 200}}, /* Alibaba's metadata */
        {AF_INET, 32, {168, 63, 129, 16}},   /* Azure's */
        {AF_INET, 32, {192, 0, 0, 192}},     /* Oracle's */
        {AF_INET, 4, {224}},                 /* multicast: answered on the wire, by the host too */
        {AF_INET, 4, {240}},                 /* reserved, broadcast */
        {AF_INET6, 16, {0}},                 /* unspecified, loopback, IPv4 in disguise */
        {AF_INET6, 10, {0xfe, 0x80}},        /* link-local */
        {AF_INET6, 8, {0xff}},               /* multicast */
        {AF_INET6, 128, {0xfd, 0, 0x0e, 0xc2, [14] = 0x02, 0x54}}, /* Amazon's metadata */
        {AF_INET6, 128, {0xfd, 0x20, 0, 0xce, [14] = 0x02, 0x54}}, /* Google's */
};

struct program {
        struct sock_filter *at;
        unsigned length;
        bool full;
};

static void add(struct program *p, struct sock_filter instruction)
{
        if (p->length == NETWORK_FILTER_MAX)
                p->full = true;
        else
                p->at[p->length++] = instruction;
}

static void give(struct program *p, uint32_t bytes)
{
        add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, bytes));
}

static void load(struct program *p, unsigned size, uint32_t at)
{
        add(p, (struct sock_filter)BPF_STMT(BPF_LD | size | BPF_ABS, at));
}

/* Drop it when its address begins with the block's bits: four bytes at a time, each comparison
 * leads past the end of the row when it fails. */
static void drop_block(struct program *p, const struct network_block *b, uint32_t at)
{
        const unsigned words = (b->bits + 31U) / 32, row = 3;

        for (unsigned i = 0; i < words; i++) {
                unsigned bits = b->bits - i * 32;
                uint32_t mask = bits >= 32 ? UINT32_MAX : UINT32_MAX << (32 - bits);
                const uint8_t *a = b->address + (size_t)i * 4;
                uint32_t word = (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 |
                                (uint32_t)a[3];

                load(p, BPF_W, at + i * 4);
                add(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
                add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word & mask, 0,
                               (uint8_t)((words - i - 1) * row + 1)));
        }
        give(p, NOWHERE);
}

static void drop_blocks(struct program *p, const struct network_block *blocks, size_t count,
        uint8_t family, uint32_t at)
{
        for (size_t i = 0; i < count; i++)
                if (blocks[i].family == family)
                        drop_block(p, &blocks[i], at);
}

unsigned network_filter(const struct network_block *blocks, unsigned count,
        struct sock_filter ret[NETWORK_FILTER_MAX])
{
        const size_t nevers = sizeof never / sizeof *never;
        struct program p = {.at = ret};
        unsigned to_ipv6;

        load(&p, BPF_H, AT_TYPE);
        add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_ARP, 0, 1));
        give(&p, ANYWHERE);
        add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 1, 0));
        to_ipv6 = p.length;
        add(&p, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0)); /* as far as is known below */
        drop_blocks(&p, never, nevers, AF_INET, AT_IPV4_TO);
        drop_blocks(&p, blocks, count, AF_INET, AT_IPV4_TO);
        give(&p, ANYWHERE);

        p.at[to_ipv6].k = p.length - to_ipv6 - 1;
        add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 1, 0));
        give(&p, NOWHERE);
        /* Routers and neighbours are found by multicast and link-local addresses; pasta answers
         * that itself. */
        load(&p, BPF_B, AT_IPV6_NEXT);
        add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 4));
        load(&p, BPF_B, AT_ICMPV6_TYPE);
        add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ND_ROUTER_SOLICIT, 0, 2));
        add(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, ND_NEIGHBOR_ADVERT, 1, 0));
        give(&p, ANYWHERE);
        drop_blocks(&p, never, nevers, AF_INET6, AT_IPV6_TO);
        drop_blocks(&p, blocks, count, AF_INET6, AT_IPV6_TO);
        give(&p, ANYWHERE);
        return p.full ? 0 : p.length;
}
