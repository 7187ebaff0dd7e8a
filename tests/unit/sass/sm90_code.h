/* Machine code of sm_90, or of those before it, for tests: instructions that are followed (step.h),
 * as nvdisasm prints them beside their encoding. Scheduling is left out. Registers are numbers as
 * in their names; places are indices of instructions. */
#ifndef TESTS_UNIT_SASS_SM90_CODE_H
#define TESTS_UNIT_SASS_SM90_CODE_H

#include "runtime/sass/instruction.h"

enum { UNIFORM_ZERO = 63, THREAD_ZERO = 255, NO_PREDICATE = 7 };
enum { BANK_ADDRESS_AT = 0x0c0, PARAMETERS_ADDRESS_AT = 0x198, PARAMETERS_AT = 0x210 };

/* Before sm_90 branches are encoded in another way, and nothing else is. */
static uint32_t code_architecture = 90;

/* Opcode and form, the register that is written, operand a, operand b and what is above. */
static inline struct instruction encoded(uint32_t opcode, uint32_t to, uint32_t a, uint64_t b,
                                         uint64_t high)
{
    return (struct instruction){
        opcode | NO_PREDICATE << 12 | to << 16 | (uint64_t)a << 24 | b << 32, high};
}

/* @P, or @!P; @UP of instructions of the uniform data path. */
static inline struct instruction when(uint32_t predicate, int holds, struct instruction instruction)
{
    instruction.low &= ~(UINT64_C(0xf) << 12);
    instruction.low |= (uint64_t)(predicate | (holds ? 0u : 8u)) << 12;
    return instruction;
}

static inline struct instruction uldc(uint32_t to, uint32_t at)
{
    return encoded(0xab9, to, 0, (uint64_t)at << 6, 0x800);
}

static inline struct instruction uldc64(uint32_t to, uint32_t at)
{
    return encoded(0xab9, to, 0, (uint64_t)at << 6, 0xa00);
}

static inline struct instruction ldc(uint32_t to, uint32_t at)
{
    return encoded(0xb82, to, 0xff, (uint64_t)at << 6, 0x800);
}

static inline struct instruction ldc64(uint32_t to, uint32_t at)
{
    return encoded(0xb82, to, 0xff, (uint64_t)at << 6, 0xa00);
}

/* LDC of `bytes` at what register `index` has and `at`; ULDC, of a uniform one; LDCU. */
static inline struct instruction ldc_indexed(uint32_t to, uint32_t index, uint32_t at,
                                             uint32_t bytes)
{
    const uint64_t size = bytes == 1 ? 0 : bytes == 2 ? 2 : bytes == 4 ? 4 : 5;
    return encoded(0xb82, to, index, (uint64_t)at << 6, size << 9);
}

static inline struct instruction uldc_indexed(uint32_t to, uint32_t index, uint32_t at,
                                              uint32_t bytes)
{
    struct instruction instruction = ldc_indexed(to, index, at, bytes);
    instruction.low = (instruction.low & ~UINT64_C(0xfff)) | 0xabb;
    instruction.high |= INSTRUCTION_UNIFORM;
    return instruction;
}

static inline struct instruction ldcu_indexed(uint32_t to, uint32_t index, uint32_t at,
                                              uint32_t bytes)
{
    struct instruction instruction = uldc_indexed(to, index, at, bytes);
    instruction.low = encoded(0x7ac, to, index, (uint64_t)at << 5, 0).low;
    return instruction;
}

/* The block's index in the grid, in that dimension. */
static inline struct instruction s2r_block(uint32_t to, uint32_t dimension)
{
    return encoded(0x919, to, 0, 0, (uint64_t)(0x25 + dimension) << 8);
}

static inline struct instruction s2ur_block(uint32_t to, uint32_t dimension)
{
    return encoded(0x9c3, to, 0, 0, (uint64_t)(0x25 + dimension) << 8);
}

/* A number, as the compiler makes it of halves. */
static inline struct instruction hfma2_number(uint32_t to, uint32_t number)
{
    return encoded(0x431, to, THREAD_ZERO, number, 0x1ff);
}

static inline struct instruction shf_left(uint32_t to, uint32_t a, uint32_t bits)
{
    return encoded(0x819, to, a, bits, 0x6ff);
}

static inline struct instruction umov(uint32_t to, uint32_t from)
{
    return encoded(0xc82, to, 0, from, 0x8000000);
}

static inline struct instruction umov_number(uint32_t to, uint32_t number)
{
    return encoded(0x882, to, 0, number, 0);
}

/* UIADD3, of two and nothing. `carry`: the predicate that it goes to. */
static inline struct instruction uiadd3(uint32_t to, uint32_t carry, uint32_t a, uint32_t b)
{
    return encoded(0x290, to, a, b, 0xff0e03f | (uint64_t)carry << 17 | 1 << 16);
}

