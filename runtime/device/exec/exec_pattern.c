/* Accesses of a warp whose lanes follow a pattern: one behind the other, or all at one place. Most
 * do. Then bounds, alignment and touches are checked and recorded once for the warp, with the
 * result that space_resolve has lane by lane; whatever is not plainly right is left to it. */
#include "runtime/device/exec/exec_engine.h"

/* Loops over all lanes gain from wide vectors. The sanitizers cannot run resolvers of functions. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE_VECTORS
#endif
/* Part of each of a function's forms. */
#define INLINED static inline __attribute__((always_inline))

/* 0: value l is value 0 and l times a power of two in every lane. A product would be slow. */
static inline uint64_t differences(const uint64_t *values, uint32_t power)
{
    uint64_t differs = 0;
    for (uint64_t l = 0; l < WARP_LANES; l++)
        differs |= (values[l] - values[0]) ^ (l << power);
    return differs;
}

/* The same of 32-bit values, which must not wrap between two lanes. */
static inline uint32_t differences_32(const uint32_t *values, uint32_t power)
{
    uint32_t differs = values[WARP_LANES - 1] < values[0];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        differs |= (values[l] - values[0]) ^ (l << power);
    return differs;
}

/* 0: all addresses are the same. */
WIDE_VECTORS static uint64_t all_differences(const uint64_t *addresses)
{
    uint64_t differs = 0;
    for (uint64_t l = 0; l < WARP_LANES; l++)
        differs |= addresses[l] ^ addresses[0];
    return differs;
}

WIDE_VECTORS static uint64_t row_differences(const uint64_t *addresses, uint32_t power)
{
    return differences(addresses, power);
}

/* The same for lanes [first, first + count). */
static uint64_t difference_of(const uint64_t *addresses, uint32_t first, uint32_t count,
                              uint64_t step)
{
    uint64_t differs = 0;
    for (uint32_t k = 0; k < count; k++)
        differs |= addresses[first + k] ^ (addresses[first] + k * step);
    return differs;
}

static bool has_step(const uint64_t *addresses, uint32_t first, uint32_t count, uint64_t step)
{
    if (count < WARP_LANES)
        return !difference_of(addresses, first, count, step);
    return step ? !row_differences(addresses, (uint32_t)__builtin_ctzll(step))
                : !all_differences(addresses);
}

/* Host memory of bytes [address, address + bytes), if it is known already and may be accessed. */
INLINED uint8_t *global_range(const struct exec_state *state, const struct micro *op,
                              uint64_t address, uint64_t bytes)
{
    const struct exec_region *hint = &state->hints[op->instruction % REGION_HINTS];
    if (address < hint->base || address >= hint->limit || bytes > hint->limit - address ||
        ((op->option & ACCESS_WRITES) && !hint->writable))
        return NULL;
    return (uint8_t *)(uintptr_t)(address + (uint64_t)hint->delta);
}

INLINED uint8_t *find_range(struct warp *warp, const struct micro *op, uint64_t address,
                            uint64_t bytes)
{
    const struct exec_state *state = warp->state;
    switch (op->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return address < WINDOW_CLUSTER && address + bytes <= state->shared_bytes
                   ? warp->block->shared + address
                   : NULL;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        return NULL;
    default:
        return state->launch.grid_workspace ? NULL : global_range(state, op, address, bytes);
    }
}

/* What an access does besides: as in space_resolve_at. */
INLINED void note_access(struct warp *warp, const struct micro *op, uint64_t address,
                         uint64_t bytes)
{
    struct exec_state *state = warp->state;
    const bool shared = op->space == PTX_SPACE_SHARED || op->space == PTX_SPACE_SHARED_CLUSTER;
    if (op->option & ACCESS_STRONG)
        warp->strong = true;
    if ((op->option & ACCESS_WRITES) && !(op->option & ACCESS_UPDATES))
        state->progress++;
    if (!shared && state->touch && (op->option & ACCESS_RECORDED))
        for (uint32_t kinds = op->touch; kinds; kinds &= kinds - 1)
            touch_record_near(state->touch, (uint32_t)__builtin_ctz(kinds), address, bytes);
}

