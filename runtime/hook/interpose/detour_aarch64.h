/* aarch64: machine code that keeps all registers in which arguments are, calls a function, and goes
 * on to what that returns. The code that jumps here has put an entry into x16: the procedure call
 * standard (AAPCS64, "General-purpose Registers") leaves that register to code between a caller and
 * the function that it calls. */
#ifndef RUNTIME_HOOK_INTERPOSE_DETOUR_AARCH64_H
#define RUNTIME_HOOK_INTERPOSE_DETOUR_AARCH64_H

/* The function gets the entry, and the address to which the call returns. */
#define DETOUR_AARCH64(name, function)                                                             \
    __asm__(".pushsection .text\n"                                                                 \
            ".type " name ", %function\n" name ":\n"                                               \
            "    .cfi_startproc\n"                                                                 \
            "    stp x29, x30, [sp, #-224]!\n"                                                     \
            "    .cfi_def_cfa_offset 224\n"                                                        \
            "    .cfi_offset x29, -224\n"                                                          \
            "    .cfi_offset x30, -216\n"                                                          \
            "    mov x29, sp\n"                                                                    \
            "    stp x0, x1, [sp, #16]\n"                                                          \
            "    stp x2, x3, [sp, #32]\n"                                                          \
            "    stp x4, x5, [sp, #48]\n"                                                          \
            "    stp x6, x7, [sp, #64]\n"                                                          \
            "    str x8, [sp, #80]\n"                                                              \
            "    stp q0, q1, [sp, #96]\n"                                                          \
            "    stp q2, q3, [sp, #128]\n"                                                         \
            "    stp q4, q5, [sp, #160]\n"                                                         \
            "    stp q6, q7, [sp, #192]\n"                                                         \
            "    mov x0, x16\n"                                                                    \
            "    mov x1, x30\n"                                                                    \
            "    bl " function "\n"                                                                \
            "    mov x16, x0\n"                                                                    \
            "    ldp x0, x1, [sp, #16]\n"                                                          \
            "    ldp x2, x3, [sp, #32]\n"                                                          \
            "    ldp x4, x5, [sp, #48]\n"                                                          \
            "    ldp x6, x7, [sp, #64]\n"                                                          \
            "    ldr x8, [sp, #80]\n"                                                              \
            "    ldp q0, q1, [sp, #96]\n"                                                          \
            "    ldp q2, q3, [sp, #128]\n"                                                         \
            "    ldp q4, q5, [sp, #160]\n"                                                         \
            "    ldp q6, q7, [sp, #192]\n"                                                         \
            "    ldp x29, x30, [sp], #224\n"                                                       \
            "    br x16\n"                                                                         \
            "    .cfi_endproc\n"                                                                   \
            ".size " name ", .-" name "\n"                                                         \
            ".globl " name "\n"                                                                    \
            ".hidden " name "\n"                                                                   \
            ".popsection\n")

#endif
