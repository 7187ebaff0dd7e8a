/* State spaces: from an address as a lane has it to memory of this process (PTX ISA section 5.1,
 * "Generic Addressing" 9.7.9.2). Checks alignment and bounds, and records touches of global memory.
 * Called by everything that loads, stores, updates or prints. */
#include "runtime/device/exec/exec_engine.h"

#include <stdlib.h>

void space_forget(struct exec_state *state)
{
    memset(state->hints, 0, sizeof state->hints);
    state->known_count = state->known_next = 0;
}

/* Ask the driver, unless the answer is known from before. */
static bool find_region_slow(struct exec_state *state, uint64_t address, struct exec_region *hint)
{
    for (uint32_t i = 0; i < state->known_count; i++) {
        const struct exec_region *known = &state->known[i];
        if (address >= known->base && address < known->limit) {
            *hint = *known;
            return true;
        }
    }
    struct exec_region found = {0};
    const struct exec_memory *memory = &state->launch.memory;
    if (!memory->find(memory->user, address, &found) || address < found.base ||
        address >= found.limit)
        return false;
    if (state->touch)
        touch_bound(state->touch, found.base, found.limit);
    *hint = state->known[state->known_next] = found;
    state->known_next = (state->known_next + 1) % REGION_KNOWN;
    if (state->known_count < REGION_KNOWN)
        state->known_count++;
    return true;
}

static inline uint8_t *global_pointer(struct exec_state *state, struct exec_region *hint,
                                      uint64_t address, uint64_t bytes, bool write)
{
    if (address < hint->base || address >= hint->limit)
        if (!find_region_slow(state, address, hint))
            return NULL;
    if (bytes > hint->limit - address || (write && !hint->writable))
        return NULL;
    return (uint8_t *)(uintptr_t)(address + (uint64_t)hint->delta);
}

/* Shared memory: the block's own, or that of a peer in its cluster. */
static inline uint8_t *shared_pointer(const struct warp *warp, uint64_t offset, uint64_t bytes)
{
    const struct block *block = warp->block;
    if (offset >= WINDOW_CLUSTER) {
        uint64_t rank = offset / WINDOW_CLUSTER - 1;
        offset %= WINDOW_CLUSTER;
        if (rank >= warp->state->cluster_size)
            return NULL;
        if (rank != block->cluster_rank) {
            block = warp->state->blocks[block->cluster_first + rank];
            if (!block->active)
                return NULL;
        }
    }
    uint64_t limit = warp->state->shared_bytes;
    return offset <= limit && bytes <= limit - offset ? block->shared + offset : NULL;
}

static inline uint8_t *local_pointer(const struct warp *warp, int lane, uint64_t offset,
                                     uint64_t bytes)
{
    return offset <= warp->local_stride && bytes <= warp->local_stride - offset
               ? space_local(warp, lane, offset)
               : NULL;
}

static inline uint8_t *param_pointer(const struct warp *warp, int lane, uint64_t offset,
                                     uint64_t bytes, bool write)
{
    if (offset < WINDOW_PARAM)
        return local_pointer(warp, lane, offset, bytes);
    offset -= WINDOW_PARAM;
    uint64_t limit = warp->state->launch.kernel->param_bytes;
    return !write && offset <= limit && bytes <= limit - offset ? warp->state->params + offset
                                                                : NULL;
}

static uint8_t *window_pointer(const struct warp *warp, int lane, uint64_t offset, uint64_t bytes,
                               bool write)
{
    if (offset >= WINDOW_SHARED)
        return shared_pointer(warp, offset - WINDOW_SHARED, bytes);
    return param_pointer(warp, lane, offset, bytes, write);
}

/* Memory that the launch's observers do not see: the grid barrier's own workspace. */
static inline bool is_private(const struct exec_state *state, uint64_t address)
{
    return state->launch.grid_workspace &&
           address - state->launch.grid_workspace < EXEC_GRID_WORKSPACE_BYTES;
}

