/* What a worker shows of itself: a status file, and counters for Prometheus; see worker.h. Nothing
 * that is asked is read for a meaning: whoever connects gets the same answer. */
#include "worker.h"

#include "clock.h"
#include "fd.h"
#include "quantity.h"
#include "report/json.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WRITE_EVERY_US = 1000000, MOST_PORT = 65535, BACKLOG = 128 };

struct health {
        int listener;
        uint64_t written_us;
        uint64_t queue[6], oldest_ms; /* as the queue said last */
};

static const char *const queue_states[] = {
        "queued", "waiting", "running", "done", "parked", "cancelled"};

/* --- the documents -------------------------------------------------------------------------- */

static const char *state_name(const struct worker *w)
{
        return w->stopping               ? "stopping"
               : w->draining             ? "draining"
               : w->paused               ? "paused"
               : w->running > 0          ? "working"
               : w->rest_us > clock_us() ? "resting"
                                         : "idle";
}

static void add_status(const struct worker *w, struct buffer *out)
{
        struct json_writer j = {.out = out};
        char now[64] = "";
        const time_t seconds = time(NULL);
        struct tm tm;

        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
        json_open_object(&j, NULL);
        json_text(&j, "schema", "assay.worker/1");
        json_text(&j, "worker", w->name);
        json_text(&j, "state", state_name(w));
        json_text(&j, "updated_at", now);
        json_number(&j, "jobs", w->options->jobs);
        json_open_array(&j, "running");
        for (unsigned i = 0; i < w->options->jobs; i++) {
                const struct work *k = &w->works[i];

                if (k->aside.socket < 0)
                        continue;
                json_open_object(&j, NULL);
                json_text(&j, "job_id", k->job);
                json_text(&j, "task", k->task);
                json_number(&j, "try", k->try);
                json_number(&j, "ms", (clock_us() - k->started_us) / 1000);
                json_close(&j);
        }
        json_close(&j);
        json_number(&j, "claimed", w->counts.claimed);
        json_number(&j, "ended", w->counts.ended);
        json_number(&j, "given_back", w->counts.given_back);
        json_number(&j, "lost", w->counts.lost);
        json_number(&j, "claim_to_start_us", w->counts.claim_to_start_us);
        json_close(&j);
        buffer_add_char(out, '\n');
}

static void add_metric(struct buffer *out, const char *name, const char *kind, const char *help)
{
        buffer_add_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void add_metrics(const struct worker *w, struct buffer *out)
{
        const struct worker_counts *c = &w->counts;
        const struct {
                const char *name, *kind, *help;
                uint64_t value;
        } all[] = {
                {"assay_worker_places", "gauge", "Jobs that may run at once.", w->options->jobs},
                {"assay_worker_running", "gauge", "Jobs that run.", w->running},
                {"assay_worker_claimed_total", "counter", "Jobs taken.", c->claimed},
                {"assay_worker_given_back_total", "counter", "Jobs without a result.",
                        c->given_back},
                {"assay_worker_claim_to_start_microseconds_total", "counter",
                        "From asking for a job to the process that grades it.",
                        c->claim_to_start_us},
                {"assay_worker_lost_total", "counter", "Jobs whose lease was lost.", c->lost},
                {"assay_worker_draining", "gauge", "1: it takes no more.", w->draining},
                {"assay_queue_oldest_milliseconds", "gauge", "Since the oldest was queued.",
                        w->health->oldest_ms},
        };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                add_metric(out, all[i].name, all[i].kind, all[i].help);
                buffer_add_format(out, "%s %llu\n", all[i].name, (unsigned long long)all[i].value);
        }
        add_metric(out, "assay_worker_results_total", "counter", "Results stored.");
        for (unsigned i = 0; i <= STATUS_ERROR; i++)
                buffer_add_format(out, "assay_worker_results_total{status=\"%s\"} %llu\n",
                        status_name((enum status)i), (unsigned long long)c->by_status[i]);
        add_metric(out, "assay_queue_jobs", "gauge", "Jobs of the queue.");
        for (unsigned i = 0; i < sizeof queue_states / sizeof *queue_states; i++)
                buffer_add_format(out, "assay_queue_jobs{state=\"%s\"} %llu\n", queue_states[i],
                        (unsigned long long)w->health->queue[i]);
}

