/* The documents of container images: what is read of good ones, and why the others are refused. */
#include "buffer.h"
#include "images/docker_manifest.h"
#include "images/image_config.h"
#include "images/image_json.h"

#include <criterion/criterion.h>

#define HEX               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST            "\"sha256:" HEX "\""
#define MEDIA             "\"mediaType\": \"application/vnd."
#define INDEX             MEDIA "oci.image.index.v1+json\""
#define MANIFEST          MEDIA "oci.image.manifest.v1+json\""
#define CONFIG            MEDIA "oci.image.config.v1+json\""
#define LAYER             MEDIA "oci.image.layer.v1.tar+gzip\""
#define BLOB              "\"digest\": " DIGEST ", \"size\": 7"
#define ITEM(media, more) "{" media ", " BLOB more "}"
#define LIST(items)       "{\"schemaVersion\": 2, \"manifests\": [" items "]}"
#define IMAGE(layers)                                                                              \
        "{\"schemaVersion\": 2, \"config\": " ITEM(CONFIG, "") ", \"layers\": [" layers "]}"
#define MACHINE     "\"os\": \"linux\", \"architecture\": \"amd64\""
#define ROOTFS      "\"rootfs\": {\"type\": \"layers\", \"diff_ids\": [" DIGEST "]}"
#define RUN(config) "{" MACHINE ", " ROOTFS ", \"config\": {" config "}}"

struct refusal {
        const char *text;
        enum code code;
        const char *why; /* with the place, a part of it */
};
#define INVALID     CODE_IMAGE_INVALID
#define UNSUPPORTED CODE_IMAGE_UNSUPPORTED

static void check(const struct refusal *row, int result, const struct error *err)
{
        cr_expect_eq(result, -1, "accepted: %s", row->text);
        cr_expect_eq(err->code, row->code, "%s: %s", row->text, err->text);
        cr_expect(strstr(err->text, row->why), "%s: %s", row->text, err->text);
        cr_expect(strncmp(err->text, "line ", 5) == 0, "%s: no place: %s", row->text, err->text);
}

#define check_all(rows, type, read, release)                                                       \
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {                                  \
                struct type doc;                                                                   \
                struct error err = {0};                                                            \
                                                                                                   \
                check(&rows[i], read(&doc, rows[i].text, strlen(rows[i].text), &err), &err);       \
                release(&doc);                                                                     \
        }

#define read_good(read, ret, document)                                                             \
        do {                                                                                       \
                const char *bytes = document;                                                      \
                struct error err = {0};                                                            \
                                                                                                   \
                cr_assert_eq(read(ret, bytes, strlen(bytes), &err), 0, "%s: %s", bytes, err.text); \
        } while (0)

Test(unpack_image_json, digests)
{
        static const struct {
                const char *text;
                bool good;
        } rows[] = {
                {"sha256:" HEX, true},
                {HEX, false},
                {"sha256:", false},
                {"sha256:" HEX "0", false},
                {"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", false},
                {"sha256:../../../../../../../../../../../../../../../../../../etc/passwd", false},
                {"SHA256:" HEX, false},
                {"sha512:" HEX HEX, false},
                {"", false},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char hex[65];

                cr_expect_eq(image_digest(rows[i].text, hex), rows[i].good, "%s", rows[i].text);
        }
}

Test(unpack_image_json, an_index)
{
        static const char text[] = LIST(ITEM(MANIFEST,
                ", \"platform\": {\"os\": \"linux\", \"architecture\": \"arm64\", "
                "\"variant\": \"v8\"}, \"annotations\": "
                "{\"org.opencontainers.image.ref.name\": \"one\"}") "," ITEM(INDEX,
                "") "," ITEM(MEDIA "docker.distribution.manifest.v2+json\"",
                ", \"platform\": {\"os\": \"unknown\", \"architecture\": "
                "\"unknown\"}") "," ITEM(MANIFEST, ", \"artifactType\": \"x\"") "," ITEM(MEDIA
                "something.else\"",
                ", \"platform\": null, \"annotations\": null"));
        _cleanup_image_index_ struct image_index x;

        read_good(image_index_read, &x, text);
        cr_assert_eq(x.count, 5);
        cr_expect_eq(x.list[0].media, MEDIA_MANIFEST);
        cr_expect_str_eq(x.list[0].digest, HEX);
        cr_expect_eq(x.list[0].size, 7);
        cr_expect_str_eq(x.list[0].os, "linux");
        cr_expect_str_eq(x.list[0].architecture, "arm64");
        cr_expect_str_eq(x.list[0].variant, "v8");
        cr_expect_eq(x.list[0].name_count, 1);
        cr_expect_str_eq(x.list[0].names[0], "one");
        cr_expect_not(x.list[0].no_image);
        cr_expect_eq(x.list[1].media, MEDIA_INDEX);
        cr_expect_str_eq(x.list[1].architecture, "");
        cr_expect(x.list[2].no_image, "an attestation");
        cr_expect(x.list[3].no_image, "an artifact");
        cr_expect_eq(x.list[4].media, MEDIA_OTHER);
}

