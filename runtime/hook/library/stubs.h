/* The machine code of the exported functions of libraries; generate.awk uses it. As in
 * runtime/hook/interpose/stubs.h: while csan is off, a stub jumps to the real function and leaves
 * no trace. While csan is on, it enters library.c with its entry in rax, on aarch64 in x16. */
#ifndef RUNTIME_HOOK_LIBRARY_STUBS_H
#define RUNTIME_HOOK_LIBRARY_STUBS_H

#include "runtime/hook/library/library.h"

#include <stddef.h>

_Static_assert(offsetof(struct library_entry, real) == 0 && sizeof(struct library_entry) == 40,
               "the stubs count on this layout");

#if defined(__x86_64__)
#define LIBRARY_STUB(number, symbol, version)                                                      \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl library_export_" #number "\n"                                                  \
            ".type library_export_" #number ", @function\n"                                        \
            "library_export_" #number ":\n"                                                        \
            "library_stub_" #number ":\n"                                                          \
            "    cmpb $0, session_state(%rip)\n"                                                   \
            "    jne 1f\n"                                                                         \
            "    jmp *library_entries+40*" #number "(%rip)\n"                                      \
            "1:  leaq library_entries+40*" #number "(%rip), %rax\n"                                \
            "    jmp library_enter\n"                                                              \
            ".size library_export_" #number ", .-library_export_" #number "\n"                     \
            "library_thunk_" #number ":\n"                                                         \
            "    leaq library_entries+40*" #number "(%rip), %rax\n"                                \
            "    jmp library_resolve_common\n"                                                     \
            ".symver library_export_" #number ", " symbol "@" version ", remove\n"                 \
            ".popsection\n");
#else
#define LIBRARY_STUB(number, symbol, version)                                                      \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl library_export_" #number "\n"                                                  \
            ".type library_export_" #number ", %function\n"                                        \
            "library_export_" #number ":\n"                                                        \
            "library_stub_" #number ":\n"                                                          \
            "    adrp x16, session_state\n"                                                        \
            "    ldrb w16, [x16, :lo12:session_state]\n"                                           \
            "    cbnz w16, 1f\n"                                                                   \
            "    adrp x16, library_entries+40*" #number "\n"                                       \
            "    ldr x16, [x16, :lo12:library_entries+40*" #number "]\n"                           \
            "    br x16\n"                                                                         \
            "1:  adrp x16, library_entries+40*" #number "\n"                                       \
            "    add x16, x16, :lo12:library_entries+40*" #number "\n"                             \
            "    b library_enter\n"                                                                \
            ".size library_export_" #number ", .-library_export_" #number "\n"                     \
            "library_thunk_" #number ":\n"                                                         \
            "    adrp x16, library_entries+40*" #number "\n"                                       \
            "    add x16, x16, :lo12:library_entries+40*" #number "\n"                             \
            "    b library_resolve_common\n"                                                       \
            ".symver library_export_" #number ", " symbol "@" version ", remove\n"                 \
            ".popsection\n");
#endif

#endif
