/* The fake driver as a GPU's (fake_gpu.c), and the fake Sanitizer API that observes it
 * (fake_sanitizer.c): their interface to each other, and their controls, which a test finds with
 * dlsym. */
#ifndef TESTS_UNIT_HOOK_TRACER_FAKE_GPU_H
#define TESTS_UNIT_HOOK_TRACER_FAKE_GPU_H

#include <cuda.h>

#include <stdint.h>

/* The observer that the driver calls, within its calls. */
struct fake_observer {
    void (*launch)(CUfunction function, CUmodule module, CUcontext context, CUstream stream);
    /* Of each node that a graph launches, then of each that runs. `larger`: its exec was made of
     * patched code. */
    void (*node)(CUfunction function, CUmodule module, CUcontext context, CUgraphNode node);
    void (*node_runs)(CUfunction function, CUmodule module, int larger);
    int (*is_patched)(CUmodule module);
    void (*module)(CUmodule module, CUcontext context, int loaded);
    void (*context)(CUcontext context, int created);
};
void fake_observe(const struct fake_observer *observer);

/* ---- The driver's controls ---- */

/* While on, what events are recorded behind is not done; it is when that is off again. */
void fake_hold(int on);
/* What every query of an event returns but for those held; 0: success. */
void fake_break(int result);
/* What launches return after the tools interface got them; 0: success. */
void fake_fail_launches(int result);
/* Streams have work. */
void fake_busy(int on);
/* While on, a thread that records an event, or copies down, stays within the call. */
void fake_block_records(int on);
int fake_records_blocked(void);
void fake_block_copies(int on);
int fake_copies_blocked(void);
/* Launches that were made, csan's own among them, and threads within one. */
int fake_launches(void);
int fake_launching_now(void);
/* While on, a thread that launches a graph stays within the call. */
void fake_block_graphs(int on);
int fake_graphs_blocked(void);
/* While on, a thread that destroys a stream stays within the call. */
void fake_block_ends(int on);
int fake_ends_blocked(void);
/* Calls that may end a capture of another thread, made without leave; and queries of a stream that
 * is being destroyed. */
int fake_prohibited(void);

/* ---- The Sanitizer API's ---- */

enum { FAKE_READ, FAKE_WRITE, FAKE_ATOMIC };

/* What the next kernels touch: count accesses of `bytes` each, stride apart. */
void fake_touch(uint64_t address, uint32_t bytes, uint64_t stride, uint32_t count, int kind);
struct fake_changes {
    int patched, unpatched; /* so many times */
    int at_load;            /* of which within the callback that says that a module is loaded */
    int live;               /* modules that are patched now */
    int forbidden;          /* within a launch's callback, or while a thread launches; and nodes of
                               graphs that ran patched code, though made of code that was not */
    int traced;             /* launches that were given a record */
    int heard;              /* launches and nodes that anybody listened to */
    uint32_t shift;         /* the newest one's granularity */
    uint32_t size;          /* and its size */
};
struct fake_changes fake_changes(void);
/* What the next of them return: 0, or a SanitizerResult. */
void fake_refuse_patches(int result);
void fake_refuse_records(int result);
/* The kernels of modules that are loaded while it is on copy through tensor maps: 1: ones that
 * their code does not show; 2: that are the first 128 bytes of their parameters. */
void fake_copy_by_tensor_maps(int on);
/* Those of modules that are loaded from now on are called so, have `bytes` of parameters, and read
 * the words (four bytes) of them whose bits are set, of the first 32. */
void fake_code(const char *kernel, uint32_t bytes, uint32_t words);
/* And those behind that one only where it is not 0, until fake_code is called again. */
void fake_code_ends(uint32_t word);
/* A graph launches a kernel of that module's; what its patched code finds is nobody's record. */
void fake_launch_node(CUmodule module);
/* While on, a thread that changes a module stays within the call. */
void fake_block_changes(int on);
int fake_changes_blocked(void);

#endif