static void record(struct exec_state *state, uint8_t kinds, uint64_t address, uint64_t bytes)
{
    for (uint32_t kind = 0; kind < TOUCH_KINDS; kind++)
        if (kinds >> kind & 1)
            touch_record(state->touch, kind, address, bytes);
}

uint8_t *space_generic(struct warp *warp, int lane, uint64_t address, uint64_t bytes, bool write)
{
    uint64_t offset = address - warp->state->launch.memory.window;
    if (offset < EXEC_WINDOW_BYTES)
        return window_pointer(warp, lane, offset, bytes, write);
    return global_pointer(warp->state, &warp->state->hints[0], address, bytes, write);
}

size_t space_text(struct warp *warp, int lane, uint64_t address, char *text, size_t limit)
{
    size_t length = 0;
    while (length + 1 < limit) {
        const uint8_t *byte = space_generic(warp, lane, address + length, 1, false);
        if (!byte || !*byte)
            break;
        text[length++] = (char)*byte;
    }
    text[length] = 0;
    return length;
}

bool space_grow_local(struct warp *warp, uint64_t bytes)
{
    if (bytes <= warp->local_stride)
        return true;
    uint64_t stride = warp->local_stride ? warp->local_stride * 2 : 64;
    while (stride < bytes)
        stride *= 2;
    if (stride > LOCAL_LIMIT)
        return false;
    uint8_t *larger = aligned_alloc(64, stride * WARP_LANES);
    if (!larger)
        return false;
    memset(larger, 0, stride * WARP_LANES);
    for (int l = 0; warp->local && l < WARP_LANES; l++)
        memcpy(larger + (uint64_t)l * stride, warp->local + (uint64_t)l * warp->local_stride,
               warp->local_stride);
    free(warp->local);
    warp->local = larger;
    warp->local_stride = stride;
    return true;
}

/* ---- a warp's addresses --------------------------------------------------------------------- */

void space_addresses(struct warp *warp, const struct micro *op, uint64_t *addresses)
{
    uint64_t imm = (uint64_t)op->imm;
    if (op->width == 4) {
        const uint32_t *a = slot(warp, op->a);
        /* 32-bit addresses wrap at 32 bits */
        LANES(warp, addresses[l] = (uint32_t)(a[l] + imm));
    } else {
        const uint64_t *a = slot(warp, op->a);
        LANES(warp, addresses[l] = a[l] + imm);
    }
}

static int misaligned(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                      uint32_t align)
{
    uint32_t bad = 0;
    LANES(warp, bad |= (uint32_t)((addresses[l] & (align - 1)) != 0) << l);
    return fault_raise(warp, op, bad, EXEC_FAULT_MISALIGNED_ADDRESS, addresses[__builtin_ctz(bad)]);
}

/* What a lane may access at the address, in op->space; or NULL. */
static uint8_t *lane_pointer(struct warp *warp, const struct micro *op, int lane, uint64_t address,
                             uint32_t bytes)
{
    bool write = op->option & ACCESS_WRITES;
    switch (op->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return shared_pointer(warp, address, bytes);
    case PTX_SPACE_LOCAL:
        return local_pointer(warp, lane, address, bytes);
    case PTX_SPACE_PARAM:
        return param_pointer(warp, lane, address, bytes, write);
    case PTX_SPACE_GENERIC:
        return space_generic(warp, lane, address, bytes, write);
    default:
        return global_pointer(warp->state, &warp->state->hints[0], address, bytes, write);
    }
}

/* `first` may not access its address: neither may those of the lanes behind it that are counted
 * here. */
static int illegal(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                   uint32_t bytes, int first)
{
    uint32_t bad = 0;
    for (uint32_t m = warp->mask & ALL_LANES << first; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (!lane_pointer(warp, op, l, addresses[l], bytes))
            bad |= m & -m;
    }
    const bool own = op->space == PTX_SPACE_SHARED || op->space == PTX_SPACE_SHARED_CLUSTER ||
                     op->space == PTX_SPACE_LOCAL;
    return fault_raise(warp, op, bad, own ? EXEC_FAULT_OUT_OF_RANGE : EXEC_FAULT_ILLEGAL_ADDRESS,
                       addresses[first]);
}