bool space_pattern(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                   struct access_pattern *pattern)
{
    const uint32_t first = (uint32_t)__builtin_ctz(warp->mask);
    const uint32_t run = warp->mask >> first;
    const uint64_t bytes = (uint64_t)op->bytes * op->count, address = addresses[first];
    if ((run & (run + 1)) || (address & (bytes - 1)))
        return false;
    const uint32_t count = run == ALL_LANES ? WARP_LANES : (uint32_t)__builtin_popcount(run);
    uint64_t step = bytes;
    if (!has_step(addresses, first, count, step)) {
        step = 0;
        if ((op->option & ACCESS_WRITES) || !has_step(addresses, first, count, 0))
            return false;
    }
    const uint64_t extent = step ? bytes * count : bytes;
    uint8_t *host = find_range(warp, op, address, extent);
    if (!host)
        return false;
    note_access(warp, op, address, extent);
    *pattern = (struct access_pattern){
        .host = host, .first = first, .count = count, .step = (uint32_t)step};
    return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

enum { CACHE_LINE = 64 };

static inline bool is_row(const struct warp *warp, const struct micro *op)
{
    const uint32_t power = (uint32_t)__builtin_ctz(op->bytes);
    const void *addresses = slot(warp, op->a);
    return op->width == 4 ? !differences_32(addresses, power) : !differences(addresses, power);
}

/* 0: all lanes have the same address. */
static inline uint64_t row_is_spread(const struct warp *warp, const struct micro *op)
{
    const uint32_t *narrow = slot(warp, op->a);
    const uint64_t *wide = slot(warp, op->a);
    uint64_t differs = 0;
    if (op->width == 4)
        for (uint32_t l = 0; l < WARP_LANES; l++)
            differs |= narrow[l] ^ narrow[0];
    else
        for (uint32_t l = 0; l < WARP_LANES; l++)
            differs |= wide[l] ^ wide[0];
    return differs;
}

#define FILL(type)                                                                                 \
    do {                                                                                           \
        type value, *all = lanes;                                                                  \
        memcpy(&value, host, sizeof value);                                                        \
        for (uint32_t l = 0; l < WARP_LANES; l++)                                                  \
            all[l] = value;                                                                        \
    } while (0)

/* One place that every lane loads from. */
INLINED bool load_same(struct warp *warp, const struct micro *op, uint64_t address)
{
    void *lanes = slot(warp, op->d);
    const uint8_t *host = find_range(warp, op, address, op->bytes);
    if (!host)
        return false;
    note_access(warp, op, address, op->bytes);
    if (op->bytes == 4)
        FILL(uint32_t);
    else if (op->bytes == 8)
        FILL(uint64_t);
    else
        FILL(uint16_t);
    return true;
}

static inline void copy_row(void *to, const void *from, uint32_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, (size_t)4 * WARP_LANES);
    else if (bytes == 8)
        memcpy(to, from, (size_t)8 * WARP_LANES);
    else
        memcpy(to, from, (size_t)2 * WARP_LANES);
}

/* Runs the access, whose lanes are a row at the address. False: it may not. */
INLINED bool run_row(struct warp *warp, const struct micro *op, uint64_t address)
{
    const uint64_t extent = (uint64_t)op->bytes * WARP_LANES;
    uint8_t *host = find_range(warp, op, address, extent), *lanes = slot(warp, op->d);
    if (!host)
        return false;
    note_access(warp, op, address, extent);
    if (op->option & ACCESS_WRITES) {
        copy_row(host, lanes, op->bytes);
        return true;
    }
    copy_row(lanes, host, op->bytes);
    if (op->space == PTX_SPACE_GLOBAL || op->space == PTX_SPACE_GENERIC) {
        __builtin_prefetch(host + extent); /* the next warp most often wants what comes next */
        __builtin_prefetch(host + extent + CACHE_LINE);
    }
    return true;
}

