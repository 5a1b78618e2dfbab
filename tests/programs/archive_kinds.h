/* Hostile (and good) archives that are nothing but a few entries. */
#ifndef ASSAY_TESTS_ARCHIVE_KINDS_H
#define ASSAY_TESTS_ARCHIVE_KINDS_H

#include "tests/programs/archive_item.h"

enum { MAX_ITEMS = 4 };

static const struct kind {
        const char *name;
        struct item items[MAX_ITEMS];
} kinds[] = {
        {"good", {{DIR, "src/", 0, 0, 0}, {FILE_, "src/a.c", 0, "int a;\n", 0},
                         {FILE_, "run", 0, "#!/bin/sh\n", 0755}, {LINK, "src/b.c", "a.c", 0, 0}}},
        {"common-root", {{FILE_, "top/a", 0, "a", 0}, {FILE_, "top/sub/top/b", 0, "b", 0},
                                {FILE_, "__MACOSX/top/._a", 0, "junk", 0}}},
        {"junk", {{FILE_, "a", 0, "a", 0}, {FILE_, ".DS_Store", 0, "junk", 0},
                         {FILE_, "d/Thumbs.db", 0, "junk", 0}, {FILE_, "__MACOSX/x", 0, "j", 0}}},
        {"only-folders", {{DIR, "a/", 0, 0, 0}, {DIR, "a/b/", 0, 0, 0}}},
        {"repeated-folder",
                {{DIR, "d/", 0, 0, 0}, {FILE_, "d/x", 0, "x", 0}, {DIR, "./d/", 0, 0, 0}}},
        {"harmless-dots",
                {{DIR, "./", 0, 0, 0}, {DIR, ".", 0, 0, 0}, {FILE_, "././a/.//b", 0, "b", 0}}},

        {"dotdot", {{FILE_, "../x", 0, "x", 0}}},
        {"dotdot-inside", {{FILE_, "a/../../x", 0, "x", 0}}},
        {"dotdot-last", {{DIR, "a/..", 0, 0, 0}}},
        {"dotdot-backslash", {{FILE_, "..\\x", 0, "x", 0}}},
        {"absolute", {{FILE_, "/x", 0, "x", 0}}},
        {"two-slashes", {{FILE_, "//x", 0, "x", 0}}},
        {"slash-dot", {{DIR, "/.", 0, 0, 0}}},
        {"drive", {{FILE_, "C:x", 0, "x", 0}}},
        {"drive-backslash", {{FILE_, "C:\\x", 0, "x", 0}}},
        {"file-as-root", {{FILE_, "./.", 0, "x", 0}}},
        {"link-as-root", {{LINK, ".", "x", 0, 0}}},
        {"newline", {{FILE_, "a\nb", 0, "x", 0}}},
        {"escape", {{FILE_, "a\x1b[2Jb", 0, "x", 0}}},
        {"bidi", {{FILE_,
                         "a\xe2\x80\xae"
                         "txt.sh",
                         0, "x", 0}}},
        {"invalid-utf8", {{FILE_,
                                 "a\xff"
                                 "b",
                                 0, "x", 0}}},
        {"overlong-utf8", {{FILE_,
                                  "a\xc0\xaf"
                                  "b",
                                  0, "x", 0}}},
        {"bad-after-good", {{FILE_, "good", 0, "x", 0}, {FILE_, "../bad", 0, "x", 0}}},

        {"same-twice", {{FILE_, "a", 0, "1", 0}, {FILE_, "a", 0, "2", 0}}},
        {"same-twice-dots", {{FILE_, "a", 0, "1", 0}, {FILE_, "./a", 0, "2", 0}}},
        {"differ-in-case", {{FILE_, "Makefile", 0, "1", 0}, {FILE_, "makefile", 0, "2", 0}}},
        {"folders-differ-in-case", {{FILE_, "src/a", 0, "1", 0}, {FILE_, "SRC/b", 0, "2", 0}}},
        {"differ-in-form", {{FILE_, "caf\xc3\xa9", 0, "1", 0}, {FILE_, "cafe\xcc\x81", 0, "2", 0}}},
        {"differ-in-fold", {{FILE_,
                                    "stra\xc3\x9f"
                                    "e",
                                    0, "1", 0},
                                   {FILE_, "STRASSE", 0, "2", 0}}},
        {"file-then-folder", {{FILE_, "a", 0, "1", 0}, {FILE_, "a/b", 0, "2", 0}}},
        {"folder-then-file", {{FILE_, "a/b", 0, "1", 0}, {FILE_, "a", 0, "2", 0}}},

        {"link-inside", {{FILE_, "a/b/c", 0, "c", 0}, {LINK, "a/b/up", "../../d", 0, 0},
                                {LINK, "l", "a/b/c", 0, 0}}},
        {"link-absolute", {{LINK, "l", "/etc/passwd", 0, 0}}},
        {"link-out", {{LINK, "l", "../x", 0, 0}}},
        {"link-out-deep", {{LINK, "a/b/l", "../../../x", 0, 0}}},
        {"link-down-up", {{LINK, "a/l", "b/../../../x", 0, 0}}},
        {"link-chain", {{LINK, "a/b", "..", 0, 0}, {LINK, "c", "a/b/../x", 0, 0}}},
        {"link-empty", {{LINK, "l", "", 0, 0}}},
        {"link-leaves-top", {{FILE_, "top/a", 0, "a", 0}, {LINK, "top/l", "../x", 0, 0}}},
        {"write-through-link", {{LINK, "l", "d", 0, 0}, {FILE_, "l/x", 0, "x", 0}}},
        {"write-onto-link", {{LINK, "l", "d", 0, 0}, {FILE_, "l", 0, "x", 0}}},
        {"folder-to-link", {{DIR, "d", 0, 0, 0}, {LINK, "d", "e", 0, 0}, {DIR, "d", 0, 0, 0777}}},
        {"link-to-folder", {{LINK, "d", "e", 0, 0}, {DIR, "d", 0, 0, 0777}}},

        {"hard", {{FILE_, "a", 0, "body", 0755}, {HARD, "d/b", "./a", 0, 0}}},
        {"hard-out", {{HARD, "l", "../x", 0, 0}}},
        {"hard-absolute", {{HARD, "l", "/etc/passwd", 0, 0}}},
        {"hard-later", {{HARD, "l", "a", 0, 0}, {FILE_, "a", 0, "x", 0}}},
        {"hard-to-link", {{LINK, "l", "a", 0, 0}, {HARD, "h", "l", 0, 0}, {FILE_, "a", 0, "a", 0}}},
        {"hard-through-link",
                {{LINK, "l", "d", 0, 0}, {FILE_, "d/a", 0, "a", 0}, {HARD, "h", "l/a", 0, 0}}},
        {"hard-to-folder", {{DIR, "d", 0, 0, 0}, {HARD, "h", "d", 0, 0}}},
        {"hard-to-itself", {{HARD, "h", "h", 0, 0}}},

        {"socket", {{SOCKET, "s", 0, 0, 0}}},
        {"fifo", {{FIFO, "f", 0, 0, 0}}},
        {"char-device", {{CHAR, "null", 0, 0, 0}}},
        {"block-device", {{BLOCK, "sda", 0, 0, 0}}},
        {"modes", {{DIR, "d", 0, 0, 07000}, {FILE_, "d/suid", 0, "x", 06711},
                          {FILE_, "secret", 0, "x", 01000}, {FILE_, "open", 0, "x", 0666}}},
};

#endif
