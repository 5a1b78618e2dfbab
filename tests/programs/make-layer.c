/* Writes a layer of an image (a tar archive) to standard output, an entry for each argument
 * (tar_text.h). The end mark is left out after a last argument "cut". */
#include "tests/programs/tar_text.h"

int main(int argc, char **argv)
{
        bool cut = argc > 1 && strcmp(argv[argc - 1], "cut") == 0;

        for (int i = 1; i < argc - cut; i++)
                if (!put_tar_text(argv[i])) {
                        fprintf(stderr, "make-layer: %s\n", argv[i]);
                        return 2;
                }
        if (!cut)
                put_zeros(1024);
        return fflush(stdout) == 0 ? 0 : 3;
}
