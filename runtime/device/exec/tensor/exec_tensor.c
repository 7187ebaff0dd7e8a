/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor between global and shared memory, in each
 * mode of PTX ISA 5.5.3 to 5.5.5. Copies are made at once. Elements outside of the tensor are read
 * as zero or NaN, and not written; the mbarrier counts them all the same. Elements of a reduction
 * are updated atomically, each by itself, and have the type that the map says. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_mbarrier.h"
#include "runtime/device/exec/tensor/tensor_map.h"
#include "runtime/device/exec/texture/exec_texture.h"

enum tensor_mode {
    MODE_TILE,
    MODE_ROWS,    /* tile::gather4, tile::scatter4 */
    MODE_PIXELS,  /* im2col, im2col_no_offs */
    MODE_WIDE,    /* im2col::w */
    MODE_WIDE_128 /* im2col::w::128 */
};

struct tensor_site {
    struct micro shared, barrier;
    uint32_t map;                           /* slot of the map's generic address */
    uint32_t coordinates[TENSOR_RANK_MOST]; /* slots of 32 bits */
    uint8_t coordinate_count;
    uint32_t
        offsets[TENSOR_AXES_MOST]; /* slots of 16 bits: im2col's offsets, or wHalo and wOffset */
    uint8_t offset_count;
    uint8_t mode;    /* enum tensor_mode */
    uint32_t blocks; /* slot of the mask of blocks of the cluster that get a load's box */
    uint8_t rank;
    bool loads;     /* into shared memory, counted at the mbarrier */
    bool multicast; /* `blocks` counts; else the addresses say which block */
    bool pairs;     /* .cta_group::2 */
    bool reduces;
    uint8_t operation; /* enum ptx_atomic */
};

/* One lane's copy. */
struct tensor_copy {
    struct warp *warp;
    const struct micro *op;
    const struct tensor_map *map;
    int64_t first[TENSOR_RANK_MOST];   /* of rows: the column, and the four rows */
    int64_t offsets[TENSOR_AXES_MOST]; /* of all pixels: im2col */
    uint8_t mode;                      /* enum tensor_mode */
    uint32_t pixels;                   /* with the halo: im2col */
    uint64_t shared;                   /* address, for the swizzle */
    uint8_t *pointer;                  /* to it */
    int lane;
    bool loads;
    atomic_update *reduce; /* NULL: a copy */
};

static uint8_t *shared_place(const struct tensor_copy *copy, uint64_t offset)
{
    return copy->pointer + tensor_map_shared_place(copy->map, copy->shared, offset);
}

/* `bytes` of an element to shared memory; NULL: zeros. A swizzle turns pieces of 16 bytes. */
static void put(const struct tensor_copy *copy, uint64_t offset, const uint8_t *from,
                uint32_t bytes)
{
    static const uint8_t zeros[2 * TENSOR_PIECE];
    for (uint32_t i = 0; i < bytes; i += TENSOR_PIECE)
        memcpy(shared_place(copy, offset + i), (from ? from : zeros) + i,
               bytes - i < TENSOR_PIECE ? bytes - i : TENSOR_PIECE);
}

/* A NaN is 0x7ff7 in each 16 bits, of values of any type (an H200's). */
static void fill(const struct tensor_copy *copy, uint64_t offset)
{
    static const uint16_t nans[] = {0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7,
                                    0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7, 0x7ff7};
    put(copy, offset, copy->map->nan ? (const uint8_t *)nans : NULL, tensor_map_bytes(copy->map));
}

/* "Discarding the 2-bits of padding data and packing the 6-bits data contiguously": .b6p2x16. */
static void store_six_bits(uint8_t *global, const uint8_t *held)
{
    for (uint32_t i = 0; i < TENSOR_PIECE; i += 4, held += 4, global += 3) {
        const uint32_t bits =
            (held[0] & 63u) | (held[1] & 63u) << 6 | (held[2] & 63u) << 12 | (held[3] & 63u) << 18;
        memcpy(global, &bits, 3);
    }
}

