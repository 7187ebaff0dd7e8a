/* When the device touches memory: for a subscriber that keeps the program from touching it
 * meanwhile. */
#ifndef RUNTIME_DEVICE_DRIVER_WORK_H
#define RUNTIME_DEVICE_DRIVER_WORK_H

struct device_work_watch {
    void (*begins)(void);
    void (*ends)(void);
};

/* From now on `begins` is called before the device makes a step of a copy, set, kernel or graph,
 * and `ends` after it, on the thread that makes it; steps may overlap. They must not call the CUDA
 * API. One subscriber; NULL unsubscribes. Symbol: device_work_subscribe. */
void device_work_subscribe(const struct device_work_watch *watch);

/* Where the host may touch the device memory at that address, which has no access itself; NULL: it
 * is no address of device memory. Symbol: device_memory_view. */
void *device_memory_view(const void *address);

#endif
