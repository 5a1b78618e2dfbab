/* Asks one question of assay-unpack, as the runner does, and prints each answer on a line.
 *
 *   unpack-driver [OPTIONS] PROGRAM ARCHIVE DIR     unpack
 *   unpack-driver -C [OPTIONS] PROGRAM DIR          judge what is in DIR already
 *   unpack-driver -R PROGRAM DIR                    remove everything below DIR
 *   unpack-driver -L [OPTIONS] PROGRAM FILE DIR     unpack a layer of an image
 *   unpack-driver -I [OPTIONS] PROGRAM FILE DIR     tell what an image file (or directory) says
 *
 *   -e N  most entries       -b N  most bytes      -s  strip a common top folder
 *   -d    drop bad links     -r PATH[:MAX]         a required file
 *   -p GLOB:MIN              files that must match -t   tell the time, from start to end
 *   -o N -l N -m PATH        where a layer stands: offset, length, file of a directory
 *   -a ARCHITECTURE  (amd64) -w NAME  the image wanted  -B DIR  keep the raw documents there
 *   -W    start it in the other mode: for a removal that of layers, else the wrong one
 *
 * Exit status: 0 done, 1 refused, 2 misused, 3 the program died or broke the protocol. */
#include "clock.h"
#include "fd.h"
#include "frame.h"
#include "images/messages.h"
#include "spawn.h"
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool tell_time, other_mode;
static const char *blobs; /* where to keep documents */

static int give_up(const char *what, const struct error *err)
{
        fprintf(stderr, "unpack-driver: %s: %s\n", what,
                err && *err->text ? err->text : strerror(errno));
        return 3;
}

static void print_done(struct reader *r)
{
        char root[256], digest[65];
        uint64_t entries = get_u64(r), bytes = get_u64(r);
        uint32_t sections = get_u32(r);
        unsigned has_md = get_u8(r);

        get_text(r, root, sizeof root);
        get_text(r, digest, sizeof digest);
        printf("done entries=%" PRIu64 " bytes=%" PRIu64 " sections=%#" PRIx32
               " submission_md=%u root=%s%s%s\n",
                entries, bytes, sections, has_md, root, *digest ? " digest=" : "", digest);
}

static void print_warning(struct reader *r)
{
        char field[UNPACK_MAX_PATH + 1], message[1024];

        get_text(r, field, sizeof field);
        get_text(r, message, sizeof message);
        printf("warning %s: %s\n", field, message);
}

static void print_section(struct reader *r)
{
        unsigned number = get_u8(r);
        size_t len;
        const unsigned char *text = get_bytes(r, FRAME_MAX_PAYLOAD, &len);

        r->bad |= text && !text_utf8_valid((const char *)text, len);
        printf("section %u %.*s", number, (int)len, (const char *)text);
}

static void print_opaque(struct reader *r)
{
        char path[UNPACK_MAX_PATH + 1];

        get_text(r, path, sizeof path);
        printf("opaque %s\n", path);
}

static void skip_skeleton(struct reader *r)
{
        size_t len;

        get_u8(r);
        get_bytes(r, UNPACK_MAX_PIECE, &len);
}

static void print_layer_done(struct reader *r)
{
        char digest[65], diff_id[65];
        uint64_t entries;

        get_text(r, digest, sizeof digest);
        get_text(r, diff_id, sizeof diff_id);
        entries = get_u64(r);
        printf("done digest=%s diff_id=%s entries=%" PRIu64 " bytes=%" PRIu64 "\n", digest, diff_id,
                entries, get_u64(r));
}

static void print_error(struct reader *r)
{
        struct error e = {0};

        get_error(r, &e);
        printf("error %s %s\n", code_info(e.code)->name, e.text);
}

static void print_images_done(struct reader *r)
{
        printf("images %" PRIu32 "\n", get_u32(r));
}

static void print_texts(struct reader *r, const char *what)
{
        uint32_t count = get_u32(r);

        printf("%s", what);
        for (uint32_t i = 0; i < count && !r->bad; i++) {
                char *text = get_new_text(r, FRAME_MAX_PAYLOAD), shown[1024];

                text_escape(shown, sizeof shown, text ? text : "", text ? strlen(text) : 0);
                printf(" [%s]", shown);
                free(text);
        }
        printf("\n");
}

static void print_text(struct reader *r, const char *what)
{
        char *text = get_new_text(r, UNPACK_MAX_PATH);

        printf("%s %s\n", what, text ? text : "");
        free(text);
}