/* A queue that does not answer keeps nobody from being told the rest. */
static void ask_queue(struct worker *w)
{
        const struct buffer nothing = BUFFER_INIT;
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error ignored;
        struct reader r;

        if (queue_ask(&w->queue, STORE_QUEUE, &nothing, NULL, 0, &f, &ignored) < 0)
                return;
        r = reader_of(f.payload.data, f.payload.len);
        for (unsigned i = 0; i < sizeof queue_states / sizeof *queue_states; i++)
                w->health->queue[i] = get_u64(&r);
        w->health->oldest_ms = get_u64(&r);
}

/* --- files ---------------------------------------------------------------------------------- */

static void write_file(const char *path, const struct buffer *text)
{
        char new[PATH_MAX];
        int fd;

        if (!buffer_ok(text) || (size_t)snprintf(new, sizeof new, "%s.new", path) >= sizeof new)
                return;
        fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0)
                return;
        if (fd_write_all(fd, text->data, text->len) == 0)
                rename(new, path);
        fd_close(fd);
}

void health_write(struct worker *w)
{
        const struct worker_options *o = w->options;
        _cleanup_buffer_ struct buffer status = BUFFER_INIT, metrics = BUFFER_INIT;
        const uint64_t now = clock_us();
        const bool over = w->draining && w->running == 0;

        if (!w->health || (!over && now < w->health->written_us + WRITE_EVERY_US))
                return;
        w->health->written_us = now;
        if (o->status_file) {
                add_status(w, &status);
                write_file(o->status_file, &status);
        }
        if (o->metrics && w->health->listener < 0) {
                ask_queue(w);
                add_metrics(w, &metrics);
                write_file(o->metrics, &metrics);
        }
}

/* --- the port ------------------------------------------------------------------------------- */

static int listen_at(uint16_t port, struct error *err)
{
        const struct sockaddr_in at = {.sin_family = AF_INET,
                .sin_port = htons(port),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        _cleanup_fd_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const int yes = 1, seconds = 5;

        /* The kernel hands a connection over once something was asked: an answer before that would
         * be lost to who asks later. */
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
                setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) < 0 ||
                bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 || listen(fd, BACKLOG) < 0)
                return error_errno(err, CODE_USAGE, errno, "--metrics %u", port);
        return take_fd(&fd);
}

/* It waits for nobody: who has not asked yet is answered all the same. */
void health_answer(struct worker *w)
{
        _cleanup_fd_ int fd =
                accept4(w->health->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        _cleanup_buffer_ struct buffer body = BUFFER_INIT, answer = BUFFER_INIT;
        char asked[4096];

        if (fd < 0)
                return;
        ask_queue(w);
        add_metrics(w, &body);
        buffer_add_format(&answer,
                "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
                "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                body.len);
        buffer_add(&answer, body.data, body.len);
        if (!buffer_ok(&answer))
                return;
        /* What was asked is taken first: else closing would take back the answer. */
        for (int i = 0; i < 4 && recv(fd, asked, sizeof asked, 0) > 0; i++)
                continue;
        if (send(fd, answer.data, answer.len, MSG_NOSIGNAL) > 0)
                shutdown(fd, SHUT_WR);
}

int health_socket(const struct worker *w)
{
        return w->health->listener;
}

/* --- open and close ------------------------------------------------------------------------- */

int health_open(struct worker *w, struct error *err)
{
        const char *metrics = w->options->metrics;
        uint64_t port;

        w->health = calloc(1, sizeof *w->health);
        if (!w->health)
                return error_set(err, CODE_INFRA_MEMORY, "out of memory");
        w->health->listener = -EBADF;
        if (!metrics || quantity_parse_count(metrics, &port) < 0)
                return 0;
        if (port > MOST_PORT)
                return error_set(err, CODE_USAGE,
                        "--metrics %s: must be a port up to %d, or a file", metrics, MOST_PORT);
        w->health->listener = listen_at((uint16_t)port, err);
        return w->health->listener < 0 ? -1 : 0;
}

void health_close(struct worker *w)
{
        if (w->health)
                fd_close(w->health->listener);
        free(w->health);
        w->health = NULL;
}
