/* Does the NVIDIA driver show a GPU? For csan run, and for a program that was linked with csan.
 *
 * A child process asks the driver. Once a process has initialized the driver, the driver is of no
 * use in the children that it forks (CUDA C++ Programming Guide, "Initialization"), and only those
 * children may be meant to use it. If the program itself has initialized the driver, this process
 * asks it, because a child could not. csan's hooks learn nothing of either. */
#ifndef RUNTIME_HOOK_RT_GPU_PROBE_H
#define RUNTIME_HOOK_RT_GPU_PROBE_H

#include <stdbool.h>

struct gpu_probe {
    bool answered; /* else the driver ended the child, or no child could be made */
    bool loaded;   /* there is a libcuda.so.1 with the functions that are needed */
    bool embedded; /* it is the embedded device's */
    int result;    /* result of cuInit, or of cuDeviceGetCount after it; 0: both succeeded */
    int count;     /* of devices */
    char name[64]; /* cuGetErrorName of the result; may be "" */
};

/* The program learns nothing of the child, because SIGCHLD is blocked until its end. Any thread;
 * handlers of fork run (pthread_atfork). */
struct gpu_probe gpu_probe(void);

static inline bool gpu_probe_usable(const struct gpu_probe *probe)
{
    return probe->answered && probe->loaded && probe->result == 0 && probe->count > 0;
}

#endif