static void store_element(const struct tensor_copy *copy, uint8_t *global, uint64_t offset)
{
    if (copy->map->packing == TENSOR_6_PADDED)
        store_six_bits(global, shared_place(copy, offset));
    else
        for (uint32_t i = 0, bytes = tensor_map_bytes(copy->map); i < bytes; i += TENSOR_PIECE)
            memcpy(global + i, shared_place(copy, offset + i),
                   bytes - i < TENSOR_PIECE ? bytes - i : TENSOR_PIECE);
}

/* Each value of an element by itself. */
static void reduce_element(const struct tensor_copy *copy, uint8_t *global, uint64_t offset)
{
    const uint32_t bytes = copy->map->element_bytes;
    for (uint32_t i = 0; i < tensor_map_bytes(copy->map); i += bytes) {
        uint64_t value = 0;
        memcpy(&value, shared_place(copy, offset + i), bytes);
        atomic_apply(global + i, bytes, copy->reduce, value, 0, &copy->warp->state->progress);
    }
}

static bool copy_element(const struct tensor_copy *copy, uint64_t address, uint64_t offset)
{
    struct exec_state *state = copy->warp->state;
    const uint32_t bytes = tensor_map_bytes(copy->map);
    uint8_t *global = space_generic(copy->warp, copy->lane, address, bytes, !copy->loads);
    if (!global)
        return false;
    if (state->touch)
        touch_record(state->touch,
                     copy->loads    ? DEVICE_TRACE_READ
                     : copy->reduce ? DEVICE_TRACE_ATOMIC
                                    : DEVICE_TRACE_WRITE,
                     address, bytes);
    if (copy->loads)
        put(copy, offset, global, bytes);
    else if (!copy->reduce)
        store_element(copy, global, offset);
    else
        reduce_element(copy, global, offset);
    return true;
}

/* "The type of the elements is that of the tensor map": .and, .or and .xor have none but a width.
 */
static atomic_update *reduction(const struct tensor_site *site, const struct tensor_map *map)
{
    if (map->packing)
        return NULL; /* "doesn't support the types .b4x16, ..." */
    const bool bits = site->operation == PTX_ATOMIC_AND || site->operation == PTX_ATOMIC_OR ||
                      site->operation == PTX_ATOMIC_XOR;
    const uint8_t type = !bits || ptx_type_is_float(map->type) ? map->type
                         : map->element_bytes == 8             ? PTX_B64
                         : map->element_bytes == 4             ? PTX_B32
                                                               : map->type;
    return atomic_update_of(site->operation, type, PTX_SPACE_GLOBAL);
}

/* Where the element at these coordinates lies. False: outside. */
static bool find_element(const struct tensor_map *map, const int64_t *at, uint64_t *address)
{
    bool inside = true;
    *address = map->base;
    for (uint32_t i = 0; i < map->rank; i++) {
        inside &= at[i] >= 0 && at[i] < (int64_t)tensor_map_size(map, i);
        *address += (uint64_t)at[i] * (i ? map->strides[i] : tensor_map_bytes(map));
    }
    return inside;
}

static int copy_place(const struct tensor_copy *copy, const int64_t *at, uint64_t offset)
{
    uint64_t address;
    const bool inside = find_element(copy->map, at, &address);
    if (inside && !copy_element(copy, address, offset))
        return fault_raise(copy->warp, copy->op, 1u << copy->lane, EXEC_FAULT_ILLEGAL_ADDRESS,
                           address);
    if (!inside && copy->loads)
        fill(copy, offset);
    return FLOW_NEXT;
}

/* Elements in the order in which they lie in shared memory from `begin` on, the innermost dimension
 * first. */
static int copy_box(const struct tensor_copy *copy, const int64_t *first, uint64_t begin)
{
    const struct tensor_map *map = copy->map;
    uint32_t at[TENSOR_RANK_MOST] = {0};
    const uint64_t end = begin + tensor_map_box_bytes(map), held = tensor_map_held_bytes(map);
    int flow = FLOW_NEXT;
    for (uint64_t offset = begin; offset < end && flow == FLOW_NEXT; offset += held) {
        int64_t place[TENSOR_RANK_MOST];
        for (uint32_t i = 0; i < map->rank; i++)
            place[i] = first[i] + (int64_t)at[i] * tensor_map_step(map, i);
        flow = copy_place(copy, place, offset);
        for (uint32_t i = 0; i < map->rank && ++at[i] == tensor_map_count(map, i); i++)
            at[i] = 0;
    }
    return flow;
}