INLINED uint64_t address_of(const struct warp *warp, const struct micro *op, uint32_t lane)
{
    const uint32_t *narrow = slot(warp, op->a);
    const uint64_t *wide = slot(warp, op->a);
    return op->width == 4 ? (uint32_t)(narrow[lane] + (uint64_t)op->imm)
                          : wide[lane] + (uint64_t)op->imm;
}

WIDE_VECTORS bool space_row(struct warp *warp, const struct micro *op)
{
    const uint64_t extent = (uint64_t)op->bytes * WARP_LANES, address = address_of(warp, op, 0);
    if (warp->mask != ALL_LANES || address & (op->bytes - 1u))
        return false;
    if (!is_row(warp, op))
        return !(op->option & ACCESS_WRITES) && !row_is_spread(warp, op) &&
               load_same(warp, op, address);
    if (op->width == 4 && address + extent > UINT32_MAX)
        return false;
    return run_row(warp, op, address);
}

WIDE_VECTORS bool space_affine(struct warp *warp, const struct micro *op)
{
    const uint64_t address = address_of(warp, op, 0);
    if (warp->mask != ALL_LANES || !warp->state->consecutive || address & (op->bytes - 1u) ||
        address_of(warp, op, WARP_LANES - 1) - address != (uint64_t)op->bytes * (WARP_LANES - 1))
        return false;
    return run_row(warp, op, address);
}

/* Lanes one behind the other, of a warp whose others wait. */
static bool run_part(struct warp *warp, const struct micro *op)
{
    const uint32_t first = (uint32_t)__builtin_ctz(warp->mask), run = warp->mask >> first;
    const uint32_t last = WARP_LANES - 1 - (uint32_t)__builtin_clz(warp->mask);
    const uint64_t address = address_of(warp, op, first);
    const uint64_t extent = (uint64_t)op->bytes * (last + 1 - first);
    if (run & (run + 1) || address & (op->bytes - 1u) ||
        address_of(warp, op, last) - address != extent - op->bytes)
        return false;
    uint8_t *host = find_range(warp, op, address, extent);
    uint8_t *lanes = (uint8_t *)slot(warp, op->d) + (size_t)first * op->bytes;
    if (!host)
        return false;
    note_access(warp, op, address, extent);
    if (op->option & ACCESS_WRITES)
        memcpy(host, lanes, extent);
    else
        memcpy(lanes, host, extent);
    return true;
}

bool space_affine_part(struct warp *warp, const struct micro *op)
{
    return warp->state->consecutive && run_part(warp, op);
}

WIDE_VECTORS bool space_uniform(struct warp *warp, const struct micro *op)
{
    const uint64_t address = address_of(warp, op, 0);
    return warp->mask == ALL_LANES && warp->state->consecutive && !(address & (op->bytes - 1u)) &&
           load_same(warp, op, address);
}

/* ---- shared memory, for compiled kernels ------------------------------------------------------
 */

/* What lanes [first, last] access; NULL: they may not, or it is no row. */
INLINED uint8_t *shared_row(const struct compiled_call *call, const uint32_t *addresses,
                            uint32_t imm, uint32_t bytes, uint32_t first, uint32_t last)
{
    const uint64_t at = (uint32_t)(addresses[first] + imm),
                   reach = (uint64_t)(last - first) * bytes;
    if (at & (bytes - 1) || addresses[last] - addresses[first] != reach ||
        at + reach + bytes > call->shared_bytes)
        return NULL;
    return call->shared + at;
}

/* Of a mask that is not full, if its lanes lie one behind the other. */
INLINED uint8_t *shared_part(const struct compiled_call *call, const uint32_t *addresses,
                             uint32_t imm, uint32_t bytes, uint32_t mask, size_t *count)
{
    const uint32_t first = (uint32_t)__builtin_ctz(mask), run = mask >> first;
    const uint32_t last = WARP_LANES - 1 - (uint32_t)__builtin_clz(mask);
    *count = last + 1 - first;
    return call->mask != ALL_LANES || run & (run + 1)
               ? NULL
               : shared_row(call, addresses, imm, bytes, first, last);
}

