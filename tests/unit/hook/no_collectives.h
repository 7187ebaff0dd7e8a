/* In place of hook/library/collective_link.c, for tests of what calls of libraries touch. */
#ifndef TESTS_UNIT_HOOK_NO_COLLECTIVES_H
#define TESTS_UNIT_HOOK_NO_COLLECTIVES_H

#include "runtime/hook/library/touch.h"

#define NOTHING_LINKED(name)                                                                       \
    void name(struct touch *call, int result);                                                     \
    void name(struct touch *call, int result)                                                      \
    {                                                                                              \
        (void)call, (void)result;                                                                  \
    }
NOTHING_LINKED(communicator_initialized)
NOTHING_LINKED(communicator_initialized_by_several)
NOTHING_LINKED(communicators_initialized_here)
NOTHING_LINKED(communicator_split)
NOTHING_LINKED(collective_unfollowed)

#endif
