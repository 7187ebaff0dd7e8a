/* The machine code of the exported entry points, in four forms; generate.awk uses them. Arguments
 * stay where they are. x86-64 System V: only flags (and, in a thunk, rax) change. aarch64: x16 and
 * x17. */
#ifndef RUNTIME_HOOK_INTERPOSE_STUBS_H
#define RUNTIME_HOOK_INTERPOSE_STUBS_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session.h"

_Static_assert(offsetof(struct driver_entry, real) == 0 && sizeof(struct driver_entry) == 40 &&
                   offsetof(struct driver_entry, called) == 34,
               "the stubs count on this layout");

#if defined(__x86_64__)
#define DRIVER_TEXT(symbol, number, on)                                                            \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", @function\n" symbol ":\n"                                           \
            "stub_" symbol ":\n"                                                                   \
            "    cmpb $0, session_state(%rip)\n"                                                   \
            "    jne 1f\n"                                                                         \
            "    jmp *driver_entries+40*" #number "(%rip)\n"                                       \
            "1:\n" on ".size " symbol ", .-" symbol "\n"                                           \
            "thunk_" #number ":\n"                                                                 \
            "    leaq driver_entries+40*" #number "(%rip), %rax\n"                                 \
            "    jmp driver_resolve_common\n"                                                      \
            ".popsection\n");

#define DRIVER_PASS_ON(number)                                                                     \
    "    movb $1, driver_entries+40*" #number "+34(%rip)\n"                                        \
    "    jmp *driver_entries+40*" #number "(%rip)\n"
#elif defined(__aarch64__)
/* Goes to where the entry's function is. */
#define DRIVER_GO(number)                                                                          \
    "    adrp x16, driver_entries+40*" #number "\n"                                                \
    "    ldr x16, [x16, :lo12:driver_entries+40*" #number "]\n"                                    \
    "    br x16\n"
#define DRIVER_NOTE(byte)                                                                          \
    "    adrp x16, " byte "\n"                                                                     \
    "    mov w17, #1\n"                                                                            \
    "    strb w17, [x16, :lo12:" byte "]\n"
#define DRIVER_THUNK(number, common)                                                               \
    "    adrp x16, driver_entries+40*" #number "\n"                                                \
    "    add x16, x16, :lo12:driver_entries+40*" #number "\n"                                      \
    "    b " common "\n"
#define DRIVER_TEXT(symbol, number, on)                                                            \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", %function\n" symbol ":\n"                                           \
            "stub_" symbol ":\n"                                                                   \
            "    adrp x16, session_state\n"                                                        \
            "    ldrb w16, [x16, :lo12:session_state]\n"                                           \
            "    cbnz w16, 1f\n" DRIVER_GO(                                                        \
                number) "1:\n" on ".size " symbol ", .-" symbol "\n"                               \
                        "thunk_" #number                                                           \
                        ":\n" DRIVER_THUNK(number, "driver_resolve_common") ".popsection\n");

#define DRIVER_PASS_ON(number) DRIVER_NOTE("driver_entries+40*" #number "+34") DRIVER_GO(number)
#endif

/* Goes to the hook. */
#if defined(__x86_64__)
#define DRIVER_STUB_OP(symbol, number) DRIVER_TEXT(symbol, number, "    jmp wrapped_" symbol "\n")
#else
#define DRIVER_STUB_OP(symbol, number) DRIVER_TEXT(symbol, number, "    b wrapped_" symbol "\n")
#endif
#if defined(__x86_64__)
/* Notes that it was called and that memory may change unseen, and goes to the driver. */
#define DRIVER_STUB_PASS(symbol, number)                                                           \
    DRIVER_TEXT(symbol, number,                                                                    \
                "    movb $1, driver_unmodelled_called(%rip)\n"                                    \
                "    movb $1, driver_unmodelled_doubt(%rip)\n" DRIVER_PASS_ON(number))
/* Notes for later ops that their stream may be captured. */
#define DRIVER_STUB_CAPTURE(symbol, number)                                                        \
    DRIVER_TEXT(symbol, number,                                                                    \
                "    movb $1, driver_capture_seen(%rip)\n"                                         \
                "    jmp *driver_entries+40*" #number "(%rip)\n")
#else
#define DRIVER_STUB_PASS(symbol, number)                                                           \
    DRIVER_TEXT(symbol, number,                                                                    \
                DRIVER_NOTE("driver_unmodelled_called") DRIVER_NOTE("driver_unmodelled_doubt")     \
                    DRIVER_PASS_ON(number))
#define DRIVER_STUB_CAPTURE(symbol, number)                                                        \
    DRIVER_TEXT(symbol, number, DRIVER_NOTE("driver_capture_seen") DRIVER_GO(number))
#endif

/* Goes to the driver. Until csan knows that CUDA is used, it goes through driver_begins. */
#if defined(__x86_64__)
#define DRIVER_STUB_BEGIN(symbol, number)                                                          \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", @function\n" symbol ":\n"                                           \
            "stub_" symbol ":\n"                                                                   \
            "    cmpb $2, session_state(%rip)\n"                                                   \
            "    jae 1f\n"                                                                         \
            "    jmp *driver_entries+40*" #number "(%rip)\n"                                       \
            "1:  leaq driver_entries+40*" #number "(%rip), %rax\n"                                 \
            "    jmp driver_begin_common\n"                                                        \
            ".size " symbol ", .-" symbol "\n"                                                     \
            "thunk_" #number ":\n"                                                                 \
            "    leaq driver_entries+40*" #number "(%rip), %rax\n"                                 \
            "    jmp driver_resolve_common\n"                                                      \
            ".popsection\n");
#else
#define DRIVER_STUB_BEGIN(symbol, number)                                                          \
    __asm__(                                                                                       \
        ".pushsection .text\n"                                                                     \
        ".globl " symbol "\n"                                                                      \
        ".type " symbol ", %function\n" symbol ":\n"                                               \
        "stub_" symbol ":\n"                                                                       \
        "    adrp x16, session_state\n"                                                            \
        "    ldrb w16, [x16, :lo12:session_state]\n"                                               \
        "    cmp w16, #2\n"                                                                        \
        "    b.hs 1f\n" DRIVER_GO(number) "1:\n" DRIVER_THUNK(                                     \
            number, "driver_begin_common") ".size " symbol ", .-" symbol "\n"                      \
                                           "thunk_" #number ":\n" DRIVER_THUNK(                    \
                                               number, "driver_resolve_common") ".popsection\n");
#endif
_Static_assert(SESSION_OFF < 2 && SESSION_ON < 2 && SESSION_UNDECIDED >= 2 && SESSION_READY >= 2 &&
                   SESSION_FORKED >= 2,
               "the stubs of class begin count on this");

#endif
