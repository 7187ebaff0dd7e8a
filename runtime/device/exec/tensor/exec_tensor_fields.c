/* tensormap.replace and tensormap.cp_fenceproxy (PTX ISA, there): kernels that make their own
 * tensor maps, in the device's form. A map that was all zeros begins as one of bytes with one axis.
 * To replace a field writes all 128 bytes. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_matrix.h"
#include "runtime/device/exec/tensor/tensor_map.h"

enum { PIECE = 64, PIECES = TENSOR_MAP_BYTES / PIECE };

enum field {
    FIELD_ADDRESS,
    FIELD_RANK,
    FIELD_BOX,
    FIELD_SIZE,
    FIELD_STRIDE,
    FIELD_STEP,
    FIELD_TYPE,
    FIELD_SWIZZLE,
    FIELD_ATOM,
    FIELD_FILL,
    FIELD_INTERLEAVE
};

struct field_site {
    struct micro map;
    uint32_t value; /* slot of 64 bits, or of 32 */
    uint8_t field;  /* enum field */
    uint8_t axis;
    bool wide; /* .b64 */
};

/* ---- a map in memory ------------------------------------------------------------------------- */

static int find_map(struct warp *w, const struct micro *place, int lane, uint8_t *pieces[PIECES])
{
    uint8_t *pointers[WARP_LANES];
    struct micro piece = *place;
    int flow = FLOW_NEXT;
    for (int i = 0; i < PIECES && flow == FLOW_NEXT; i++, piece.imm += PIECE) {
        flow = space_resolve(w, &piece, pointers);
        if (flow == FLOW_NEXT)
            pieces[i] = pointers[lane];
    }
    return flow;
}

static void read_map(uint8_t *const pieces[PIECES], uint8_t bytes[TENSOR_MAP_BYTES])
{
    for (size_t i = 0; i < PIECES; i++)
        memcpy(bytes + i * PIECE, pieces[i], PIECE);
}

static void write_map(uint8_t *const pieces[PIECES], const uint8_t bytes[TENSOR_MAP_BYTES])
{
    for (size_t i = 0; i < PIECES; i++)
        memcpy(pieces[i], bytes + i * PIECE, PIECE);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* "Table: tensormap.replace field values", of elemtype. */
static const struct {
    uint8_t type, bytes, packing;
} types[] = {{PTX_U8, 1},
             {PTX_U16, 2},
             {PTX_U32, 4},
             {PTX_S32, 4},
             {PTX_U64, 8},
             {PTX_S64, 8},
             {PTX_F16, 2},
             {PTX_F32, 4},
             {PTX_F32, 4},
             {PTX_F64, 8},
             {PTX_BF16, 2},
             {PTX_TF32, 4},
             {PTX_TF32, 4},
             {PTX_TYPE_OTHER, 1, TENSOR_4_BITS},
             {PTX_TYPE_OTHER, 8, TENSOR_4_PADDED},
             {PTX_TYPE_OTHER, 12, TENSOR_6_PADDED}};
enum { TYPES = sizeof types / sizeof *types };

/* What does not fit into a field leaves 0 there, which no copy takes. */
static uint16_t up_to(uint64_t value, uint16_t most)
{
    return value <= most ? (uint16_t)value : 0;
}

static void set_type(struct tensor_map *map, uint64_t value)
{
    map->type = types[value].type;
    map->element_bytes = types[value].bytes;
    map->packing = types[value].packing;
    map->strides[0] = types[value].bytes;
}

static void set_field(struct tensor_map *map, const struct field_site *site, uint64_t value)
{
    switch ((enum field)site->field) {
    case FIELD_ADDRESS:
        map->base = value;
        break;
    case FIELD_RANK: /* "one less than the desired tensor rank" */
        map->rank = (uint8_t)up_to(value + 1, TENSOR_RANK_MOST);
        break;
    case FIELD_BOX:
        map->box[site->axis] = up_to(value, TENSOR_BOX_MOST);
        break;
    case FIELD_SIZE:
        map->sizes[site->axis] = (uint32_t)value;
        break;
    case FIELD_STRIDE: /* the innermost has none */
        map->strides[site->axis + 1] = value;
        break;
    case FIELD_STEP:
        map->steps[site->axis] = (uint8_t)up_to(value, TENSOR_STEP_MOST);
        break;
    case FIELD_TYPE:
        set_type(map, value);
        break;
    case FIELD_SWIZZLE:
        map->swizzle = (uint8_t)value;
        break;
    case FIELD_ATOM:
        map->atom = (uint8_t)value;
        break;
    case FIELD_FILL:
        map->nan = value != 0;
        break;
    case FIELD_INTERLEAVE:
        map->interleave = (uint8_t)value;
        break;
    }
}

static int replace_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct field_site *site = op->pointer;
    uint8_t *pieces[PIECES], bytes[TENSOR_MAP_BYTES];
    struct tensor_map map;
    const int flow = find_map(w, &site->map, lane, pieces);
    if (flow != FLOW_NEXT)
        return flow;
    read_map(pieces, bytes);
    memcpy(&map, bytes, sizeof map);
    if (map.magic != TENSOR_MAP_MAGIC)
        tensor_map_begin(&map);
    set_field(&map, site,
              site->wide ? ((const uint64_t *)slot(w, site->value))[lane]
                         : ((const uint32_t *)slot(w, site->value))[lane]);
    memcpy(bytes, &map, sizeof map);
    write_map(pieces, bytes);
    return FLOW_NEXT;
}

