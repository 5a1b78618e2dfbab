/* Fuzzing what is read of image files: the first byte tells which document the rest is, or that it
 * is a tar file. */
#include "images/bundle.h"
#include "images/docker_manifest.h"
#include "images/image_config.h"
#include "images/image_json.h"
#include "tests/fuzz/shared.h"

static void read_index(const uint8_t *data, size_t len)
{
        _cleanup_image_index_ struct image_index x;

        if (image_index_read(&x, data, len, NULL) < 0)
                return;
        for (uint32_t i = 0; i < x.count; i++)
                must(strlen(x.list[i].digest) == 64 && x.list[i].architecture);
}

static void read_manifest(const uint8_t *data, size_t len)
{
        _cleanup_image_manifest_ struct image_manifest m;

        if (image_manifest_read(&m, data, len, NULL) < 0)
                return;
        must(m.count <= UNPACK_MAX_LAYERS && strlen(m.config.digest) == 64);
        for (uint32_t i = 0; i < m.count; i++)
                must(strlen(m.layers[i].digest) == 64 && m.layers[i].compression > 0);
}

static void read_config(const uint8_t *data, size_t len)
{
        _cleanup_image_config_ struct image_config c;

        if (image_config_read(&c, data, len, NULL) < 0)
                return;
        for (uint32_t i = 0; i < c.count; i++)
                must(strlen(c.diff_ids[i]) == 64);
        for (uint32_t i = 0; i < c.env.count; i++)
                must(strchr(c.env.list[i], '=') > c.env.list[i]);
        must(c.os && c.architecture && c.created && c.workdir && c.user);
}

static void read_docker(const uint8_t *data, size_t len)
{
        _cleanup_docker_manifest_ struct docker_manifest m;

        if (docker_manifest_read(&m, data, len, NULL) < 0)
                return;
        for (uint32_t i = 0; i < m.count; i++)
                for (uint32_t n = 0; n < m.list[i].layers.count; n++)
                        must(*m.list[i].layers.list[n] != '/');
}

static void read_tar(const uint8_t *data, size_t len)
{
        static const char *const names[] = {"seed-index", "a", "a/b", "c"};
        _cleanup_fd_ int fd = fuzz_tar_file(data, len);
        _cleanup_bundle_ struct bundle b = {0};

        if (bundle_open(&b, fd, NULL) < 0)
                return;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                _cleanup_place_ struct place p = PLACE_INIT;

                if (bundle_find(&b, names[i], &p, NULL) == 1)
                        must(p.offset <= len && p.length <= len - p.offset);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        static const struct {
                char kind;
                void (*read)(const uint8_t *data, size_t len);
        } readers[] = {{'i', read_index}, {'m', read_manifest}, {'c', read_config},
                {'d', read_docker}, {'t', read_tar}};

        for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
                if (len > 0 && (char)data[0] == readers[i].kind)
                        readers[i].read(data + 1, len - 1);
        return 0;
}