#define SHARED_ROWS(bits)                                                                          \
    static int load_part_##bits(struct compiled_call *call, unsigned pc, const void *at,           \
                                unsigned imm, void *lanes, unsigned mask)                          \
    {                                                                                              \
        size_t count;                                                                              \
        const uint##bits##_t *from = (void *)shared_part(call, at, imm, bits / 8, mask, &count);   \
        uint##bits##_t *to = (uint##bits##_t *)lanes + __builtin_ctz(mask);                        \
        if (!from)                                                                                 \
            return call->affine(call, pc);                                                         \
        for (size_t k = 0; k < count; k++)                                                         \
            to[k] = from[k];                                                                       \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    static int store_part_##bits(struct compiled_call *call, unsigned pc, const void *at,          \
                                 unsigned imm, const void *lanes, unsigned mask)                   \
    {                                                                                              \
        size_t count;                                                                              \
        uint##bits##_t *to = (void *)shared_part(call, at, imm, bits / 8, mask, &count);           \
        const uint##bits##_t *from = (const uint##bits##_t *)lanes + __builtin_ctz(mask);          \
        if (!to)                                                                                   \
            return call->affine(call, pc);                                                         \
        for (size_t k = 0; k < count; k++)                                                         \
            to[k] = from[k];                                                                       \
        ++*call->progress;                                                                         \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    WIDE_VECTORS int shared_load_row_##bits(struct compiled_call *call, unsigned pc,               \
                                            const void *at, unsigned imm, void *lanes,             \
                                            unsigned mask)                                         \
    {                                                                                              \
        if (mask != ALL_LANES)                                                                     \
            return load_part_##bits(call, pc, at, imm, lanes, mask);                               \
        const uint8_t *from = shared_row(call, at, imm, bits / 8, 0, WARP_LANES - 1);              \
        if (!from)                                                                                 \
            return call->affine(call, pc);                                                         \
        memcpy(lanes, from, (size_t)bits / 8 * WARP_LANES);                                        \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    WIDE_VECTORS int shared_store_row_##bits(struct compiled_call *call, unsigned pc,              \
                                             const void *at, unsigned imm, const void *lanes,      \
                                             unsigned mask)                                        \
    {                                                                                              \
        if (mask != ALL_LANES)                                                                     \
            return store_part_##bits(call, pc, at, imm, lanes, mask);                              \
        uint8_t *to = shared_row(call, at, imm, bits / 8, 0, WARP_LANES - 1);                      \
        if (!to)                                                                                   \
            return call->affine(call, pc);                                                         \
        memcpy(to, lanes, (size_t)bits / 8 * WARP_LANES);                                          \
        ++*call->progress;                                                                         \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    WIDE_VECTORS int shared_load_same_##bits(struct compiled_call *call, unsigned pc,              \
                                             unsigned long at, void *lanes, unsigned mask)         \
    {                                                                                              \
        uint##bits##_t *to = lanes;                                                                \
        if (call->mask != ALL_LANES || at & (bits / 8 - 1) || at + bits / 8 > call->shared_bytes)  \
            return call->uniform(call, pc);                                                        \
        const uint##bits##_t value = *(const uint##bits##_t *)(call->shared + at);                 \
        if (mask == ALL_LANES)                                                                     \
            for (uint32_t l = 0; l < WARP_LANES; l++)                                              \
                to[l] = value;                                                                     \
        else                                                                                       \
            for (; mask; mask &= mask - 1)                                                         \
                to[__builtin_ctz(mask)] = value;                                                   \
        return FLOW_NEXT;                                                                          \
    }
SHARED_ROWS(32)
SHARED_ROWS(64)
