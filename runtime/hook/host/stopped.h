/* A thread that a signal stopped: what its context says, by processor, and what the instruction
 * accesses that it stopped at. */
#ifndef RUNTIME_HOOK_HOST_STOPPED_H
#define RUNTIME_HOOK_HOST_STOPPED_H

#include "runtime/hook/host/aarch64_instruction.h"
#include "runtime/hook/host/displaced_step.h"
#include "runtime/hook/host/host_instruction.h"
#include "runtime/hook/host/host_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#if defined(__aarch64__)
#include <asm/sigcontext.h>
#endif

enum { STOPPED_BACKWARDS = 1 << 10, STOPPED_SINGLE_STEP = 1 << 8, STOPPED_WROTE = 2 };

#if defined(__x86_64__)

static inline uint64_t stopped_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t stopped_stack(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline bool stopped_by_write(const ucontext_t *context)
{
    return (context->uc_mcontext.gregs[REG_ERR] & STOPPED_WROTE) != 0;
}

static inline bool stopped_stepping(const ucontext_t *context)
{
    return (context->uc_mcontext.gregs[REG_EFL] & STOPPED_SINGLE_STEP) != 0;
}

/* Where the function that it is in returns to, if that has not called another. */
static inline uint64_t stopped_caller(const ucontext_t *context)
{
    uint64_t caller;
    memcpy(&caller, (const void *)(uintptr_t)stopped_stack(context), sizeof caller);
    return caller;
}

static inline void stopped_start(void) {}

/* False: it cannot make one instruction alone. */
static inline bool stopped_step(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] |= STOPPED_SINGLE_STEP;
    return true;
}

static inline void stopped_step_end(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~STOPPED_SINGLE_STEP;
}

/* For a handler of the program's: it sees its own code. True: a step that had begun will not end.
 */
static inline bool stopped_show(ucontext_t *context)
{
    (void)context;
    return false;
}

static inline struct instruction_registers stopped_registers(const ucontext_t *context)
{
    static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
    struct instruction_registers registers;
    for (int i = 0; i < 16; i++)
        registers.general[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    registers.backwards = (context->uc_mcontext.gregs[REG_EFL] & STOPPED_BACKWARDS) != 0;
    return registers;
}

/* Of the instruction's bytes those of its first page are sure to be there. */
static inline struct instruction_access stopped_access(const ucontext_t *context,
                                                       struct instruction_fault fault)
{
    enum { LONGEST = 15 };
    const uint64_t pc = stopped_pc(context), page = host_page_bytes();
    const uint64_t room = page - pc % page;
    const struct instruction_registers registers = stopped_registers(context);
    struct instruction_access access;
    instruction_access_find((const uint8_t *)(uintptr_t)pc, room < LONGEST ? room : LONGEST,
                            &registers, fault, &access);
    return access;
}

#else

/* The program's: an instruction that is made in a slot has its own place. */
static inline uint64_t stopped_pc(const ucontext_t *context)
{
    return displaced_step_origin(context->uc_mcontext.pc);
}

static inline uint64_t stopped_stack(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

static inline uint32_t stopped_instruction(const ucontext_t *context)
{
    return *(const uint32_t *)(uintptr_t)context->uc_mcontext.pc;
}

/* The kernel may leave the syndrome behind the registers (Linux, asm/sigcontext.h, esr_context);
 * bit 6 of a data abort's says that it was a write (Arm Architecture Reference Manual, ESR_EL1,
 * WnR). */
static inline bool stopped_syndrome_writes(const ucontext_t *context)
{
    enum { WRITES = 6 };
    const unsigned char *at = (const unsigned char *)context->uc_mcontext.__reserved;
    const unsigned char *const end = at + sizeof context->uc_mcontext.__reserved;
    struct esr_context record;
    for (; at + sizeof record <= end; at += record.head.size) {
        memcpy(&record, at, sizeof record);
        if (record.head.magic == ESR_MAGIC)
            return (record.esr >> WRITES & 1) != 0;
        if (!record.head.magic || !record.head.size)
            break;
    }
    return false;
}

/* The instruction says it best: of an atomic one, the syndrome may say that its load faulted. A
 * thread that jumped to where no code is has none that can be read. */
static inline bool stopped_by_write(const ucontext_t *context)
{
    if (context->uc_mcontext.fault_address == context->uc_mcontext.pc)
        return false;
    const enum aarch64_direction direction =
        aarch64_instruction_direction(stopped_instruction(context));
    return direction == AARCH64_NONE ? stopped_syndrome_writes(context) : direction != AARCH64_LOAD;
}

/* Where the function that it is in returns to, if that has not called another. glibc's mempcpy is a
 * call of memcpy here, and stands for it. */
static inline uint64_t stopped_caller(const ucontext_t *context)
{
    enum { FRAME = 29, LINK = 30, MEMPCPY_BYTES = 40 };
    uint64_t caller = context->uc_mcontext.regs[LINK];
    if (caller - (uintptr_t)mempcpy < MEMPCPY_BYTES)
        memcpy(&caller, (const void *)(uintptr_t)(context->uc_mcontext.regs[FRAME] + 8),
               sizeof caller);
    return caller;
}

static inline void stopped_start(void)
{
    displaced_step_start();
}

static inline bool stopped_stepping(const ucontext_t *context)
{
    return displaced_step_is_over(context->uc_mcontext.pc);
}

/* False: it cannot make one instruction alone. */
static inline bool stopped_step(ucontext_t *context)
{
    uint64_t pc = context->uc_mcontext.pc;
    const bool begun = displaced_step_begin(&pc);
    context->uc_mcontext.pc = pc;
    return begun;
}

static inline void stopped_step_end(ucontext_t *context)
{
    uint64_t pc = context->uc_mcontext.pc;
    displaced_step_end(&pc);
    context->uc_mcontext.pc = pc;
}

/* For a handler of the program's: it sees its own code. True: a step that had begun will not end.
 */
static inline bool stopped_show(ucontext_t *context)
{
    uint64_t pc = context->uc_mcontext.pc;
    const bool cancelled = displaced_step_cancel(&pc);
    context->uc_mcontext.pc = pc;
    return cancelled;
}

static inline struct instruction_access stopped_access(const ucontext_t *context,
                                                       struct instruction_fault fault)
{
    struct aarch64_registers registers = {.pc = stopped_pc(context)};
    struct instruction_access access;
    uint64_t zeroes; /* bits 3 to 0: words of four bytes, as a power of two */
    __asm__("mrs %0, dczid_el0" : "=r"(zeroes));
    registers.zeroed = UINT64_C(4) << (zeroes & 15);
    for (unsigned i = 0; i < AARCH64_STACK_POINTER; i++)
        registers.general[i] = context->uc_mcontext.regs[i];
    registers.general[AARCH64_STACK_POINTER] = context->uc_mcontext.sp;
    aarch64_access_find(stopped_instruction(context), &registers, fault, &access);
    return access;
}

#endif
#endif
