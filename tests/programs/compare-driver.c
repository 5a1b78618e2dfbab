/* Both ends of `assay-score compare` (evaluators/messages.h):
 *   compare-driver ask (COMPARISON ABS REL PATTERN EXPECTED ACTUAL)…   the request; @FILE is its
 * content compare-driver show                                                the answer, a line a
 * frame */
#include "evaluators/messages.h"
#include "fd.h"
#include "frame.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[COMPARISON_COUNT] = {
        [COMPARE_EXACT] = "exact",
        [COMPARE_TOKENS] = "tokens",
        [COMPARE_NUMERIC] = "numeric",
        [COMPARE_REGEX] = "regex",
        [COMPARE_CONTAINS] = "contains",
};

static int put_pieces(enum score_message type, const char *what)
{
        _cleanup_buffer_ struct buffer all = BUFFER_INIT, piece = BUFFER_INIT;
        _cleanup_fd_ int file = *what == '@' ? open(what + 1, O_RDONLY | O_CLOEXEC) : -EBADF;

        if (*what != '@')
                buffer_add_text(&all, what);
        else if (fd_read_all(file, &all, SCORE_MAX_REQUEST, CODE_USAGE, NULL) < 0)
                return -1;
        for (size_t at = 0; at < all.len; at += SCORE_MAX_PIECE) {
                size_t rest = all.len - at;

                buffer_clear(&piece);
                put_bytes(&piece, all.data + at, rest < SCORE_MAX_PIECE ? rest : SCORE_MAX_PIECE);
                if (frame_send(1, (uint16_t)type, &piece, NULL, 0, NULL) < 0)
                        return -1;
        }
        return 0;
}

/* Six words. */
static int put_case(char **words)
{
        _cleanup_buffer_ struct buffer b = BUFFER_INIT;
        unsigned how = 0;

        while (how < COMPARISON_COUNT && strcmp(names[how], words[0]) != 0)
                how++;
        put_u8(&b, (uint8_t)how);
        put_text(&b, words[1]);
        put_text(&b, words[2]);
        put_text(&b, words[3]);
        if (frame_send(1, COMPARE_CASE, &b, NULL, 0, NULL) < 0 ||
                put_pieces(COMPARE_EXPECTED, words[4]) < 0)
                return -1;
        return put_pieces(COMPARE_ACTUAL, words[5]);
}

static void show_frame(struct frame *f)
{
        struct reader r = reader_of(f->payload.data, f->payload.len);
        char reason[SCORE_MAX_TEXT + 1];
        struct error err;
        unsigned matches;

        if (f->type == SCORE_ERROR) {
                get_error(&r, &err);
                printf("error %s: %s\n", code_info(err.code)->name, err.text);
        } else if (f->type == COMPARE_RESULT) {
                matches = get_u8(&r);
                get_text(&r, reason, sizeof reason);
                printf("%s%s%s\n", matches ? "matches" : "differs", *reason ? ": " : "", reason);
        } else
                puts(f->type == SCORE_END ? "end" : "a frame of another type");
        if (!reader_done(&r))
                puts("and more");
}

int main(int argc, char **argv)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;
        struct buffer nothing = BUFFER_INIT;

        if (argc == 2 && strcmp(argv[1], "show") == 0) {
                while (frame_receive(0, &f, FRAME_MAX_PAYLOAD, 0, NULL) == 1)
                        show_frame(&f);
                return 0;
        }
        if (argc < 2 || strcmp(argv[1], "ask") != 0 || (argc - 2) % 6 != 0)
                return 2;
        for (int i = 2; i < argc; i += 6)
                if (put_case(argv + i) < 0)
                        return 3;
        return frame_send(1, SCORE_END, &nothing, NULL, 0, NULL) < 0 ? 3 : 0;
}
