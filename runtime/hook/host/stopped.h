/* A thread that a signal stopped: what its context says, by processor. On aarch64 csan neither
 * reads instructions nor steps over one (host_fault_start), so a fault is explained, and not
 * handled. */
#ifndef RUNTIME_HOOK_HOST_STOPPED_H
#define RUNTIME_HOOK_HOST_STOPPED_H

#include "runtime/hook/host/host_instruction.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

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

static inline void stopped_step(ucontext_t *context, bool step)
{
    if (step)
        context->uc_mcontext.gregs[REG_EFL] |= STOPPED_SINGLE_STEP;
    else
        context->uc_mcontext.gregs[REG_EFL] &= ~STOPPED_SINGLE_STEP;
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

#else

static inline uint64_t stopped_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uint64_t stopped_stack(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

/* The kernel leaves the syndrome behind the registers (Linux, asm/sigcontext.h, esr_context); bit 6
 * of a data abort's says that it was a write (Arm Architecture Reference Manual, ESR_EL1, WnR). */
static inline bool stopped_by_write(const ucontext_t *context)
{
    const unsigned char *at = (const unsigned char *)context->uc_mcontext.__reserved;
    for (const unsigned char *end = at + sizeof context->uc_mcontext.__reserved; at + 16 <= end;) {
        struct {
            uint32_t magic, size;
            uint64_t syndrome;
        } record;
        __builtin_memcpy(&record, at, sizeof record);
        if (record.magic == 0x45535201)
            return (record.syndrome >> 6 & 1) != 0;
        if (!record.magic || !record.size)
            break;
        at += record.size;
    }
    return false;
}

static inline bool stopped_stepping(const ucontext_t *context)
{
    (void)context;
    return false;
}

static inline void stopped_step(ucontext_t *context, bool step)
{
    (void)context, (void)step;
}

static inline struct instruction_registers stopped_registers(const ucontext_t *context)
{
    (void)context;
    return (struct instruction_registers){.backwards = false};
}

#endif
#endif
