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

bool instruction_is_surface(struct instruction instruction)
{
    const uint32_t opcode = instruction_opcode(instruction);
    return opcode >= 0x194 && opcode <= 0x1a0;
}

/* By a handle in the constant bank or, from sm_90 on, a uniform register; and, before, in a
 * register of the threads. */
bool instruction_is_unseen(struct instruction instruction)
{
    switch (instruction_opcode(instruction)) {
    case 0x160: /* TEX */
    case 0x161:
    case 0x163: /* TLD4 */
    case 0x164:
    case 0x166: /* TLD */
    case 0x167:
    case 0x16c: /* TXD */
    case 0x16d:
    case 0x1a4: /* LDGMC of integers */
    case 0x1a5: /* LDGMC of floats */
        return true;
    default:
        return instruction_is_surface(instruction) || instruction_copies_tensor(instruction);
    }
}

bool instruction_is_guarded_uniformly(struct instruction instruction)
{
    switch (instruction_opcode(instruction)) {
    case 0x04a: /* UVIMNMX */
    case 0x05a: /* UI2F */
    case 0x082: /* UMOV */
    case 0x083: /* UP2UR */
    case 0x087: /* USEL */
    case 0x08c: /* UISETP */
    case 0x090: /* UIADD3 */
    case 0x091: /* ULEA */
    case 0x092: /* ULOP3 */
    case 0x096: /* UPRMT */
    case 0x097: /* UIADD3.64 */
    case 0x099: /* USHF */
    case 0x0a4: /* UIMAD */
    case 0x0a5: /* UIMAD.WIDE */
    case 0x0b9: /* ULDC */
    case 0x0bb: /* ULDC, indexed */
    case 0x0bd: /* UFLO */
    case 0x0bf: /* UPOPC */
    case 0x1ac: /* LDCU */
    case 0x1b2: /* SYNCS */
    case 0x1b4: /* UTMALDG */
    case 0x1b5: /* UTMASTG */
    case 0x1b6: /* UTMAREDG */
    case 0x1b8: /* UTMAPF */
    case 0x1ba: /* UBLKCP */
    case 0x1bb: /* UBLKRED */
    case 0x1bc: /* UBLKPF */
    case 0x1c3: /* S2UR */
        return true;
    default:
        return false;
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
    case LDC:
        return load(instruction, 38, 16, index,
                    (high & ~SIZE) | instruction_bits(low, 32, 6) | (form != 5));
    case ULDC:
        return load(instruction, 38, 16, NO_INDEX,
                    (high & ~SIZE) | instruction_bits(low, 24, 14) | (form != 5));
    case ULDC_INDEXED:
        constant = load(instruction, 38, 16, index,
                        (high & ~SIZE & ~uniform) | instruction_bits(low, 32, 6) |
                            !(high & uniform) | (form != 5));
        break;
    case LDCU:
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
    if (opcode == BAR || (form != 3 && form != 5) || instruction_bits(instruction.low, 54, 5) != 0)
        return none;
    return (struct constant){.kind = instruction.high & INSTRUCTION_UNIFORM ? CONSTANT_ANY
                                                                            : CONSTANT_KNOWN,
                             .offset = instruction_bits(instruction.low, 38, 16),
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
