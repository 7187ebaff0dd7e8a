/* A system call that passes the C library by, whose functions csan stands in front of: with guarded
 * pages these would call back. Returns what the kernel does; an error is its negative number. */
#ifndef RUNTIME_HOOK_HOST_KERNEL_CALL_H
#define RUNTIME_HOOK_HOST_KERNEL_CALL_H

#include <stdint.h>

static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long made __asm__("x8") = number, first __asm__("x0") = a, second __asm__("x1") = b,
                       third __asm__("x2") = c, fourth __asm__("x3") = d, fifth __asm__("x4") = e,
                       sixth __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(made), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory", "cc");
    return first;
#endif
}

#endif
