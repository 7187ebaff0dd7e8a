/* Modules, libraries, kernels and functions: what the files about code share.
 *
 *   library ── kernels (settings)         module ── functions
 *        \__ code (the IR, shared) ___________/  \__ exec_image, segments of variables
 *
 * A library belongs to no context; it becomes a module in each context that uses it. Launches keep
 * the module they run from alive, so unloading never waits. */
#ifndef RUNTIME_DEVICE_MODULE_MODULE_H
#define RUNTIME_DEVICE_MODULE_MODULE_H

#include "runtime/device/driver/driver.h"
#include "runtime/device/driver/native_launch.h"
#include "runtime/device/exec/exec.h"
#include "runtime/ptx/ptx.h"

/* The IR of one image. */
struct code {
    unsigned references;
    bool shell; /* of machine code: its kernels do nothing */
    struct ptx_module *ptx;
};

/* What cuFuncSetAttribute and cuKernelSetAttribute change. */
struct settings {
    int dynamic_shared_limit;
    int carveout;
    uint32_t cluster[3];
    int non_portable_cluster;
    int cluster_scheduling;
};

struct CUfunc_st {
    struct object object;
    struct CUfunc_st *next; /* module->functions, in the order of the PTX */
    struct CUmod_st *module;
    struct CUkern_st *kernel; /* it is this kernel in this context, or NULL */
    const struct ptx_function *ptx;
    struct settings *settings; /* the kernel's, or its own */
    struct settings own_settings;
    CUfunc_cache cache;
    struct function_state *state; /* function_state.c's: free() it. NULL: nothing was set */
};

struct CUmod_st {
    struct object object;
    struct CUmod_st *next;    /* context->modules */
    struct CUctx_st *context; /* NULL once unloaded */
    struct CUlib_st *library; /* loaded for this library, or NULL */
    unsigned references;      /* 1 while loaded, and 1 for each launch not done */
    struct code *code;
    exec_image *image;
    uint64_t globals, constants; /* segments: 0 when empty */
    bool managed;                /* the segment of globals is managed memory */
    struct CUfunc_st *functions;
    unsigned function_count;
};

struct CUkern_st {
    struct object object;
    struct CUkern_st *next; /* library->kernels */
    struct CUlib_st *library;
    const struct ptx_function *ptx;
    struct settings settings;
    struct native_kernel native;
};

struct CUlib_st {
    struct object object;
    struct CUlib_st *next; /* device.libraries */
    struct code *code;
    struct CUkern_st *kernels;
    unsigned kernel_count;
};

/* ---- module.c ------------------------------------------------------------------------------ */

/* Takes over the module, as image_load gave it; NULL when memory is short. */
struct code *code_create(struct ptx_module *ptx, bool shell);
void code_release(struct code *code);
void settings_start(struct settings *settings, const struct ptx_function *ptx);
/* Make a module of the code in a context. Takes no reference of the caller's. */
CUresult module_create(struct CUctx_st *context, struct code *code, struct CUlib_st *library,
                       struct CUmod_st **module);
void module_unload(struct CUmod_st *module);
void module_retain(struct CUmod_st *module);
void module_release(struct CUmod_st *module);
/* Unload what was loaded into the context. */
void module_forget_context(struct CUctx_st *context);
CUresult module_global(const struct CUmod_st *module, const char *name, uint64_t *address,
                       uint64_t *bytes, bool *is_managed);
/* A whole file in memory, NUL-terminated; free() it. */
void *module_read_file(const char *path, CUresult *result);

/* ---- library.c ----------------------------------------------------------------------------- */

/* The kernel as a function of the context, its library loaded there when needed. */
CUresult kernel_function(struct CUkern_st *kernel, struct CUctx_st *context,
                         struct CUfunc_st **function);
/* What a CUfunction names: a function or, as cuLaunchKernel and others allow, a CUkernel. */
CUresult function_resolve(CUfunction handle, struct CUctx_st *context, struct CUfunc_st **function);
/* The only kernel of the code, for native.c. With the lock. */
CUresult library_add_native(struct code *code, struct CUkern_st **kernel);

/* ---- launch.c ------------------------------------------------------------------------------ */

struct launch_shape {
    unsigned grid[3], block[3], shared_bytes;
};
/* As cuLaunchKernel, its parameters in `extra`. Takes the lock. */
CUresult launch_buffer(CUfunction function, const struct launch_shape *shape, CUstream stream,
                       void **extra);

/* ---- function.c ---------------------------------------------------------------------------- */

/* Threads per block the kernel was compiled for at most. */
unsigned function_max_threads(const struct ptx_function *ptx);
/* Blocks of that many threads and dynamic shared bytes that one multiprocessor holds. */
int function_occupancy(const struct ptx_function *ptx, int block_threads, size_t dynamic_shared);

#endif
