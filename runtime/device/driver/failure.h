/* The report of a kernel that failed on the embedded device: which launch, which thread, which
 * instruction, which address. Like trace.h it knows nothing of csan. The embedded libcuda.so.1
 * exports the function, and subscribers find it with dlsym. */
#ifndef RUNTIME_DEVICE_DRIVER_FAILURE_H
#define RUNTIME_DEVICE_DRIVER_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

/* What the failing instruction does with the address. */
enum device_failure_access {
    DEVICE_FAILURE_NO_ACCESS,
    DEVICE_FAILURE_READ,
    DEVICE_FAILURE_WRITE,
    DEVICE_FAILURE_ATOMIC
};

struct device_failure {
    int code;           /* CUresult: what calls return from now on */
    const char *what;   /* "illegal memory access" */
    uint64_t launch;    /* as device_trace_last_launch gave it; 0: a node of a graph */
    int device;         /* CUDA's number of it */
    const char *kernel; /* as in the PTX: a C++ name is mangled */
    uint32_t grid[3], block_size[3];
    bool has_thread; /* else no thread is to blame */
    uint32_t block[3], thread[3];
    uint64_t threads; /* of the warp, with the same fault */
    bool has_address;
    uint64_t address; /* that the thread used */
    uint32_t bytes;   /* of the access; 0: not known */
    int access;       /* enum device_failure_access */
    const char
        *function;    /* the function of the instruction, if that is not the kernel; else NULL */
    const char *file; /* of the source, by .loc; NULL: the PTX has no line information */
    uint32_t line;
    const char *assertion; /* the expression that was false; NULL: none, or not known */
    const char *message;   /* all of it in one line */
};

/* `failed` is called once for each kernel that fails, on whatever thread ran it, before any call
 * returns its error, with no lock of the device held that an API call needs. The struct is valid
 * during the call. It must not call the CUDA API. One subscriber, which takes over from the device
 * to say that it failed: without one the device says so on standard error. NULL unsubscribes.
 * Symbol: device_failure_subscribe. */
typedef void device_failure_done(void *user, const struct device_failure *failure);
void device_failure_subscribe(device_failure_done *failed, void *user);

#endif
