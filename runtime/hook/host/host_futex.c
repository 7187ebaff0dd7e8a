/* See host_futex.h. */
#include "runtime/hook/host/host_futex.h"
#include "runtime/hook/host/code_owner.h"
#include "runtime/hook/state/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>

bool host_futex_follows;

static bool is_the_programs(const void *caller)
{
    return code_is_the_programs((uintptr_t)caller - 1, 0);
}

static void synchronizes(long address, bool before)
{
    const int error = errno;
    thread_synchronizes((const void *)(uintptr_t)address, before);
    errno = error;
}

void host_futex_before(const long *arguments, const void *caller)
{
    switch (arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        if (is_the_programs(caller))
            synchronizes(arguments[0], true);
    }
}

/* EAGAIN: the value is another one already. */
void host_futex_after(const long *arguments, const void *caller, long result)
{
    const long command = arguments[1] & FUTEX_CMD_MASK;
    if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
        (result == 0 || errno == EAGAIN) && is_the_programs(caller))
        synchronizes(arguments[0], false);
}
