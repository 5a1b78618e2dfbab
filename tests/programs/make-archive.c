/* Writes one hostile (or odd) archive to standard output, byte by byte: no tool would make these.
 *
 *   make-archive KIND       as tar
 *   make-archive -z KIND    as zip (stored entries)
 *   make-archive -l         the kinds
 *
 * Most kinds are a few entries, a row of `kinds` each (archive_kinds.h); the rest are functions in
 * `oddities`. */
#include "tests/programs/archive_kinds.h"
#include "tests/programs/archive_tar.h"
#include "tests/programs/archive_zip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- oddities ---------------------------------------------------------------------------- */

static const struct item one = {FILE_, "a", 0, "body", 0};
static bool as_zip;

static void put_item(const struct item *i)
{
        static const struct lie truth;

        if (as_zip)
                zip_item(i, &truth);
        else
                tar_item(i);
}

static char *repeat(const char *part, size_t count)
{
        size_t len = strlen(part);
        char *text = malloc(len * count + 1);

        if (!text)
                exit(3);
        for (size_t i = 0; i < count; i++)
                memcpy(text + len * i, part, len);
        text[len * count] = '\0';
        return text;
}

static void named(const char *part, size_t count)
{
        bool folder = part[strlen(part) - 1] == '/';
        struct item i = {folder ? DIR : FILE_, repeat(part, count), 0, folder ? "" : "x", 0};

        put_item(&i);
}

static void long_component(void)
{
        named("a", 256);
}

static void longest_component(void)
{
        named("a", 255);
}

static void long_path(void)
{
        named("aaaaaaa/", 512);
        named("aaaaaaaa", 1);
}

static void deep_path(void)
{
        named("d/", 2048);
}

static void many_entries(void)
{
        char name[16];
        struct item i = {FILE_, name, 0, 0, 0};

        for (int n = 0; n < (as_zip ? 5000 : 100000); n++) {
                snprintf(name, sizeof name, "%d", n);
                put_item(&i);
        }
}

/* 200 files that imply 99 folders each. */
static void many_folders(void)
{
        char *deep = repeat("d/", 98), name[256];
        struct item i = {FILE_, name, 0, 0, 0};

        for (int n = 0; n < 200; n++) {
                snprintf(name, sizeof name, "%d/%s", n, deep);
                put_item(&i);
        }
        free(deep);
}

static void empty_name(void)
{
        struct item i = {FILE_, "", 0, "x", 0};

        if (!as_zip)
                tar_pax('x', "path", "", 0);
        put_item(&i);
}

static void nul_in_name(void)
{
        static const struct lie with_nul = {.name_len = 7};
        struct item i = {FILE_, "a\0b.txt", 0, "x", 0};

        if (as_zip)
                zip_item(&i, &with_nul);
        else {
                tar_pax('x', "path", "a\0b.txt", 7);
                tar_item(&one);
        }
}

static void hard_with_data(void)
{
        struct item i = {HARD, "b", "a", "other", 0};

        tar_item(&one);
        tar_pax('x', "comment", "pax says that links may have content", 36);
        tar_item(&i);
}

static void zeros(const char *name, uint64_t size)
{
        struct item i = {FILE_, name, 0, 0, 0};
        struct header h = header_of(&i, size);

        put_header(&h);
        put_zeros(size);
}

static void big_file(void)
{
        zeros("big", 8 << 20);
}

static void big_junk(void)
{
        tar_item(&one);
        zeros(".DS_Store", 8 << 20);
}

