/* Loading PostgreSQL's client library; see libpq.h. */
#include "store/libpq.h"

#include <dlfcn.h>

struct libpq pq;

int libpq_load(struct error *err)
{
        static const char name[] = "libpq.so.5";
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

        if (!library)
                return error_set(err, CODE_INFRA_STORE,
                        "a store of PostgreSQL needs its client library, %s (install libpq5): %s",
                        name, dlerror());
#define X(function)                                                                                \
        pq.function = (__typeof__(pq.function))dlsym(library, "PQ" #function);                     \
        if (!pq.function)                                                                          \
                return error_set(                                                                  \
                        err, CODE_INFRA_STORE, "%s has no PQ%s: it is too old", name, #function);
        LIBPQ_FUNCTIONS(X)
#undef X
        return 0;
}
