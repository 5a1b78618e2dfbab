/* From the members of an image file (bundle.h) and what they say (image_json.h) to answers. Which
 * kind of file it is tells the name of a member; each kind has its reader (image_reading.h). */
#include "images/image.h"

#include "images/image_reading.h"

/* Newer versions of docker write the first and the last; the first tells more. */
static const struct kind {
        const char *member;
        int (*read)(struct image_reading *r, struct error *err);
} kinds[] = {
        {"index.json", image_read_oci},
        {"version", image_read_dir},
        {"manifest.json", image_read_docker},
};

static int read_by_kind(struct image_reading *r, struct error *err)
{
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                _cleanup_place_ struct place p = PLACE_INIT;
                int found = bundle_find(&r->bundle, kinds[i].member, &p, err);

                if (found < 0)
                        return -1;
                if (found > 0)
                        return kinds[i].read(r, err);
        }
        return error_set(err, CODE_IMAGE_UNSUPPORTED,
                "neither index.json nor manifest.json is there: no file with container images");
}

static int nothing_found(const struct image_reading *r, struct error *err)
{
        const char *wanted = r->request->wanted;

        return error_set(err, CODE_IMAGE_NOT_FOUND,
                "no image %s%s%sfor linux/%s; the file holds: %s", *wanted ? "`" : "", wanted,
                *wanted ? "` " : "", r->request->architecture,
                r->held.len > 0 ? buffer_text(&r->held) : "no image");
}

int image_read(int fd, const struct image_request *request, struct report *report,
        uint32_t *ret_count, struct error *err)
{
        struct image_reading r = {.request = request, .report = report, .held = BUFFER_INIT};
        int result = bundle_open(&r.bundle, fd, err);

        if (result == 0)
                result = read_by_kind(&r, err);
        if (result == 0 && r.found == 0)
                result = nothing_found(&r, err);
        *ret_count = r.found;
        bundle_close(&r.bundle);
        buffer_free(&r.held);
        return result;
}
