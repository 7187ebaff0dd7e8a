/* Data movement between registers: mov with its packing and unpacking, special registers, addresses
 * of variables and functions, cvta, isspacep, mapa (PTX ISA 9.7.9, section 10). */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_lowering.h"

#include <time.h>

/* ---- mov ----------------------------------------------------------------------------------- */

#define MOVE(bits)                                                                                 \
    static int move_##bits(struct warp *w, const struct micro *op)                                 \
    {                                                                                              \
        uint##bits##_t *d = slot(w, op->d);                                                        \
        const uint##bits##_t *a = slot(w, op->a);                                                  \
        LANES(w, d[l] = a[l]);                                                                     \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    LOWERING(move_##bits, LOWERING_LANES, "uint" #bits "_t", "uint" #bits "_t", NULL, NULL, "a")
MOVE(16)
MOVE(32)
MOVE(64)

static int move_128(struct warp *w, const struct micro *op)
{
    uint8_t *d = slot(w, op->d);
    const uint8_t *a = slot(w, op->a);
    LANES(w, memmove(d + 16 * l, a + 16 * l, 16));
    return FLOW_NEXT;
}

static int move_predicate(struct warp *w, const struct micro *op)
{
    slot_set_predicate(w, op->d, *(uint32_t *)slot(w, op->a));
    return FLOW_NEXT;
}

LOWERING(move_predicate, LOWERING_PREDICATE, NULL, NULL, NULL, NULL, "a")

static micro_run *move_of(uint32_t bits)
{
    switch (bits) {
    case 1:
        return move_predicate;
    case 16:
        return move_16;
    case 32:
        return move_32;
    case 64:
        return move_64;
    case 128:
        return move_128;
    default:
        return NULL;
    }
}

/* {a, b, ...} -> d: op->slots lists op->count slots of op->width bytes each. */
static int pack(struct warp *w, const struct micro *op)
{
    uint8_t *d = slot(w, op->d);
    uint32_t part = op->width, whole = part * op->count;
    uint8_t packed[WARP_LANES][16];
    for (uint32_t k = 0; k < op->count; k++) {
        const uint8_t *a = slot(w, op->slots[k]);
        for (int l = 0; l < WARP_LANES; l++)
            memcpy(&packed[l][k * part], a + (size_t)l * op->width2, part);
    }
    LANES(w, memcpy(d + (size_t)l * whole, packed[l], whole));
    return FLOW_NEXT;
}

static int unpack(struct warp *w, const struct micro *op)
{
    uint32_t part = op->width, whole = part * op->count;
    uint8_t packed[WARP_LANES][16];
    const uint8_t *a = slot(w, op->a);
    for (int l = 0; l < WARP_LANES; l++)
        memcpy(packed[l], a + (size_t)l * whole, whole);
    for (uint32_t k = 0; k < op->count; k++) {
        uint8_t *d = slot(w, op->slots[k]);
        uint32_t stride = op->width2;
        LANES(w, {
            memset(d + (size_t)l * stride, 0, stride);
            memcpy(d + (size_t)l * stride, &packed[l][k * part], part);
        });
    }
    return FLOW_NEXT;
}

/* b16 {b8, b8}: bytes live in 16-bit slots. */
static void decode_vector_mov(struct decoder *decoder, const struct ptx_instruction *i, bool packs,
                              uint32_t bits)
{
    const struct ptx_operand *vector = &i->operands[packs ? 1 : 0];
    uint32_t count = vector->count;
    uint32_t *slots = decoder_keep(decoder, (count + 1) * sizeof *slots);
    if (!slots || count < 2 || count > 16 || bits % count || bits / count < 8 || bits > 128) {
        decoder_fail(decoder);
        return;
    }
    uint32_t part = bits / count;
    for (uint32_t k = 0; k < count; k++)
        slots[k] = packs ? decoder_source(decoder, &vector->elements[k], part)
                         : decoder_destination(decoder, &vector->elements[k], part);
    uint32_t whole = packs ? decoder_destination(decoder, &i->operands[0], bits)
                           : decoder_source(decoder, &i->operands[1], bits);
    struct micro *op = decoder_emit(decoder, packs ? pack : unpack);
    op->d = op->a = whole;
    op->slots = slots;
    op->count = (uint8_t)count;
    op->width = (uint8_t)(part / 8);
    op->width2 = (uint8_t)(decoder_slot_bits(part) / 8);
}

static void emit_halves(struct decoder *decoder, micro_run *run, uint32_t whole,
                        const uint32_t parts[2])
{
    uint32_t *slots = decoder_keep(decoder, 2 * sizeof *slots);
    if (!slots)
        return;
    memcpy(slots, parts, 2 * sizeof *slots);
    struct micro *op = decoder_emit(decoder, run);
    op->d = op->a = whole;
    op->slots = slots;
    op->count = 2;
    op->width = op->width2 = 4;
}

void decode_split(struct decoder *decoder, uint32_t whole, const uint32_t parts[2])
{
    emit_halves(decoder, unpack, whole, parts);
}

void decode_join(struct decoder *decoder, const uint32_t parts[2], uint32_t whole)
{
    emit_halves(decoder, pack, whole, parts);
}

void decode_mov(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    if (i->operands[1].kind == PTX_OPERAND_VECTOR) {
        decode_vector_mov(decoder, i, true, bits);
        return;
    }
    if (i->operands[0].kind == PTX_OPERAND_VECTOR) {
        decode_vector_mov(decoder, i, false, bits);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits);
    micro_run *run = move_of(decoder_slot_bits(bits));
    if (!run) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, run);
    op->d = d;
    op->a = a;
}

/* ---- special registers --------------------------------------------------------------------- */

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t wall_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Cycles of a clock of 1.755 GHz; never the same twice in a row. */
static uint64_t cycles(struct warp *w)
{
    w->strong = true; /* who watches the clock waits */
    return (now() - w->state->started) * 1755 / 1000 + w->state->warp_instructions;
}

/* Cooperative groups find their workspace through %envreg1, its upper word, and %envreg2. */
static uint64_t grid_workspace_word(const struct warp *w, uint32_t word)
{
    uint64_t address = w->state->launch.grid_workspace;
    return word == 1 ? address >> 32 : word == 2 ? (uint32_t)address : 0;
}

static uint64_t cluster_register(const struct warp *w, uint8_t special)
{
    const struct exec_launch *launch = &w->state->launch;
    uint32_t axis, rank = w->block->cluster_rank, place[3];
    uint32_t cx = launch->cluster[0], cy = launch->cluster[1];
    place[0] = rank % cx;
    place[1] = rank / cx % cy;
    place[2] = rank / cx / cy;
    if (special >= PTX_SREG_CLUSTERID_X && special <= PTX_SREG_CLUSTERID_Z) {
        axis = special - PTX_SREG_CLUSTERID_X;
        return w->block->id[axis] / launch->cluster[axis];
    }
    if (special >= PTX_SREG_NCLUSTERID_X && special <= PTX_SREG_NCLUSTERID_Z) {
        axis = special - PTX_SREG_NCLUSTERID_X;
        return launch->grid[axis] / launch->cluster[axis];
    }
    if (special >= PTX_SREG_CLUSTER_CTAID_X && special <= PTX_SREG_CLUSTER_CTAID_Z)
        return place[special - PTX_SREG_CLUSTER_CTAID_X];
    if (special >= PTX_SREG_CLUSTER_NCTAID_X && special <= PTX_SREG_CLUSTER_NCTAID_Z)
        return launch->cluster[special - PTX_SREG_CLUSTER_NCTAID_X];
    if (special == PTX_SREG_CLUSTER_CTARANK)
        return rank;
    if (special == PTX_SREG_CLUSTER_NCTARANK)
        return w->state->cluster_size;
    return w->state->cluster_size > 1; /* %is_explicit_cluster */
}

/* Values that all lanes share. */
static uint64_t uniform_register(struct warp *w, uint8_t special)
{
    const struct exec_state *state = w->state;
    const struct exec_launch *launch = &state->launch;
    if (special >= PTX_SREG_NTID_X && special <= PTX_SREG_NTID_Z)
        return launch->block[special - PTX_SREG_NTID_X];
    if (special >= PTX_SREG_CTAID_X && special <= PTX_SREG_CTAID_Z)
        return w->block->id[special - PTX_SREG_CTAID_X];
    if (special >= PTX_SREG_NCTAID_X && special <= PTX_SREG_NCTAID_Z)
        return launch->grid[special - PTX_SREG_NCTAID_X];
    if (special >= PTX_SREG_CLUSTERID_X && special <= PTX_SREG_IS_EXPLICIT_CLUSTER)
        return cluster_register(w, special);
    if (special >= PTX_SREG_ENVREG_0 && special <= PTX_SREG_ENVREG_31)
        return grid_workspace_word(w, special - PTX_SREG_ENVREG_0);
    switch (special) {
    case PTX_SREG_WARPID:
        return w->index;
    case PTX_SREG_NWARPID:
        return 64;
    case PTX_SREG_SMID:
        return w->block->linear % 132;
    case PTX_SREG_NSMID:
        return 132;
    case PTX_SREG_GRIDID:
        return launch->grid_id;
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK64:
        return cycles(w);
    case PTX_SREG_CLOCK_HI:
        return cycles(w) >> 32;
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO:
        w->strong = true;
        return wall_clock();
    case PTX_SREG_GLOBALTIMER_HI:
        return wall_clock() >> 32;
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared;
    case PTX_SREG_TOTAL_SMEM_SIZE:
    case PTX_SREG_AGGR_SMEM_SIZE:
        return (state->shared_bytes + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    default:
        return 0; /* performance counters count nothing here */
    }
}

static uint32_t lane_register(const struct warp *w, uint8_t special, int l)
{
    uint32_t bit = 1u << l;
    switch (special) {
    case PTX_SREG_TID_X:
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z:
        return w->tid[special - PTX_SREG_TID_X][l];
    case PTX_SREG_LANEID:
        return (uint32_t)l;
    case PTX_SREG_LANEMASK_EQ:
        return bit;
    case PTX_SREG_LANEMASK_LE:
        return bit | (bit - 1);
    case PTX_SREG_LANEMASK_LT:
        return bit - 1;
    case PTX_SREG_LANEMASK_GE:
        return ~(bit - 1);
    default: /* PTX_SREG_LANEMASK_GT */
        return ~(bit | (bit - 1));
    }
}

static bool differs_by_lane(uint8_t special)
{
    return (special >= PTX_SREG_TID_X && special <= PTX_SREG_TID_Z) || special == PTX_SREG_LANEID ||
           (special >= PTX_SREG_LANEMASK_EQ && special <= PTX_SREG_LANEMASK_GT);
}

static int read_special(struct warp *w, const struct micro *op)
{
    uint8_t special = op->kind;
    bool by_lane = differs_by_lane(special);
    uint64_t value = by_lane ? 0 : uniform_register(w, special);
    uint16_t *d16 = slot(w, op->d);
    uint32_t *d32 = slot(w, op->d);
    uint64_t *d64 = slot(w, op->d);
    if (op->width == 2)
        LANES(w, d16[l] = (uint16_t)(by_lane ? lane_register(w, special, l) : value));
    else if (op->width == 4)
        LANES(w, d32[l] = (uint32_t)(by_lane ? lane_register(w, special, l) : value));
    else
        LANES(w, d64[l] = by_lane ? lane_register(w, special, l) : value);
    return FLOW_NEXT;
}

LOWERING(read_special, LOWERING_SPECIAL, NULL, NULL, NULL, NULL, NULL)

const struct lowering_special *lowering_special_of(const struct micro *op)
{
    static const struct lowering_special specials[] = {
        {PTX_SREG_TID_X, 1, true, "THREADS(0)"},     {PTX_SREG_TID_Y, 0, true, "THREADS(1)"},
        {PTX_SREG_TID_Z, 0, true, "THREADS(2)"},     {PTX_SREG_NTID_X, 0, false, "c->shape[0]"},
        {PTX_SREG_NTID_Y, 0, false, "c->shape[1]"},  {PTX_SREG_NTID_Z, 0, false, "c->shape[2]"},
        {PTX_SREG_CTAID_X, 0, false, "c->block[0]"}, {PTX_SREG_CTAID_Y, 0, false, "c->block[1]"},
        {PTX_SREG_CTAID_Z, 0, false, "c->block[2]"}, {PTX_SREG_NCTAID_X, 0, false, "c->grid[0]"},
        {PTX_SREG_NCTAID_Y, 0, false, "c->grid[1]"}, {PTX_SREG_NCTAID_Z, 0, false, "c->grid[2]"}};
    for (size_t k = 0; op->width == 4 && k < sizeof specials / sizeof *specials; k++)
        if (specials[k].special == op->kind)
            return &specials[k];
    return NULL;
}

/* One word of a tuple, or all: %is_explicit_cluster is a predicate. */
static int read_special_predicate(struct warp *w, const struct micro *op)
{
    slot_set_predicate(w, op->d, uniform_register(w, op->kind) ? ALL_LANES : 0);
    return FLOW_NEXT;
}

uint32_t decode_special(struct decoder *decoder, uint8_t special, uint32_t bits)
{
    if (special == PTX_SREG_NONE || special >= PTX_SREG_COUNT ||
        (bits != 1 && bits != 16 && bits != 32 && bits != 64)) {
        decoder_fail(decoder);
        return 0;
    }
    uint32_t d = decoder_temporary(decoder, bits);
    struct micro *op = decoder_emit(decoder, bits == 1 ? read_special_predicate : read_special);
    op->d = d;
    op->kind = special;
    op->width = (uint8_t)(bits / 8);
    return d;
}

/* ---- addresses ----------------------------------------------------------------------------- */

static int frame_address(struct warp *w, const struct micro *op)
{
    uint64_t address = w->frame->local_base + (uint64_t)op->imm;
    uint32_t *d32 = slot(w, op->d);
    uint64_t *d64 = slot(w, op->d);
    if (op->width == 4)
        LANES(w, d32[l] = (uint32_t)address);
    else
        LANES(w, d64[l] = address);
    return FLOW_NEXT;
}

/* Where in the frame's .local memory, or of the kernel's parameters, the variable is. */
static bool frame_offset(const struct decoder *decoder, const struct ptx_variable *variable,
                         uint64_t *offset, bool *kernel_param)
{
    const struct ptx_function *f = decoder->function;
    *kernel_param =
        variable->space == PTX_SPACE_PARAM && f->is_entry && variable->offset < f->param_bytes;
    *offset = variable->offset;
    if (*kernel_param)
        *offset += WINDOW_PARAM;
    else if (variable->space == PTX_SPACE_PARAM)
        *offset += decoder->program->param_start;
    return variable->space == PTX_SPACE_PARAM || variable->space == PTX_SPACE_LOCAL;
}

uint32_t decode_address_of(struct decoder *decoder, const struct ptx_operand *operand,
                           uint32_t bits)
{
    uint64_t address = 0;
    bool kernel_param = false;
    if (operand->kind == PTX_OPERAND_FUNCTION) {
        address = exec_image_function_address(decoder->image, operand->function);
        if (address == 0 || bits < 32)
            decoder_fail(decoder);
        return decoder_constant(decoder, bits, address);
    }
    if (!operand->variable || (bits != 32 && bits != 64)) {
        decoder_fail(decoder);
        return 0;
    }
    if (image_variable(decoder->image, operand->variable, &address))
        return decoder_constant(decoder, bits, address + (uint64_t)operand->imm);
    if (!frame_offset(decoder, operand->variable, &address, &kernel_param)) {
        decoder_fail(decoder);
        return 0;
    }
    if (kernel_param)
        return decoder_constant(decoder, bits, address + (uint64_t)operand->imm);
    uint32_t d = decoder_temporary(decoder, bits);
    struct micro *op = decoder_emit(decoder, frame_address);
    op->d = d;
    op->imm = (int64_t)address + operand->imm;
    op->width = (uint8_t)(bits / 8);
    return d;
}

/* ---- cvta ---------------------------------------------------------------------------------- */

/* Add the window's start, or take it away, when a pointer changes between a space and generic.
 * A generic null pointer stays one only where the space's addresses are generic ones. */
static int convert_address(struct warp *w, const struct micro *op)
{
    uint64_t offset = w->state->launch.memory.window + (uint64_t)op->imm;
    if (op->option)
        offset = 0 - offset;
    const uint32_t *a32 = slot(w, op->a);
    const uint64_t *a64 = slot(w, op->a);
    uint32_t *d32 = slot(w, op->d);
    uint64_t *d64 = slot(w, op->d);
    bool narrow = op->width2 == 4;
    if (op->width == 4)
        LANES(w, d32[l] = (uint32_t)((narrow ? a32[l] : a64[l]) + offset));
    else
        LANES(w, d64[l] = (narrow ? a32[l] : a64[l]) + offset);
    return FLOW_NEXT;
}

LOWERING(convert_address, LOWERING_WINDOW, NULL, NULL, NULL, NULL, NULL)

static int64_t window_of(uint8_t space)
{
    switch (space) {
    case PTX_SPACE_LOCAL:
        return WINDOW_LOCAL;
    case PTX_SPACE_PARAM:
        return 0; /* .param addresses count from the window's start */
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return WINDOW_SHARED;
    default:
        return -1;
    }
}

void decode_cvta(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type), from, to;
    uint32_t a = decoder_any_source(decoder, &i->operands[1], bits, &from);
    uint32_t d = decoder_any_destination(decoder, &i->operands[0], bits, &to);
    int64_t window = window_of(i->space);
    if ((from != 32 && from != 64) || (to != 32 && to != 64)) {
        decoder_fail(decoder);
        return;
    }
    if (window < 0 && from == to) { /* global and const addresses are generic addresses */
        struct micro *op = decoder_emit(decoder, move_of(to));
        op->d = d;
        op->a = a;
        return;
    }
    if (window < 0) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, convert_address);
    op->d = d;
    op->a = a;
    op->imm = window;
    op->option = i->to;
    op->width = (uint8_t)(to / 8);
    op->width2 = (uint8_t)(from / 8);
}

