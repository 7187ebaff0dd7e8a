/* suld, sust and sured (PTX ISA section 9.7.11). Unformatted accesses (.b) count the first
 * coordinate in bytes and move bytes; formatted ones (.p) count texels and convert. */
#include "runtime/device/exec/texture/exec_texture.h"
#include "runtime/device/exec/texture/texel.h"

enum boundary { BOUNDARY_TRAP, BOUNDARY_CLAMP, BOUNDARY_ZERO };
enum reduction { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR };

struct surface_site {
    struct micro access;
    struct texture_place place;
    uint32_t values[4]; /* slots */
    uint8_t value_bytes[4];
    uint8_t boundary;   /* enum boundary */
    uint8_t reduction;  /* enum reduction */
    bool formatted;     /* .p */
    bool number_signed; /* sured */
};

/* Cubes are written as layers, six for each. */
static bool fits(const struct texture_place *place, const struct exec_texture *surface)
{
    if (surface->shape == EXEC_SHAPE_CUBE)
        return place->shape == EXEC_SHAPE_2D && place->layered;
    return place->shape == surface->shape && place->layered == surface->layered;
}

/* ---- Where a lane accesses ---- */

static int64_t index_at(struct warp *w, uint32_t at, int lane)
{
    return ((const int32_t *)slot(w, at))[lane];
}

/* An index below `count`; false: outside. Then it is the nearest one. */
static bool within(int64_t *index, int64_t count)
{
    if (*index >= 0 && *index < count)
        return true;
    *index = *index < 0 ? 0 : count - 1;
    return false;
}

/* Bytes of one lane's access, at least 1. False: outside; the address is then the nearest inside.
 */
static bool address_of(struct warp *w, const struct surface_site *site,
                       const struct exec_texture *surface, uint32_t bytes, int lane,
                       uint64_t *address)
{
    const struct exec_level *level = &surface->levels[0];
    const struct texture_place *place = &site->place;
    int64_t row_bytes = (int64_t)level->width * texel_bytes(surface);
    int64_t x = index_at(w, place->coordinates[0], lane), y = 0, z = 0;
    bool inside = true;
    if (site->formatted)
        x *= texel_bytes(surface);
    if (x < 0 || x + bytes > row_bytes) {
        inside = false;
        x = x < 0 || row_bytes < bytes ? 0 : row_bytes - bytes;
    }
    if (place->dimensions > 1) {
        y = index_at(w, place->coordinates[1], lane);
        inside &= within(&y, level->height);
    }
    if (place->dimensions > 2 || place->layered) {
        z = place->layered ? (int64_t)((const uint32_t *)slot(w, place->layer))[lane]
                           : index_at(w, place->coordinates[2], lane);
        inside &= within(&z, level->depth);
    }
    *address = level->base + (uint64_t)z * level->slice + (uint64_t)y * level->pitch + (uint64_t)x;
    return inside;
}

/* Fills in pointers of the lanes that access memory; *lanes says which. */
static int resolve(struct warp *w, const struct micro *op, const struct surface_site *site,
                   const struct exec_texture *surface, const struct micro *access,
                   uint8_t **pointers, uint32_t *lanes)
{
    uint64_t addresses[WARP_LANES] = {0};
    uint32_t mask = w->mask, outside = 0;
    if (!fits(&site->place, surface))
        return fault_raise(w, op, mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, 0);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (!address_of(w, site, surface, (uint32_t)access->bytes * access->count, l,
                        &addresses[l]))
            outside |= 1u << l;
    }
    if (outside && site->boundary == BOUNDARY_TRAP)
        return fault_raise(w, op, outside, EXEC_FAULT_SURFACE, 0);
    *lanes = site->boundary == BOUNDARY_ZERO ? mask & ~outside : mask;
    w->mask = *lanes;
    int flow = *lanes ? space_resolve_at(w, access, addresses, pointers) : FLOW_NEXT;
    w->mask = mask;
    return flow;
}

/* ---- Loads and stores ---- */

static uint8_t *value_at(struct warp *w, const struct surface_site *site, uint32_t k, int lane)
{
    return (uint8_t *)slot(w, site->values[k]) + (size_t)lane * site->value_bytes[k];
}

