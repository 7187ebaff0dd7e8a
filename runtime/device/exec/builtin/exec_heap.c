/* malloc and free in kernels, by the driver's heap (exec_memory.allocate; CUDA C++ Programming
 * Guide, "Dynamic Global Memory Allocation and Operations"). A free counts as a write of the whole
 * block: no other kernel may use it at the same time. */
#include "runtime/device/exec/exec_call.h"

static int allocate(struct warp *w, const struct micro *op, bool aligned)
{
    const struct call_site *site = op->pointer;
    const struct exec_memory *memory = &w->state->launch.memory;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uint64_t bytes = builtin_argument(w, site, 0, lane),
                       alignment = aligned ? builtin_argument(w, site, 1, lane) : 1;
        builtin_return(w, site, lane,
                       memory->allocate ? memory->allocate(memory->user, bytes, alignment) : 0);
    }
    w->state->progress++;
    return FLOW_NEXT;
}

/* void *malloc(size_t bytes) */
int builtin_malloc(struct warp *w, const struct micro *op)
{
    return allocate(w, op, false);
}

/* void *__nv_aligned_device_malloc(size_t bytes, size_t alignment) */
int builtin_aligned_malloc(struct warp *w, const struct micro *op)
{
    return allocate(w, op, true);
}

/* Other launches look the address up again in their next exec_step. */
static void freed(struct exec_state *state, uint64_t address, uint64_t bytes)
{
    space_forget(state);
    state->progress++;
    if (!state->touch)
        return;
    touch_bound(state->touch, address, address + bytes);
    touch_record(state->touch, DEVICE_TRACE_WRITE, address, bytes);
}

bool heap_free(struct warp *w, uint64_t address)
{
    const struct exec_memory *memory = &w->state->launch.memory;
    uint64_t bytes;
    if (!memory->release || !memory->release(memory->user, address, &bytes))
        return false;
    freed(w->state, address, bytes);
    return true;
}

/* void free(void *pointer); "free of NULL is ignored" */
int builtin_free(struct warp *w, const struct micro *op)
{
    const struct call_site *site = op->pointer;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uint64_t address = builtin_argument(w, site, 0, lane);
        if (address && !heap_free(w, address))
            return fault_raise(w, op, m, EXEC_FAULT_FREE, address);
    }
    return FLOW_NEXT;
}