static void print_layer(struct reader *r)
{
        static const char *const compressions[] = {"unknown", "plain", "gzip", "zstd"};
        char member[UNPACK_MAX_PATH + 1], digest[65], diff_id[65];
        uint64_t offset, length;
        unsigned compression;

        get_text(r, member, sizeof member);
        offset = get_u64(r);
        length = get_u64(r);
        get_text(r, digest, sizeof digest);
        get_text(r, diff_id, sizeof diff_id);
        compression = get_u8(r);
        r->bad |= compression > UNPACK_ZSTD;
        if (!r->bad)
                printf("layer %s %" PRIu64 " %" PRIu64 " %s %s %s\n", member, offset, length,
                        *digest ? digest : "-", diff_id, compressions[compression]);
}

static void print_image(struct reader *r)
{
        uint32_t layers;

        print_texts(r, "image");
        print_text(r, "ref_digest");
        print_text(r, "id");
        print_text(r, "architecture");
        print_text(r, "created");
        print_texts(r, "entrypoint");
        print_texts(r, "cmd");
        print_texts(r, "env");
        print_text(r, "workdir");
        print_text(r, "user");
        layers = get_u32(r);
        for (uint32_t i = 0; i < layers && !r->bad; i++)
                print_layer(r);
}

static void print_blob(struct reader *r)
{
        static const char *const kinds[] = {[UNPACK_BLOB_MANIFEST] = "manifest",
                [UNPACK_BLOB_CONFIG] = "config",
                [UNPACK_BLOB_INDEX] = "index"};
        unsigned kind = get_u8(r);
        char digest[65], path[4096];
        uint64_t size;
        const unsigned char *piece;
        size_t len;
        FILE *out;

        get_text(r, digest, sizeof digest);
        size = get_u64(r);
        piece = get_bytes(r, UNPACK_MAX_PIECE, &len);
        if (kind < UNPACK_BLOB_MANIFEST || kind > UNPACK_BLOB_INDEX)
                r->bad = true;
        else
                printf("blob %s %s %" PRIu64 "\n", kinds[kind], digest, size);
        if (!blobs || r->bad)
                return;
        snprintf(path, sizeof path, "%s/%s", blobs, digest);
        out = fopen(path, "a");
        if (!out || fwrite(piece, 1, len, out) != len || fclose(out) != 0)
                r->bad = true;
}

static const struct answer {
        uint16_t type;
        void (*print)(struct reader *r);
        int status; /* that it ends with, or -1 */
} answers[] = {
        {UNPACK_DONE, print_done, 0},
        {UNPACK_LAYER_DONE, print_layer_done, 0},
        {UNPACK_ERROR, print_error, 1},
        {UNPACK_IMAGES_DONE, print_images_done, 0},
        {UNPACK_WARNING, print_warning, -1},
        {UNPACK_SECTION, print_section, -1},
        {UNPACK_OPAQUE, print_opaque, -1},
        {UNPACK_SKELETON, skip_skeleton, -1},
        {UNPACK_BLOB, print_blob, -1},
        {UNPACK_IMAGE_FOUND, print_image, -1},
};

static const struct answer *answer_find(uint16_t type)
{
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
                if (answers[i].type == type)
                        return &answers[i];
        return NULL;
}

static int print_answers(int socket)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct error err = {0};

        while (frame_receive(socket, &f, FRAME_MAX_PAYLOAD, 0, &err) > 0) {
                struct reader r = reader_of(f.payload.data, f.payload.len);
                const struct answer *a = answer_find(f.type);

                if (!a)
                        return give_up("an answer of an unknown type", NULL);
                a->print(&r);
                if (!reader_done(&r))
                        return give_up("an answer is not as agreed", NULL);
                if (a->status >= 0)
                        return a->status;
        }
        return give_up("no answer", &err);
}

