/* What families of instructions are decoded with: slots for values, constants and operands, and
 * micro-operations. See exec_decoder.h. */
#include "runtime/device/exec/exec_decoder.h"
#include "csan/base/array.h"
#include "runtime/device/exec/exec_lowering.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_REGISTER_BYTES = 64 << 20 };

/* ---- memory -------------------------------------------------------------------------------- */

struct kept {
    struct kept *next;
    uint8_t bytes[] __attribute__((aligned(16)));
};

void *decoder_keep(struct decoder *decoder, size_t bytes)
{
    struct kept *kept = calloc(1, sizeof *kept + bytes);
    if (!kept) {
        decoder->out_of_memory = true;
        return NULL;
    }
    kept->next = decoder->program->memory;
    decoder->program->memory = kept;
    return kept->bytes;
}

void decoder_kept_release(void *memory)
{
    for (struct kept *kept = memory, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
}

/* Room for one more element; false when memory is short. */
static bool grow(struct decoder *decoder, void **array, size_t *capacity, size_t needed,
                 size_t element)
{
    if (array_reserve(array, needed, capacity, 64, SIZE_MAX, element))
        return true;
    decoder->out_of_memory = true;
    return false;
}

/* ---- what families call -------------------------------------------------------------------- */

struct micro *decoder_emit(struct decoder *decoder, micro_run *run)
{
    if (!grow(decoder, (void **)&decoder->code, &decoder->code_capacity, decoder->code_count + 1,
              sizeof *decoder->code))
        return &decoder->nowhere;
    struct micro *op = &decoder->code[decoder->code_count++];
    memset(op, 0, sizeof *op);
    op->run = run;
    op->instruction = decoder->instruction_index;
    return op;
}

void decoder_fail(struct decoder *decoder)
{
    decoder->failed = true;
}

void decoder_order(struct decoder *decoder)
{
    decoder->program->ordered = true;
}

uint32_t decoder_slot_bits(uint32_t type_bits)
{
    return type_bits == 8 ? 16 : type_bits;
}

static uint32_t slot_bytes(uint32_t bits)
{
    return bits == 1 ? 4 : bits * WARP_LANES / 8;
}

uint32_t decoder_temporary(struct decoder *decoder, uint32_t bits)
{
    uint32_t bytes = slot_bytes(decoder_slot_bits(bits));
    uint32_t align = bytes < 64 ? 4 : 64;
    uint32_t at = (decoder->register_bytes + align - 1) & ~(align - 1);
    if (at > MAX_REGISTER_BYTES) {
        decoder_fail(decoder);
        return 0;
    }
    decoder->register_bytes = at + bytes;
    return at;
}

static void splat(uint8_t *slot, uint32_t bits, uint64_t value)
{
    if (bits == 1) {
        uint32_t all = value & 1 ? ALL_LANES : 0;
        memcpy(slot, &all, 4);
        return;
    }
    for (int l = 0; l < WARP_LANES; l++) {
        memset(slot + l * (bits / 8), 0, bits / 8);
        memcpy(slot + l * (bits / 8), &value, bits > 64 ? 8 : bits / 8);
    }
}

uint32_t decoder_constant(struct decoder *decoder, uint32_t bits, uint64_t value)
{
    bits = decoder_slot_bits(bits);
    uint8_t wanted[512];
    uint32_t bytes = slot_bytes(bits);
    if (bytes > sizeof wanted) {
        decoder_fail(decoder);
        return 0;
    }
    splat(wanted, bits, value);
    /* The same constant was often used a moment ago. */
    size_t start = decoder->constant_bytes > 8192 ? decoder->constant_bytes - 8192 : 0;
    for (size_t at = start; at + bytes <= decoder->constant_bytes; at += 64)
        if (memcmp(decoder->constants + at, wanted, bytes) == 0)
            return (uint32_t)at | SLOT_CONSTANT;
    size_t room = (bytes + 63) & ~(size_t)63;
    if (decoder->constant_bytes + room > MAX_REGISTER_BYTES) {
        decoder_fail(decoder);
        return 0;
    }
    if (!grow(decoder, (void **)&decoder->constants, &decoder->constant_capacity,
              decoder->constant_bytes + room, 1))
        return 0;
    size_t at = decoder->constant_bytes;
    memset(decoder->constants + at, 0, room);
    memcpy(decoder->constants + at, wanted, bytes);
    decoder->constant_bytes += room;
    return (uint32_t)at | SLOT_CONSTANT;
}

static uint32_t register_bits(const struct decoder *decoder, uint32_t reg)
{
    return decoder_slot_bits(ptx_type_bits(decoder->function->registers[reg].type));
}

static int negate_predicate(struct warp *w, const struct micro *op)
{
    slot_set_predicate(w, op->d, ~*(uint32_t *)slot(w, op->a));
    return FLOW_NEXT;
}

LOWERING(negate_predicate, LOWERING_PREDICATE, NULL, NULL, NULL, NULL, "~a")

static uint32_t register_slot(struct decoder *decoder, const struct ptx_operand *operand)
{
    uint32_t source = decoder->slots[operand->reg];
    if (!operand->negated)
        return source;
    if (register_bits(decoder, operand->reg) != 1)
        decoder_fail(decoder);
    uint32_t negated = decoder_temporary(decoder, 1);
    struct micro *op = decoder_emit(decoder, negate_predicate);
    op->d = negated;
    op->a = source;
    return negated;
}

uint32_t decoder_any_source(struct decoder *decoder, const struct ptx_operand *operand,
                            uint32_t wanted, uint32_t *bits)
{
    *bits = decoder_slot_bits(wanted);
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        *bits = register_bits(decoder, operand->reg);
        if (*bits == 0)
            decoder_fail(decoder);
        return register_slot(decoder, operand);
    case PTX_OPERAND_IMMEDIATE:
        return decoder_constant(decoder, wanted, (uint64_t)operand->imm);
    case PTX_OPERAND_SPECIAL:
        return decode_special(decoder, operand->special, *bits);
    case PTX_OPERAND_SYMBOL:
    case PTX_OPERAND_FUNCTION:
    case PTX_OPERAND_ADDRESS:
        return decode_address_of(decoder, operand, *bits);
    default:
        decoder_fail(decoder);
        return 0;
    }
}