/* Lanes of a full warp that touch one contiguous piece are recorded as one. */
static void record_warp(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                        uint32_t bytes, uint32_t global_lanes)
{
    struct exec_state *state = warp->state;
    if (global_lanes == ALL_LANES) {
        uint64_t first = addresses[0], differs = 0;
        for (uint64_t l = 0; l < WARP_LANES; l++)
            differs |= addresses[l] ^ (first + l * bytes);
        if (!differs && !state->launch.grid_workspace) {
            record(state, op->touch, first, (uint64_t)bytes * WARP_LANES);
            return;
        }
    }
    for (uint32_t m = global_lanes; m; m &= m - 1) {
        uint64_t address = addresses[__builtin_ctz(m)];
        if (!is_private(state, address))
            record(state, op->touch, address, bytes);
    }
}

static int resolve_global(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                          uint32_t bytes, bool generic, uint8_t **pointers)
{
    struct exec_state *state = warp->state;
    struct exec_region *hint = &state->hints[op->instruction % REGION_HINTS];
    uint64_t window = state->launch.memory.window;
    bool write = op->option & ACCESS_WRITES;
    uint32_t global_lanes = 0;
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t address = addresses[l], offset = address - window;
        if (generic && offset < EXEC_WINDOW_BYTES) {
            pointers[l] = window_pointer(warp, l, offset, bytes, write);
        } else {
            pointers[l] = global_pointer(state, hint, address, bytes, write);
            global_lanes |= 1u << l;
        }
        if (!pointers[l])
            return illegal(warp, op, addresses, bytes, l);
    }
    if (state->touch && global_lanes && (op->option & ACCESS_RECORDED))
        record_warp(warp, op, addresses, bytes, global_lanes);
    return FLOW_NEXT;
}

static int resolve_shared(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                          uint32_t bytes, uint8_t **pointers)
{
    LANES(warp, {
        pointers[l] = shared_pointer(warp, addresses[l], bytes);
        if (!pointers[l])
            return illegal(warp, op, addresses, bytes, l);
    });
    return FLOW_NEXT;
}

static int resolve_frame(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                         uint32_t bytes, uint8_t **pointers)
{
    bool write = op->option & ACCESS_WRITES;
    LANES(warp, {
        uint64_t address = addresses[l];
        pointers[l] = op->space == PTX_SPACE_LOCAL ? local_pointer(warp, l, address, bytes)
                                                   : param_pointer(warp, l, address, bytes, write);
        if (!pointers[l])
            return illegal(warp, op, addresses, bytes, l);
    });
    return FLOW_NEXT;
}

int space_resolve_at(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                     uint8_t **pointers)
{
    uint32_t bytes = (uint32_t)op->bytes * op->count;
    uint64_t all = 0;
    LANES(warp, all |= addresses[l]);
    if (op->option & ACCESS_STRONG)
        warp->strong = true;
    if ((op->option & ACCESS_WRITES) && op->space != PTX_SPACE_LOCAL &&
        op->space != PTX_SPACE_PARAM && !(op->option & ACCESS_UPDATES))
        warp->state->progress++;
    if (all & (bytes - 1))
        return misaligned(warp, op, addresses, bytes);
    switch (op->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return resolve_shared(warp, op, addresses, bytes, pointers);
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        return resolve_frame(warp, op, addresses, bytes, pointers);
    case PTX_SPACE_GENERIC:
        return resolve_global(warp, op, addresses, bytes, true, pointers);
    default:
        return resolve_global(warp, op, addresses, bytes, false, pointers);
    }
}

int space_resolve(struct warp *warp, const struct micro *op, uint8_t **pointers)
{
    uint64_t addresses[WARP_LANES];
    space_addresses(warp, op, addresses);
    return space_resolve_at(warp, op, addresses, pointers);
}
