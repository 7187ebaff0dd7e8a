/* See host_fault.h. */
#include "runtime/hook/host/host_fault.h"
#include "runtime/hook/host/host_instruction.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/interpose/libc_next.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

enum { SINGLE_STEP = 0x100, BACKWARDS = 0x400, STEPS = 4, RETRIES = 8, PAGE_BYTES = 4096 };

/* What csan's handlers stand in front of. */
enum { SEGV, TRAP, SIGNALS };
static const int numbers[SIGNALS] = {SIGSEGV, SIGTRAP};

static struct {
    bool on;
    host_fault_check *check;
    struct sigaction behind[SIGNALS]; /* the program's */
} faults;

/* The instruction that the thread is to make, and what is open for it. */
static __thread struct {
    struct range open[STEPS];
    uint32_t count;
    uint64_t pc, address; /* of the newest fault that was tried again */
    uint32_t retries;
} self __attribute__((tls_model("initial-exec")));

static int index_of(int number)
{
    return number == SIGSEGV ? SEGV : number == SIGTRAP ? TRAP : -1;
}

/* ---- The program's handler ---- */

static void by_default(int number, const siginfo_t *info)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    libc_next_need();
    libc_next.sigaction(number, &action, NULL);
    if (info->si_code <= 0 || number == SIGTRAP) /* else the instruction faults again */
        raise(number);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction *behind = &faults.behind[index_of(number)];
    const struct sigaction action = *behind;
    if (action.sa_flags & SA_RESETHAND)
        *behind = (struct sigaction){.sa_handler = SIG_DFL};
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(number, info, context);
    else if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && info->si_code > 0))
        by_default(number, info);
    else if (action.sa_handler != SIG_IGN)
        action.sa_handler(number);
}

/* ---- Faults ---- */

static struct instruction_registers registers_of(const ucontext_t *context)
{
    static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
    struct instruction_registers registers;
    for (int i = 0; i < 16; i++)
        registers.general[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    registers.backwards = (context->uc_mcontext.gregs[REG_EFL] & BACKWARDS) != 0;
    return registers;
}

/* Of the instruction's bytes those of its first page are sure to be there. */
static struct range accessed(const ucontext_t *context, struct instruction_fault fault)
{
    const uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    const uint64_t room = PAGE_BYTES - pc % PAGE_BYTES;
    const struct instruction_registers registers = registers_of(context);
    struct instruction_access access;
    instruction_access_find((const uint8_t *)(uintptr_t)pc, room < 15 ? room : 15, &registers,
                            fault, &access);
    return (struct range){access.address, access.address + access.bytes};
}

/* The page may be open by now, or the fault may be the program's own in a page that was csan's. */
static bool tries_again(uint64_t pc, uint64_t address)
{
    if (self.pc != pc || self.address != address)
        self.retries = 0;
    self.pc = pc;
    self.address = address;
    return self.retries++ < RETRIES;
}

static void step(ucontext_t *context, struct range bytes)
{
    if (self.count == STEPS || !page_guard_step(bytes)) {
        page_guard_open(bytes, true);
        return;
    }
    self.open[self.count++] = bytes;
    context->uc_mcontext.gregs[REG_EFL] |= SINGLE_STEP;
}

static bool is_handled(const siginfo_t *info, ucontext_t *context)
{
    const greg_t *general = context->uc_mcontext.gregs;
    const struct instruction_fault fault = {.address = (uintptr_t)info->si_addr,
                                            .writes = (general[REG_ERR] & 2) != 0};
    const struct range byte = {fault.address, fault.address + 1};
    if (info->si_code != SEGV_ACCERR ||
        page_guard_find(fault.address, byte, fault.writes) == PAGE_GUARD_NOT)
        return false;
    struct host_fault found = {.pc = (uint64_t)general[REG_RIP],
                               .bytes = accessed(context, fault),
                               .writes = fault.writes};
    memcpy(&found.caller, (const void *)(uintptr_t)general[REG_RSP], sizeof found.caller);
    switch (page_guard_find(fault.address, found.bytes, fault.writes)) {
    case PAGE_GUARD_NOT:
        return false;
    case PAGE_GUARD_RETRY:
        return tries_again(found.pc, fault.address);
    case PAGE_GUARD_OTHERS:
        step(context, found.bytes);
        return true;
    case PAGE_GUARD_GUARDED:
        page_guard_open(found.bytes, !faults.check(&found));
        page_guard_open(byte, false);
        return true;
    }
    return false;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (!is_handled(info, context))
        pass_on(number, info, context);
    errno = error;
}

static void on_step(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    ucontext_t *stepped = context;
    if (info->si_code == TRAP_TRACE && self.count) {
        while (self.count)
            page_guard_close(self.open[--self.count]);
        stepped->uc_mcontext.gregs[REG_EFL] &= ~SINGLE_STEP;
    } else {
        pass_on(number, info, context);
    }
    errno = error;
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *))
{
    const struct sigaction action = {.sa_sigaction = handler,
                                     .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};
    libc_next.sigaction(numbers[signal], &action, &faults.behind[signal]);
}

bool host_fault_start(host_fault_check *check)
{
    libc_next_need();
    if (faults.on || !libc_next.sigaction || !libc_next.thread_mask)
        return false;
    faults.check = check;
    handle(SEGV, on_fault);
    handle(TRAP, on_step);
    __atomic_store_n(&faults.on, true, __ATOMIC_RELEASE);
    return true;
}

void host_fault_stop(void)
{
    if (!faults.on)
        return;
    faults.on = false;
    for (int i = 0; i < SIGNALS; i++)
        libc_next.sigaction(numbers[i], &faults.behind[i], NULL);
}

/* ---- The program's own settings ---- */

__attribute__((visibility("default"))) int
sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict before)
{
    const int signal = index_of(number);
    libc_next_need();
    if (signal < 0 || !__atomic_load_n(&faults.on, __ATOMIC_ACQUIRE))
        return libc_next.sigaction(number, action, before);
    const struct sigaction wanted = action ? *action : faults.behind[signal];
    if (before)
        *before = faults.behind[signal];
    faults.behind[signal] = wanted;
    return 0;
}

__attribute__((visibility("default"))) sighandler_t signal(int number, sighandler_t handler)
{
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    libc_next_need();
    if (index_of(number) < 0 || !__atomic_load_n(&faults.on, __ATOMIC_ACQUIRE))
        return libc_next.signal(number, handler);
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* The set without what csan needs; NULL stays NULL. */
static const sigset_t *without(const sigset_t *set, sigset_t *room)
{
    if (!set || !__atomic_load_n(&faults.on, __ATOMIC_ACQUIRE))
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    sigdelset(room, SIGTRAP);
    return room;
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t *restrict set,
                                                           sigset_t *restrict before)
{
    sigset_t room;
    libc_next_need();
    return libc_next.thread_mask(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t *restrict set,
                                                       sigset_t *restrict before)
{
    sigset_t room;
    libc_next_need();
    return libc_next.process_mask(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}
