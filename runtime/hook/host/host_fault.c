/* See host_fault.h. */
#include "runtime/hook/host/host_fault.h"
#include "runtime/hook/host/code_owner.h"
#include "runtime/hook/host/debugger.h"
#include "runtime/hook/host/host_instruction.h"
#include "runtime/hook/host/kernel_call.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/stopped.h"
#include "runtime/hook/host/unguarded.h"
#include "runtime/hook/interpose/libc_next.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { STEPS = 4, RETRIES = 8 };
enum { RED_ZONE = 128, ROOM_LEAST = 32 << 10 }; /* bytes of stack; what a check needs, and more */
enum { NESTED_MOST = 16 };                      /* handlers that fault themselves */

/* What csan's handlers stand in front of. */
enum { SEGV, TRAP, SIGNALS };
static const int numbers[SIGNALS] = {SIGSEGV, SIGTRAP};

static struct {
    bool on;
    host_fault_check *check;
    void (*before_end)(void);
    struct sigaction behind[SIGNALS]; /* the program's */
} faults;

/* The instruction that the thread is to make, and what is open for it. */
static __thread struct {
    struct range open[STEPS];
    uint32_t count, owed;      /* owed: traps that may still come of what is closed already */
    uint64_t pc, address;      /* of the newest fault that was tried again */
    uint32_t retries, changes; /* while the page changed so many times */
    uintptr_t handler; /* the frame below which a handler of the program's runs; 0: none does */
    uint32_t nested;
} self __attribute__((tls_model("initial-exec")));

static int index_of(int number)
{
    return number == SIGSEGV ? SEGV : number == SIGTRAP ? TRAP : -1;
}

/* ---- The program's handler ---- */

static void by_default(int number, const siginfo_t *info)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    faults.before_end();
    libc_next_need();
    libc_next.sigaction(number, &action, NULL);
    if (info->si_code <= 0 || number == SIGTRAP) /* else the instruction faults again */
        raise(number);
}

/* As if the signal were blocked while its handler runs: a handler that faults again and again ends
 * the process (sigaction(2)). One that was left by siglongjmp looks like one that runs, but
 * the next fault lies at another depth of the stack then. */
static bool nests_too_deep(uintptr_t frame)
{
    if (self.handler && frame < self.handler)
        return ++self.nested >= NESTED_MOST;
    self.nested = 0;
    return false;
}

/* What the program blocks meanwhile; sigreturn unblocks it. */
static void block_for(const struct sigaction *action)
{
    sigset_t set = action->sa_mask;
    sigdelset(&set, SIGSEGV);
    sigdelset(&set, SIGTRAP);
    if (!sigisemptyset(&set))
        libc_next.thread_mask(SIG_BLOCK, &set, NULL);
}

static void call_handler(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0), outer = self.handler;
    if (!(action->sa_flags & SA_NODEFER) && info->si_code > 0 && nests_too_deep(frame)) {
        by_default(number, info);
        return;
    }
    self.handler = frame;
    block_for(action);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
    self.handler = outer;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction *behind = &faults.behind[index_of(number)];
    const struct sigaction action = *behind;
    if (action.sa_flags & SA_RESETHAND)
        *behind = (struct sigaction){.sa_handler = SIG_DFL};
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && info->si_code > 0))
        by_default(number, info);
    else if (action.sa_handler != SIG_IGN)
        call_handler(&action, number, info, context);
}

/* ---- Faults ---- */

/* host_fault_on_stack(top, work, data): calls work(data) on another stack. */
void host_fault_on_stack(uint64_t top, void (*work)(void *), void *data);
#if defined(__x86_64__)
__asm__(".text\n"
        ".hidden host_fault_on_stack\n"
        ".globl host_fault_on_stack\n"
        ".type host_fault_on_stack, @function\n"
        "host_fault_on_stack:\n"
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register 6\n"
        "movq %rdi, %rsp\n"
        "movq %rdx, %rdi\n"
        "callq *%rsi\n"
        "leave\n"
        ".cfi_def_cfa 7, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size host_fault_on_stack, . - host_fault_on_stack\n");
#else
__asm__(".text\n"
        ".hidden host_fault_on_stack\n"
        ".globl host_fault_on_stack\n"
        ".type host_fault_on_stack, %function\n"
        "host_fault_on_stack:\n"
        ".cfi_startproc\n"
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset x29, -16\n"
        ".cfi_offset x30, -8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register x29\n"
        "mov sp, x0\n"
        "mov x0, x2\n"
        "blr x1\n"
        "mov sp, x29\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_def_cfa sp, 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size host_fault_on_stack, . - host_fault_on_stack\n");
#endif

struct checked {
    const struct host_fault *fault;
    enum host_fault_checked was;
};

static void check_here(void *data)
{
    struct checked *checked = data;
    checked->was = faults.check(checked->fault);
}

/* Programs set alternate stacks that hold little more than the kernel's frame (Rust's threads,
 * Python's faulthandler): then the check runs on the stack that was interrupted. */
