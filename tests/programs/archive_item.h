/* An entry of a tar or zip archive, as make-archive has them. */
#ifndef ASSAY_TESTS_ARCHIVE_ITEM_H
#define ASSAY_TESTS_ARCHIVE_ITEM_H

/* Entry types, by the letter tar has for them. */
enum {
        FILE_ = '0',
        HARD = '1',
        LINK = '2',
        CHAR = '3',
        BLOCK = '4',
        DIR = '5',
        FIFO = '6',
        SOCKET = 's'
};

struct item {
        char type;
        const char *name;
        const char *target; /* of a link */
        const char *data;   /* of a file; "" when NULL */
        unsigned mode;      /* 0: 0644 or 0755 */
};

#endif
