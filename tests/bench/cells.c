/* Cells of one running supervisor, as the runner asks for them. Prints NAME|VALUES lines.
 *
 *   bench-cells further RUNS FLOOR NOP    start to end of a further cell; floor and cell in turns
 *   bench-cells kill COUNT                from the order to kill COUNT processes to an empty cell
 *   bench-cells hold COUNT                COUNT cells at once: memory of each, and what they leave
 *
 * It lies beside assay-cell, where the supervisor is looked for. The programs are given by their
 * directory, which the cells see at /bench. */
#include "runner/channel.h"

#include "fd.h"
#include "measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

enum { SETTLE_US = 5000, MOST_CELLS = 256 };

static struct channel channel = CHANNEL_INIT;
static int programs = -1; /* the directory */

static void must(bool good, const struct error *err)
{
        if (good)
                return;
        fprintf(stderr, "bench-cells: %s\n", err && *err->text ? err->text : strerror(errno));
        exit(1);
}

static uint32_t start(const char *name, const char *argument, unsigned pids, int out)
{
        static const char *const envp[] = {NULL};
        char path[256];
        const char *const argv[] = {path, argument, NULL};
        _cleanup_fd_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        struct cell_order order = {
                .profile = PROFILE_SUBMISSION,
                .allow_weak = true,
                .workdir = "/",
                .argv = argv,
                .envp = envp,
                .stdio = {null, out >= 0 ? out : null, null},
                .mounts = {{programs, PLACE_VIEW, "/bench"}},
                .mount_count = 1,
        };
        struct error err = {0};
        uint32_t id;

        snprintf(path, sizeof path, "/bench/%s", name);
        limits_standard(&order.limits, CELL_SUBMISSION);
        order.limits.value[LIMIT_PIDS] = pids;
        order.limits.value[LIMIT_WALL] = 600000000;
        limits_settle(&order.limits);
        id = channel_start_cell(&channel, &order, &err);
        must(id != 0, &err);
        return id;
}

/* The next cell that ends, whichever it is; returns how it ended. */
static enum cell_end wait_any(void)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err = {0};
        struct reader r;

        must(frame_receive(channel.socket, &f, CELL_MAX_REQUEST, 1, &err) > 0, &err);
        r = reader_of(f.payload.data, f.payload.len);
        get_u32(&r);
        if (f.type == CELL_FAILED) {
                get_error(&r, &err);
                must(false, &err);
        }
        return get_u8(&r);
}

static double cpu_ms(int who)
{
        struct rusage u;

        getrusage(who, &u);
        return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

static void further(unsigned runs, char *floor, char *nop)
{
        char *argv[] = {floor, nop, NULL};
        struct series floors = series_new(runs), cells = series_new(runs);
        double before;

        for (int i = -3; i < (int)runs; i++) {
                uint64_t at = clock_us();
                int status;

                must(waitpid(measure_start(argv), &status, 0) > 0 && status == 0, NULL);
                if (i >= 0)
                        floors.us[floors.count++] = clock_us() - at;
                at = clock_us();
                start("nop", NULL, 64, -1);
                must(wait_any() == CELL_EXITED, NULL);
                if (i >= 0)
                        cells.us[cells.count++] = clock_us() - at;
                /* As a runner does while a command runs; what is asked for later finds it ready. */
                must(channel_prepare_cell(&channel, NULL) == 0, NULL);
                usleep(SETTLE_US);
        }
        before = cpu_ms(RUSAGE_CHILDREN); /* the floors; the supervisor is still running */
        printf("floor|");
        series_print(&floors);
        printf("|%.3f\n", before / (runs + 3));
        channel_close(&channel);
        printf("further cell|");
        series_print(&cells);
        printf("|%.3f\n", (cpu_ms(RUSAGE_CHILDREN) - before) / (runs + 3));
}

static void kill_many(const char *count)
{
        struct error err = {0};
        struct series times = series_new(9);
        char all[4];
        int out[2];

        for (int i = 0; i < 9; i++) {
                uint64_t at;
                uint32_t id;

                must(fd_pipe(out, &err) == 0, &err);
                id = start("stubborn", count, (unsigned)strtoul(count, NULL, 10), out[1]);
                fd_close(out[1]);
                must(read(out[0], all, 3) == 3, NULL);
                at = clock_us();
                must(channel_kill(&channel, id, CODE_INTERRUPTED, &err) == 0, &err);
                wait_any();
                times.us[times.count++] = clock_us() - at;
                fd_close(out[0]);
        }
        printf("kill %s processes|", count);
        series_print(&times);
        puts("|");
}

/* Proportional memory in KiB. */
static unsigned long pss(pid_t pid)
{
        char path[64], line[256];
        unsigned long kib = 0;
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
        file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
                if (strncmp(line, "Pss:", 4) == 0)
                        kib = strtoul(line + 4, NULL, 10);
        if (file)
                fclose(file);
        return kib;
}

/* The children of a process; the first of each cell are the supervisor's. */
static unsigned long pss_of_children(pid_t pid, unsigned *ret_count)
{
        char path[64];
        unsigned long sum = 0;
        int child;
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
        file = fopen(path, "re");
        while (file && fscanf(file, "%d", &child) == 1) {
                sum += pss(child);
                (*ret_count)++;
        }
        if (file)
                fclose(file);
        return sum;
}

static unsigned open_files(pid_t pid)
{
        char path[64];
        unsigned count = 0;
        DIR *dir;

        snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
        dir = opendir(path);
        while (dir && readdir(dir))
                count++;
        if (dir)
                closedir(dir);
        return count;
}

static pid_t supervisor(void)
{
        char path[64], line[64];
        int pid = 0;
        FILE *file;

        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", channel.pidfd);
        file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "Pid: %d", &pid) == 1)
                        break;
        if (file)
                fclose(file);
        return pid;
}

