/* Instructions. See instruction.h.
 *
 *   low   0..8   opcode, on all architectures the same
 *         9..11  form: what its operands are; 3 and 5: one of them is c[bank][offset]
 *        24..31  LDC: the register that is added to the offset, ffh: none; of LDCU and of indexed
 *                ULDC a uniform one
 *        38..53  offset, in bytes; LDCU: from 37
 *        54..58  bank
 *   high  9..11  LDC, ULDC, LDCU: 0 and 1 one byte, 2 and 3 two, 4 four, 5 eight, 6 sixteen
 *           27   LDCU: always; others with an operand of a bank: never, a uniform register is there
 *        41..63  scheduling
 */
#include "runtime/sass/instruction.h"

#include <string.h>

#define SIZE (UINT64_C(7) << 9)
enum { NO_INDEX = 0xff };

/* What opcodes.def says beside what is written. */
enum {
    WORDS = 1,             /* operands have four bytes at most; of others eight */
    NUMBERS = 2,           /* an operand may be one of the compiler's own constants */
    GUARDED_UNIFORMLY = 4, /* a predicate of the uniform data path guards it */
    TEXTURE = 8,           /* reads through a texture's handle, or of several devices */
    SURFACE = 16,
    TENSOR = 32 /* copies through a tensor map */
};

static const uint8_t traits_of[OPCODES] = {
#define OP(name, number, writes, more) [number] = more,
#include "runtime/sass/opcodes.def"
#undef OP
};

static bool has_trait(struct instruction instruction, uint32_t traits)
{
    return traits_of[instruction_opcode(instruction)] & traits;
}

bool instruction_copies_tensor(struct instruction instruction)
{
    return has_trait(instruction, TENSOR);
}

bool instruction_is_surface(struct instruction instruction)
{
    return has_trait(instruction, SURFACE);
}

bool instruction_is_unseen(struct instruction instruction)
{
    return has_trait(instruction, TEXTURE | SURFACE | TENSOR);
}

bool instruction_is_guarded_uniformly(struct instruction instruction)
{
    return has_trait(instruction, GUARDED_UNIFORMLY);
}

/* How many bytes an operand has at most. Of IMAD.WIDE what is added to the product has eight. */
static uint32_t operand_bytes(struct instruction instruction)
{
    const uint32_t opcode = instruction_opcode(instruction);
    const bool multiplies_wide = opcode == OPCODE_IMAD_WIDE || opcode == OPCODE_IMAD_HI;
    return has_trait(instruction, WORDS) || (multiplies_wide && instruction_form(instruction) == 5)
               ? 4
               : 8;
}

uint32_t instruction_loaded_bytes(struct instruction instruction)
{
    const uint32_t size = instruction_bits(instruction.high, 9, 3);
    return size < 2 ? 1 : size < 4 ? 2 : 4u << (size - 4);
}

/* As it was seen, or nobody knows. `rest` are bits that are 0 then. */
static struct constant load(struct instruction instruction, uint32_t from, uint32_t count,
                            uint32_t index, uint64_t rest)
{
    const uint32_t size = instruction_bits(instruction.high, 9, 3),
                   offset = instruction_bits(instruction.low, from, count),
                   sign = UINT32_C(1) << (count - 1);
    struct constant constant = {.kind = CONSTANT_KNOWN,
                                .bank = instruction_bits(instruction.low, 54, 5),
                                .offset = offset,
                                .bytes = instruction_loaded_bytes(instruction),
                                .index = index,
                                .is_signed = size == 1 || size == 3};
    if (rest || size > 6) {
        constant.kind = CONSTANT_ANY;
    } else if (index != NO_INDEX) {
        constant.kind = CONSTANT_INDEXED;
        constant.offset = (offset ^ sign) - sign;
    }
    return constant;
}

struct constant instruction_constant_load(struct instruction instruction)
{
    const uint64_t low = instruction.low, high = instruction_high(instruction),
                   uniform = INSTRUCTION_UNIFORM;
    const uint32_t form = instruction_form(instruction), index = instruction_bits(low, 24, 8);
    struct constant constant = {.kind = CONSTANT_NONE};
    switch (instruction_opcode(instruction)) {
    case OPCODE_LDC:
        return load(instruction, 38, 16, index,
                    (high & ~SIZE) | instruction_bits(low, 32, 6) | (form != 5));
    case OPCODE_ULDC:
        return load(instruction, 38, 16, NO_INDEX,
                    (high & ~SIZE) | instruction_bits(low, 24, 14) | (form != 5));
    case OPCODE_ULDC_INDEXED:
        constant = load(instruction, 38, 16, index,
                        (high & ~SIZE & ~uniform) | instruction_bits(low, 32, 6) |
                            !(high & uniform) | (form != 5));
        break;
    case OPCODE_LDCU:
        constant = load(instruction, 37, 17, index,
                        (high & ~SIZE & ~uniform) | instruction_bits(low, 32, 5) |
                            !(high & uniform) | (form != 3));
        break;
    default:
        break;
    }
    constant.is_index_uniform = constant.kind == CONSTANT_INDEXED;
    return constant;
}

struct constant instruction_constant(struct instruction instruction)
{
    const struct constant none = {.kind = CONSTANT_NONE},
                          loaded = instruction_constant_load(instruction);
    const uint32_t opcode = instruction_opcode(instruction), form = instruction_form(instruction);
    if (loaded.kind != CONSTANT_NONE)
        return loaded.bank == 0 ? loaded : none;
    /* BAR: of a number that is part of it */
    if (opcode == OPCODE_BAR || (form != 3 && form != 5) ||
        instruction_bits(instruction.low, 54, 5) != 0)
        return none;
    return (struct constant){.kind = instruction.high & INSTRUCTION_UNIFORM ? CONSTANT_ANY
                                                                            : CONSTANT_KNOWN,
                             .offset = instruction_bits(instruction.low, 38, 16),
                             .bytes = operand_bytes(instruction)};
}

/* ULDC of four bytes: UMOV. */
static bool loads_word(struct instruction instruction)
{
    return instruction_opcode(instruction) == OPCODE_ULDC && instruction_form(instruction) == 5 &&
           instruction_high(instruction) == 4 << 9 && instruction_bits(instruction.low, 24, 8) == 0;
}

struct instruction instruction_resolved(struct instruction instruction, const uint8_t *numbers,
                                        uint64_t bytes)
{
    enum { NUMBERS_BANK = 2, UMOV_NUMBER = 0x882 };
    const uint64_t low = instruction.low;
    const uint32_t form = instruction_form(instruction), offset = instruction_bits(low, 38, 16);
    const bool takes = (form == 3 || form == 5) && has_trait(instruction, NUMBERS) &&
                       !(instruction.high & INSTRUCTION_UNIFORM),
               loads = loads_word(instruction);
    uint32_t number;
    if ((!takes && !loads) || low >> 54 != NUMBERS_BANK || instruction_bits(low, 32, 6) ||
        offset % 4 || offset + 4 > bytes)
        return instruction;
    memcpy(&number, numbers + offset, sizeof number);
    const uint64_t rest = low & (loads ? 0xfff000 : UINT32_MAX);
    instruction.low = rest | (uint64_t)number << 32;
    instruction.low += loads ? UMOV_NUMBER : 0;
    instruction.low -= takes ? 1 << 9 : 0; /* form 5 is 4 then, and 3 is 2 */
    instruction.high -= loads ? 4 << 9 : 0;
    return instruction;
}
