/* fork and vfork, as programs see them: the child knows what the parent knew, which a recording has
 * (process_link.h). Handlers of pthread_atfork come too late for it, since others of them may hold
 * locks by then, and vfork has none. */
#include "runtime/hook/interpose/libc_next.h"
#include "runtime/hook/state/process_link.h"

#include <unistd.h>

pid_t fork(void) __attribute__((visibility("default")));

pid_t fork(void)
{
    libc_next_need();
    process_link_starts();
    return libc_next.fork();
}

/* The C library's vfork. */
libc_fork *fork_announced(void);
__attribute__((used)) libc_fork *fork_announced(void)
{
    libc_next_need();
    process_link_starts();
    return libc_next.vfork;
}

/* It returns twice on one stack, so nothing of this function's may be left there: a jump. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    subq $8, %rsp\n"
        "    call fork_announced\n"
        "    addq $8, %rsp\n"
        "    jmp *%rax\n"
        ".size vfork, .-vfork\n"
        ".popsection\n");
#else
__asm__(".pushsection .text\n"
        ".globl vfork\n"
        ".type vfork, %function\n"
        "vfork:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    bl fork_announced\n"
        "    mov x16, x0\n"
        "    ldp x29, x30, [sp], #16\n"
        "    br x16\n"
        ".size vfork, .-vfork\n"
        ".popsection\n");
#endif
