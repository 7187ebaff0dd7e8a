/* Runs kernels from the IR of runtime/ptx: the execution engine's one way in. The driver gives it
 * memory and decides when it runs; the engine knows no stream, no context and no lock.
 *
 *   exec_image    one linked module, made ready: variables placed, functions numbered, each
 *                 function decoded once, on its first use (thread-safe)
 *   exec_launch   one kernel launch, as the driver describes it
 *   exec_state    a launch being run, in slices: exec_begin, exec_step..., exec_end
 *
 * Nothing here blocks, but exec_launch.together. Different states may be stepped by different
 * threads at the same time, one state by one thread at a time. Addresses are generic addresses as
 * the program sees them. Source of the rules: PTX ISA 9.0, CUDA C++ Programming Guide 13.0. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_H
#define RUNTIME_DEVICE_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/ptx/ir.h"
#include "runtime/device/driver/failure.h"
#include "runtime/trace/trace.h"

/* ---- Memory -------------------------------------------------------------------------------- */

/* A stretch of memory that kernels may access: bytes [base, limit) as the program sees them lie at
 * address + delta in this process. delta is 0 for pinned and managed memory. */
struct exec_region {
    uint64_t base, limit;
    int64_t delta;
    bool writable;
};

/* Texels in memory (CUDA C++ Programming Guide, "Texture and Surface Memory" and "Texture
 * Fetching"). */
enum exec_texel { EXEC_TEXEL_UNSIGNED, EXEC_TEXEL_SIGNED, EXEC_TEXEL_FLOAT };
enum exec_address_mode {
    EXEC_ADDRESS_CLAMP,
    EXEC_ADDRESS_BORDER,
    EXEC_ADDRESS_WRAP,
    EXEC_ADDRESS_MIRROR
};
enum exec_shape {
    EXEC_SHAPE_LINEAR, /* a row of linear memory, fetched by integer index only */
    EXEC_SHAPE_1D,
    EXEC_SHAPE_2D,
    EXEC_SHAPE_3D,
    EXEC_SHAPE_CUBE /* six faces, one behind the other */
};

/* A level of a mipmapped array, or all there is. */
struct exec_level {
    uint64_t base;                 /* address of the first texel */
    uint64_t pitch, slice;         /* bytes from row to row, and from slice, layer or face to the
                                      next */
    uint32_t width, height, depth; /* texels, at least 1; depth: slices, layers or faces of all
                                      layers */
};
enum { EXEC_LEVELS = 17 }; /* of 2^16 texels and less a side */

/* What a texture or surface object stands for. A surface has one level, a shape and a format. */
struct exec_texture {
    struct exec_level levels[EXEC_LEVELS];
    uint8_t level_count;
    uint8_t shape;         /* enum exec_shape */
    bool layered;          /* of shape 1D, 2D or CUBE */
    uint8_t texel;         /* enum exec_texel */
    uint8_t channels;      /* 1, 2 or 4 */
    uint8_t channel_bytes; /* 1, 2 or 4 */
    uint8_t modes[3];      /* enum exec_address_mode, of x, y and z */
    bool normalized;       /* coordinates go from 0 to 1 */
    bool scaled;           /* integers of 8 and 16 bits are read as floats from -1 or 0 to 1 */
    bool linear;           /* neighbours are interpolated; else the nearest texel is read */
    bool srgb;             /* the first three channels of 8 bits are sRGB's */
    bool seamless;         /* a cube: neighbours are taken from other faces */
    bool between_levels;   /* levels are interpolated; else the nearest level is read */
    float bias, least, greatest; /* of the level */
    uint32_t border[4];          /* registers of texels outside, by EXEC_ADDRESS_BORDER */
};

/* A kernel that a kernel launches. */
struct exec_grid {
    uint64_t function; /* its address, as exec_image_function_address gave it */
    uint32_t grid[3], block[3], shared;
};

