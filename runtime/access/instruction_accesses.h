/* Which memory an instruction touches, by its opcode and suffixes alone (PTX ISA sections 8 and
 * 9.7). One table for all analyses of accesses. */
#ifndef RUNTIME_ACCESS_INSTRUCTION_ACCESSES_H
#define RUNTIME_ACCESS_INSTRUCTION_ACCESSES_H

#include "runtime/ptx/ir.h"

enum instruction_access_kind {
    INSTRUCTION_ACCESS_READ = 1,
    INSTRUCTION_ACCESS_WRITE = 2,
    INSTRUCTION_ACCESS_ATOMIC =
        4 /* morally strong towards other kernels: see instruction_access_is_strong */
};

/* A name of memory that is no address (PTX ISA, "Texture, Sampler and Surface Types" and
 * "Tensor-map"). */
enum instruction_access_object {
    INSTRUCTION_ACCESS_OBJECT_NONE,
    INSTRUCTION_ACCESS_OBJECT_TEXTURE,   /* a handle of 8 bytes */
    INSTRUCTION_ACCESS_OBJECT_SURFACE,   /* a handle of 8 bytes */
    INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP /* 128 bytes, at an address in .param, .const or .global */
};

struct instruction_access {
    uint8_t kinds;  /* set of enum instruction_access_kind; READ|WRITE: a plain update */
    uint8_t space;  /* enum ptx_space of the address */
    uint8_t object; /* enum instruction_access_object: `address` is its handle, or where the tensor
                       map lies */
    const struct ptx_operand *address;
};

enum { INSTRUCTION_ACCESS_MAX = 2 };

/* The memory operations of an instruction, in any state space but registers: at most
 * INSTRUCTION_ACCESS_MAX. *unknown (else NULL) says why there may be more than these: the
 * instruction is not modelled. An access with an object touches some of the object's memory, and
 * has no space of its own. */
int instruction_accesses_find(const struct ptx_instruction *instruction,
                              struct instruction_access touched[INSTRUCTION_ACCESS_MAX],
                              const char **unknown);

/* Strong at a scope that reaches other kernels. ".volatile" counts as relaxed at .sys scope
 * (section 8.4.1); .cta and .cluster scope order nothing between kernels. */
bool instruction_access_is_strong(const struct ptx_instruction *instruction);

#endif
