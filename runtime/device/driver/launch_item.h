/* A launch as an item of its stream: its parameters, and its state while it runs. */
#ifndef RUNTIME_DEVICE_DRIVER_LAUNCH_ITEM_H
#define RUNTIME_DEVICE_DRIVER_LAUNCH_ITEM_H

#include "runtime/device/driver/launch_children.h"
#include "runtime/device/driver/native_launch.h"
#include "runtime/device/module/module.h"

struct launch_item {
    struct item item;
    struct CUmod_st *module;
    CUfunction function; /* as the program named it */
    void **addresses;    /* a node's: of each parameter, for those who ask; or NULL */
    struct exec_launch launch;
    exec_state *state; /* once begun */
    struct native_kernel native;
    uint64_t id;           /* as observers know it; 0: a node of a graph */
    bool reported;         /* the observer has its end */
    struct mark *lets;     /* passed when the next one may begin; or NULL */
    struct mark *previous; /* of one that began early: the end of the kernel before; or NULL */
    uint64_t workspace;
    struct launch_kin kin;
    bool executed;     /* it waits for what it launched */
    uint64_t params[]; /* kernel->param_bytes of them */
};

/* Of struct item. Runs a slice of the kernel in the execution engine (exec.h), or all of a native
 * one. Faults become the documented errors, and what the kernel touched goes to the tracer
 * (trace.h). With the device's lock, which the engine gives back meanwhile. */
enum step launch_step(struct item *item);
/* Frees it, whether it ran or not. With the device's lock. */
void launch_discard(struct item *item);

#endif
