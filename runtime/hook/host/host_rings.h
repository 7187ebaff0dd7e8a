/* Work that the kernel does beside the program, on memory that it is given: io_uring, Linux's and
 * POSIX's asynchronous input and output. What is given is opened for good, and counts as the host's
 * access when it is handed over; what a socket receives comes at a time that nobody knows, and does
 * not. */
#ifndef RUNTIME_HOOK_HOST_HOST_RINGS_H
#define RUNTIME_HOOK_HOST_HOST_RINGS_H

#include <stdint.h>
#include <sys/types.h>

struct io_uring_params;

/* A ring was made; a file was mapped, which may be a ring's. */
void host_rings_made(int ring, const struct io_uring_params *params);
void host_rings_mapped(int file, off64_t at, void *memory);

/* Before the system calls io_uring_enter, io_uring_register and io_submit. */
void host_rings_enter(int ring, unsigned count);
void host_rings_register(unsigned what, const void *argument, unsigned count);
void host_rings_submit(long count, void *const *blocks);

#endif