/* `height` rows of `width` bytes, `pitch` bytes from one to the next. */
struct exec_rows {
    uint64_t address, pitch, width, height;
};

/* The device runtime (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"), called as `find` is.
 * `block`: the number of the caller's block in its grid, for its own NULL stream. Results are
 * cudaError_t. */
struct exec_runtime {
    /* Memory for the parameters, or 0; then the launch of what lies in it. */
    uint64_t (*buffer)(void *user, const struct exec_grid *grid);
    uint32_t (*launch)(void *user, uint64_t buffer, uint64_t stream, uint64_t block);
    uint64_t (*stream_create)(void *user); /* 0: memory is short */
    uint32_t (*stream_destroy)(void *user, uint64_t stream);
    uint64_t (*event_create)(void *user); /* 0: memory is short */
    uint32_t (*event_destroy)(void *user, uint64_t event);
    uint32_t (*event_record)(void *user, uint64_t event, uint64_t stream, uint64_t block);
    uint32_t (*event_wait)(void *user, uint64_t event, uint64_t stream, uint64_t block);
    uint32_t (*copy)(void *user, const struct exec_rows *to, const struct exec_rows *from,
                     uint64_t stream, uint64_t block);
    uint32_t (*set)(void *user, const struct exec_rows *to, uint8_t value, uint64_t stream,
                    uint64_t block);
};

struct exec_memory {
    /* Fills in the region around `address` (the whole allocation) and returns true; false: an
     * illegal address. The engine remembers answers until the running exec_step returns, so the
     * regions must stay mapped that long. Called on the thread inside exec_step. */
    bool (*find)(void *user, uint64_t address, struct exec_region *region);
    void *user;
    /* EXEC_WINDOW_BYTES of reserved addresses (PROT_NONE, at a multiple of 16 MiB) where no memory
     * of the program can be: the windows in which generic addresses of shared, local and parameter
     * memory lie. One per process is enough. */
    uint64_t window;
    /* The texture or surface of a handle, or NULL: there is none. Valid until the running exec_step
     * returns. May be NULL themselves. Called as `find` is, and by several threads at once. */
    const struct exec_texture *(*find_texture)(void *user, uint64_t handle);
    const struct exec_texture *(*find_surface)(void *user, uint64_t handle);
    /* The heap of malloc and free in kernels, called as `find` is; NULL: there is none. `allocate`
     * gives 0 when the heap is exhausted; `alignment` is a power of two. `release` takes back what
     * it gave, once, and says its size; else it returns false. */
    uint64_t (*allocate)(void *user, uint64_t bytes, uint64_t alignment);
    bool (*release)(void *user, uint64_t address, uint64_t *bytes);
    /* cudaGraphSetConditional, called as `find` is; NULL: graphs have no conditions. */
    void (*set_condition)(void *user, uint64_t handle, uint32_t value);
    const struct exec_runtime *runtime; /* NULL: kernels launch nothing */
};
enum { EXEC_WINDOW_BYTES = 64 << 20 };

/* ---- Images -------------------------------------------------------------------------------- */

typedef struct exec_image exec_image;

/* Makes a module ready. Its two segments (module->global_bytes and const_bytes long, 256-aligned)
 * belong to the driver, at these addresses; both may be 0 when empty. The module must outlive the
 * image. NULL when memory is short. */
exec_image *exec_image_create(const struct ptx_module *module, uint64_t global_address,
                              uint64_t const_address);
void exec_image_release(exec_image *image);

/* Writes the initial contents of both segments, with the addresses inside initialisers, to where
 * this process can touch them. NULL for an empty segment. */
void exec_image_initialise(const exec_image *image, void *global_segment, void *const_segment);

/* The value of a pointer to a device function on this device; 0 when the module lacks its body. */
uint64_t exec_image_function_address(const exec_image *image, const struct ptx_function *function);