static int ask(const char *program, const char *archive, const char *dir, uint16_t type,
        const struct buffer *request)
{
        const bool of_images = type == UNPACK_LAYER || type == UNPACK_IMAGE;
        const char *const argv[] = {"assay-unpack", of_images != other_mode ? "layer" : NULL, NULL};
        struct error err = {0};
        int pair[2], pidfd, status;
        uint64_t started;
        struct spawn s = {.root = -EBADF, .argv = argv, .fd_count = 4};

        if (fd_socketpair(pair, &err) < 0)
                return give_up("socket", &err);
        s.program = open(program, O_PATH | O_CLOEXEC);
        s.fds[0] = open(archive, O_RDONLY | O_CLOEXEC);
        s.fds[1] = pair[1];
        s.fds[2] = STDERR_FILENO;
        s.fds[3] = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (s.program < 0 || s.fds[0] < 0 || s.fds[3] < 0)
                return give_up("open", NULL);
        started = clock_us();
        if (spawn_process(&s, &pidfd, &err) < 0)
                return give_up("start", &err);
        close(pair[1]);
        if (frame_send(pair[0], type, request, NULL, 0, &err) < 0)
                return give_up("send", &err);
        status = print_answers(pair[0]);
        close(pair[0]);
        if (status == 3)
                fprintf(stderr, "unpack-driver: it ended with %d\n", spawn_wait(pidfd, &err));
        else if (spawn_wait(pidfd, &err) != 0)
                return give_up("end", &err);
        if (tell_time)
                printf("took %" PRIu64 " us\n", clock_us() - started);
        return status;
}

static void put_required(struct buffer *b, char *wanted)
{
        char *colon = strchr(wanted, ':');

        if (colon)
                *colon = '\0';
        put_text(b, wanted);
        put_u64(b, colon ? strtoull(colon + 1, NULL, 10) : 0);
}

int main(int argc, char **argv)
{
        _cleanup_buffer_ struct buffer request = BUFFER_INIT, required = BUFFER_INIT;
        _cleanup_buffer_ struct buffer patterns = BUFFER_INIT;
        uint64_t max_entries = 1000, max_bytes = 500ULL << 20;
        bool strip = false, drop = false, built = false, removing = false;
        bool layer = false, image = false;
        uint64_t offset = 0, length = UINT64_MAX;
        const char *member = "", *architecture = "amd64", *wanted = "";
        uint32_t count = 0, pattern_count = 0;

        for (int c; (c = getopt(argc, argv, "e:b:sdr:p:tCRLWo:l:m:Ia:w:B:")) != -1;) {
                switch (c) {
                case 'e':
                        max_entries = strtoull(optarg, NULL, 10);
                        break;
                case 'b':
                        max_bytes = strtoull(optarg, NULL, 10);
                        break;
                case 's':
                        strip = true;
                        break;
                case 'd':
                        drop = true;
                        break;
                case 'r':
                        put_required(&required, optarg);
                        count++;
                        break;
                case 'p':
                        put_required(&patterns, optarg);
                        pattern_count++;
                        break;
                case 't':
                        tell_time = true;
                        break;
                case 'C':
                        built = true;
                        break;
                case 'R':
                        removing = true;
                        break;
                case 'L':
                        layer = true;
                        break;
                case 'W':
                        other_mode = true;
                        break;
                case 'o':
                        offset = strtoull(optarg, NULL, 10);
                        break;
                case 'l':
                        length = strtoull(optarg, NULL, 10);
                        break;
                case 'm':
                        member = optarg;
                        break;
                case 'I':
                        image = true;
                        break;
                case 'a':
                        architecture = optarg;
                        break;
                case 'w':
                        wanted = optarg;
                        break;
                case 'B':
                        blobs = optarg;
                        break;
                default:
                        return 2;
                }
        }
        if (argc - optind != (removing ? 2 : 3))
                return 2;
        argv += optind;
        if (removing)
                return ask(argv[0], "/dev/null", argv[1], UNPACK_REMOVE, &request);
        if (image) {
                put_text(&request, architecture);
                put_text(&request, wanted);
                return ask(argv[0], argv[1], argv[2], UNPACK_IMAGE, &request);
        }
        if (layer) {
                put_u64(&request, offset);
                put_u64(&request, length);
                put_text(&request, member);
        }
        put_u64(&request, max_entries);
        put_u64(&request, max_bytes);
        if (layer)
                return ask(argv[0], argv[1], argv[2], UNPACK_LAYER, &request);
        put_u8(&request, strip);
        put_u8(&request, drop);
        put_u32(&request, count);
        buffer_add(&request, required.data, required.len);
        put_u32(&request, pattern_count);
        buffer_add(&request, patterns.data, patterns.len);
        if (built)
                return ask(argv[0], argv[1], argv[2], UNPACK_BUILT, &request);
        return ask(argv[0], argv[1], argv[2], UNPACK_REQUEST, &request);
}
