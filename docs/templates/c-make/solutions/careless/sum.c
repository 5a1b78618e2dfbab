/* Takes anything for a number, and has no room for large ones. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
        unsigned sum = 0;

        for (int i = 1; i < argc; i++)
                sum += (unsigned)atoll(argv[i]);
        printf("%d\n", (int)sum);
        return 0;
}