/* Decodes a kernel and all that it calls directly. False if a part of it is not supported:
 * `message` then reads "kernel 'saxpy(float*)': line 123: instruction 'wgmma.fence.sync.aligned' is
 * not supported" (no newline; kernel's name as in the PTX). exec_begin calls this itself. */
bool exec_prepare(exec_image *image, const struct ptx_function *kernel, char *message,
                  size_t message_bytes);

/* Bytes of .local memory per thread a kernel's own frame needs, and of static shared memory of the
 * function and its module: what cuFuncGetAttribute returns. */
uint64_t exec_local_bytes(const struct ptx_function *kernel);
uint64_t exec_shared_bytes(const struct ptx_function *kernel);

/* ---- Launches ------------------------------------------------------------------------------ */

struct exec_launch {
    exec_image *image;
    const struct ptx_function *kernel; /* an entry of the image's module */
    uint32_t grid[3], block[3];
    uint32_t cluster[3];     /* all 0 or 1: none */
    uint64_t dynamic_shared; /* bytes */
    const void *params;      /* kernel->param_bytes bytes; copied by exec_begin */
    bool cooperative;        /* every block is resident from the start */
    /* Cooperative launches: EXEC_GRID_WORKSPACE_BYTES of zeroed device memory of this launch alone,
     * 256-aligned, for cooperative groups' grid.sync (reached by %envreg1/2). Else 0. */
    uint64_t grid_workspace;
    uint32_t resident_blocks; /* most blocks in flight at once; 0: what a device of 132 SMs holds */
    uint64_t grid_id;         /* %gridid */
    /* If the order of blocks cannot matter, they run in up to `parts` parts by `together`. It calls
     * run(job, k) for each k below `count`, at the same time if it can, and returns when all are
     * done. 0 and NULL: the thread that calls exec_step runs all. */
    uint32_t parts;
    void (*together)(void (*run)(void *job, uint32_t part), void *job, uint32_t count);
    /* Set between two exec_steps, when the previous grid of the stream has ended, for which
     * griddepcontrol.wait waits; NULL: it has ended. */
    const bool *previous_done;
    bool touches; /* record what global memory is touched */
    struct exec_memory memory;
    /* Gets printf output and assertion messages, inside exec_step, as whole strings. NULL: standard
     * output and standard error. */
    void (*print)(void *user, bool error, const char *text, size_t bytes);
    void *print_user;
    /* Limit on .local memory per thread, in bytes, that calls may nest into; 0: 1 MiB. */
    uint64_t local_limit;
};
enum { EXEC_GRID_WORKSPACE_BYTES = 4096 };

enum exec_status {
    EXEC_RUNNING,  /* the budget is used up */
    EXEC_SPINNING, /* as RUNNING, but all that is left waits in loops for another's store: run
                      something else first */
    EXEC_DONE,
    EXEC_FAULT /* exec_fault says which */
};

enum exec_fault_kind {
    EXEC_FAULT_NONE,
    EXEC_FAULT_ILLEGAL_ADDRESS,     /* CUDA_ERROR_ILLEGAL_ADDRESS */
    EXEC_FAULT_OUT_OF_RANGE,        /* the same, of shared or local memory */
    EXEC_FAULT_MISALIGNED_ADDRESS,  /* CUDA_ERROR_MISALIGNED_ADDRESS */
    EXEC_FAULT_ADDRESS_SPACE,       /* CUDA_ERROR_INVALID_ADDRESS_SPACE: atomics on local memory */
    EXEC_FAULT_INVALID_PC,          /* CUDA_ERROR_INVALID_PC: a call through a bad pointer */
    EXEC_FAULT_ILLEGAL_INSTRUCTION, /* CUDA_ERROR_ILLEGAL_INSTRUCTION */
    EXEC_FAULT_TRAP,                /* CUDA_ERROR_LAUNCH_FAILED: trap, brkpt */
    EXEC_FAULT_SURFACE,             /* CUDA_ERROR_LAUNCH_FAILED: beyond a surface, with .trap */
    EXEC_FAULT_FREE,                /* CUDA_ERROR_LAUNCH_FAILED: free of a bad address */
    EXEC_FAULT_ASSERT,              /* CUDA_ERROR_ASSERT; its message is printed already */
    EXEC_FAULT_STACK,               /* CUDA_ERROR_ILLEGAL_ADDRESS: .local stack overflow */
    EXEC_FAULT_UNSUPPORTED,         /* what exec_prepare could not see, behind an indirect call; or
                                       what operands ask for */
    EXEC_FAULT_DEADLOCK,            /* all threads wait for one another at barriers */
    EXEC_FAULT_MEMORY               /* CUDA_ERROR_OUT_OF_MEMORY: this process has no more */
};

