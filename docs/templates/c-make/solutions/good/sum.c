#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
        long long sum = 0;

        for (int i = 1; i < argc; i++) {
                char *end;

                errno = 0;
                sum += strtoll(argv[i], &end, 10);
                if (errno != 0 || end == argv[i] || *end != '\0')
                        return 2;
        }
        printf("%lld\n", sum);
        return 0;
}