/* "Four request coordinates will form four bounding boxes", of one row each. */
static int copy_rows(const struct tensor_copy *copy)
{
    const uint64_t bytes = tensor_map_box_bytes(copy->map);
    int flow = FLOW_NEXT;
    for (uint32_t i = 0; i < TENSOR_ROWS && flow == FLOW_NEXT; i++) {
        const int64_t first[] = {copy->first[0], copy->first[1 + i]};
        flow = copy_box(copy, first, i * bytes);
    }
    return flow;
}

/* One pixel's channels, or its slice. */
static int copy_pixel(const struct tensor_copy *copy, const int64_t *pixel, uint64_t offset)
{
    const struct tensor_map *map = copy->map;
    const uint32_t axis = tensor_map_pixel_axis(map), count = tensor_map_pixel_count(map);
    int64_t at[TENSOR_RANK_MOST];
    int flow = FLOW_NEXT;
    memcpy(at, pixel, sizeof at);
    for (uint32_t i = 0; i < map->rank - 2u; i++)
        at[axis + i] += copy->offsets[i];
    for (uint32_t k = 0; k < count && flow == FLOW_NEXT; k++, at[0]++)
        flow = copy_place(copy, at, offset + (uint64_t)k * tensor_map_held_bytes(map));
    return flow;
}

/* "im2col mode": pixels one after the other, from the first one's place on. Those of the halo
 * (wHalo) are the next. */
static int copy_pixels(const struct tensor_copy *copy)
{
    const struct tensor_map *map = copy->map;
    const uint64_t bytes = (uint64_t)tensor_map_pixel_count(map) * tensor_map_held_bytes(map);
    int64_t at[TENSOR_RANK_MOST];
    int flow = FLOW_NEXT;
    memcpy(at, copy->first, sizeof at);
    for (uint32_t pixel = 0; pixel < copy->pixels && flow == FLOW_NEXT; pixel++) {
        flow = copy_pixel(copy, at, pixel * bytes);
        tensor_map_next_pixel(map, at);
    }
    return flow;
}

static int copy_by_mode(const struct tensor_copy *copy)
{
    switch (copy->mode) {
    case MODE_TILE:
        return copy_box(copy, copy->first, 0);
    case MODE_ROWS:
        return copy_rows(copy);
    default:
        return copy_pixels(copy);
    }
}

/* In shared memory. */
static uint64_t copy_bytes(const struct tensor_copy *copy)
{
    switch (copy->mode) {
    case MODE_TILE:
        return tensor_map_box_bytes(copy->map);
    case MODE_ROWS:
        return TENSOR_ROWS * tensor_map_box_bytes(copy->map);
    default:
        return (uint64_t)copy->pixels * tensor_map_pixel_count(copy->map) *
               tensor_map_held_bytes(copy->map);
    }
}

/* "Equal to amount of data copied in bytes": without what pads elements in shared memory. */
static uint32_t counted_bytes(const struct tensor_copy *copy)
{
    return (uint32_t)(copy_bytes(copy) / tensor_map_held_bytes(copy->map) *
                      tensor_map_bytes(copy->map));
}

enum { BY_ADDRESS = -1 };

/* The addresses of an operand: its own, or the same in another block of the cluster. */
static void shared_addresses(const struct tensor_copy *copy, const struct micro *operand, int block,
                             uint64_t addresses[WARP_LANES])
{
    space_addresses(copy->warp, operand, addresses);
    if (block != BY_ADDRESS)
        addresses[copy->lane] =
            addresses[copy->lane] % WINDOW_CLUSTER + (uint64_t)(block + 1) * WINDOW_CLUSTER;
}