uint32_t decoder_source(struct decoder *decoder, const struct ptx_operand *operand, uint32_t bits)
{
    uint32_t found;
    uint32_t slot = decoder_any_source(decoder, operand, bits, &found);
    if (found != decoder_slot_bits(bits))
        decoder_fail(decoder);
    return slot;
}

uint32_t decoder_any_destination(struct decoder *decoder, const struct ptx_operand *operand,
                                 uint32_t wanted, uint32_t *bits)
{
    *bits = decoder_slot_bits(wanted);
    if (operand->kind == PTX_OPERAND_SINK)
        return decoder_temporary(decoder, *bits);
    if (operand->kind != PTX_OPERAND_REGISTER || operand->negated) {
        decoder_fail(decoder);
        return 0;
    }
    *bits = register_bits(decoder, operand->reg);
    if (*bits == 0)
        decoder_fail(decoder);
    return decoder->slots[operand->reg];
}

uint32_t decoder_destination(struct decoder *decoder, const struct ptx_operand *operand,
                             uint32_t bits)
{
    uint32_t found;
    uint32_t slot = decoder_any_destination(decoder, operand, bits, &found);
    if (found != decoder_slot_bits(bits))
        decoder_fail(decoder);
    return slot;
}

void decoder_plain(struct decoder *decoder, const struct ptx_instruction *instruction,
                   micro_run *run, uint32_t bits)
{
    if (!run || bits == 0 || instruction->operand_count > 4) {
        decoder_fail(decoder);
        return;
    }
    uint32_t sources[3] = {0};
    for (uint32_t i = 1; i < instruction->operand_count; i++)
        sources[i - 1] = decoder_source(decoder, &instruction->operands[i], bits);
    uint32_t destination = decoder_destination(decoder, &instruction->operands[0], bits);
    struct micro *op = decoder_emit(decoder, run);
    op->d = destination;
    op->a = sources[0];
    op->b = sources[1];
    op->c = sources[2];
}
