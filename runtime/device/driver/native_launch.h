/* How launches run native kernels. See native.h. */
#ifndef RUNTIME_DEVICE_DRIVER_NATIVE_LAUNCH_H
#define RUNTIME_DEVICE_DRIVER_NATIVE_LAUNCH_H

#include "runtime/device/driver/native.h"
#include "runtime/device/exec/exec.h"
#include "runtime/device/exec/touch.h"

/* Of a kernel. */
struct native_kernel {
    device_native_run *run; /* NULL: the kernel is not native */
    bool traced;
};

struct device_native {
    struct touch *touch; /* NULL: nobody asks */
    bool failed;
    uint64_t address, bytes; /* of the failed access */
    enum device_native_access access;
};

/* launch.c. The region around an address that kernels may touch; false: there is none. */
bool launch_find_region(void *user, uint64_t address, struct exec_region *region);

#endif
