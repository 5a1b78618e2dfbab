/* Bytes to standard output, for the programs here that write archives; they end when it fails. */
#ifndef ASSAY_TESTS_PUT_H
#define ASSAY_TESTS_PUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void put(const void *bytes, size_t len)
{
        if (fwrite(bytes, 1, len, stdout) != len)
                exit(3);
}

static void put_zeros(uint64_t len)
{
        static const char zeros[64 << 10];

        for (; len > sizeof zeros; len -= sizeof zeros)
                put(zeros, sizeof zeros);
        put(zeros, (size_t)len);
}

#endif