Test(unpack_image_json, a_bad_index)
{
        static const struct refusal rows[] = {
                {"", INVALID, "line 1, column 1: "},
                {"[]", INVALID, "must be an object, not an array"},
                {"{\n \"a\": }", INVALID, "line 2, column 7"},
                {"{\"manifests\": []}", INVALID, "schemaVersion is missing"},
                {"{\"schemaVersion\": 1, \"manifests\": []}", UNSUPPORTED, "must be 2"},
                {"{\"schemaVersion\": \"2\", \"manifests\": []}", UNSUPPORTED, "must be 2"},
                {"{\"schemaVersion\": 2}", INVALID, "manifests is missing"},
                {"{\"schemaVersion\": 2, \"manifests\": {}}", INVALID, "must be a list"},
                {"{\"schemaVersion\": 2, \"manifests\": [], \"manifests\": []}", INVALID,
                        "already there"},
                {"{\"schemaVersion\": 2, \"manifests\": [],\n\"layers\": []}", INVALID,
                        "line 2, column 1: an index that also has"},
                {"{\"schemaVersion\": 2, \"manifests\": [], \"config\": {}}", INVALID, "also has"},
                {"{\"schemaVersion\": 2, " MANIFEST ", \"manifests\": []}", INVALID, "mediaType"},
                {LIST("7"), INVALID, "must be an object"},
                {LIST("{}"), INVALID, "mediaType is missing"},
                {LIST("{" MANIFEST "}"), INVALID, "digest is missing"},
                {LIST("{" MANIFEST ", \"digest\": " DIGEST "}"), INVALID, "size is missing"},
                {LIST("{" MANIFEST ", \"digest\": \"sha256:..\", \"size\": 1}"), INVALID,
                        "64 lower-case hexadecimal digits, not the text \"sha256:..\""},
                {LIST("{" MANIFEST ", \"digest\": " DIGEST ", \"size\": -1}"), INVALID, "not -1"},
                {LIST("{" MANIFEST ", \"digest\": " DIGEST ", \"size\": 1.5}"), INVALID, "not 1.5"},
                {LIST("{" MANIFEST ", \"digest\": " DIGEST ", \"size\": 1e9}"), INVALID, "not 1e9"},
                {LIST("{" MANIFEST ", \"digest\": " DIGEST ", \"size\": \"1\"}"), INVALID,
                        "a number"},
                {LIST("{" MANIFEST ", \"digest\": " DIGEST ", \"size\": 9999999999999999999}"),
                        INVALID, "number of bytes"},
                {LIST(ITEM(MANIFEST, ", \"platform\": {\"os\": 1}")), INVALID, "os must be a text"},
                {LIST(ITEM(MANIFEST, ", \"annotations\": []")), INVALID, "annotations must be"},
                {LIST(ITEM(MANIFEST,
                         ", \"annotations\": {\"io.containerd.image.name\": \"a\\u001b\"}")),
                        INVALID, "control characters"},
                {LIST("") "x", INVALID, "line 1"},
        };

        check_all(rows, image_index, image_index_read, image_index_free);
}

