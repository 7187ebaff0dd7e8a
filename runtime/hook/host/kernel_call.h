/* A system call that passes the C library by, whose functions csan stands in front of: with guarded
 * pages these would call back. Returns what the kernel does; an error is its negative number. */
#ifndef RUNTIME_HOOK_HOST_KERNEL_CALL_H
#define RUNTIME_HOOK_HOST_KERNEL_CALL_H

#include <stdint.h>

static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