static int load_one(struct warp *w, const struct micro *op, const struct exec_texture *surface)
{
    const struct surface_site *site = op->pointer;
    const struct micro *access = &site->access;
    uint8_t *pointers[WARP_LANES];
    uint32_t lanes = 0;
    int flow = resolve(w, op, site, surface, access, pointers, &lanes);
    for (uint32_t m = flow == FLOW_NEXT ? w->mask : 0; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        for (uint32_t k = 0; k < access->count; k++) {
            memset(value_at(w, site, k, l), 0, site->value_bytes[k]);
            if (lanes >> l & 1)
                memcpy(value_at(w, site, k, l), pointers[l] + (size_t)k * access->bytes,
                       access->bytes);
        }
    }
    return flow;
}

static int store_bytes(struct warp *w, const struct micro *op, const struct exec_texture *surface)
{
    const struct surface_site *site = op->pointer;
    const struct micro *access = &site->access;
    uint8_t *pointers[WARP_LANES];
    uint32_t lanes = 0;
    int flow = resolve(w, op, site, surface, access, pointers, &lanes);
    for (uint32_t m = flow == FLOW_NEXT ? lanes : 0; m; m &= m - 1)
        for (uint32_t k = 0; k < access->count; k++)
            memcpy(pointers[__builtin_ctz(m)] + (size_t)k * access->bytes,
                   value_at(w, site, k, __builtin_ctz(m)), access->bytes);
    return flow;
}

/* "Source elements that do not occur in the surface sample are ignored. Surface sample components
 * that do not occur in the source vector will be written with an unpredictable value": here zero.
 */
static int store_texels(struct warp *w, const struct micro *op, const struct exec_texture *surface)
{
    const struct surface_site *site = op->pointer;
    struct micro access = site->access;
    uint8_t *pointers[WARP_LANES];
    uint32_t lanes = 0;
    access.bytes = (uint8_t)texel_bytes(surface);
    access.count = 1;
    int flow = resolve(w, op, site, surface, &access, pointers, &lanes);
    for (uint32_t m = flow == FLOW_NEXT ? lanes : 0; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        for (uint32_t c = 0; c < surface->channels; c++) {
            uint32_t value = 0;
            if (c < site->access.count)
                memcpy(&value, value_at(w, site, c, l), sizeof value);
            texel_store(surface, pointers[l], c, value);
        }
    }
    return flow;
}

/* ---- Reductions ---- */

static bool is_less(uint64_t a, uint64_t b, uint32_t bytes, bool number_signed)
{
    if (!number_signed)
        return a < b;
    return bytes == 4 ? (int32_t)a < (int32_t)b : (int64_t)a < (int64_t)b;
}

static uint64_t reduced(const struct surface_site *site, uint64_t old, uint64_t value,
                        uint32_t bytes)
{
    switch (site->reduction) {
    case REDUCE_ADD:
        return old + value;
    case REDUCE_AND:
        return old & value;
    case REDUCE_OR:
        return old | value;
    case REDUCE_MIN:
        return is_less(value, old, bytes, site->number_signed) ? value : old;
    default:
        return is_less(old, value, bytes, site->number_signed) ? value : old;
    }
}