/* Where the box lies in shared memory, if all of it does, and in that of one block. */
static int find_shared(struct tensor_copy *copy, const struct tensor_site *site, int block)
{
    const uint64_t bytes = tensor_map_shared_bytes(copy->map, copy_bytes(copy));
    uint64_t addresses[WARP_LANES];
    uint8_t *first[WARP_LANES], *last[WARP_LANES];
    shared_addresses(copy, &site->shared, block, addresses);
    copy->shared = addresses[copy->lane];
    int flow = space_resolve_at(copy->warp, &site->shared, addresses, first);
    addresses[copy->lane] += bytes > TENSOR_PIECE ? bytes - TENSOR_PIECE : 0;
    if (flow == FLOW_NEXT &&
        addresses[copy->lane] / WINDOW_CLUSTER != copy->shared / WINDOW_CLUSTER)
        flow = fault_raise(copy->warp, copy->op, 1u << copy->lane, EXEC_FAULT_OUT_OF_RANGE,
                           addresses[copy->lane]);
    if (flow == FLOW_NEXT)
        flow = space_resolve_at(copy->warp, &site->shared, addresses, last);
    if (flow == FLOW_NEXT && copy->map->swizzle && copy->shared % TENSOR_SHARED_ALIGNMENT)
        flow = fault_raise(copy->warp, copy->op, 1u << copy->lane, EXEC_FAULT_MISALIGNED_ADDRESS,
                           copy->shared);
    if (flow == FLOW_NEXT)
        copy->pointer = first[copy->lane];
    return flow;
}

/* The block whose mbarrier counts a box of `block`. Of a pair of blocks it may be the other: "the
 * mbarrier signal is sent either to the destination CTA or its peer-CTA based on the parity" of the
 * block that has the mbarrier. */
static int block_of_barrier(const struct tensor_copy *copy, const struct tensor_site *site,
                            int block)
{
    uint64_t addresses[WARP_LANES];
    if (!site->pairs || block == BY_ADDRESS)
        return block;
    space_addresses(copy->warp, &site->barrier, addresses);
    const uint64_t window = addresses[copy->lane] / WINDOW_CLUSTER;
    const uint32_t owner = window ? (uint32_t)window - 1 : copy->warp->block->cluster_rank;
    return (block & ~1) | (int)(owner & 1);
}

/* One block's box, and what its mbarrier counts. */
static int copy_for(struct tensor_copy *copy, const struct tensor_site *site, int block)
{
    uint64_t addresses[WARP_LANES];
    uint8_t *barriers[WARP_LANES];
    int flow = find_shared(copy, site, block);
    if (flow == FLOW_NEXT)
        flow = copy_by_mode(copy);
    if (flow != FLOW_NEXT || !site->loads)
        return flow;
    shared_addresses(copy, &site->barrier, block_of_barrier(copy, site, block), addresses);
    flow = space_resolve_at(copy->warp, &site->barrier, addresses, barriers);
    if (flow == FLOW_NEXT)
        mbarrier_complete(barriers[copy->lane], counted_bytes(copy));
    return flow;
}

/* "The data is copied to the same CTA-relative offset", and so is the signal of the mbarrier, in
 * that block or the other of its pair. */
static int copy_to_blocks(struct tensor_copy *copy, const struct tensor_site *site)
{
    int flow = FLOW_NEXT;
    const uint16_t blocks = ((const uint16_t *)slot(copy->warp, site->blocks))[copy->lane];
    for (int block = 0; blocks >> block && flow == FLOW_NEXT; block++)
        if (blocks >> block & 1)
            flow = copy_for(copy, site, block);
    return flow;
}

/* Whether the map is one for that mode (PTX ISA 5.5.2): "the size of the bounding box in the
 * dimension 1 must be one". */
static bool map_fits(const struct tensor_site *site, const struct tensor_map *map)
{
    static const uint8_t wide[] = {[MODE_TILE] = TENSOR_WIDE_NONE,
                                   [MODE_ROWS] = TENSOR_WIDE_NONE,
                                   [MODE_PIXELS] = TENSOR_WIDE_NONE,
                                   [MODE_WIDE] = TENSOR_WIDE_W,
                                   [MODE_WIDE_128] = TENSOR_WIDE_W128};
    if (map->wide != wide[site->mode] || (map->pixels != 0) != (site->mode >= MODE_PIXELS))
        return false;
    if (map->packing == TENSOR_4_PADDED && !site->loads)
        return false;
    return site->mode == MODE_ROWS ? map->rank == 2 && tensor_map_count(map, 1) == 1
                                   : map->rank == site->coordinate_count;
}