static void declared_8eib(void)
{
        struct header h = header_of(&one, 0);

        memcpy(h.size, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
        put_header(&h);
        put_zeros(4096);
}

static void negative_size(void)
{
        struct header h = header_of(&one, 0);

        memset(h.size, 0xff, 12);
        put_header(&h);
        put_zeros(4096);
}

/* "head", a hole, "tail" and a hole up to `size`. */
static void sparse(const char *size)
{
        struct item i = {'S', "sparse", 0, 0, 0};
        struct header h = header_of(&i, 1024);

        memcpy(h.magic, "ustar  ", 8);
        memset(h.prefix, 0, sizeof h.prefix);
        memcpy(h.sparse[0].offset, "00000000000", 12);
        memcpy(h.sparse[0].bytes, "00000001000", 12);
        memcpy(h.sparse[1].offset, "00000100000", 12);
        memcpy(h.sparse[1].bytes, "00000001000", 12);
        memcpy(h.realsize, size, 12);
        put_header(&h);
        put_padded("head", 4);
        put_padded("tail", 4);
}

static void sparse_1mib(void)
{
        sparse("00004000000");
}

static void sparse_8gib(void)
{
        sparse("77777777777");
}

static void endless_pax(void)
{
        for (int n = 0; n < 100000; n++)
                tar_pax('x', "comment", "again", 5);
        tar_item(&one);
}

static void global_pax(void)
{
        tar_pax('g', "comment", "0123456789abcdef", 16);
        tar_item(&one);
}

static void strange_attributes(void)
{
        tar_pax('x', "SCHILY.xattr.security.capability", "\1\0\0\2", 4);
        tar_pax('x', "SCHILY.xattr.trusted.overlay.opaque", "y", 1);
        tar_pax('x', "SCHILY.acl.access", "user::rwx,user:0:rwx", 20);
        tar_pax('x', "SCHILY.fflags", "immutable", 9);
        tar_item(&one);
}

static void lie(const struct lie *l)
{
        zip_item(&one, l);
}

static void zip_encrypted(void)
{
        lie(&(struct lie){.flags = 1});
}

static void zip_strongly_encrypted(void)
{
        lie(&(struct lie){.flags = 1 | 1 << 6 | 1 << 13});
}

static void zip_bad_crc(void)
{
        lie(&(struct lie){.wrong_crc = true});
}

static void zip_declared_huge(void)
{
        lie(&(struct lie){.declared = 0xfffffff0});
}

static void zip_sizes_differ(void)
{
        lie(&(struct lie){.central_size = 1});
}

static void zip_names_differ(void)
{
        lie(&(struct lie){.central_name = "b"});
}

static void zip_unmarked(void)
{
        struct item i = {FILE_, "caf\x82", 0, "x", 0};

        put_item(&i);
}

static void zip_wrongly_marked(void)
{
        struct item i = {FILE_, "caf\x82", 0, "x", 0};

        zip_item(&i, &(struct lie){.flags = 1 << 11});
}

static void zip_unicode(void)
{
        struct item i = {FILE_, "caf\x82", 0, "x", 0};

        zip_item(&i,
                &(struct lie){.unicode_local = "caf\xc3\xa9", .unicode_central = "caf\xc3\xa9"});
}

static void zip_unicode_differs(void)
{
        lie(&(struct lie){.unicode_local = "\xc3\xa9"});
}

static void zip_unicode_ascii(void)
{
        lie(&(struct lie){.unicode_local = "b", .unicode_central = "b"});
}

static void zip_unicode_of_other(void)
{
        lie(&(struct lie){.unicode_local = "\xc3\xa9",
                .unicode_central = "\xc3\xa9",
                .unicode_of_other = true});
}

static void zip_unicode_twice(void)
{
        lie(&(struct lie){
                .unicode_local = "\xc3\xa9", .unicode_central = "\xc3\xa9", .unicode_twice = true});
}

static void zip_folder_with_data(void)
{
        put_item(&(struct item){DIR, "d/", 0, "body", 0});
        put_item(&one);
}

static void zip_miscounted(void)
{
        put_item(&one);
        miscounted = 1;
}

static void zip_long_comment(void)
{
        put_item(&one);
        comment = repeat("PK\5\6", 15000);
}

static void zip64_good(void)
{
        zip64 = true;
        put_item(&one);
}

static void zip64_names_differ(void)
{
        zip64 = true;
        zip_names_differ();
}

static void zip64_overlap(void)
{
        zip64 = true;
        lie(&(struct lie){0});
        lie(&(struct lie){.no_local = true});
}

static void zip64_ends_differ(void)
{
        zip64_good();
        end_offset = 1;
}

static void zip_overlap(void)
{
        lie(&(struct lie){0});
        for (int n = 0; n < 1000; n++)
                lie(&(struct lie){.no_local = true});
}

static void nothing(void)
{
}

static const struct {
        const char *name;
        void (*put)(void);
} oddities[] = {
        {"empty", nothing},
        {"empty-name", empty_name},
        {"nul-in-name", nul_in_name},
        {"long-component", long_component},
        {"longest-component", longest_component},
        {"long-path", long_path},
        {"deep-path", deep_path},
        {"many-entries", many_entries},
        {"many-folders", many_folders},
        {"hard-with-data", hard_with_data},
        {"big-file", big_file},
        {"big-junk", big_junk},
        {"declared-8eib", declared_8eib},
        {"negative-size", negative_size},
        {"sparse-1mib", sparse_1mib},
        {"sparse-8gib", sparse_8gib},
        {"endless-pax", endless_pax},
        {"global-pax", global_pax},
        {"strange-attributes", strange_attributes},
        {"encrypted", zip_encrypted},
        {"strongly-encrypted", zip_strongly_encrypted},
        {"bad-crc", zip_bad_crc},
        {"declared-huge", zip_declared_huge},
        {"sizes-differ", zip_sizes_differ},
        {"names-differ", zip_names_differ},
        {"unmarked-name", zip_unmarked},
        {"wrongly-marked-name", zip_wrongly_marked},
        {"overlap", zip_overlap},
        {"unicode-name", zip_unicode},
        {"unicode-name-differs", zip_unicode_differs},
        {"unicode-name-ascii", zip_unicode_ascii},
        {"unicode-name-of-other", zip_unicode_of_other},
        {"unicode-name-twice", zip_unicode_twice},
        {"folder-with-data", zip_folder_with_data},
        {"miscounted", zip_miscounted},
        {"long-comment", zip_long_comment},
        {"zip64", zip64_good},
        {"zip64-names-differ", zip64_names_differ},
        {"zip64-overlap", zip64_overlap},
        {"zip64-ends-differ", zip64_ends_differ},
};

static bool put_kind(const char *name)
{
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                if (strcmp(kinds[k].name, name) != 0)
                        continue;
                for (size_t i = 0; i < MAX_ITEMS && kinds[k].items[i].name; i++)
                        put_item(&kinds[k].items[i]);
                return true;
        }
        for (size_t k = 0; k < sizeof oddities / sizeof *oddities; k++)
                if (strcmp(oddities[k].name, name) == 0) {
                        oddities[k].put();
                        return true;
                }
        return false;
}

static int list(void)
{
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
                puts(kinds[k].name);
        for (size_t k = 0; k < sizeof oddities / sizeof *oddities; k++)
                puts(oddities[k].name);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 2 && strcmp(argv[1], "-l") == 0)
                return list();
        as_zip = argc == 3 && strcmp(argv[1], "-z") == 0;
        if (argc != (as_zip ? 3 : 2) || !put_kind(argv[argc - 1])) {
                fprintf(stderr, "usage: make-archive [-z] KIND | -l\n");
                return 2;
        }
        if (as_zip)
                zip_end();
        else
                tar_end();
        return fflush(stdout) == 0 ? 0 : 3;
}