static bool is_in_space(const struct warp *w, uint64_t address, uint8_t space)
{
    uint64_t offset = address - w->state->launch.memory.window;
    const exec_image *image = w->state->launch.image;
    switch (space) {
    case PTX_SPACE_LOCAL:
        return offset < LOCAL_LIMIT;
    case PTX_SPACE_PARAM:
        return offset >= WINDOW_PARAM && offset < WINDOW_SHARED;
    case PTX_SPACE_SHARED:
        return offset >= WINDOW_SHARED && offset < WINDOW_SHARED + WINDOW_CLUSTER;
    case PTX_SPACE_SHARED_CLUSTER:
        return offset >= WINDOW_SHARED && offset < WINDOW_SHARED + WINDOW_SHARED_BYTES;
    case PTX_SPACE_CONST:
        return address - image->const_address < image->module->const_bytes;
    default:
        return offset >= EXEC_WINDOW_BYTES;
    }
}

static int test_space(struct warp *w, const struct micro *op)
{
    const uint32_t *a32 = slot(w, op->a);
    const uint64_t *a64 = slot(w, op->a);
    uint32_t result = 0;
    LANES(w, result |= (uint32_t)is_in_space(w, op->width == 4 ? a32[l] : a64[l], op->space) << l);
    slot_set_predicate(w, op->d, result);
    return FLOW_NEXT;
}