Test(unpack_image_json, a_manifest)
{
        static const struct {
                const char *media;
                enum unpack_compression compression;
        } rows[] = {
                {"oci.image.layer.v1.tar", UNPACK_PLAIN},
                {"oci.image.layer.v1.tar+gzip", UNPACK_GZIP},
                {"oci.image.layer.v1.tar+zstd", UNPACK_ZSTD},
                {"oci.image.layer.nondistributable.v1.tar", UNPACK_PLAIN},
                {"oci.image.layer.nondistributable.v1.tar+gzip", UNPACK_GZIP},
                {"oci.image.layer.nondistributable.v1.tar+zstd", UNPACK_ZSTD},
                {"docker.image.rootfs.diff.tar", UNPACK_PLAIN},
                {"docker.image.rootfs.diff.tar.gzip", UNPACK_GZIP},
                {"docker.image.rootfs.diff.tar.zstd", UNPACK_ZSTD},
                {"docker.image.rootfs.foreign.diff.tar.gzip", UNPACK_GZIP},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_image_manifest_ struct image_manifest m;
                char text[2000];

                snprintf(text, sizeof text,
                        IMAGE("{" MEDIA "%s\", " BLOB ", \"urls\": [\"http://x\"]}"),
                        rows[i].media);
                read_good(image_manifest_read, &m, text);
                cr_expect_str_eq(m.config.digest, HEX);
                cr_assert_eq(m.count, 1);
                cr_expect_eq(m.layers[0].compression, rows[i].compression, "%s", rows[i].media);
                cr_expect_str_eq(m.layers[0].url, "http://x");
        }
}

Test(unpack_image_json, a_bad_manifest)
{
        static const struct refusal rows[] = {
                {"{\"schemaVersion\": 2, \"layers\": []}", INVALID, "config is missing"},
                {"{\"schemaVersion\": 2, \"config\": " ITEM(CONFIG, "") "}", INVALID,
                        "layers is missing"},
                {"{\"schemaVersion\": 2, \"config\": 1, \"layers\": []}", INVALID,
                        "config must be an object"},
                {"{\"schemaVersion\": 2, \"config\": " ITEM(LAYER, "") ", \"layers\": []}",
                        UNSUPPORTED, "mediaType of its config"},
                {"{\"schemaVersion\": 2, \"config\": " ITEM(
                         CONFIG, "") ", \"layers\": [], \"manifests\": []}",
                        INVALID, "a manifest that also has"},
                {"{\"schemaVersion\": 2, " INDEX
                 ", \"config\": " ITEM(CONFIG, "") ", \"layers\": []}",
                        INVALID, "mediaType is not that of a manifest"},
                {IMAGE("1"), INVALID, "an item of layers must be an object"},
                {IMAGE(ITEM(MANIFEST, "")), UNSUPPORTED, "a layer of a kind that is not known"},
                {IMAGE(ITEM(MEDIA "oci.image.layer.v1.tar+xz\"", "")), UNSUPPORTED, "a layer of"},
                {IMAGE(ITEM(LAYER, ", \"urls\": \"x\"")), INVALID, "urls must be a list"},
                {"{\"schemaVersion\": 1, \"fsLayers\": []}", UNSUPPORTED, "schemaVersion"},
        };

        check_all(rows, image_manifest, image_manifest_read, image_manifest_free);
}

Test(unpack_image_json, too_many_layers)
{
        _cleanup_buffer_ struct buffer text = BUFFER_INIT;
        struct image_manifest m;
        struct error err = {0};

        buffer_add_text(
                &text, "{\"schemaVersion\": 2, \"config\": " ITEM(CONFIG, "") ", \"layers\": [");
        for (int i = 0; i <= UNPACK_MAX_LAYERS; i++)
                buffer_add_format(&text, "%s" ITEM(LAYER, ""), i > 0 ? "," : "");
        buffer_add_text(&text, "]}");
        cr_expect_eq(image_manifest_read(&m, text.data, text.len, &err), -1);
        cr_expect(strstr(err.text, "layers has more than 500 items"), "%s", err.text);
        image_manifest_free(&m);
}