/* wHalo and wOffset. False: a halo of im2col::w::128, of which no section says in words where it
 * lies in shared memory. */
static bool read_wide(const struct tensor_site *site, struct tensor_copy *copy)
{
    const uint32_t halo = (uint32_t)copy->offsets[0];
    copy->offsets[0] = copy->offsets[1];
    copy->offsets[1] = 0;
    copy->pixels =
        site->mode == MODE_WIDE ? copy->map->pixels + halo : (uint32_t)TENSOR_WIDE_PIXELS;
    return site->mode == MODE_WIDE || !halo;
}

/* Boxes begin at a multiple of 16 bytes along the innermost axis. No section says so; H100 and H200
 * take another column for an illegal instruction. Of types with padding, "the first coordinate must
 * be a multiple of 128" values. */
static bool column_is_aligned(const struct tensor_site *site, const struct tensor_copy *copy)
{
    const struct tensor_map *map = copy->map;
    const int64_t values = tensor_map_values(map);
    if (tensor_map_is_interleaved(map))
        return true;
    if (map->packing == TENSOR_PLAIN)
        return site->mode > MODE_ROWS || copy->first[0] * map->element_bytes % TENSOR_PIECE == 0;
    return copy->first[0] % (map->packing == TENSOR_4_BITS ? values * TENSOR_PIECE : 128) == 0;
}

/* The map, which the copy reads where it lies: among the parameters, or where others may write it.
 * A copy of it, since another thread may write over the program's. False: no memory is there. */
static bool map_read(struct warp *w, int lane, uint64_t address, struct tensor_map *map)
{
    struct touch *touch = w->state->touch;
    const void *given = space_generic(w, lane, address, TENSOR_MAP_BYTES, false);
    if (!given)
        return false;
    memcpy(map, given, sizeof *map);
    if (touch && address - w->state->launch.memory.window >= EXEC_WINDOW_BYTES)
        touch_record(touch, DEVICE_TRACE_READ, address, TENSOR_MAP_BYTES);
    return true;
}

/* "Starting coordinates for bounding box must be non-negative", and so must a lower corner be; an
 * upper one "must be non-positive" ("Restriction on Tensor Copy instructions", from shared memory
 * to global). An H200 takes others for an illegal instruction. Of rows no text says it.
 */
static bool may_store(const struct tensor_copy *copy)
{
    const struct tensor_map *map = copy->map;
    const uint32_t starts = copy->mode == MODE_ROWS ? 0 : map->rank;
    bool may = true;
    for (uint32_t i = 0; i < starts; i++)
        may &= copy->first[i] >= 0;
    for (uint32_t i = 0; map->pixels && i < map->rank - 2u; i++)
        may &= map->lower[i] >= 0 && map->upper[i] <= 0;
    return may;
}

static int copy_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct tensor_site *site = op->pointer;
    struct tensor_copy copy = {
        .warp = w, .op = op, .lane = lane, .loads = site->loads, .mode = site->mode};
    const uint64_t address = ((const uint64_t *)slot(w, site->map))[lane];
    struct tensor_map map;
    copy.map = &map;
    if (!map_read(w, lane, address, &map) || !tensor_map_is_valid(&map) || !map_fits(site, &map))
        return fault_raise(w, op, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, address);
    if (site->reduces && !(copy.reduce = reduction(site, &map)))
        return fault_raise(w, op, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, address);
    for (uint32_t i = 0; i < site->coordinate_count; i++)
        copy.first[i] = ((const int32_t *)slot(w, site->coordinates[i]))[lane];
    for (uint32_t i = 0; i < site->offset_count; i++)
        copy.offsets[i] = ((const uint16_t *)slot(w, site->offsets[i]))[lane];
    copy.pixels = map.pixels;
    if (!column_is_aligned(site, &copy) || (!site->loads && !may_store(&copy)))
        return fault_raise(w, op, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, address);
    copy.first[0] /= tensor_map_values(&map);
    if (site->mode >= MODE_WIDE && !read_wide(site, &copy))
        return fault_unsupported(w, op,
                                 "a halo of im2col::w::128 is not supported by the embedded "
                                 "device");
    return site->multicast ? copy_to_blocks(&copy, site) : copy_for(&copy, site, BY_ADDRESS);
}

