/* Allocations that fail because memory is short. The newest is remembered, with what held the
 * memory at that moment. It becomes a finding if the program gives up (option oom): it ends with a
 * code that is not 0, by abort or by a signal, and no later allocation of at least that size
 * succeeded. So an allocator that frees its cache and tries again causes no finding. */
#ifndef RUNTIME_HOOK_FAILURE_OUT_OF_MEMORY_H
#define RUNTIME_HOOK_FAILURE_OUT_OF_MEMORY_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session.h"

/* Not 0: one is remembered. */
extern uint32_t out_of_memory_any;

/* An allocation of the host's memory, or the device's. */
enum out_of_memory_of { OUT_OF_MEMORY_DEVICE, OUT_OF_MEMORY_HOST };
void out_of_memory_ended_slow(const struct driver_entry *entry, CUresult result, uint64_t bytes,
                              enum out_of_memory_of what);

/* A call that allocates is over. Within a hook, without locks. */
static inline void out_of_memory_ended(const struct driver_entry *entry, CUresult result,
                                       uint64_t bytes, enum out_of_memory_of what)
{
    if (__builtin_expect(result == CUDA_ERROR_OUT_OF_MEMORY ||
                             __atomic_load_n(&out_of_memory_any, __ATOMIC_RELAXED),
                         0))
        out_of_memory_ended_slow(entry, result, bytes, what);
}

/* At the process's end. */
void out_of_memory_finish(struct session_end how);

#endif