void decode_isspacep(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits;
    uint32_t a = decoder_any_source(decoder, &i->operands[1], 64, &bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 1);
    if (bits != 32 && bits != 64)
        decoder_fail(decoder);
    struct micro *op = decoder_emit(decoder, test_space);
    op->d = d;
    op->a = a;
    op->space = i->space;
    op->width = (uint8_t)(bits / 8);
}

/* ---- clusters ------------------------------------------------------------------------------ */

/* The address of the same variable in another block of the cluster: section 9.7.9.23. */
static int map_address(struct warp *w, const struct micro *op)
{
    uint64_t window = op->option ? w->state->launch.memory.window + WINDOW_SHARED : 0;
    const uint32_t *rank = slot(w, op->b), *a32 = slot(w, op->a);
    const uint64_t *a64 = slot(w, op->a);
    uint32_t *d32 = slot(w, op->d);
    uint64_t *d64 = slot(w, op->d);
    LANES(w, {
        uint64_t offset = (op->width == 4 ? a32[l] : a64[l]) - window;
        uint64_t mapped = window + offset % WINDOW_CLUSTER + (rank[l] + 1ull) * WINDOW_CLUSTER;
        if (op->width == 4)
            d32[l] = (uint32_t)mapped;
        else
            d64[l] = mapped;
    });
    return FLOW_NEXT;
}

void decode_mapa(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits);
    struct micro *op = decoder_emit(decoder, map_address);
    op->d = d;
    op->a = a;
    op->b = b;
    op->width = (uint8_t)(bits / 8);
    op->option = i->space == PTX_SPACE_GENERIC;
}

static int address_rank(struct warp *w, const struct micro *op)
{
    uint64_t window = op->option ? w->state->launch.memory.window + WINDOW_SHARED : 0;
    const uint32_t *a32 = slot(w, op->a);
    const uint64_t *a64 = slot(w, op->a);
    uint32_t *d = slot(w, op->d);
    LANES(w, {
        uint64_t place = ((op->width == 4 ? a32[l] : a64[l]) - window) / WINDOW_CLUSTER;
        d[l] = place ? (uint32_t)place - 1 : w->block->cluster_rank;
    });
    return FLOW_NEXT;
}

void decode_getctarank(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = decoder_emit(decoder, address_rank);
    op->d = d;
    op->a = a;
    op->width = (uint8_t)(bits / 8);
    op->option = i->space == PTX_SPACE_GENERIC;
}
