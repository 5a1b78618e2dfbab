/* Both ends of a connection, for tests of networks:
 *   wire serve ADDRESS PORT                 answer TCP and UDP, the latter as a name server does
 *   wire reach tcp|udp ADDRESS PORT [DEVICE]  exit 0 when somebody answers within a second
 * An address may have a %DEVICE; DEVICE binds the socket to it, past the routes. */
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER = 12, ANSWER = 16 };

union place {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
};

static int open_socket(int type, const char *address, const char *port, union place *ret)
{
        const char *device = strchr(address, '%');
        char text[64];

        *ret = (union place){0};
        snprintf(text, sizeof text, "%.*s", (int)strcspn(address, "%"), address);
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons((uint16_t)atoi(port)); /* in the same place for both */
        if (inet_pton(AF_INET, text, &ret->v4.sin_addr) != 1) {
                ret->v6.sin6_family = AF_INET6;
                ret->v6.sin6_scope_id = device ? if_nametoindex(device + 1) : 0;
                if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) != 1)
                        return -1;
        }
        return socket(ret->any.sa_family, type | SOCK_CLOEXEC, 0);
}

static int listen_at(int type, const char *address, const char *port)
{
        union place at;
        int fd = open_socket(type, address, port, &at), on = 1;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
                bind(fd, &at.any, sizeof at) < 0 || (type == SOCK_STREAM && listen(fd, 16) < 0))
                return -1;
        return fd;
}

/* Any question for an IPv4 address is answered with 203.0.113.7, others with nothing. */
static void answer_name(int fd)
{
        static const unsigned char address[ANSWER] = {
                0xc0, HEADER, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7};
        unsigned char packet[512 + ANSWER];
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        ssize_t len = recvfrom(fd, packet, 512, 0, (struct sockaddr *)&from, &size);
        size_t end = HEADER;

        if (len < HEADER)
                return;
        while (end < (size_t)len && packet[end])
                end += packet[end] + 1U;
        end += 5; /* the end of the name, type, class */
        if (end > (size_t)len)
                end = (size_t)len;
        packet[2] |= 0x80;
        memset(packet + 6, 0, 6); /* answers, others, additional */
        if (end >= 4 && packet[end - 3] == 1) {
                packet[7] = 1;
                memcpy(packet + end, address, ANSWER);
                end += ANSWER;
        }
        (void)!sendto(fd, packet, end, 0, (struct sockaddr *)&from, size);
}

static int serve(const char *address, const char *port)
{
        struct pollfd fds[] = {{listen_at(SOCK_STREAM, address, port), POLLIN, 0},
                {listen_at(SOCK_DGRAM, address, port), POLLIN, 0}};

        if (fds[0].fd < 0 || fds[1].fd < 0) {
                perror(address);
                return 1;
        }
        puts("serving");
        fflush(stdout);
        while (poll(fds, 2, -1) > 0) {
                if (fds[0].revents) {
                        int peer = accept(fds[0].fd, NULL, NULL);

                        (void)!write(peer, "here", 4);
                        close(peer);
                }
                if (fds[1].revents)
                        answer_name(fds[1].fd);
        }
        return 1;
}

static int reach(int type, const char *address, const char *port, const char *device)
{
        static const char question[HEADER + 5] = {0, 1, 0, 0, 0, 1, [14] = 1, [16] = 1};
        union place at;
        int fd = open_socket(type | SOCK_NONBLOCK, address, port, &at);
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        char byte;

        if (fd < 0)
                return 2;
        if (device &&
                setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)) < 0)
                return 2;
        (void)!connect(fd, &at.any, sizeof at);
        if (poll(&wait, 1, 1000) != 1)
                return 1;
        if (type == SOCK_DGRAM && send(fd, question, sizeof question, 0) < 0)
                return 1;
        wait.events = POLLIN;
        return poll(&wait, 1, 1000) == 1 && read(fd, &byte, 1) == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
        if (argc == 4 && strcmp(argv[1], "serve") == 0)
                return serve(argv[2], argv[3]);
        if (argc >= 5 && strcmp(argv[1], "reach") == 0)
                return reach(strcmp(argv[2], "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM, argv[3],
                        argv[4], argv[5]);
        return 2;
}
