/* Instructions. See instruction.h.
 *
 *   low   0..8   opcode, on all architectures the same
 *         9..11  form: what its operands are; 3 and 5: one of them is c[bank][offset]
 *        24..31  LDC: register that is added to the offset, ffh: none (LDCU, and ULDC of an opcode
 * of its own: uniform) 38..53  offset, in bytes (LDCU: from 37) 54..58  bank high  9..11  LDC,
 * ULDC, LDCU: 0 and 1 one byte, 2 and 3 two, 4 four, 5 eight, 6 sixteen 27   LDCU: always; others
 * with an operand of a bank: never, a uniform register is there 41..63  scheduling
 */
#include "runtime/sass/instruction.h"

#include <string.h>

enum { LDC = 0x182, ULDC = 0x0b9, ULDC_INDEXED = 0x0bb, LDCU = 0x1ac, BAR = 0x11d };

#define SIZE (UINT64_C(7) << 9)
enum { NO_INDEX = 0xff };

bool instruction_copies_tensor(struct instruction instruction)
{
    const uint32_t opcode = instruction_opcode(instruction);
    return opcode >= 0x1b4 && opcode <= 0x1b6; /* UTMALDG, UTMASTG, UTMAREDG */
}

bool instruction_is_unseen(struct instruction instruction)
{
    switch (instruction_opcode(instruction)) {
    case 0x160: /* TEX */
    case 0x163: /* TLD4 */
    case 0x166: /* TLD */
    case 0x16c: /* TXD */
    case 0x199: /* SULD */
    case 0x19d: /* SUST */
    case 0x19f: /* SURED */
    case 0x1a5: /* LDGMC */
        return true;
    default:
        return instruction_copies_tensor(instruction);
    }
}

/* How many bytes an operand has at most. */
static uint32_t operand_bytes(uint32_t opcode, uint32_t form)
{
    switch (opcode) {
    case 0x002: /* MOV */
    case 0x007: /* SEL */
    case 0x008: /* FSEL */
    case 0x009: /* FMNMX */
    case 0x00b: /* FSETP */
    case 0x00c: /* ISETP */
    case 0x010: /* IADD3 */
    case 0x011: /* LEA */
    case 0x012: /* LOP3 */
    case 0x013: /* IABS */
    case 0x016: /* PRMT */
    case 0x017: /* IMNMX */
    case 0x020: /* FMUL */
    case 0x021: /* FADD */
    case 0x023: /* FFMA */
    case 0x024: /* IMAD */
        return 4;
    case 0x025: /* IMAD.WIDE: what is added to the product has eight */
    case 0x027: /* IMAD.HI */
        return form == 5 ? 4 : 8;
    default:
        return 8;
    }
}

static uint32_t load_bytes(uint64_t high)
{
    const uint32_t size = instruction_bits(high, 9, 3);
    return size < 2 ? 1 : size < 4 ? 2 : 4u << (size - 4);
}

/* LDC, ULDC, LDCU: as they were seen, or nobody knows. `rest` are bits that are 0 then. */
static struct constant load(struct instruction instruction, uint32_t offset, uint32_t index,
                            uint64_t rest)
{
    const uint32_t size = instruction_bits(instruction.high, 9, 3);
    struct constant constant = {.kind = CONSTANT_KNOWN,
                                .offset = offset,
                                .bytes = load_bytes(instruction.high),
                                .index = index,
                                .is_signed = size == 1 || size == 3};
    if (instruction_bits(instruction.low, 54, 5) != 0)
        constant.kind = CONSTANT_NONE;
    else if (rest || size > 6)
        constant.kind = CONSTANT_ANY;
    else if (index != NO_INDEX)
        constant.kind = CONSTANT_INDEXED;
    return constant;
}

struct constant instruction_constant(struct instruction instruction)
{
    const uint64_t low = instruction.low, high = instruction_high(instruction);
    const uint32_t opcode = instruction_opcode(instruction), form = instruction_form(instruction);
    switch (opcode) {
    case LDC:
        return load(instruction, instruction_bits(low, 38, 16), instruction_bits(low, 24, 8),
                    (high & ~SIZE) | instruction_bits(low, 32, 6) | (form != 5));
    case ULDC:
        return load(instruction, instruction_bits(low, 38, 16), NO_INDEX,
                    (high & ~SIZE) | instruction_bits(low, 24, 14) | (form != 5));
    case ULDC_INDEXED:
        return load(instruction, instruction_bits(low, 38, 16), instruction_bits(low, 24, 8),
                    (high & ~SIZE & ~(uint64_t)INSTRUCTION_UNIFORM) | instruction_bits(low, 32, 6) |
                        !(high & INSTRUCTION_UNIFORM) | (form != 5));
    case LDCU:
        return load(instruction, instruction_bits(low, 37, 17), instruction_bits(low, 24, 8),
                    (high & ~SIZE & ~(uint64_t)INSTRUCTION_UNIFORM) | instruction_bits(low, 32, 5) |
                        !(high & INSTRUCTION_UNIFORM) | (form != 3));
    case BAR: /* of a number that is part of it */
        return (struct constant){.kind = CONSTANT_NONE};
    default:
        break;
    }
    if ((form != 3 && form != 5) || instruction_bits(low, 54, 5) != 0)
        return (struct constant){.kind = CONSTANT_NONE};
    return (struct constant){.kind = high & INSTRUCTION_UNIFORM ? CONSTANT_ANY : CONSTANT_KNOWN,
                             .offset = instruction_bits(low, 38, 16),
                             .bytes = operand_bytes(opcode, form)};
}

static bool takes_number(uint32_t opcode)
{
    return opcode == 0x002 /* MOV */ || opcode == 0x007 /* SEL */ || opcode == 0x00c /* ISETP */ ||
           opcode == 0x010 /* IADD3 */ || opcode == 0x011 /* LEA */ || opcode == 0x024 /* IMAD */;
}

/* ULDC of four bytes: UMOV. */
static bool loads_word(struct instruction instruction)
{
    return instruction_opcode(instruction) == ULDC && instruction_form(instruction) == 5 &&
           instruction_high(instruction) == 4 << 9 && instruction_bits(instruction.low, 24, 8) == 0;
}

struct instruction instruction_resolved(struct instruction instruction, const uint8_t *numbers,
                                        uint64_t bytes)
{
    enum { NUMBERS_BANK = 2, UMOV_NUMBER = 0x882 };
    const uint64_t low = instruction.low;
    const uint32_t form = instruction_form(instruction), offset = instruction_bits(low, 38, 16);
    const bool takes = (form == 3 || form == 5) && takes_number(instruction_opcode(instruction)) &&
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
