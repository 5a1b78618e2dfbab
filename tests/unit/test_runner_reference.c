/* References to images in registries: runner/image/reference. */
#include "image/reference.h"

#include <criterion/criterion.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

Test(reference, what_is_not_told_is_as_for_docker)
{
        static const struct {
                const char *text, *name, *full;
        } rows[] = {
                {"debian", "docker.io/library/debian", "docker.io/library/debian:latest"},
                {"debian:12", "docker.io/library/debian", "docker.io/library/debian:12"},
                {"docker://debian:12", "docker.io/library/debian", "docker.io/library/debian:12"},
                {"docker.io/debian", "docker.io/library/debian", "docker.io/library/debian:latest"},
                {"index.docker.io/a/b", "docker.io/a/b", "docker.io/a/b:latest"},
                {"a/b_c--d:V.1-x", "docker.io/a/b_c--d", "docker.io/a/b_c--d:V.1-x"},
                {"localhost/it", "localhost/it", "localhost/it:latest"},
                {"localhost:5000/it", "localhost:5000/it", "localhost:5000/it:latest"},
                {"localhost:5000", "docker.io/library/localhost",
                        "docker.io/library/localhost:5000"},
                {"Example.org/a/b/c", "Example.org/a/b/c", "Example.org/a/b/c:latest"},
                {"127.0.0.1:1/x:y", "127.0.0.1:1/x", "127.0.0.1:1/x:y"},
                {"debian@sha256:" HEX, "docker.io/library/debian",
                        "docker.io/library/debian@sha256:" HEX},
                {"e.org/x:1@sha256:" HEX, "e.org/x", "e.org/x@sha256:" HEX},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct reference r;

                cr_assert_eq(reference_parse(&r, rows[i].text, &err), 0, "%s: %s", rows[i].text,
                        err.text);
                cr_expect_str_eq(r.name, rows[i].name);
                cr_expect_str_eq(r.text, rows[i].full);
                cr_expect_str_eq(r.digest, strchr(rows[i].text, '@') ? HEX : "");
        }
}

Test(reference, what_is_none_is_wrong_usage)
{
        static const char *const rows[] = {"", "docker://", "-x", "--help", ".", "..", "../x", "/x",
                "x/", "a//b", "Debian", "a b", "a\nb", "it:", "it:-x", "it:.x", "it:a/b:", "it:a:b",
                "http://e.org/x", "e.org/", "e.org:/x", "e.org:x/y", "-e.org/x", ":1/x", "it@",
                "it@sha256:", "it@sha256:0", "it@md5:" HEX, "@sha256:" HEX, "it@sha256:" HEX "0",
                "it@sha256:" HEX "@sha256:" HEX, "e.org/\xc3\xa4", HEX "/" HEX "/" HEX "/x",
                "it:" HEX HEX "x"};

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct error err = {0};
                struct reference r;

                cr_expect_eq(
                        reference_parse(&r, rows[i], &err), -1, "`%s` is `%s`", rows[i], r.text);
                cr_expect_eq(err.code, CODE_USAGE);
        }
}

Test(reference, the_digest_at_its_end)
{
        cr_expect_str_eq(reference_digest("any thing@sha256:" HEX), HEX);
        cr_expect_null(reference_digest("sha256:" HEX));
        cr_expect_null(reference_digest("it@sha256:" HEX "0"));
        cr_expect_null(reference_digest("it"));
}