static void hold(unsigned count)
{
        pid_t server = supervisor();
        unsigned files = open_files(server), running = 0;
        unsigned long first;
        uint64_t at = clock_us();
        static uint32_t ids[MOST_CELLS];
        char byte;
        int out[2];

        count = count > MOST_CELLS ? MOST_CELLS : count;
        for (unsigned i = 0; i < count; i++) {
                must(fd_pipe(out, NULL) == 0, NULL);
                ids[i] = start("stubborn", "1", 4, out[1]);
                fd_close(out[1]);
                must(read(out[0], &byte, 1) == 1, NULL);
                fd_close(out[0]);
        }
        printf("%u cells started|%.0f ms\n", count, (double)(clock_us() - at) / 1000);
        first = pss_of_children(server, &running);
        printf("running|%u\nPSS of supervisor and first process, each|%lu KiB\n", running,
                (pss(server) + first) / (running ? running : 1));
        at = clock_us();
        for (unsigned i = 0; i < count; i++)
                must(channel_kill(&channel, ids[i], CODE_INTERRUPTED, NULL) == 0, NULL);
        for (unsigned i = 0; i < count; i++)
                wait_any();
        printf("%u cells killed|%.0f ms\n", count, (double)(clock_us() - at) / 1000);
        /* Mounts are closed beside it; some numbers of cells stay locked. */
        while (open_files(server) > files + 16 && clock_us() < at + 5000000)
                usleep(1000);
        printf("descriptors left|%d\nafter|%.0f ms\n", (int)open_files(server) - (int)files,
                (double)(clock_us() - at) / 1000);
}

int main(int argc, char **argv)
{
        struct error err = {0};
        char here[PATH_MAX];
        ssize_t len = readlink("/proc/self/exe", here, sizeof here - 8);

        must(argc >= 3 && len > 0, NULL);
        here[len] = '\0';
        snprintf(strrchr(here, '/'), 8, "/bench");
        programs = open(here, O_PATH | O_DIRECTORY | O_CLOEXEC);
        must(programs >= 0, NULL);
        must(channel_open(&channel, &err) == 0 && channel_ready(&channel, &err) == 0, &err);
        if (strcmp(argv[1], "further") == 0 && argc == 5)
                further((unsigned)strtoul(argv[2], NULL, 10), argv[3], argv[4]);
        else if (strcmp(argv[1], "kill") == 0)
                kill_many(argv[2]);
        else if (strcmp(argv[1], "hold") == 0)
                hold((unsigned)strtoul(argv[2], NULL, 10));
        channel_close(&channel);
        return 0;
}
