/* assay image load|pull|list|inspect|remove|gc|verify|export: the images on this machine. */
#include "verbs.h"

#include "fd.h"
#include "image/census.h"
#include "image/export.h"
#include "image/load.h"
#include "image/pull.h"
#include "image/record.h"
#include "image/verify.h"
#include "report/json.h"

#include <unistd.h>

struct image_options {
        struct common_options common;
        const char *name, *tls_verify;
        bool remove, force;
};

static int open_for_looking(struct image_store *s, struct error *err)
{
        *s = (struct image_store)IMAGE_STORE_INIT;
        return image_store_open(s, err);
}

static int read_image(
        const struct image_store *s, const char *reference, struct image *ret, struct error *err)
{
        char id[DIGEST_SIZE];

        *ret = (struct image){0};
        return image_store_find(s, reference, id, NULL, err) < 0
                       ? -1
                       : record_open(ret, s->images, id, err);
}

/* --- load, pull ----------------------------------------------------------------------------- */

static void say_loaded(void *to, const char *id, const char *const *names)
{
        const struct image_options *o = to;

        if (o->common.quiet)
                return;
        printf("sha256:%s", id);
        for (; *names; names++)
                printf(" %s", *names);
        putchar('\n');
        fflush(stdout);
}

static void say_warning(void *to, const char *text)
{
        const struct image_options *o = to;

        if (!o->common.quiet)
                fprintf(stderr, "assay: warning: %s\n", text);
}

static int load(struct image_options *o, char **arguments, struct error *err)
{
        const struct load_options options = {.name = o->name};
        const struct load_listener listener = {say_loaded, say_warning, o};

        return load_images(arguments[0], &options, &listener, err);
}

static int pull(struct image_options *o, char **arguments, struct error *err)
{
        const struct pull_options options = {
                .name = o->name, .tls_verify = o->tls_verify, .quiet = o->common.quiet};
        const struct load_listener listener = {say_loaded, say_warning, o};

        return image_pull(arguments[0], &options, &listener, err);
}

/* --- list, inspect -------------------------------------------------------------------------- */

static void json_list(struct json_writer *w, const char *key, char *const *list)
{
        json_open_array(w, key);
        for (; *list; list++)
                json_text(w, NULL, *list);
        json_close(w);
}

struct listing {
        const struct image_store *store;
        struct census census;
        struct json_writer w; /* of nothing, when it is for people */
        struct error *err;
};

/* To a tenth: "12.3 MiB". */
static void format_size(char *out, size_t size, uint64_t bytes)
{
        static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
        unsigned unit = 0;
        uint64_t tenths = bytes * 10 >> 10;

        for (; tenths >= 10240 && unit < 3; unit++)
                tenths >>= 10;
        snprintf(out, size, "%llu.%llu %s", (unsigned long long)tenths / 10,
                (unsigned long long)tenths % 10, units[unit]);
}

static void print_image(const struct census_image *i, const char *name, const char *id)
{
        char bytes[32], shared[32], loaded[32] = "";
        struct tm tm;

        format_size(bytes, sizeof bytes, i->bytes);
        format_size(shared, sizeof shared, i->shared);
        if (localtime_r(&i->loaded, &tm))
                strftime(loaded, sizeof loaded, "%Y-%m-%d %H:%M", &tm);
        printf("%.12s  %10s  %10s  %-16s  %-6s  %s\n", id, bytes, shared, loaded,
                i->in_use ? "in use" : "", name ? name : "<no name>");
}

static int say_name(void *to, const char *name, const char *id)
{
        struct listing *l = to;
        struct json_writer *w = &l->w;
        struct census_image i;

        if (census_of(&l->census, l->store, id, &i, l->err) < 0)
                return -1;
        if (!w->out) {
                print_image(&i, name, id);
                return 0;
        }
        json_open_object(w, NULL);
        if (name)
                json_text(w, "name", name);
        else
                json_add_null(w, "name");
        json_text(w, "id", id);
        json_number(w, "bytes", i.bytes);
        json_number(w, "shared_bytes", i.shared);
        json_number(w, "loaded", (uint64_t)i.loaded);
        json_bool(w, "in_use", i.in_use);
        json_close(w);
        return 0;
}

