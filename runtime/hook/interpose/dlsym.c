/* dlsym, as programs see it. If a program asks libcuda.so for a function that csan stands in front
 * of, it gets csan's function. The same holds for libraries whose calls csan knows
 * (runtime/hook/library). Everything else is the C library's own answer.
 *
 * Never built with a sanitizer: the sanitizers' runtimes look symbols up before they are set up.
 * RTLD_NEXT and RTLD_DEFAULT depend on the caller's place in the process. So these calls jump to
 * the real dlsym with the caller's return address still on the stack. */
#include "runtime/glibc/symbol_version.h"
#include "runtime/hook/interpose/dlsym.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"

#include <dlfcn.h>
#include <string.h>

typedef void *dlsym_function(void *handle, const char *symbol);

/* The C library's dlsym; NULL until dlsym_find ran. Read by the stub. */
__attribute__((used)) dlsym_function *dlsym_real;

__attribute__((used)) dlsym_function *dlsym_find(void);
__attribute__((used)) void *dlsym_hooked(void *handle, const char *symbol);

/* glibc 2.34 moved dlsym into libc.so.6 and gave it a new version; before, it was in libdl.so.2. */
dlsym_function *dlsym_find(void)
{
    dlsym_function *real = dlsym_real;
    if (real)
        return real;
    real = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real)
        real = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", GLIBC_FIRST);
    dlsym_real = real;
    return real;
}

void *driver_dlsym(void *handle, const char *symbol)
{
    return dlsym_find()(handle, symbol);
}

dlsym_stub_function *dlsym_other_stub;

/* A child that was forked too late to be checked is given stubs, too: it says so at its first
 * call. */
void *dlsym_hooked(void *handle, const char *symbol)
{
    void *real = dlsym_find()(handle, symbol);
    if (!real || !symbol ||
        !(strncmp(symbol, "cu", 2) == 0 || strncmp(symbol, "nccl", 4) == 0 ||
          strncmp(symbol, "nvrtc", 5) == 0 || strncmp(symbol, "nvJitLink", 9) == 0 ||
          strncmp(symbol, "__nvJitLink", 11) == 0))
        return real;
    if (guard_self.depth)
        return real;                 /* inside a hook it is csan or the driver itself that asks */
    const bool on = session_start(); /* which hands in the tables, too */
    struct driver_entry *entry = driver_entry_of_symbol(symbol);
    if (!entry)
        return on && dlsym_other_stub ? dlsym_other_stub(symbol, real) : real;
    const bool hooks = on || session_state == SESSION_FORKED;
    return hooks && real != entry->stub && driver_owns(real) ? entry->stub : real;
}

/* dlsym(handle, symbol): handle + 1 is 0 or 1 for RTLD_NEXT (-1) and RTLD_DEFAULT (0). */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    leaq 1(%rdi), %rax\n"
        "    cmpq $1, %rax\n"
        "    ja dlsym_hooked\n"
        "    movq dlsym_real(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jne 1f\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    subq $8, %rsp\n"
        "    call dlsym_find\n"
        "    addq $8, %rsp\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "1:  jmp *%rax\n"
        ".size dlsym, .-dlsym\n"
        ".popsection\n");
#else
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        "dlsym:\n"
        "    add x16, x0, #1\n"
        "    cmp x16, #1\n"
        "    b.ls 2f\n"
        "    b dlsym_hooked\n"
        "2:  adrp x16, dlsym_real\n"
        "    ldr x16, [x16, :lo12:dlsym_real]\n"
        "    cbnz x16, 1f\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    stp x0, x1, [sp, #16]\n"
        "    bl dlsym_find\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "1:  br x16\n"
        ".size dlsym, .-dlsym\n"
        ".popsection\n");
#endif
