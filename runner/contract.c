/* The contracts; see contract.h. "straw" is the one of this version. */
#include "contract.h"

#include <stddef.h>

const struct contract contracts[CONTRACT_COUNT] = {
        [CONTRACT_STRAW] =
                {
                        .submission = {"/agent_output", "/submission"},
                        .tests = "/tests",
                        .results = "/results",
                        .workdir = "/",
                        .own = {"/agent_output", "/submission", "/tests", "/results"},
                },
};