static inline struct instruction uiadd3_number(uint32_t to, uint32_t carry, uint32_t a,
                                               uint32_t number)
{
    return encoded(0x890, to, a, number, 0xff0e03f | (uint64_t)carry << 17 | 1 << 16);
}

/* `carry`: where it comes from. */
static inline struct instruction uiadd3_x(uint32_t to, uint32_t a, uint32_t b, uint32_t carry)
{
    return encoded(0x290, to, a, b, 0x87fe43f | (uint64_t)carry << 23);
}

static inline struct instruction uiadd3_x_number(uint32_t to, uint32_t a, uint32_t number,
                                                 uint32_t carry)
{
    return encoded(0x890, to, a, number, 0x87fe43f | (uint64_t)carry << 23);
}

static inline struct instruction uiadd3_64(uint32_t to, uint32_t a, uint32_t b)
{
    return encoded(0x297, to, a, b, 0xfffe03f);
}

static inline struct instruction uiadd3_64_number(uint32_t to, uint32_t a, uint32_t number)
{
    return encoded(0x897, to, a, number, 0xfffe03f);
}

static inline struct instruction usel(uint32_t to, uint32_t a, uint32_t b, uint32_t predicate)
{
    return encoded(0x287, to, a, b, 0x8000000 | (uint64_t)predicate << 23);
}

static inline struct instruction usel_number(uint32_t to, uint32_t a, uint32_t number,
                                             uint32_t predicate)
{
    return encoded(0x887, to, a, number, 0x8000000 | (uint64_t)predicate << 23);
}

static inline struct instruction uimad_number(uint32_t to, uint32_t a, uint32_t number, uint32_t c)
{
    return encoded(0x8a4, to, a, number, 0xf8e0200 | c);
}

static inline struct instruction uimad_wide_number(uint32_t to, uint32_t a, uint32_t number,
                                                   uint32_t c)
{
    return encoded(0x8a5, to, a, number, 0xf8e0000 | c);
}

/* ULOP3.LUT to, a, mask, URZ, 0xc0, !UPT: and */
static inline struct instruction uand(uint32_t to, uint32_t a, uint32_t mask)
{
    return encoded(0x892, to, a, mask, 0xf8ec03f);
}

static inline struct instruction lop3_and(uint32_t to, uint32_t a, uint32_t mask)
{
    return encoded(0x812, to, a, mask, 0x78ec0ff);
}

/* By a mask of truth: a, b and c are f0, cc and aa. */
static inline struct instruction ulop3(uint32_t to, uint32_t a, uint32_t b, uint32_t truth)
{
    return encoded(0x292, to, a, b, 0xf8e003f | (uint64_t)truth << 8);
}

static inline struct instruction lop3(uint32_t to, uint32_t a, uint32_t b, uint32_t truth)
{
    return encoded(0x212, to, a, b, 0x78e00ff | (uint64_t)truth << 8);
}

/* USHF.L.U32 */
static inline struct instruction ushf_left(uint32_t to, uint32_t a, uint32_t bits)
{
    return encoded(0x899, to, a, bits, 0x8000600 | (code_architecture < 100 ? 63u : 255u));
}

/* PRMT: the bytes that digits of `which` say, of a (0 to 3) and b. */
static inline struct instruction uprmt(uint32_t to, uint32_t a, uint32_t b, uint32_t which)
{
    return encoded(0x896, to, a, which, 0x8000000 | b);
}

static inline struct instruction prmt(uint32_t to, uint32_t a, uint32_t b, uint32_t which)
{
    return encoded(0x816, to, a, which, b);
}

/* LEA: a, shifted, and b */
static inline struct instruction ulea(uint32_t to, uint32_t a, uint32_t b, uint32_t bits)
{
    return encoded(0x291, to, a, b, 0xf8e003f | (uint64_t)bits << 11);
}

static inline struct instruction lea(uint32_t to, uint32_t a, uint32_t b, uint32_t bits)
{
    return encoded(0x211, to, a, b, 0x78e00ff | (uint64_t)bits << 11);
}

static inline struct instruction imad_number(uint32_t to, uint32_t a, uint32_t number, uint32_t c)
{
    return encoded(0x824, to, a, number, 0x78e0200 | c);
}

static inline struct instruction imad(uint32_t to, uint32_t a, uint32_t b, uint32_t c)
{
    return encoded(0x224, to, a, b, 0x78e0200 | c);
}

static inline struct instruction iadd3(uint32_t to, uint32_t a, uint32_t b)
{
    return encoded(0x210, to, a, b, 0x7ffe0ff);
}

/* IADD of sm_120, which has no VIADD: `carry`: the predicate that it is written to, or
 * NO_PREDICATE; `wide`: IADD.64. */
