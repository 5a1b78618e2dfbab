/* Output that hurts whoever reads it: KIND. */
#include "attempt.h"

static void flood(const char *text, size_t len)
{
        static char block[1 << 20];

        for (size_t i = 0; i < sizeof block; i++)
                block[i] = text[i % len];
        while (write(1, block, sizeof block) > 0 && write(2, block, sizeof block) > 0)
                continue;
}

int main(int argc, char **argv)
{
        static const char dirt[] = "\0\033[2J\033]0;owned\a\r\b\x9b\xff\xfe";

        if (argc < 2)
                return 2;
        if (strcmp(argv[1], "flood") == 0)
                flood("line\n", 5);
        else if (strcmp(argv[1], "one-line") == 0)
                flood("x", 1);
        else if (strcmp(argv[1], "dirt") == 0)
                return write(1, dirt, sizeof dirt) < 0 || write(2, dirt, sizeof dirt) < 0;
        else if (strcmp(argv[1], "closed") == 0)
                return close(0) + close(1) + close(2);
        return 0;
}
