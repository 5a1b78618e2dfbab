/* Names that nobody else makes; see ulid.h. */
#include "ulid.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static const char id_digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; /* Crockford's */

int ulid_new(char out[ULID_SIZE], struct error *err)
{
        unsigned char bytes[16];
        struct timespec now;
        uint64_t ms;

        clock_gettime(CLOCK_REALTIME, &now);
        ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        if (getrandom(bytes + 6, 10, 0) != 10)
                return error_errno(err, CODE_INFRA_STATE, errno, "no random numbers");
        for (int i = 0; i < 6; i++)
                bytes[i] = (unsigned char)(ms >> (8 * (5 - i)));
        /* 128 bits are 26 digits of 5; the first holds only 3. */
        for (int i = 0; i < 26; i++) {
                unsigned value = 0;

                for (int bit = 0; bit < 5; bit++) {
                        int at = i * 5 + bit - 2;

                        value = value << 1 | (at < 0 ? 0 : bytes[at / 8] >> (7 - at % 8) & 1);
                }
                out[i] = id_digits[value];
        }
        out[26] = '\0';
        return 0;
}

bool ulid_is(const char *name)
{
        return strlen(name) == ULID_SIZE - 1 && name[0] <= '7' &&
               strspn(name, id_digits) == ULID_SIZE - 1;
}
