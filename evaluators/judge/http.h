/* One POST to one address, by libcurl: the only file that knows it. It follows no redirect, speaks
 * http and https alone, checks certificates, takes proxies from the standard environment only, and
 * bounds time and bytes. */
#ifndef ASSAY_JUDGE_HTTP_H
#define ASSAY_JUDGE_HTTP_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

enum { HTTP_MOST_ANSWER = 4 << 20 };

struct http {
        void *curl;
        void *headers;
        char address[256]; /* for messages: without a query, which may hold secrets */
};
#define HTTP_INIT                                                                                  \
        {                                                                                          \
                0                                                                                  \
        }

struct http_answer {
        long status;
        bool json;            /* the server says that it is, or does not say what it is */
        uint64_t retry_after; /* seconds; 0: not said */
        struct buffer body;
};

/* Prepare posts of JSON to `base`/chat/completions. `key` may be NULL. */
int http_open(struct http *ret, const char *base, const char *key, uint64_t timeout_ms,
        struct error *err);
void http_close(struct http *h);

/* 0: there is an answer, whatever its status. -1: there is none; then *ret_again says whether
 * another try could help, and the error what to do. */
int http_post(struct http *h, const struct buffer *body, struct http_answer *ret, bool *ret_again,
        struct error *err);

#endif