static inline struct instruction iadd_number(uint32_t to, uint32_t a, uint32_t number,
                                             uint32_t carry, int wide)
{
    return encoded(0x835, to, a, number, 0x7800000 | carry << 17 | (wide ? 0x200u : 0));
}

static inline struct instruction viadd_number(uint32_t to, uint32_t a, uint32_t number)
{
    return encoded(0x836, to, a, number, 0);
}

/* The same of sm_100 and after. */
static inline struct instruction ldcu(uint32_t to, uint32_t at)
{
    return encoded(0x7ac, to, 0xff, (uint64_t)at << 5, 0x8000800);
}

static inline struct instruction ldcu64(uint32_t to, uint32_t at)
{
    return encoded(0x7ac, to, 0xff, (uint64_t)at << 5, 0x8000a00);
}

/* VIMNMX.U32, UVIMNMX.U32: the lesser; VIADDMNMX.U32: that of a + c and a number. */
static inline struct instruction vimnmx_number(uint32_t to, uint32_t a, uint32_t number)
{
    return encoded(0x848, to, a, number, 0x3fe0000);
}

static inline struct instruction uvimnmx_number(uint32_t to, uint32_t a, uint32_t number)
{
    return encoded(0x84a, to, a, number, 0xbfe0000);
}

static inline struct instruction viaddmnmx_number(uint32_t to, uint32_t a, uint32_t c,
                                                  uint32_t number)
{
    return encoded(0x446, to, a, number, 0x3800000 | c);
}

static inline struct instruction sel_number(uint32_t to, uint32_t a, uint32_t number,
                                            uint32_t predicate)
{
    return encoded(0x807, to, a, number, (uint64_t)predicate << 23);
}

static inline struct instruction sel(uint32_t to, uint32_t a, uint32_t b, uint32_t predicate)
{
    return encoded(0x207, to, a, b, (uint64_t)predicate << 23);
}

static inline struct instruction uisetp(uint32_t predicate)
{
    return encoded(0x28c, 0, 4, 5, 0xbf05070 | (uint64_t)predicate << 17);
}

static inline struct instruction isetp(uint32_t predicate)
{
    return encoded(0x20c, 0, 4, 5, 0x3f05070 | (uint64_t)predicate << 17);
}

/* ISETP: the two, or a number, or a uniform register. `comparison`: bits for less, equal, greater.
 */
static inline uint64_t isetp_high(uint32_t predicate, uint32_t comparison, int is_signed)
{
    return 0x3f00070 | (uint64_t)predicate << 17 | (uint64_t)comparison << 12 |
           (is_signed ? 0x200 : 0);
}

static inline struct instruction isetp_of(uint32_t predicate, uint32_t comparison, int is_signed,
                                          uint32_t a, uint32_t b)
{
    return encoded(0x20c, 0, a, b, isetp_high(predicate, comparison, is_signed));
}

static inline struct instruction isetp_number(uint32_t predicate, uint32_t comparison,
                                              int is_signed, uint32_t a, uint32_t number)
{
    return encoded(0x80c, 0, a, number, isetp_high(predicate, comparison, is_signed));
}

static inline struct instruction isetp_uniform(uint32_t predicate, uint32_t comparison,
                                               int is_signed, uint32_t a, uint32_t b)
{
    return encoded(0xc0c, 0, a, b, isetp_high(predicate, comparison, is_signed) | 0x8000000);
}

static inline struct instruction uisetp_number(uint32_t predicate, uint32_t comparison,
                                               int is_signed, uint32_t a, uint32_t number)
{
    return encoded(0x88c, 0, a, number, isetp_high(predicate, comparison, is_signed) | 0x8000000);
}

/* The instruction, of registers, with four bytes of constant bank 0 for its operand b. */
static inline struct instruction of_bank(struct instruction instruction, uint32_t at)
{
    const uint32_t form = 7 << 9, bank = 5 << 9;
    instruction.low = (instruction.low & 0xffffffff & ~(uint64_t)form) | bank | (uint64_t)at << 38;
    return instruction;
}

/* And of that what it is below zero. */
static inline struct instruction negated(struct instruction of_bank)
{
    of_bank.low |= UINT64_C(1) << 63;
    return of_bank;
}

/* IMAD.MOV: 0 * 0 and four bytes of the bank. */
static inline struct instruction imad_mov_bank(uint32_t to, uint32_t at)
{
    return encoded(0x624, to, THREAD_ZERO, (uint64_t)at << 6, 0x78e0200 | THREAD_ZERO);
}

static inline struct instruction elect(uint32_t predicate)
{
    return encoded(0x82f, UNIFORM_ZERO, 0, 0, 0x3800000 | (uint64_t)predicate << 17);
}