Test(unpack_image_json, a_config)
{
        static const char text[] =
                RUN("\"Entrypoint\": [\"/bin/sh\", \"-c\"], \"Cmd\": null, \"WorkingDir\": \"/w\", "
                    "\"User\": \"1:0\", \"OnBuild\": [1], \"Healthcheck\": {}, "
                    "\"Env\": [\"A=b\", \"nothing\", \"=x\", \"B=\", \"C\\nD=1\", \"E=1\\n2\"]");
        _cleanup_image_config_ struct image_config c;

        read_good(image_config_read, &c, text);
        cr_expect_str_eq(c.os, "linux");
        cr_expect_str_eq(c.architecture, "amd64");
        cr_expect_str_eq(c.created, "");
        cr_expect_eq(c.entrypoint.count, 2);
        cr_expect_str_eq(c.entrypoint.list[1], "-c");
        cr_expect_eq(c.cmd.count, 0);
        cr_expect_eq(c.dropped, 3);
        cr_assert_eq(c.env.count, 3);
        cr_expect_str_eq(c.env.list[0], "A=b");
        cr_expect_str_eq(c.env.list[1], "B=");
        cr_expect_str_eq(c.env.list[2], "E=1\n2");
        cr_expect_str_eq(c.workdir, "/w");
        cr_expect_str_eq(c.user, "1:0");
        cr_assert_eq(c.count, 1);
        cr_expect_str_eq(c.diff_ids[0], HEX);
}

Test(unpack_image_json, a_config_that_says_little)
{
        static const char *const texts[] = {
                "{" MACHINE ", " ROOTFS "}",
                "{" MACHINE ", " ROOTFS ", \"config\": null}",
                RUN(""),
                RUN("\"Entrypoint\": null, \"Cmd\": [], \"Env\": null, \"User\": null"),
        };

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                _cleanup_image_config_ struct image_config c;

                read_good(image_config_read, &c, texts[i]);
                cr_expect_eq(c.entrypoint.count + c.cmd.count + c.env.count, 0);
                cr_expect_str_eq(c.workdir, "");
                cr_expect_str_eq(c.user, "");
        }
}

Test(unpack_image_json, a_bad_config)
{
        static const struct refusal rows[] = {
                {"{}", INVALID, "os is missing"},
                {"{\"os\": \"linux\"}", INVALID, "architecture is missing"},
                {"{" MACHINE "}", INVALID, "rootfs is missing"},
                {"{" MACHINE ", \"rootfs\": 1}", INVALID, "type is missing"},
                {"{" MACHINE ", \"rootfs\": {\"type\": \"windows\"}}", UNSUPPORTED, "\"layers\""},
                {"{" MACHINE ", \"rootfs\": {\"type\": \"layers\", \"diff_ids\": [1]}}", INVALID,
                        "an item of diff_ids must be `sha256:`"},
                {"{" MACHINE ", \"rootfs\": {\"type\": \"layers\", \"diff_ids\": 1}}", INVALID,
                        "must be a list"},
                {RUN("\"Entrypoint\": \"sh\""), INVALID, "Entrypoint must be a list"},
                {RUN("\"Cmd\": [1]"), INVALID, "Cmd must be a text"},
                {RUN("\"Cmd\": [null]"), INVALID, "Cmd must be a text"},
                {RUN("\"Cmd\": [\"a\\u0000b\"]"), INVALID, "\\u0000"},
                {RUN("\"Cmd\": [\"a\xff\"]"), INVALID, "line 1"},
                {RUN("\"Env\": {\"A\": \"b\"}"), INVALID, "Env must be a list"},
                {RUN("\"Env\": [\"A=1\"], \"Env\": [\"A=2\"]"), INVALID, "already there"},
                {RUN("\"User\": 0"), INVALID, "User must be a text"},
                {RUN("\"WorkingDir\": []"), INVALID, "WorkingDir must be a text"},
                {"{" MACHINE ", " ROOTFS ", \"config\": []}", INVALID, "config must be an object"},
                {"{\"os\": \"li\\u0007\", \"architecture\": \"a\", " ROOTFS "}", INVALID,
                        "os has control characters"},
        };

        check_all(rows, image_config, image_config_read, image_config_free);
}