struct search {
        const char *id;
        bool found;
};

static int same_image(void *to, const char *name, const char *id)
{
        struct search *s = to;

        (void)name;
        s->found |= strcmp(s->id, id) == 0;
        return 0;
}

static int say_nameless(void *to, const char *id, struct error *err)
{
        struct listing *l = to;
        struct search names = {.id = id};

        if (image_store_each_name(l->store, same_image, &names, err) < 0)
                return -1;
        return names.found ? 0 : say_name(l, NULL, id);
}

static int list(struct image_options *o, char **arguments, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct listing l = {.w.out = o->common.json ? &out : NULL, .err = err};
        struct image_store s;
        int r;

        (void)arguments;
        if (open_for_looking(&s, err) < 0)
                return -1;
        l.store = &s;
        r = census_take(&l.census, &s, err);
        if (l.w.out)
                json_open_array(&l.w, NULL);
        else if (r == 0 && l.census.count > 0 && !o->common.quiet)
                printf("%-12s  %10s  %10s  %-16s  %-6s  %s\n", "ID", "SIZE", "SHARED", "LOADED", "",
                        "NAME");
        if (r == 0)
                r = image_store_each_name(&s, say_name, &l, err);
        if (r == 0)
                r = image_store_each(s.images, say_nameless, &l, err);
        if (r == 0 && l.w.out) {
                json_close(&l.w);
                printf("%s\n", buffer_text(&out));
        }
        census_free(&l.census);
        image_store_close(&s);
        return r;
}

static void json_id(struct json_writer *w, const char *key, uint32_t id)
{
        if (id == IMAGE_NO_USER)
                json_add_null(w, key);
        else
                json_number(w, key, id);
}

static int inspect(struct image_options *o, char **arguments, struct error *err)
{
        _cleanup_buffer_ struct buffer out = BUFFER_INIT;
        struct json_writer w = {.out = &out};
        struct image image = {0};
        struct image_store s;
        int r;

        (void)o;
        if (open_for_looking(&s, err) < 0)
                return -1;
        r = read_image(&s, arguments[0], &image, err);
        if (r == 0) {
                json_open_object(&w, NULL);
                json_text(&w, "id", image.id);
                json_text(&w, "ref_digest", image.ref_digest);
                json_text(&w, "architecture", image.architecture);
                json_text(&w, "created", image.created);
                json_list(&w, "entrypoint", image.entrypoint);
                json_list(&w, "cmd", image.cmd);
                json_list(&w, "env", image.env);
                json_text(&w, "workdir", image.workdir);
                json_text(&w, "user", image.user);
                json_id(&w, "uid", image.uid);
                json_id(&w, "gid", image.gid);
                json_open_array(&w, "layers");
                for (unsigned i = 0; i < image.layer_count; i++)
                        json_text(&w, NULL, image.layers[i].diff_id);
                json_close(&w);
                json_close(&w);
                printf("%s\n", buffer_text(&out));
        }
        image_free(&image);
        image_store_close(&s);
        return r;
}

/* --- remove, gc ----------------------------------------------------------------------------- */

/* The image goes with its last name. */
static int remove_named(struct image_store *s, const char *reference, struct error *err)
{
        char id[DIGEST_SIZE], name[IMAGE_STORE_NAME_MAX + 1];
        struct search left = {.id = id};

        if (image_store_find(s, reference, id, name, err) < 0 ||
                (*name && image_store_remove_name(s, name, err) < 0) ||
                image_store_each_name(s, same_image, &left, err) < 0)
                return -1;
        if (!*name && left.found)
                return error_set(err, CODE_USAGE, "%s: has names; remove those", reference);
        return left.found ? 0 : image_store_remove_record(s->images, id, err);
}

