/* An unpacker that was taken over by an image: control characters in a warning, and directories
 * that are replaced without end. */
#include "images/digest.h"
#include "frame.h"
#include "images/messages.h"

#include <string.h>

static int send(enum unpack_message type, struct buffer *payload)
{
        int r = frame_send(1, (uint16_t)type, payload, NULL, 0, NULL);

        buffer_free(payload);
        return r;
}

static void tell_image(void)
{
        struct buffer b = BUFFER_INIT;
        char digest[DIGEST_SIZE] = {0};

        memset(digest, '0', sizeof digest - 1);
        put_text(&b, "\x1b[31mred");
        put_text(&b, "a\nb");
        send(UNPACK_WARNING, &b);
        put_u32(&b, 0); /* names */
        put_text(&b, "");
        put_text(&b, digest); /* id */
        put_text(&b, "");
        put_text(&b, "");
        for (int list = 0; list < 3; list++)
                put_u32(&b, 0);
        put_text(&b, "/");
        put_text(&b, "");
        put_u32(&b, 1); /* layers */
        put_text(&b, "");
        put_u64(&b, 0);
        put_u64(&b, 0);
        put_text(&b, digest);
        put_text(&b, digest);
        put_u8(&b, UNPACK_PLAIN);
        send(UNPACK_IMAGE_FOUND, &b);
        put_u32(&b, 1);
        send(UNPACK_IMAGES_DONE, &b);
}

static void replace_directories(void)
{
        char path[UNPACK_MAX_PATH + 1] = {0};
        struct buffer b = BUFFER_INIT;

        memset(path, 'a', sizeof path - 1);
        do
                put_text(&b, path);
        while (send(UNPACK_OPAQUE, &b) == 0);
}

static void say_removed(void)
{
        struct buffer b = BUFFER_INIT;

        send(UNPACK_DONE, &b);
}

int main(void)
{
        _cleanup_frame_ struct frame f = FRAME_INIT;

        while (frame_receive(1, &f, UNPACK_MAX_REQUEST, 0, NULL) > 0)
                switch (f.type) {
                case UNPACK_IMAGE:
                        tell_image();
                        break;
                case UNPACK_LAYER:
                        replace_directories();
                        break;
                default:
                        say_removed();
                }
        return 0;
}