#define REDUCE(bits)                                                                               \
    static void reduce_##bits(const struct surface_site *site, uint8_t *pointer, uint64_t value,   \
                              uint64_t *progress)                                                  \
    {                                                                                              \
        uint##bits##_t *p = (uint##bits##_t *)(void *)pointer, wanted;                             \
        uint##bits##_t old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                 \
        do                                                                                         \
            wanted = (uint##bits##_t)reduced(site, old, value, sizeof old);                        \
        while (!__atomic_compare_exchange_n(p, &old, wanted, false, __ATOMIC_SEQ_CST,              \
                                            __ATOMIC_SEQ_CST));                                    \
        *progress += old != wanted;                                                                \
    }
REDUCE(32)
REDUCE(64)

static int reduce_one(struct warp *w, const struct micro *op, const struct exec_texture *surface)
{
    const struct surface_site *site = op->pointer;
    uint8_t *pointers[WARP_LANES];
    uint32_t lanes = 0;
    int flow = resolve(w, op, site, surface, &site->access, pointers, &lanes);
    for (uint32_t m = flow == FLOW_NEXT ? lanes : 0; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t value = 0, *progress = &w->state->progress;
        memcpy(&value, value_at(w, site, 0, l), site->access.bytes);
        if (site->access.bytes == 4)
            reduce_32(site, pointers[l], value, progress);
        else
            reduce_64(site, pointers[l], value, progress);
    }
    return flow;
}

/* ---- Decoding ---- */

#define ON_LANES(name, run)                                                                        \
    static int name(struct warp *w, const struct micro *op)                                        \
    {                                                                                              \
        const struct surface_site *site = op->pointer;                                             \
        return texture_lanes(w, op, site->place.handle, w->state->launch.memory.find_surface,      \
                             run);                                                                 \
    }
ON_LANES(load, load_one)
ON_LANES(store, store_bytes)
ON_LANES(store_formatted, store_texels)
ON_LANES(reduce, reduce_one)

static bool read_boundary(const struct ptx_instruction *i, struct surface_site *site)
{
    static const char *const names[] = {"trap", "clamp", "zero"};
    for (uint8_t k = 0; k < 3; k++)
        if (texture_says(i, names[k])) {
            site->boundary = k;
            return true;
        }
    return false; /* "If no clamp value is specified, .trap" is for sured alone */
}

static uint8_t bytes_of(uint8_t type)
{
    switch (type) {
    case PTX_B8:
        return 1;
    case PTX_B16:
        return 2;
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
        return 4;
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
        return 8;
    default:
        return 0;
    }
}

static struct surface_site *site_create(struct decoder *decoder, const struct ptx_instruction *i,
                                        const struct ptx_operand *address)
{
    struct surface_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || i->operand_count != 2 || !read_boundary(i, site) || !bytes_of(i->type) ||
        !texture_place(decoder, i, address, false, &site->place))
        return NULL;
    site->formatted = texture_says(i, "p");
    site->access.instruction = decoder->instruction_index;
    site->access.space = PTX_SPACE_GLOBAL;
    site->access.width = 8;
    site->access.option = ACCESS_RECORDED;
    site->access.bytes = bytes_of(i->type);
    site->access.count = i->vector ? i->vector : 1;
    return site->access.count <= 4 && site->access.bytes * site->access.count <= 16 ? site : NULL;
}

/* "{a, b}", or one register. */
static bool read_values(struct decoder *decoder, const struct ptx_operand *values, bool loads,
                        struct surface_site *site)
{
    const bool vector = values->kind == PTX_OPERAND_VECTOR;
    if ((vector ? values->count : 1) != site->access.count)
        return false;
    for (uint32_t k = 0; k < site->access.count; k++) {
        const struct ptx_operand *value = vector ? &values->elements[k] : values;
        uint32_t bits = 0, wanted = site->access.bytes < 2 ? 16 : site->access.bytes * 8u;
        site->values[k] = loads ? decoder_any_destination(decoder, value, wanted, &bits)
                                : decoder_any_source(decoder, value, wanted, &bits);
        site->value_bytes[k] = (uint8_t)(bits / 8);
        if (site->value_bytes[k] < site->access.bytes)
            return false;
    }
    return true;
}

void decode_suld(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct surface_site *site = site_create(decoder, i, &i->operands[1]);
    if (!site || site->formatted || !read_values(decoder, &i->operands[0], true, site)) {
        decoder_fail(decoder);
        return;
    }
    site->access.touch = 1u << DEVICE_TRACE_READ;
    decoder_emit(decoder, load)->pointer = site;
}

void decode_sust(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct surface_site *site = site_create(decoder, i, &i->operands[0]);
    if (!site || !read_values(decoder, &i->operands[1], false, site) ||
        (site->formatted && site->access.bytes != 4)) {
        decoder_fail(decoder);
        return;
    }
    site->access.option |= ACCESS_WRITES;
    site->access.touch = 1u << DEVICE_TRACE_WRITE;
    decoder_emit(decoder, site->formatted ? store_formatted : store)->pointer = site;
}

static bool read_reduction(const struct ptx_instruction *i, struct surface_site *site)
{
    static const char *const names[] = {"add", "min", "max", "and", "or"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (texture_says(i, names[k])) {
            site->reduction = (uint8_t)k;
            return true;
        }
    return false;
}

void decode_sured(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct surface_site *site = site_create(decoder, i, &i->operands[0]);
    if (!site || !read_reduction(i, site) || site->access.count != 1 || site->access.bytes < 4 ||
        !read_values(decoder, &i->operands[1], false, site)) {
        decoder_fail(decoder);
        return;
    }
    site->number_signed = i->type == PTX_S32 || i->type == PTX_S64;
    site->access.option |= ACCESS_WRITES | ACCESS_UPDATES;
    site->access.touch = 1u << DEVICE_TRACE_ATOMIC;
    decoder_emit(decoder, reduce)->pointer = site;
}