static enum host_fault_checked checked_as(const struct host_fault *fault, const ucontext_t *context)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;
    const uint64_t interrupted = stopped_stack(context);
    struct checked checked = {.fault = fault};
    const bool alternate = here - low < context->uc_stack.ss_size;
    if (alternate && here - low < ROOM_LEAST && interrupted - low >= context->uc_stack.ss_size)
        host_fault_on_stack((interrupted - RED_ZONE) & ~UINT64_C(15), check_here, &checked);
    else
        check_here(&checked);
    return checked.was;
}

/* The page may be open by now, or the fault may be the program's own in a page that was csan's: it
 * comes again though the page has not changed. */
static bool tries_again(uint64_t pc, uint64_t address)
{
    const uint32_t changes = page_guard_changes(address);
    if (self.pc != pc || self.address != address || self.changes != changes)
        self.retries = 0;
    self.pc = pc;
    self.address = address;
    self.changes = changes;
    if (self.retries == RETRIES / 2)
        page_guard_insist(address);
    return self.retries++ < RETRIES;
}

/* A debugger would keep the trap, and the thread would go on step by step. */
static void step(ucontext_t *context, struct range bytes, const struct instruction_access *access)
{
    if (access->no_step || self.count == STEPS || debugger_is_here() || !page_guard_step(bytes)) {
        page_guard_open(bytes, true);
        return;
    }
    if (!stopped_step(context)) {
        page_guard_open(bytes, true);
        page_guard_close(bytes);
        return;
    }
    self.open[self.count++] = bytes;
}

/* Bytes beside an op's. The kernel may be asked about a lock at any time (futex(2)), and refuse, so
 * its page stays open. A function of the C library may hand the memory to the kernel in its next
 * step, which no other function of csan's sees: the page is open until the next op. */
static void beside(const struct host_fault *found, const struct instruction_access *access,
                   ucontext_t *context)
{
    if (access->locked)
        unguarded_add(found->bytes);
    if (access->locked || code_is_in_c_library(found->pc, found->caller))
        page_guard_open(found->bytes, false);
    else
        step(context, found->bytes, access);
}

/* Bytes of an op. The page stays closed for threads that do not know that the op is over. */
static void met(const struct host_fault *found, const struct instruction_access *access,
                struct range byte, ucontext_t *context)
{
    const enum host_fault_checked checked = checked_as(found, context);
    if (checked == HOST_FAULT_ORDERED && !code_is_in_c_library(found->pc, found->caller)) {
        step(context, found->bytes, access);
        return;
    }
    page_guard_open(found->bytes, checked != HOST_FAULT_CHECKED);
    page_guard_open(byte, false);
}

static bool is_handled(const siginfo_t *info, ucontext_t *context)
{
    const struct instruction_fault fault = {.address = (uintptr_t)info->si_addr,
                                            .writes = stopped_by_write(context)};
    const struct range byte = {fault.address, fault.address + 1};
    if (info->si_code != SEGV_ACCERR ||
        page_guard_find(fault.address, byte, fault.writes) == PAGE_GUARD_NOT)
        return false;
    const struct instruction_access access = stopped_access(context, fault);
    const struct host_fault found = {.pc = stopped_pc(context),
                                     .caller = stopped_caller(context),
                                     .stack = stopped_stack(context),
                                     .bytes = {access.address, access.address + access.bytes},
                                     .writes = fault.writes};
    switch (page_guard_find(fault.address, found.bytes, fault.writes)) {
    case PAGE_GUARD_NOT:
        return false;
    case PAGE_GUARD_RETRY:
        return tries_again(found.pc, fault.address);
    case PAGE_GUARD_OTHERS:
        beside(&found, &access, context);
        return true;
    case PAGE_GUARD_WORD:
        page_guard_open(byte, true);
        page_guard_forget_all();
        return true;
    case PAGE_GUARD_GUARDED:
        met(&found, &access, byte, context);
        return true;
    }
    return false;
}

/* Where a handler ran in between, an instruction of its own may be the one that was made, and the
 * interrupted one, whose trap is still to come, meets its page closed again. */
static bool step_ends(void)
{
    if (!self.count && !self.owed)
        return false;
    self.owed = self.count ? self.owed + self.count - 1 : self.owed - 1;
    while (self.count)
        page_guard_close(self.open[--self.count]);
    return true;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (!is_handled(info, context)) {
        if (stopped_show(context))
            step_ends();
        pass_on(number, info, context);
    }
    errno = error;
}

/* A trap of the processor's after one instruction. Not by its code alone: a virtual machine may
 * lose why the trap came, and then the kernel calls it a breakpoint. */
static bool is_single_step(const siginfo_t *info, const ucontext_t *context)
{
    return info->si_code > 0 && stopped_stepping(context);
}

static void on_step(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    ucontext_t *stepped = context;
    if (is_single_step(info, stepped) && step_ends())
        stopped_step_end(stepped);
    else
        pass_on(number, info, context);
    errno = error;
}

/* What the kernel knows of a handler (rt_sigaction(2), C library/kernel differences). */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask; /* bit i: signal i + 1 */
};

