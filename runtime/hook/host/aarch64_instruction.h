/* Which memory an instruction of an AArch64 host accesses, and whether it writes: the kernel may
 * say neither. As host_instruction.h, from the machine code and the registers.
 *
 * Source: Arm Architecture Reference Manual for A-profile architecture, C4.1 (A64 instruction set
 * encoding: loads and stores, SVE encodings). Safe in a signal handler: it calls nothing and
 * allocates nothing. */
#ifndef RUNTIME_HOOK_HOST_AARCH64_INSTRUCTION_H
#define RUNTIME_HOOK_HOST_AARCH64_INSTRUCTION_H

#include "runtime/hook/host/host_instruction.h"

enum { AARCH64_STACK_POINTER = 31 };

struct aarch64_registers {
    uint64_t general[32]; /* x0 to x30, and the stack pointer */
    uint64_t pc;
    uint64_t zeroed; /* bytes that DC ZVA writes (DCZID_EL0) */
};

enum aarch64_direction {
    AARCH64_NONE, /* no access that is known here */
    AARCH64_LOAD,
    AARCH64_STORE,
    AARCH64_BOTH, /* an atomic read and write */
};

enum aarch64_direction aarch64_instruction_direction(uint32_t code);

/* As instruction_access_find. Of loads and stores with a predicate (SVE) it is the element at the
 * fault. */
bool aarch64_access_find(uint32_t code, const struct aarch64_registers *registers,
                         struct instruction_fault fault, struct instruction_access *access);

#endif
