/* PostgreSQL's client library, loaded when a store is one of PostgreSQL's: nobody else needs to
 * have it, or waits for it. What each function does is in its own documentation. */
#ifndef ASSAY_STORE_LIBPQ_H
#define ASSAY_STORE_LIBPQ_H

#include "error.h"

#include <postgresql/libpq-fe.h>

#define LIBPQ_FUNCTIONS(X)                                                                         \
        X(cancel)                                                                                  \
        X(clear)                                                                                   \
        X(cmdStatus)                                                                               \
        X(connectdbParams)                                                                         \
        X(conninfoFree)                                                                            \
        X(conninfoParse)                                                                           \
        X(consumeInput)                                                                            \
        X(errorMessage)                                                                            \
        X(exec)                                                                                    \
        X(finish)                                                                                  \
        X(flush)                                                                                   \
        X(freeCancel)                                                                              \
        X(freemem)                                                                                 \
        X(ftype)                                                                                   \
        X(getCancel)                                                                               \
        X(getResult)                                                                               \
        X(getisnull)                                                                               \
        X(getlength)                                                                               \
        X(getvalue)                                                                                \
        X(isBusy)                                                                                  \
        X(nfields)                                                                                 \
        X(notifies)                                                                                \
        X(ntuples)                                                                                 \
        X(parameterStatus)                                                                         \
        X(reset)                                                                                   \
        X(resultErrorField)                                                                        \
        X(resultStatus)                                                                            \
        X(sendQueryParams)                                                                         \
        X(serverVersion)                                                                           \
        X(setNoticeProcessor)                                                                      \
        X(setSingleRowMode)                                                                        \
        X(setnonblocking)                                                                          \
        X(socket)                                                                                  \
        X(status)

struct libpq {
#define X(name) __typeof__(PQ##name) *name;
        LIBPQ_FUNCTIONS(X)
#undef X
};

/* Its functions without their PQ, once it is loaded. */
extern struct libpq pq;
int libpq_load(struct error *err);

#endif