static int remove_image(struct image_options *o, char **arguments, struct error *err)
{
        struct image_store s;
        int r;

        (void)o;
        if (open_for_looking(&s, err) < 0)
                return -1;
        image_store_lock_names(&s);
        r = remove_named(&s, arguments[0], err);
        image_store_close(&s);
        return r;
}

static int collect(struct image_options *o, char **arguments, struct error *err)
{
        unsigned layers;

        (void)arguments;
        if (load_collect_garbage(&layers, err) < 0)
                return -1;
        if (!o->common.quiet)
                printf("layers removed: %u\n", layers);
        return 0;
}

/* --- verify, export ------------------------------------------------------------------------- */

static void say_good(void *to, const char *id)
{
        const struct image_options *o = to;

        if (!o->common.quiet)
                printf("%.12s  good\n", id);
}

static void say_damaged(void *to, const char *what, const char *how)
{
        const struct image_options *o = to;

        if (!o->common.quiet)
                printf("%.*s  %s\n", is_digest(what) ? 12 : IMAGE_STORE_NAME_MAX, what, how);
}

static int verify(struct image_options *o, char **arguments, struct error *err)
{
        const struct verify_listener listener = {say_good, say_damaged, o};

        return verify_images(arguments[0], o->remove, &listener, err);
}

static int export(struct image_options *o, char **arguments, struct error *err)
{
        return export_image(arguments[0], arguments[1], o->force, err);
}

/* -------------------------------------------------------------------------------------------- */

static const struct {
        const char *name;
        int least, most; /* arguments */
        int (*run)(struct image_options *o, char **arguments, struct error *err);
} actions[] = {
        {"load", 1, 1, load},
        {"pull", 1, 1, pull},
        {"list", 0, 0, list},
        {"inspect", 1, 1, inspect},
        {"remove", 1, 1, remove_image},
        {"gc", 0, 0, collect},
        {"verify", 0, 1, verify},
        {"export", 2, 2, export},
};

int verb_image(int argc, char **argv, struct error *err)
{
        struct image_options o = {0};
        const struct option table[] = {
                {"--name", OPTION_TEXT, &o.name, "NAME",
                        "load, pull: a further name for the image"},
                {"--force", OPTION_FLAG, &o.force, NULL, "export: replace the file"},
                {"--remove", OPTION_FLAG, &o.remove, NULL,
                        "verify: take what is damaged out of the store"},
                {"--tls-verify", OPTION_TEXT, &o.tls_verify, "true|false",
                        "pull: false: the registry has no certificate"},
        };
        int rest = options_parse(table, sizeof table / sizeof *table, &o.common, argc, argv, err);

        if (rest < 0)
                return -1;
        if (o.common.help)
                return options_help("image load [--name NAME] FILE|DIRECTORY|-\n"
                                    "       assay image pull [OPTIONS] REF\n"
                                    "       assay image list | inspect IMAGE | remove IMAGE | gc\n"
                                    "       assay image verify [--remove] [IMAGE]\n"
                                    "       assay image export [--force] IMAGE FILE",
                        "Keeps container images on this machine: loads what docker save, podman "
                        "save\n"
                        "and skopeo copy write, or pulls what a registry has (by skopeo). gc\n"
                        "removes the files that no image has any more. verify compares what is "
                        "there with\n"
                        "what was loaded. export writes an OCI archive.",
                        table, sizeof table / sizeof *table);
        argv[rest] = NULL; /* options stood behind */
        for (size_t i = 0; rest > 0 && i < sizeof actions / sizeof *actions; i++)
                if (strcmp(actions[i].name, argv[0]) == 0 && rest > actions[i].least &&
                        rest <= 1 + actions[i].most)
                        return actions[i].run(&o, argv + 1, err);
        return error_set(err, CODE_USAGE,
                "image: needs `load FILE`, `pull REF`, `list`, `inspect IMAGE`, `remove IMAGE`, "
                "`gc`, `verify` or `export IMAGE FILE`");
}