static inline struct instruction mov(uint32_t to, uint32_t from)
{
    return encoded(0x202, to, 0, from, 0xf00);
}

static inline struct instruction mov_number(uint32_t to, uint32_t number)
{
    return encoded(0x802, to, 0, number, 0xf00);
}

static inline struct instruction mov_uniform(uint32_t to, uint32_t from)
{
    return encoded(0xc02, to, 0, from, 0x8000f00);
}

static inline struct instruction r2ur(uint32_t to, uint32_t from)
{
    return encoded(0x2ca, to, from, 0, 0xe0000);
}

/* At R1 and that many words. */
static inline struct instruction stl(uint32_t word, uint32_t from)
{
    return encoded(0x387, 0, 1, (uint64_t)word * 4 << 8 | from, 0x100800);
}

static inline struct instruction stl64(uint32_t word, uint32_t from)
{
    return encoded(0x387, 0, 1, (uint64_t)word * 4 << 8 | from, 0x100a00);
}

static inline struct instruction ldl(uint32_t to, uint32_t word)
{
    return encoded(0x983, to, 1, (uint64_t)word * 4 << 8, 0x100800);
}

static inline struct instruction ldl64(uint32_t to, uint32_t word)
{
    return encoded(0x983, to, 1, (uint64_t)word * 4 << 8, 0x100a00);
}

/* [R1+UR+...], as both have the bit. */
static inline struct instruction indexed(struct instruction instruction)
{
    instruction.high |= 1 << 27;
    return instruction;
}

static inline struct instruction utmaldg(uint32_t map)
{
    return encoded(0x5b4, 0, map, 8, 0x8008000);
}

static inline struct instruction utmastg(uint32_t map)
{
    return encoded(0x3b5, 0, map, 8, 0x8008000);
}

static inline struct instruction utmaredg(uint32_t map)
{
    return encoded(0x3b6, 0, map, 8, 0x8018000);
}

static inline struct instruction jump(uint32_t opcode, uint32_t at, uint32_t to, uint64_t high)
{
    const uint64_t by = ((uint64_t)to - at - 1) * INSTRUCTION_BYTES;
    if (code_architecture < 90)
        return (struct instruction){opcode | NO_PREDICATE << 12 | (by >> 2 & 0x3fffffff) << 34,
                                    high | (by >> 32 & 0x3ffff)};
    return (struct instruction){opcode | NO_PREDICATE << 12 | (by >> 2 & 0xff) << 16 |
                                    (by >> 10 & 0x3fffffff) << 34,
                                high | (by >> 40 & 0x3ffff)};
}

static inline struct instruction bra(uint32_t at, uint32_t to)
{
    return jump(0x947, at, to, 0x3800000);
}

/* BRA P, or BRA !P: where a guard holds, too, if there is one */
static inline struct instruction bra_if(uint32_t at, uint32_t to, uint32_t predicate, int holds)
{
    return jump(0x947, at, to, (uint64_t)(predicate | (holds ? 0u : 8u)) << 23);
}

/* BRA.U UP, or BRA.U !UP */
static inline struct instruction bra_uniform(uint32_t at, uint32_t to, uint32_t predicate,
                                             int holds)
{
    struct instruction instruction = jump(0x547, at, to, 0xb800000);
    instruction.low |= (uint64_t)(predicate | (holds ? 0u : 8u)) << 24 | UINT64_C(1) << 32;
    return instruction;
}

static inline struct instruction call(uint32_t at, uint32_t to)
{
    return jump(0x944, at, to, 0x3c00000);
}

static inline struct instruction ret(void)
{
    return encoded(0x950, 4, 0, 0, 0x3c00000);
}

static inline struct instruction bssy(uint32_t barrier, uint32_t at, uint32_t to)
{
    return encoded(0x945, barrier, 0, (uint32_t)((to - at - 1) * INSTRUCTION_BYTES), 0x3800000);
}

static inline struct instruction bsync(uint32_t barrier)
{
    return encoded(0x941, barrier, 0, 0, 0x3800000);
}

/* From a barrier to a register, and back. */
static inline struct instruction bmov_from(uint32_t to, uint32_t barrier)
{
    return encoded(0x355, to, barrier, 0, 0);
}

/* BMOV.32.CLEAR, as sm_75 has it. */
static inline struct instruction bmov_clear(uint32_t to, uint32_t barrier)
{
    return encoded(0x355, to, barrier, 0, 1 << 20);
}

static inline struct instruction bmov_to(uint32_t barrier, uint32_t from)
{
    return encoded(0x356, barrier, from, 0, 0);
}

static inline struct instruction nop(void)
{
    return encoded(0x918, 0, 0, 0, 0);
}

static inline struct instruction exits(void)
{
    return encoded(0x94d, 0, 0, 0, 0x3800000);
}

#endif
