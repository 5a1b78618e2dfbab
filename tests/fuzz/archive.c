/* Fuzzing what reads archives: any bytes, through decompression, the check of zip directories and
 * libarchive, to the judgement of each entry. Nothing is written. */
#include "images/entry.h"
#include "images/source.h"
#include "tests/fuzz/shared.h"

enum { MAX_ENTRIES = 200, MAX_BYTES = 4 << 20 };

static void read_data(struct source *s, uint64_t *bytes, struct error *err)
{
        const void *piece;
        uint64_t offset;
        size_t len;

        while (*bytes < MAX_BYTES && source_data(s, &piece, &len, &offset, err) > 0)
                *bytes += len;
}

static void judge_all(int fd)
{
        struct source s = {0};
        struct catalog catalog;
        struct error err = {0};
        struct entry e;
        struct plan p;
        uint64_t entries = 0, bytes = 0;
        bool renamed;

        catalog_init(&catalog, MAX_ENTRIES);
        if (source_open(&s, fd, MAX_ENTRIES, &err) == 0)
                while (entries++ < MAX_ENTRIES && bytes < MAX_BYTES &&
                        source_next(&s, &e, &renamed, &err) > 0)
                        if (entry_judge(&e, entries % 2, &catalog, &p, &err) == 0)
                                read_data(&s, &bytes, &err);
        source_close(&s);
        catalog_free(&catalog);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        _cleanup_fd_ int fd = fuzz_file(data, len);

        judge_all(fd);
        return 0;
}
