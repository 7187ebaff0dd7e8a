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
NOTHING_LINKED(window_registered)
NOTHING_LINKED(window_deregistered)

void touch_window(struct touch *call, uint64_t handle, int64_t offset, int64_t n, int64_t rank,
                  uint64_t communicator)
{
    (void)call, (void)handle, (void)offset, (void)n, (void)rank, (void)communicator;
}

#endif
