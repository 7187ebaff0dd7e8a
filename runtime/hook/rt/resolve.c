/* Finds the target of a trampoline at its first call. The generated stubs jump through
 * runtime_slots. At first each slot holds a thunk that comes here with the symbol's number. It gets
 * the target's address, stores it in the slot, and goes on there with all argument registers
 * unchanged. */
#include "runtime/hook/rt/resolve.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *symbol;
    enum runtime_version version;
} functions[] = {
#include "runtime_names.inc"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

extern void *runtime_slots[FUNCTIONS];

static struct {
    uint8_t said[FUNCTIONS]; /* that the target lacks it */
} resolve;

/* Deciding on the target loads libraries, whose constructors may call the runtime: such a call, on
 * the deciding thread, must not wait for the decision. */
static __thread bool deciding;

static void *missing(unsigned number, bool no_target)
{
    if (!no_target && !__atomic_exchange_n(&resolve.said[number], 1, __ATOMIC_RELAXED))
        fprintf(stderr,
                "csan: %s is not in the CUDA runtime library in use; the call fails. Use the "
                "runtime library the program was built with\n",
                functions[number].symbol);
    return fallback_function(functions[number].symbol, no_target);
}

/* Of __cudaRegisterFatBinary, by which programs of nvcc begin, the argument shows the version. */
static enum runtime_version version_of(unsigned number, const void *first_argument)
{
    if (functions[number].version != RUNTIME_LINKED)
        return functions[number].version;
    bool registers = strcmp(functions[number].symbol, "__cudaRegisterFatBinary") == 0;
    return program_version(registers ? first_argument : NULL);
}

__attribute__((used)) void *runtime_resolve(unsigned number, void *const *arguments);
void *runtime_resolve(unsigned number, void *const *arguments)
{
    if (deciding)
        return fallback_function(functions[number].symbol, true);
    deciding = true;
    void *library = target_library(version_of(number, arguments[0]));
    void *function = library ? dlsym(library, functions[number].symbol) : NULL;
    deciding = false;
    if (!function)
        return missing(number, library == NULL);
    __atomic_store_n(&runtime_slots[number], function, __ATOMIC_RELEASE);
    return function;
}

/* Keeps every register that can hold an argument, calls runtime_resolve(number,
 * where the first six are), and goes on there. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".type runtime_resolve_common, @function\n"
        "runtime_resolve_common:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    subq $192, %rsp\n"
        "    andq $-16, %rsp\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    movq %rdx, 16(%rsp)\n"
        "    movq %rcx, 24(%rsp)\n"
        "    movq %r8, 32(%rsp)\n"
        "    movq %r9, 40(%rsp)\n"
        "    movq %rax, 48(%rsp)\n"
        "    movups %xmm0, 64(%rsp)\n"
        "    movups %xmm1, 80(%rsp)\n"
        "    movups %xmm2, 96(%rsp)\n"
        "    movups %xmm3, 112(%rsp)\n"
        "    movups %xmm4, 128(%rsp)\n"
        "    movups %xmm5, 144(%rsp)\n"
        "    movups %xmm6, 160(%rsp)\n"
        "    movups %xmm7, 176(%rsp)\n"
        "    movl %r11d, %edi\n"
        "    movq %rsp, %rsi\n"
        "    call runtime_resolve\n"
        "    movq %rax, %r11\n"
        "    movups 64(%rsp), %xmm0\n"
        "    movups 80(%rsp), %xmm1\n"
        "    movups 96(%rsp), %xmm2\n"
        "    movups 112(%rsp), %xmm3\n"
        "    movups 128(%rsp), %xmm4\n"
        "    movups 144(%rsp), %xmm5\n"
        "    movups 160(%rsp), %xmm6\n"
        "    movups 176(%rsp), %xmm7\n"
        "    movq (%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    movq 16(%rsp), %rdx\n"
        "    movq 24(%rsp), %rcx\n"
        "    movq 32(%rsp), %r8\n"
        "    movq 40(%rsp), %r9\n"
        "    movq 48(%rsp), %rax\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    jmp *%r11\n"
        "    .cfi_endproc\n"
        ".size runtime_resolve_common, .-runtime_resolve_common\n"
        ".globl runtime_resolve_common\n"
        ".hidden runtime_resolve_common\n"
        ".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
        ".type runtime_resolve_common, %function\n"
        "runtime_resolve_common:\n"
        "    .cfi_startproc\n"
        "    stp x29, x30, [sp, #-224]!\n"
        "    .cfi_def_cfa_offset 224\n"
        "    .cfi_offset x29, -224\n"
        "    .cfi_offset x30, -216\n"
        "    mov x29, sp\n"
        "    stp x0, x1, [sp, #16]\n"
        "    stp x2, x3, [sp, #32]\n"
        "    stp x4, x5, [sp, #48]\n"
        "    stp x6, x7, [sp, #64]\n"
        "    str x8, [sp, #80]\n"
        "    stp q0, q1, [sp, #96]\n"
        "    stp q2, q3, [sp, #128]\n"
        "    stp q4, q5, [sp, #160]\n"
        "    stp q6, q7, [sp, #192]\n"
        "    mov w0, w17\n"
        "    add x1, sp, #16\n"
        "    bl runtime_resolve\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x2, x3, [sp, #32]\n"
        "    ldp x4, x5, [sp, #48]\n"
        "    ldp x6, x7, [sp, #64]\n"
        "    ldr x8, [sp, #80]\n"
        "    ldp q0, q1, [sp, #96]\n"
        "    ldp q2, q3, [sp, #128]\n"
        "    ldp q4, q5, [sp, #160]\n"
        "    ldp q6, q7, [sp, #192]\n"
        "    ldp x29, x30, [sp], #224\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size runtime_resolve_common, .-runtime_resolve_common\n"
        ".globl runtime_resolve_common\n"
        ".hidden runtime_resolve_common\n"
        ".popsection\n");
#else
#error "libcsan_rt has trampolines for x86-64 and aarch64 only"
#endif
