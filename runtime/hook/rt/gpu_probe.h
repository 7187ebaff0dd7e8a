/* Does the NVIDIA driver show a GPU? For csan run, and for a program that was linked with csan.
 *
 * The driver is asked in a child, never in the process itself: once initialized, it would be of no
 * use in the children that the program forks (CUDA C++ Programming Guide, "Initialization"), which
 * alone may be meant to use it. Where the program itself has initialized it, it is asked there: a
 * child could not use it. csan's hooks learn nothing of either. */
#ifndef RUNTIME_HOOK_RT_GPU_PROBE_H
#define RUNTIME_HOOK_RT_GPU_PROBE_H

#include <stdbool.h>

struct gpu_probe {
    bool answered; /* else the driver ended the child, or there could be none */
    bool loaded;   /* there is a libcuda.so.1 that has what is asked of it */
    bool embedded; /* it is the embedded device's */
    int result;    /* of cuInit, or of cuDeviceGetCount after it; 0: both succeeded */
    int count;     /* of devices */
    char name[64]; /* of the result, as cuGetErrorName has it; may be "" */
};

/* The program learns nothing of the child: its end is waited for with SIGCHLD blocked. Any thread;
 * handlers of fork run (pthread_atfork). */
struct gpu_probe gpu_probe(void);

static inline bool gpu_probe_usable(const struct gpu_probe *probe)
{
    return probe->answered && probe->loaded && probe->result == 0 && probe->count > 0;
}

#endif