static int replace(struct warp *w, const struct micro *op)
{
    return access_by_lanes(w, op, replace_lane);
}

/* ---- copies ---------------------------------------------------------------------------------- */

struct map_copy {
    struct micro from, to;
};

static int copy_lane(struct warp *w, const struct micro *op, int lane)
{
    const struct map_copy *site = op->pointer;
    uint8_t *from[PIECES], *to[PIECES], bytes[TENSOR_MAP_BYTES];
    int flow = find_map(w, &site->from, lane, from);
    if (flow == FLOW_NEXT)
        flow = find_map(w, &site->to, lane, to);
    if (flow != FLOW_NEXT)
        return flow;
    read_map(from, bytes);
    write_map(to, bytes);
    return FLOW_NEXT;
}

static int copy_map(struct warp *w, const struct micro *op)
{
    return access_by_lanes(w, op, copy_lane);
}

/* ---- decoding -------------------------------------------------------------------------------- */

static void place_map(struct decoder *decoder, struct micro *op, const struct ptx_operand *address,
                      uint8_t space, bool writes)
{
    access_part(decoder, op, address, space, PIECE);
    op->option |= writes ? ACCESS_WRITES : 0;
    op->touch = (uint8_t)(1u << (writes ? DEVICE_TRACE_WRITE : DEVICE_TRACE_READ));
}

static const struct {
    const char *word;
    uint8_t field, axes; /* axes: 0: the field has none */
    uint64_t values;     /* that an immediate may have; 0: no immediate is asked for */
} fields[] = {{".global_address.", FIELD_ADDRESS, 0, 0},
              {".rank.", FIELD_RANK, 0, 0},
              {".box_dim.", FIELD_BOX, TENSOR_RANK_MOST, 0},
              {".global_dim.", FIELD_SIZE, TENSOR_RANK_MOST, 0},
              {".global_stride.", FIELD_STRIDE, TENSOR_RANK_MOST - 1, 0},
              {".element_stride.", FIELD_STEP, TENSOR_RANK_MOST, 0},
              {".elemtype.", FIELD_TYPE, 0, TYPES},
              {".swizzle_mode.", FIELD_SWIZZLE, 0, TENSOR_SWIZZLES},
              {".fill_mode.", FIELD_FILL, 0, 2},
              {".interleave_layout.", FIELD_INTERLEAVE, 0, TENSOR_SLICES_32 + 1},
              {".swizzle_atomicity.", FIELD_ATOM, 0, TENSOR_ATOM_64 + 1}};

/* Finds field, axis and value. */
static bool read_field(struct decoder *decoder, const struct ptx_instruction *i,
                       struct field_site *site)
{
    size_t k = 0;
    while (k < sizeof fields / sizeof *fields && !strstr(i->mnemonic, fields[k].word))
        k++;
    if (k == sizeof fields / sizeof *fields || !strstr(i->mnemonic, ".replace.tile."))
        return false;
    const uint32_t operands = fields[k].axes ? 3 : 2;
    if (i->operand_count != operands)
        return false;
    const struct ptx_operand *axis = &i->operands[1], *value = &i->operands[operands - 1];
    if (fields[k].axes &&
        (axis->kind != PTX_OPERAND_IMMEDIATE || (uint64_t)axis->imm >= fields[k].axes))
        return false;
    if (fields[k].values &&
        (value->kind != PTX_OPERAND_IMMEDIATE || (uint64_t)value->imm >= fields[k].values))
        return false;
    site->field = fields[k].field;
    if (site->field == FIELD_ATOM && value->imm == TENSOR_ATOM_32_FLIPPED)
        return false; /* no section says in words which lines it flips */
    site->axis = fields[k].axes ? (uint8_t)axis->imm : 0;
    site->wide = strstr(i->mnemonic, ".b64") != NULL;
    site->value = decoder_source(decoder, value, site->wide ? 64 : 32);
    return true;
}

static void decode_copy(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct map_copy *site = decoder_keep(decoder, sizeof *site);
    if (!site || i->operand_count != 3 || i->operands[2].kind != PTX_OPERAND_IMMEDIATE ||
        i->operands[2].imm != TENSOR_MAP_BYTES) {
        decoder_fail(decoder);
        return;
    }
    place_map(decoder, &site->to, &i->operands[0], PTX_SPACE_GLOBAL, true);
    place_map(decoder, &site->from, &i->operands[1], PTX_SPACE_SHARED, false);
    matrix_decode_sync(decoder);
    decoder_emit(decoder, copy_map)->pointer = site;
}

void decode_tensormap(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!strncmp(i->mnemonic, "tensormap.cp_fenceproxy.", strlen("tensormap.cp_fenceproxy."))) {
        decode_copy(decoder, i);
        return;
    }
    struct field_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || !read_field(decoder, i, site)) {
        decoder_fail(decoder);
        return;
    }
    place_map(decoder, &site->map, &i->operands[0], i->space, true);
    decoder_emit(decoder, replace)->pointer = site;
}
