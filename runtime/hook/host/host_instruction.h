/* Which memory an instruction of the host accesses. The processor says only where it faulted. The
 * operand's address and size come from the machine code and the registers.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (instruction
 * format, VEX and EVEX encodings, opcode maps). Safe in a signal handler: it calls nothing and
 * allocates nothing. */
#ifndef RUNTIME_HOOK_HOST_HOST_INSTRUCTION_H
#define RUNTIME_HOOK_HOST_HOST_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The general registers, as instructions number them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to
 * r15. */
struct instruction_registers {
    uint64_t general[16];
    bool backwards; /* the direction flag: string instructions count down */
};

/* Where the processor faulted, and whether it was writing. */
struct instruction_fault {
    uint64_t address;
    bool writes;
};

struct instruction_access {
    uint64_t address;
    uint64_t bytes;
    bool locked;  /* an atomic read and write: LOCK, or XCHG, which needs no prefix */
    bool no_step; /* elsewhere it does not do the same (AArch64): a literal, or an exclusive */
};

/* Finds the access of the instruction at `code`, of which `count` bytes can be read, that faulted.
 * For a repeated string instruction this is all that it still has to access. For masked accesses,
 * gathers and scatters it is the element at the fault. False: the instruction is not known, and the
 * access is the byte at the fault. */
bool instruction_access_find(const uint8_t *code, size_t count,
                             const struct instruction_registers *registers,
                             struct instruction_fault fault, struct instruction_access *access);

#endif