/* The arguments of __assertfail, truncated if they are longer. */
struct exec_assertion {
    char expression[512], file[512], function[512];
    uint32_t line;
};

struct exec_fault {
    enum exec_fault_kind kind;
    bool has_thread;  /* else all threads are to blame, or none */
    bool has_address; /* the address that the thread accessed, called or branched to */
    uint64_t address;
    uint32_t block[3], thread[3];
    uint32_t threads; /* threads of its warp with the same fault, itself included */
    enum device_failure_access access;
    uint32_t bytes;                      /* that each thread accesses */
    const struct ptx_function *function; /* that the instruction is in */
    const char *file;                    /* by .loc; NULL: not known */
    uint32_t line;                       /* in the file */
    struct exec_assertion assertion; /* the failed assertion of the first thread; else all is 0 */
    char message[384]; /* one line: kernel, line, instruction, what happened; no newline */
};

typedef struct exec_state exec_state;

/* Start a launch. Copies *launch and its parameters. NULL with `message` when the kernel is not
 * supported (see exec_prepare), or the launch's sizes are impossible, or memory is short. */
exec_state *exec_begin(const struct exec_launch *launch, char *message, size_t message_bytes);

/* Runs about `budget` more warp instructions (at least one makes progress). Deterministic, except
 * for clocks and for what others store meanwhile. The result does not depend on the budgets. */
enum exec_status exec_step(exec_state *state, uint64_t budget);

/* Whether every block has executed griddepcontrol.launch_dependents, or ended. */
bool exec_lets(const exec_state *state);

/* Why the last exec_step returned EXEC_FAULT. Valid until exec_end. */
const struct exec_fault *exec_fault(const exec_state *state);
/* "illegal memory access": the words of a GPU's core dump (coredump_exception_words) */
const char *exec_fault_name(enum exec_fault_kind kind);

/* What was touched so far, as ranges in the form of trace.h: *count of them, owned by the state,
 * valid until the next call on it. NULL with 0 when recording is off or nothing was touched. */
const struct device_trace_range *exec_touches(exec_state *state, size_t *count);

/* Whether memory was short for some of it: then the ranges mean nothing. After exec_touches. */
bool exec_touches_lost(const exec_state *state);

/* As exec_touches, of what was touched since the last call of this function alone. Only for a
 * launch that is not divided, as those that launch others are. */
const struct device_trace_range *exec_touches_since(exec_state *state, size_t *count);
/* What `from` touched counts as touched by `to`, too. */
void exec_touches_add(exec_state *to, exec_state *from);
/* Bytes that others touch for it count as touched, too: those that a copy or set touches which it
 * enqueued. `kind`: enum device_trace_kind. [base, limit) is their allocation. */
void exec_touches_put(exec_state *to, uint32_t kind, const struct exec_rows *rows, uint64_t base,
                      uint64_t limit);

/* Warp instructions and thread instructions run so far. */
void exec_counts(const exec_state *state, uint64_t *warp_instructions,
                 uint64_t *thread_instructions);

/* Stops and frees it, finished or not. NULL is allowed. */
void exec_end(exec_state *state);

#endif