static int copy_tensor(struct warp *w, const struct micro *op)
{
    return access_by_lanes(w, op, copy_lane);
}

/* ---- Decoding ---- */

static void place_shared(struct decoder *decoder, struct micro *op,
                         const struct ptx_operand *address, uint8_t bytes, bool writes)
{
    access_part(decoder, op, address, PTX_SPACE_SHARED, bytes);
    op->option |= writes ? ACCESS_WRITES : 0;
}

static bool read_coordinates(struct decoder *decoder, const struct ptx_operand *address,
                             struct tensor_site *site)
{
    const struct ptx_operand *at = &address->elements[0];
    if (address->count != 1 || at->kind != PTX_OPERAND_VECTOR || at->count < 1 ||
        at->count > TENSOR_RANK_MOST || !texture_handle(decoder, address, &site->map))
        return false;
    site->coordinate_count = (uint8_t)at->count;
    for (uint32_t i = 0; i < at->count; i++)
        site->coordinates[i] = decoder_source(decoder, &at->elements[i], 32);
    return site->mode != MODE_ROWS || at->count == 1 + TENSOR_ROWS;
}

/* What is behind the mbarrier: the offsets of im2col mode, one for each axis of pixels, or wHalo
 * and wOffset. A store has none. */
static bool read_offsets(struct decoder *decoder, const struct ptx_operand *offsets,
                         struct tensor_site *site)
{
    const uint32_t count = site->mode == MODE_PIXELS ? site->coordinate_count - 2u : 2;
    if (offsets->kind != PTX_OPERAND_VECTOR || site->coordinate_count < 3 ||
        offsets->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        site->offsets[i] = decoder_source(decoder, &offsets->elements[i], 16);
    site->offset_count = (uint8_t)count;
    return true;
}

static uint8_t mode_of(const char *mnemonic)
{
    static const struct {
        const char *word;
        uint8_t mode;
    } modes[] = {{".im2col::w::128", MODE_WIDE_128},
                 {".im2col::w", MODE_WIDE},
                 {".im2col", MODE_PIXELS},
                 {".tile::gather4", MODE_ROWS},
                 {".tile::scatter4", MODE_ROWS}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strstr(mnemonic, modes[i].word))
            return modes[i].mode;
    return MODE_TILE;
}

void decode_bulk_tensor(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct tensor_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || i->operand_count < 2) {
        decoder_fail(decoder);
        return;
    }
    site->loads = i->operands[0].count == 0; /* [shared], [map, {x}], [barrier] */
    const struct ptx_operand *map = &i->operands[site->loads], *shared = &i->operands[!site->loads];
    site->multicast = strstr(i->mnemonic, "multicast") != NULL; /* ..., mask of blocks */
    site->pairs = strstr(i->mnemonic, ".cta_group::2") != NULL;
    site->mode = mode_of(i->mnemonic);
    const uint32_t before =
        site->loads && site->mode >= MODE_PIXELS ? 4 : 3; /* operands of a load */
    site->reduces = i->form == PTX_FORM_CP_REDUCE_ASYNC_BULK_TENSOR;
    site->operation = i->atomic;
    if (site->reduces)
        decoder_order(decoder);
    if ((site->reduces && site->loads) ||
        (site->loads && i->operand_count < before + site->multicast) ||
        (site->multicast && !site->loads) || (site->mode >= MODE_WIDE && !site->loads) ||
        !read_coordinates(decoder, map, site) ||
        (before == 4 && !read_offsets(decoder, &i->operands[3], site))) {
        decoder_fail(decoder);
        return;
    }
    if (site->multicast)
        site->blocks = decoder_source(decoder, &i->operands[before], 16);
    place_shared(decoder, &site->shared, shared, TENSOR_PIECE, site->loads);
    if (site->loads)
        place_shared(decoder, &site->barrier, &i->operands[2], 8, true);
    decoder_emit(decoder, copy_tensor)->pointer = site;
}
