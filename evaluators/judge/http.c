/* HTTP by libcurl; see http.h. */
#include "evaluators/judge/http.h"

#include <curl/curl.h>
#include <strings.h>

enum { MOST_HEADERS = 256 << 10, CONNECT_MS = 10000 };

/* --- the address ----------------------------------------------------------------------------- */

static int bad_address(struct error *err, const char *why)
{
        return error_set(err, CODE_USAGE,
                "ASSAY_JUDGE_URL: %s; it must be an address such as http://127.0.0.1:8080/v1", why);
}

static bool url_has(CURLU *url, CURLUPart part)
{
        char *text = NULL;
        bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;

        curl_free(text);
        return has;
}

static bool is_http(CURLU *url)
{
        char *scheme = NULL;
        bool good = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                    (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);

        curl_free(scheme);
        return good;
}

static bool append_path(CURLU *url)
{
        _cleanup_buffer_ struct buffer whole = BUFFER_INIT;
        char *path = NULL;
        size_t len;
        bool good;

        if (curl_url_get(url, CURLUPART_PATH, &path, 0) != CURLUE_OK)
                return false;
        for (len = strlen(path); len > 0 && path[len - 1] == '/';)
                len--;
        buffer_add(&whole, path, len);
        buffer_add_text(&whole, "/chat/completions");
        curl_free(path);
        good = buffer_ok(&whole) &&
               curl_url_set(url, CURLUPART_PATH, buffer_text(&whole), 0) == CURLUE_OK;
        return good;
}

static bool note_address(struct http *h, CURLU *url)
{
        CURLU *shown = curl_url_dup(url);
        char *text = NULL;
        bool good = shown && curl_url_set(shown, CURLUPART_QUERY, NULL, 0) == CURLUE_OK &&
                    curl_url_get(shown, CURLUPART_URL, &text, 0) == CURLUE_OK;

        if (good)
                snprintf(h->address, sizeof h->address, "%s", text);
        curl_free(text);
        curl_url_cleanup(shown);
        return good;
}

static int set_address(struct http *h, CURLU *url, const char *base, struct error *err)
{
        char *text = NULL;
        CURLcode code;

        if (curl_url_set(url, CURLUPART_URL, base, 0) != CURLUE_OK)
                return bad_address(err, "is no address");
        if (!is_http(url))
                return bad_address(err, "is neither http nor https");
        if (url_has(url, CURLUPART_USER) || url_has(url, CURLUPART_PASSWORD))
                return bad_address(err, "holds a name or password, which belongs into a key");
        if (url_has(url, CURLUPART_FRAGMENT))
                return bad_address(err, "has a part behind #");
        if (!append_path(url) || !note_address(h, url) ||
                curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        code = curl_easy_setopt(h->curl, CURLOPT_URL, text);
        curl_free(text);
        return code == CURLE_OK ? 0 : error_set(err, CODE_INFRA_MEMORY, "out of memory");
}

/* --- the handle ------------------------------------------------------------------------------ */

static bool add_header(struct http *h, const char *line)
{
        struct curl_slist *list = curl_slist_append(h->headers, line);

        if (list)
                h->headers = list;
        return list;
}

static bool set_headers(struct http *h, const char *key)
{
        _cleanup_buffer_ struct buffer bearer = BUFFER_INIT;

        if (key)
                buffer_add_format(&bearer, "Authorization: Bearer %s", key);
        return buffer_ok(&bearer) && (!key || add_header(h, buffer_text(&bearer))) &&
               add_header(h, "Content-Type: application/json") &&
               add_header(h, "Accept: application/json") &&
               /* libcurl would wait for leave to send a large body; few servers give it. */
               add_header(h, "Expect:") &&
               curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers) == CURLE_OK;
}

static bool set_bounds(struct http *h, uint64_t timeout_ms)
{
        CURL *c = h->curl;

        return curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
               /* Over a connection that it had kept, libcurl would send a second time by itself. */
               curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)timeout_ms) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) == CURLE_OK &&
               curl_easy_setopt(c, CURLOPT_USERAGENT, "assay-judge/" ASSAY_VERSION) == CURLE_OK;
}

int http_open(
        struct http *ret, const char *base, const char *key, uint64_t timeout_ms, struct error *err)
{
        CURLU *url;
        int r;

