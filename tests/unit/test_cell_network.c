/* Where a cell's frames may not go: sandbox/network_filter. The kernel runs the program, on the
 * messages of a pair of sockets. */
#include "sandbox/network.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ETHERNET = 14, FRAME = 128 };

/* What stands in a frame for an address of either family; `icmp`: an ICMPv6 message of that type.
 */
static size_t make_frame(uint8_t frame[FRAME], const char *to, uint8_t icmp)
{
        memset(frame, 0, FRAME);
        if (inet_pton(AF_INET, to, frame + ETHERNET + 16) == 1) {
                frame[12] = 0x08;
                return ETHERNET + 28;
        }
        cr_assert_eq(inet_pton(AF_INET6, to, frame + ETHERNET + 24), 1, "%s", to);
        frame[12] = 0x86;
        frame[13] = 0xdd;
        frame[ETHERNET + 6] = icmp ? IPPROTO_ICMPV6 : IPPROTO_TCP;
        frame[ETHERNET + 40] = icmp;
        return ETHERNET + 60;
}

static bool passes(const int pair[2], const uint8_t *frame, size_t len)
{
        uint8_t got[FRAME];

        cr_assert_eq(send(pair[0], frame, len, 0), (ssize_t)len);
        return recv(pair[1], got, sizeof got, MSG_DONTWAIT) == (ssize_t)len;
}

static void attach(int pair[2], const struct network_block *blocks, unsigned count)
{
        static struct sock_filter program[NETWORK_FILTER_MAX];
        struct sock_fprog filter = {.filter = program};

        cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
        filter.len = (unsigned short)network_filter(blocks, count, program);
        cr_assert_gt(filter.len, 0);
        cr_assert_eq(setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter), 0);
}

Test(network, what_a_frame_may_reach)
{
        static const struct network_block own[] = {
                {AF_INET, 32, {10, 1, 2, 3}},
                {AF_INET6, 128, {0xfd, 1, [15] = 9}},
        };
        static const struct {
                const char *to;
                uint8_t icmp;
                bool passes;
        } rows[] = {
                {"1.1.1.1", 0, true},
                {"10.1.2.2", 0, true},
                {"10.1.2.3", 0, false},
                {"10.1.2.4", 0, true},
                {"0.0.0.0", 0, false},
                {"126.255.255.255", 0, true},
                {"127.0.0.1", 0, false},
                {"127.255.255.255", 0, false},
                {"128.0.0.0", 0, true},
                {"169.253.255.255", 0, true},
                {"169.254.0.0", 0, false},
                {"169.254.169.254", 0, false},
                {"169.255.0.0", 0, true},
                {"192.168.1.1", 0, true},
                {NETWORK_RESOLVER, 0, true},
                {"192.0.0.192", 0, false},
                {"100.100.100.200", 0, false},
                {"100.100.100.201", 0, true},
                {"168.63.129.16", 0, false},
                {"223.255.255.255", 0, true},
                {"224.0.0.251", 0, false},
                {"239.255.255.250", 0, false},
                {"255.255.255.255", 0, false},
                {"2001:db8::1", 0, true},
                {"fd01::9", 0, false},
                {"fd01::8", 0, true},
                {"fd01::1:9", 0, true},
                {"fd00:ec2::254", 0, false},
                {"fd20:ce::254", 0, false},
                {"fd20:ce::253", 0, true},
                {NETWORK_RESOLVER_IPV6, 0, true},
                {"64:ff9b::1.1.1.1", 0, true},
                {"::", 0, false},
                {"::1", 0, false},
                {"::ffff:127.0.0.1", 0, false},
                {"fe7f::1", 0, true},
                {"fe80::1", 0, false},
                {"febf::1", 0, false},
                {"ff02::fb", 0, false},
                /* Finding neighbours, and other messages to the same places. */
                {"ff02::2", 133, true},
                {"ff02::1:ff00:1", 135, true},
                {"fe80::1", 136, true},
                {"fe80::1", 128, false},
                {"fe80::1", 132, false},
                {"fe80::1", 137, false},
                {"2001:db8::1", 128, true},
        };
        uint8_t frame[FRAME];
        int pair[2];

        attach(pair, own, 2);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                size_t len = make_frame(frame, rows[i].to, rows[i].icmp);

                cr_expect_eq(passes(pair, frame, len), rows[i].passes, "%s, ICMPv6 %d", rows[i].to,
                        rows[i].icmp);
        }
}

Test(network, other_protocols_and_pieces_do_not_pass)
{
        static const uint8_t vlan[] = {0x81, 0x00}, arp[] = {0x08, 0x06};
        uint8_t frame[FRAME];
        int pair[2];

        attach(pair, NULL, 0);
        make_frame(frame, "1.1.1.1", 0);
        for (size_t len = 1; len < ETHERNET + 20; len++)
                cr_expect(!passes(pair, frame, len), "%zu bytes", len);
        memcpy(frame + 12, vlan, 2);
        cr_expect(!passes(pair, frame, FRAME));
        memcpy(frame + 12, arp, 2);
        cr_expect(passes(pair, frame, FRAME));
}

Test(network, too_many_addresses_are_no_filter)
{
        static struct network_block many[200];
        static struct sock_filter program[NETWORK_FILTER_MAX];

        for (size_t i = 0; i < 200; i++)
                many[i] = (struct network_block){.family = AF_INET6, .bits = 128};
        cr_expect_gt(network_filter(many, 128, program), 0);
        cr_expect_eq(network_filter(many, 200, program), 0);
}