Test(unpack_image_json, commands_are_bounded)
{
        static const struct {
                int count;
                size_t length;
                const char *why; /* NULL: fine */
        } rows[] = {
                {4096, 10, NULL},
                {4097, 1, "more than 4096 items"},
                {1, 128 << 10, NULL},
                {1, (128 << 10) + 1, "longer than 131072 bytes"},
                {5, 128 << 10, "more than 512 KiB"},
        };
        static char argument[(128 << 10) + 2];

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_buffer_ struct buffer text = BUFFER_INIT;
                struct image_config c;
                struct error err = {0};
                int r;

                memset(argument, 'a', sizeof argument);
                argument[rows[i].length] = '\0';
                buffer_add_text(&text, "{" MACHINE ", " ROOTFS ", \"config\": {\"Cmd\": [");
                for (int n = 0; n < rows[i].count; n++) {
                        buffer_add_text(&text, n > 0 ? ",\"" : "\"");
                        buffer_add_text(&text, argument);
                        buffer_add_char(&text, '"');
                }
                buffer_add_text(&text, "]}}");
                r = image_config_read(&c, text.data, text.len, &err);
                cr_expect_eq(r, rows[i].why ? -1 : 0, "row %zu: %s", i, err.text);
                cr_expect(!rows[i].why || strstr(err.text, rows[i].why), "%s", err.text);
                image_config_free(&c);
        }
}

Test(unpack_image_json, a_docker_manifest)
{
        static const char text[] =
                "[{\"Config\": \"" HEX ".json\", \"RepoTags\": [\"a:1\", \"b:2\"], \"Layers\": "
                "[\"x/layer.tar\", \"blobs/sha256/" HEX "\"]}, "
                "{\"Config\": \"sha256:" HEX "\", \"RepoTags\": null, \"Layers\": null}]";
        _cleanup_docker_manifest_ struct docker_manifest m;

        read_good(docker_manifest_read, &m, text);
        cr_assert_eq(m.count, 2);
        cr_expect_str_eq(m.list[0].config, HEX ".json");
        cr_assert_eq(m.list[0].tags.count, 2);
        cr_expect_str_eq(m.list[0].tags.list[1], "b:2");
        cr_assert_eq(m.list[0].layers.count, 2);
        cr_expect_str_eq(m.list[0].layers.list[0], "x/layer.tar");
        cr_expect_eq(m.list[1].tags.count + m.list[1].layers.count, 0);
}

Test(unpack_image_json, a_bad_docker_manifest)
{
        static const struct refusal rows[] = {
                {"{}", INVALID, "must be a list of images, not an object"},
                {"[1]", INVALID, "an image must be an object"},
                {"[{}]", INVALID, "Config is missing"},
                {"[{\"Config\": 1}]", INVALID, "Config must be a text"},
                {"[{\"Config\": \"../a\"}]", INVALID, "`..`"},
                {"[{\"Config\": \"/etc/passwd\"}]", INVALID, "absolute"},
                {"[{\"Config\": \"a//b\"}]", INVALID, "plain path"},
                {"[{\"Config\": \"./a\"}]", INVALID, "plain path"},
                {"[{\"Config\": \"\"}]", INVALID, "without a name"},
                {"[{\"Config\": \"a\", \"Layers\": [\"x/../../y\"]}]", INVALID, "`..`"},
                {"[{\"Config\": \"a\", \"Layers\": [\"/y\"]}]", INVALID, "absolute"},
                {"[{\"Config\": \"a\", \"Layers\": \"y\"}]", INVALID, "Layers must be a list"},
                {"[{\"Config\": \"a\", \"RepoTags\": [\"\\u0001\"]}]", INVALID, "control"},
                {"[{\"Config\": \"a\", \"RepoTags\": [1]}]", INVALID, "RepoTags must be a text"},
        };

        check_all(rows, docker_manifest, docker_manifest_read, docker_manifest_free);
}

Test(unpack_image_json, the_layout_file)
{
        static const struct refusal rows[] = {
                {"{}", INVALID, "imageLayoutVersion is missing"},
                {"{\"imageLayoutVersion\": \"2.0.0\"}", UNSUPPORTED, "not 1.0.0"},
                {"{\"imageLayoutVersion\": 1}", UNSUPPORTED, "not 1.0.0"},
        };
        static const char good[] = "{\"imageLayoutVersion\": \"1.0.0\"}";
        struct error err = {0};

        cr_expect_eq(image_layout_check(good, strlen(good), &err), 0, "%s", err.text);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                check(&rows[i], image_layout_check(rows[i].text, strlen(rows[i].text), &err), &err);
}