        *ret = (struct http)HTTP_INIT;
        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(ret->curl = curl_easy_init()))
                return error_set(err, CODE_INFRA_MEMORY, "libcurl does not start");
        if (!set_headers(ret, key) || !set_bounds(ret, timeout_ms))
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        url = curl_url();
        r = url ? set_address(ret, url, base, err)
                : error_set(err, CODE_INFRA_MEMORY, "out of memory");
        curl_url_cleanup(url);
        return r;
}

void http_close(struct http *h)
{
        curl_slist_free_all(h->headers);
        curl_easy_cleanup(h->curl);
        *h = (struct http)HTTP_INIT;
}

/* --- one post -------------------------------------------------------------------------------- */

struct transfer {
        struct buffer *body;
        size_t headers; /* bytes of them */
        bool too_large;
};

static size_t take_body(char *bytes, size_t one, size_t count, void *to)
{
        struct transfer *t = to;
        size_t len = one * count;

        if (len > HTTP_MOST_ANSWER - t->body->len) {
                t->too_large = true;
                return 0;
        }
        buffer_add(t->body, bytes, len);
        return buffer_ok(t->body) ? len : 0;
}

/* libcurl keeps every header, for ever. */
static size_t take_header(char *bytes, size_t one, size_t count, void *to)
{
        struct transfer *t = to;

        (void)bytes;
        t->headers += one * count;
        t->too_large |= t->headers > MOST_HEADERS;
        return t->too_large ? 0 : one * count;
}

/* What failed, and what to do; the last row is for all others. */
static const struct {
        CURLcode code;
        bool again;
        const char *remedy;
} failures[] = {
        {CURLE_COULDNT_RESOLVE_HOST, true, "check the host in ASSAY_JUDGE_URL"},
        {CURLE_COULDNT_RESOLVE_PROXY, true, "check http_proxy, https_proxy and all_proxy"},
        {CURLE_COULDNT_CONNECT, true, "check ASSAY_JUDGE_URL, and that the server runs"},
        {CURLE_OPERATION_TIMEDOUT, true, "raise --timeout, or lower --max-input"},
        {CURLE_PEER_FAILED_VERIFICATION, false,
                "the server needs a certificate that this machine trusts, for the host in "
                "ASSAY_JUDGE_URL"},
        {CURLE_SSL_CACERT_BADFILE, false, "apt-get install ca-certificates"},
        {CURLE_OUT_OF_MEMORY, false, "free some memory and try again"},
        {CURLE_OK, true, "check ASSAY_JUDGE_URL, and the server's log"},
};

static int say_failed(
        const struct http *h, CURLcode code, const char *why, bool *ret_again, struct error *err)
{
        size_t i = 0;

        while (failures[i].code != CURLE_OK && failures[i].code != code)
                i++;
        *ret_again = failures[i].again;
        return error_set(err, CODE_JUDGE_INVALID, "%s: %.180s (%s)", h->address,
                why[0] ? why : curl_easy_strerror(code), failures[i].remedy);
}

static void note_answer(struct http *h, struct http_answer *a)
{
        curl_off_t seconds = 0;
        char *type = NULL;

        curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &a->status);
        curl_easy_getinfo(h->curl, CURLINFO_CONTENT_TYPE, &type);
        curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &seconds);
        a->json = !type || strncasecmp(type, "application/json", 16) == 0;
        a->retry_after = seconds > 0 ? (uint64_t)seconds : 0;
}

int http_post(struct http *h, const struct buffer *body, struct http_answer *ret, bool *ret_again,
        struct error *err)
{
        struct transfer t = {.body = &ret->body};
        char why[CURL_ERROR_SIZE] = "";
        CURLcode code;

        curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, why);
        curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, take_body);
        curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &t);
        curl_easy_setopt(h->curl, CURLOPT_HEADERFUNCTION, take_header);
        curl_easy_setopt(h->curl, CURLOPT_HEADERDATA, &t);
        curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body->data);
        curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
        code = curl_easy_perform(h->curl);
        curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, NULL);
        note_answer(h, ret);
        if (code == CURLE_OK)
                return 0;
        if (t.too_large)
                snprintf(why, sizeof why, "the answer is larger than 4 MiB");
        return say_failed(h, code, why, ret_again, err);
}
