/* See displaced_step.h.
 *
 * A thread owns a slot from the fault to the breakpoint. A handler of the program's may come in
 * between and need slots of its own. If it leaves by siglongjmp, its slot is lost. */
#include "runtime/hook/host/displaced_step.h"

#include <stddef.h>
#include <sys/mman.h>

enum { SLOTS = 1024, BREAKPOINT = 0xd4200000 | 0xc5a << 5 }; /* BRK with csan's number */

/* What a slot holds: as the processor reads it. */
struct slot {
    uint32_t instruction, breakpoint;
};

static struct {
    struct slot *slots;     /* NULL: no executable memory */
    uint64_t origin[SLOTS]; /* atomic; 0: free, 1: being filled */
    uint32_t next;          /* where to look first */
} displaced;

void displaced_step_start(void)
{
    void *memory = mmap(NULL, SLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    displaced.slots = memory == MAP_FAILED ? NULL : memory;
}

/* The slot that an address is in; SLOTS: none. */
static size_t slot_of(uint64_t pc)
{
    const uint64_t at = pc - (uintptr_t)displaced.slots;
    return displaced.slots && at < SLOTS * sizeof(struct slot) ? at / sizeof(struct slot) : SLOTS;
}

static uint64_t origin_of(size_t slot)
{
    return slot == SLOTS ? 0 : __atomic_load_n(&displaced.origin[slot], __ATOMIC_ACQUIRE);
}

static size_t take(void)
{
    const uint32_t first = __atomic_fetch_add(&displaced.next, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < SLOTS; i++) {
        const size_t slot = (first + i) % SLOTS;
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&displaced.origin[slot], &none, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return slot;
    }
    return SLOTS;
}

bool displaced_step_begin(uint64_t *pc)
{
    if (slot_of(*pc) != SLOTS)
        return true; /* the instruction faulted again, elsewhere */
    const size_t at = displaced.slots ? take() : SLOTS;
    if (at == SLOTS)
        return false;
    struct slot *slot = &displaced.slots[at];
    const uint32_t instruction = *(const uint32_t *)(uintptr_t)*pc;
    if (slot->instruction != instruction || slot->breakpoint != BREAKPOINT) {
        slot->instruction = instruction;
        slot->breakpoint = BREAKPOINT;
        __builtin___clear_cache((char *)slot, (char *)(slot + 1));
    }
    __atomic_store_n(&displaced.origin[at], *pc, __ATOMIC_RELEASE);
    *pc = (uintptr_t)slot;
    return true;
}

bool displaced_step_is_over(uint64_t pc)
{
    const size_t slot = slot_of(pc);
    return origin_of(slot) > 1 && pc == (uintptr_t)&displaced.slots[slot].breakpoint;
}

void displaced_step_end(uint64_t *pc)
{
    const size_t slot = slot_of(*pc);
    *pc = origin_of(slot) + sizeof(uint32_t);
    __atomic_store_n(&displaced.origin[slot], 0, __ATOMIC_RELEASE);
}

bool displaced_step_cancel(uint64_t *pc)
{
    const size_t slot = slot_of(*pc);
    const uint64_t origin = displaced_step_origin(*pc);
    if (origin == *pc)
        return false;
    *pc = origin;
    __atomic_store_n(&displaced.origin[slot], 0, __ATOMIC_RELEASE);
    return true;
}

uint64_t displaced_step_origin(uint64_t pc)
{
    const size_t slot = slot_of(pc);
    const uint64_t origin = origin_of(slot);
    if (origin <= 1)
        return pc;
    return origin + (pc == (uintptr_t)&displaced.slots[slot].breakpoint ? sizeof(uint32_t) : 0);
}
