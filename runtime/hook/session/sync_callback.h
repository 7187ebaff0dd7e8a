/* Functions of the program that csan calls after each synchronization: csan_on_synchronize of
 * csan.h.
 *
 * Each has a slot with one atomic word: its state, how many threads are in the function, and the
 * id of the function. A call enters a live slot and runs without a lock. Who takes a function away
 * ends its slot, and waits until the last other thread has left. So no function is called once it
 * was taken away, and threads that synchronize never wait for each other. */
#ifndef RUNTIME_HOOK_SESSION_SYNC_CALLBACK_H
#define RUNTIME_HOOK_SESSION_SYNC_CALLBACK_H

#include "runtime/hook/session/session.h"

#include <csan/csan.h>

typedef void sync_callback_function(void *user, const struct csan_synchronization *what);

/* The members of struct csan_api. */
uint64_t sync_callback_add(sync_callback_function *function, void *user);
void sync_callback_remove(uint64_t id);

/* How many functions there are; atomic. */
extern uint32_t sync_callback_count;

/* Out of line: somebody wants to know. */
void sync_callback_call(const struct csan_synchronization *what);

/* The program's call is over, and csan has left it. Calls that are made inside of others, by csan
 * or by the driver, are none of the program's. */
static inline void sync_callback_ended(const struct csan_synchronization *what)
{
    if (__builtin_expect(__atomic_load_n(&sync_callback_count, __ATOMIC_RELAXED) != 0, 0))
        sync_callback_call(what);
}

#endif
