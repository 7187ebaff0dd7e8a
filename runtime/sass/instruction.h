/* What an instruction of machine code does that matters here. It may access memory where no patch
 * of the Sanitizer API is called. It may read constant bank 0, where a kernel's parameters lie. For
 * sm_75 to sm_121, whose instructions have 16 bytes.
 *
 * The encoding is documented nowhere. What is used of it was read off what nvdisasm prints beside
 * the code of CUDA 13's libraries. CUDA Binary Utilities, "Instruction Set Reference", has the
 * names. scripts/compare-machine-code compares the two for any cubin. */
#ifndef RUNTIME_SASS_INSTRUCTION_H
#define RUNTIME_SASS_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

enum { INSTRUCTION_BYTES = 16 };

enum opcode {
#define OP(name, number, writes, more) OPCODE_##name = number,
#include "runtime/sass/opcodes.def"
#undef OP
    OPCODES = 512
};

struct instruction {
    uint64_t low, high;
};

/* Of the high half: an operand is of the uniform data path. */
enum { INSTRUCTION_UNIFORM = 1 << 27 };

/* A field of one of the halves: up to 32 bits. */
static inline uint32_t instruction_bits(uint64_t half, uint32_t from, uint32_t count)
{
    return (uint32_t)(half >> from & ((UINT64_C(1) << count) - 1));
}

static inline uint32_t instruction_opcode(struct instruction instruction)
{
    return instruction_bits(instruction.low, 0, 9);
}

/* What its operands are. */
static inline uint32_t instruction_form(struct instruction instruction)
{
    return instruction_bits(instruction.low, 9, 3);
}

/* The high half without scheduling. */
static inline uint64_t instruction_high(struct instruction instruction)
{
    return instruction.high & ((UINT64_C(1) << 41) - 1);
}

/* Loads, stores, atomics and reductions of surfaces. */
bool instruction_is_surface(struct instruction instruction);
/* Textures, surfaces, tensor maps, multicast loads. */
bool instruction_is_unseen(struct instruction instruction);
/* It is one of those that copy through a tensor map. */
bool instruction_copies_tensor(struct instruction instruction);

/* A predicate of the uniform data path guards it, as those that write its registers, or copy. What
 * VOTEU, R2UR and others have from threads is guarded by one of theirs. */
bool instruction_is_guarded_uniformly(struct instruction instruction);

/* Of LD, LDC, ST and their like. */
uint32_t instruction_loaded_bytes(struct instruction instruction);

enum constant_kind { CONSTANT_NONE, CONSTANT_KNOWN, CONSTANT_INDEXED, CONSTANT_ANY };

struct constant {
    enum constant_kind kind; /* INDEXED: a register is added to `offset`; ANY: not understood */
    uint32_t offset, bytes;  /* KNOWN, INDEXED: it reads no others */
    uint32_t index;          /* INDEXED: that register: of loads by the uniform path one of its; the
                                sum is modulo 2^32 */
    uint32_t bank;
    bool is_index_uniform;
    bool is_signed; /* of fewer than four bytes: the register has their sign */
};

/* Of bank 0. */
struct constant instruction_constant(struct instruction instruction);
/* What LDC, ULDC and LDCU load, of any bank. */
struct constant instruction_constant_load(struct instruction instruction);

/* The same, with the number in it where an operand of those that step.h follows is one of the
 * compiler's own constants (bank 2: cubin.h's `numbers`), of which there are so many bytes. */
struct instruction instruction_resolved(struct instruction instruction, const uint8_t *numbers,
                                        uint64_t bytes);

#endif