/* The signal's handler blocks neither of csan's two. The kernel is asked: a library between csan
 * and the C library may have given it another mask. ThreadSanitizer's blocks all signals. */
static void unblock_in_handler(int number)
{
    const uint64_t both = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGTRAP - 1);
    struct kernel_action action;
    if (kernel_call(SYS_rt_sigaction, number, 0, (long)&action, sizeof(action.mask), 0, 0) != 0 ||
        !(action.mask & both))
        return;
    action.mask &= ~both;
    kernel_call(SYS_rt_sigaction, number, (long)&action, 0, sizeof(action.mask), 0, 0);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *))
{
    const struct sigaction action = {.sa_sigaction = handler,
                                     .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};
    libc_next.sigaction(numbers[signal], &action, &faults.behind[signal]);
    unblock_in_handler(numbers[signal]); /* a handler of the program's may fault, too */
}

/* Handlers of other signals, which were set before. */
static void unblock_in_handlers(void)
{
    for (int number = 1; number < NSIG; number++)
        if (index_of(number) < 0)
            unblock_in_handler(number);
}

static void unblock_here(void)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGSEGV);
    sigaddset(&both, SIGTRAP);
    libc_next.thread_mask(SIG_UNBLOCK, &both, NULL);
}

bool host_fault_start(host_fault_check *check, void (*before_end)(void))
{
    libc_next_need();
    if (faults.on || !libc_next.sigaction || !libc_next.thread_mask)
        return false;
    faults.check = check;
    faults.before_end = before_end;
    stopped_start();
    handle(SEGV, on_fault);
    handle(TRAP, on_step);
    __atomic_store_n(&faults.on, true, __ATOMIC_RELEASE);
    unblock_in_handlers();
    unblock_here(); /* the mask is inherited over exec */
    return true;
}

bool host_fault_is_handled(void)
{
    struct sigaction now;
    return libc_next.sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault;
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

#define EXPORTED __attribute__((visibility("default")))

static bool is_on(void)
{
    libc_next_need();
    return __atomic_load_n(&faults.on, __ATOMIC_ACQUIRE);
}

/* The set without what csan needs; NULL stays NULL. */
static const sigset_t *without(const sigset_t *set, sigset_t *room)
{
    if (!set || !is_on())
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    sigdelset(room, SIGTRAP);
    return room;
}

static int action_of_other(int number, const struct sigaction *action, struct sigaction *before)
{
    if (!action || !is_on())
        return libc_next.sigaction(number, action, before);
    struct sigaction wanted = *action;
    without(&action->sa_mask, &wanted.sa_mask);
    const int result = libc_next.sigaction(number, &wanted, before);
    if (result == 0)
        unblock_in_handler(number);
    return result;
}

EXPORTED int sigaction(int number, const struct sigaction *restrict action,
                       struct sigaction *restrict before)
{
    const int signal = index_of(number);
    if (!is_on() || signal < 0)
        return action_of_other(number, action, before);
    const struct sigaction wanted = action ? *action : faults.behind[signal];
    if (before)
        *before = faults.behind[signal];
    faults.behind[signal] = wanted;
    return 0;
}

/* As signal(2) says of BSD and of System V. */
static sighandler_t signal_with(int number, sighandler_t handler, int flags)
{
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

static bool is_kept(int number)
{
    return is_on() && index_of(number) >= 0;
}

EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
    return is_kept(number) ? signal_with(number, handler, SA_RESTART)
                           : libc_next.signal(number, handler);
}
EXPORTED sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}
EXPORTED sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}
EXPORTED sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return is_kept(number) ? signal_with(number, handler, (int)(SA_RESETHAND | SA_NODEFER))
                           : libc_next.sysv_signal(number, handler);
}
EXPORTED sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

EXPORTED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    sigset_t room;
    libc_next_need();
    return libc_next.thread_mask(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

EXPORTED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    sigset_t room;
    libc_next_need();
    return libc_next.process_mask(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

/* A thread that is made with such a mask. */
EXPORTED int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set)
{
    sigset_t room;
    libc_next_need();
    return libc_next.attribute_mask ? libc_next.attribute_mask(attributes, without(set, &room))
                                    : ENOSYS;
}

/* A handler that runs within one of these has its mask. */
EXPORTED int sigsuspend(const sigset_t *set)
{
    sigset_t room;
    libc_next_need();
    return libc_next.suspend(without(set, &room));
}
EXPORTED int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit,
                   const sigset_t *set)
{
    sigset_t room;
    libc_next_need();
    return libc_next.ppoll(files, count, limit, without(set, &room));
}
EXPORTED int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
                     fd_set *restrict others, const struct timespec *restrict limit,
                     const sigset_t *restrict set)
{
    sigset_t room;
    libc_next_need();
    return libc_next.pselect(count, reads, writes, others, limit, without(set, &room));
}
EXPORTED int epoll_pwait(int epoll, struct epoll_event *events, int most, int limit,
                         const sigset_t *set)
{
    sigset_t room;
    libc_next_need();
    return libc_next.epoll_pwait(epoll, events, most, limit, without(set, &room));
}
