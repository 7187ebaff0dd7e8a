/* Effects: which memory an instruction touches, by its opcode and suffixes alone (PTX ISA sections
 * 8 and 9.7). One table for every analysis of accesses. */
#ifndef RUNTIME_ACCESS_EFFECT_H
#define RUNTIME_ACCESS_EFFECT_H

#include "runtime/ptx/ir.h"

enum effect_kind {
    EFFECT_READ = 1,
    EFFECT_WRITE = 2,
    EFFECT_ATOMIC = 4 /* morally strong towards other kernels: see effect_is_strong */
};

struct effect {
    uint8_t kinds; /* set of enum effect_kind; READ|WRITE: a plain update */
    uint8_t space; /* enum ptx_space of the address */
    const struct ptx_operand *address;
};

enum { EFFECT_MAX = 2 };

/* The memory operations of an instruction, in any state space but registers: at most EFFECT_MAX.
 * *unknown (else NULL) says why there may be more than these: an instruction nobody models, or
 * memory named by a handle (textures, tensor maps). */
int effect_find(const struct ptx_instruction *instruction, struct effect effects[EFFECT_MAX],
                const char **unknown);

/* Strong at a scope that reaches other kernels. ".volatile" counts as relaxed at .sys scope
 * (section 8.4.1); .cta and .cluster scope order nothing between kernels. */
bool effect_is_strong(const struct ptx_instruction *instruction);

#endif
