/* gettid, a function of glibc 2.30, and what a newer compiler's library asks for to save itself
 * atomic operations, a variable of 2.32. */
#include "runtime/glibc/glibc.h"

#include <sys/syscall.h>
#include <unistd.h>

LACKING pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* 0: it never claims that the process has one thread. */
LACKING char __libc_single_threaded = 0;
