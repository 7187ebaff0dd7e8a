/* What the files of the execution engine share: the decoded form of a function, and the state of a
 * launch while it runs.
 *
 *   exec_state ── blocks (resident) ── warps ── groups (lanes at one pc in one frame)
 *                                           ── frames (one function's registers, 32 lanes each)
 *   exec_image ── programs (one per function) ── micro-operations, constants
 *
 * A register is a slot: 32 values side by side, 2, 4, 8 or 16 bytes each; a predicate is one word,
 * a bit per lane. A micro-operation works on a whole warp: its handler loops over the lanes of
 * warp->mask, so what it costs to find the handler is paid once for 32 lanes.
 *
 * Divergence: the lanes of a warp that are at the same place in the same frame form a group, and
 * groups run one at a time. Code is laid out so that a lower pc is nearer to the function's entry
 * and a loop's exit comes after its body; the group deepest in calls and lowest in pc runs first,
 * so lanes wait for one another where their paths reconverge. A group that goes round a loop for
 * long gives way to the others in turn: any lane makes progress, whatever the others wait for. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_ENGINE_H
#define RUNTIME_DEVICE_EXEC_EXEC_ENGINE_H

#include "runtime/device/exec/exec.h"
#include "runtime/device/exec/exec_compiled.h"
#include "runtime/device/exec/touch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    WARP_LANES = 32,
    WARP_FULL_SLOT_BYTES = 128, /* 32 lanes of 4 bytes */
    BARRIERS = 16,              /* that a program may name */
    WARPGROUP_WARPS = 4,
    WARPGROUP_BARRIERS = 8, /* a block's warp groups have one each, behind those */
    ALL_BARRIERS = BARRIERS + WARPGROUP_BARRIERS,
    REGION_HINTS = 32,
    REGION_KNOWN = 16
};
#define SLOT_CONSTANT 0x80000000u /* the slot lies in the program's constants, not in the frame */
#define ALL_LANES     0xffffffffu

/* The addresses of the windows of the other spaces, from exec_memory.window. */
enum {
    WINDOW_LOCAL = 0,         /* a thread's .local memory: 16 MiB */
    WINDOW_PARAM = 16 << 20,  /* the kernel's parameters */
    WINDOW_SHARED = 32 << 20, /* the block's own shared memory, 1 MiB */
    WINDOW_CLUSTER = 1 << 20, /* in a shared::cluster address: rank + 1 times this */
    WINDOW_SHARED_BYTES = 17 << 20,
    SHARED_LIMIT = 1 << 20,
    SHARED_UNIT = 128, /* "allocation unit size" of sm_90: PTX ISA, %total_smem_size */
    VECTOR_BYTES = 16, /* the widest that one thread loads from shared memory */
    LOCAL_LIMIT = 16 << 20,
    LOCAL_FIRST = 16 /* no variable lies at address 0 */
};

/* What a handler returns to the loop that called it. */
enum flow {
    FLOW_NEXT,   /* on to the next micro-operation */
    FLOW_JUMP,   /* all lanes of the group to warp->pc */
    FLOW_SWITCH, /* the groups have changed: choose again */
    FLOW_YIELD,  /* on to warp->pc, but let others run first */
    FLOW_FAULT,
    FLOW_JUMPED_BACK /* of compiled_straight: FLOW_JUMP, to an earlier micro-operation */
};

struct warp;
struct round;
struct micro;
typedef int micro_run(struct warp *warp, const struct micro *op);
typedef void micro_copy(struct warp *warp, const struct micro *op, uint8_t *const *pointers);

/* micro.option of what accesses memory */
enum {
    ACCESS_WRITES = 1,
    ACCESS_UPDATES = 2, /* atomically */
    ACCESS_STRONG = 4,  /* what a loop that waits for somebody else's store does */
    ACCESS_RECORDED = 8 /* touches of global and .const memory count, those of .param do not */
};

enum { MICRO_BRANCH_TABLE = 255 }; /* micro.kind of brx.idx: slots are pcs, e of them */

struct micro {
    micro_run *run;
    union {
        micro_copy *copy;    /* ld, st: between memory and slots */
        const void *pointer; /* a struct of the family's own */
    };
    const uint32_t *slots; /* vectors: the elements' slots; brx.idx: pcs */
    int64_t imm;           /* address offset, immediate of an operation */
    uint32_t d, a, b, c;   /* slots */
    uint32_t e;            /* slot, or the pc of a branch */
    uint32_t q;            /* slot of the second destination */
    uint32_t instruction;  /* index in the function, for messages */
    uint8_t bytes;         /* of one element in memory */
    uint8_t count;         /* of elements */
    uint8_t space, kind, option, width, width2;
    uint8_t touch; /* bits 1 << enum device_trace_kind */
};

/* ---- Programs ------------------------------------------------------------------------------ */

/* A program compiled to machine code: see exec_compiled.h. Belongs to the compiler. */
struct compiled {
    int (*run)(struct compiled_call *call);
    const uint8_t *starts; /* by pc: a segment begins here */
    uint32_t code_count;
    bool writes_first; /* no register is read before it is written */
};

struct program {
    const struct ptx_function *function;
    struct exec_image *image;
    uint32_t index; /* in the module's functions */
    bool supported;
    bool ordered; /* its results may depend on the order in which blocks run */
    struct micro *code;
    uint32_t code_count;
    uint8_t *constants;      /* slots */
    uint32_t register_bytes; /* of a frame's slots */
    const uint32_t *slots;   /* register -> slot */
    uint64_t local_bytes;    /* of a frame: .local variables, then .param ones */
    uint64_t param_start;    /* where in it a .param variable of offset 0 would be */
    uint64_t local_align;
    uint32_t *callees; /* indices of functions called directly */
    uint32_t callee_count;
    void *memory;                              /* list of other blocks to free */
    _Atomic(const struct compiled *) compiled; /* NULL: not compiled, or not yet */
    void *compiling;                           /* the compiler's own; see exec_compiler */
    _Atomic uint64_t ran;                      /* micro-operations of launches of this kernel */
    char message[384];                         /* why it is not supported */
};

struct exec_image {
    const struct ptx_module *module;
    uint64_t global_address, const_address;
    _Atomic(struct program *) *programs;
    const struct ptx_function **sorted; /* functions by address, for function_index */
    uint32_t *sorted_index;
    uint32_t *shared_base; /* by function: where its own static shared memory starts */
    uint32_t dynamic_base; /* where dynamic shared memory starts */
    pthread_mutex_t lock;  /* decoding */
};

enum { NO_FUNCTION = 0xffffffffu, FUNCTION_STRIDE = 16 };
#define FUNCTION_BASE 0x0000000010000000ull /* generic addresses of functions start here */

/* The program of a function, decoded now if it has not been; NULL when memory is short. */
struct program *image_program(struct exec_image *image, uint32_t index);
/* A function's number, by its body: a prototype is looked up by name. NO_FUNCTION: no body. */
uint32_t image_function(const struct exec_image *image, const struct ptx_function *function);
/* The function at an address that exec_image_function_address gave, or NO_FUNCTION. */
uint32_t image_function_at(const struct exec_image *image, uint64_t address);
/* Address of a variable in its own space; shared ones as offsets. False: defined nowhere. */
bool image_variable(const struct exec_image *image, const struct ptx_variable *variable,
                    uint64_t *address);

/* As exec_prepare; it also says whether anything reachable is `ordered` (struct program). */
bool image_prepare(struct exec_image *image, const struct ptx_function *kernel, bool *ordered,
                   char *message, size_t message_bytes);

struct program *program_decode(struct exec_image *image, uint32_t index);
void program_release(struct program *program);

/* ---- A launch while it runs ----------------------------------------------------------------- */

struct frame {
    struct frame *parent;
    struct frame *next; /* in a warp's list of free frames */
    const struct program *program;
    const struct micro *call; /* in the parent's program: what called */
    uint32_t lanes;           /* that have not returned yet */
    uint32_t depth;
    uint64_t local_base;  /* in the thread's .local memory */
    uint64_t extra_bytes; /* of it taken by alloca, behind program->local_bytes */
    uint8_t slots[] __attribute__((aligned(64)));
};

enum group_state { GROUP_READY, GROUP_SYNC, GROUP_BARRIER, GROUP_RELEASED };

struct group {
    struct frame *frame;
    uint32_t mask;
    uint32_t pc;
    uint8_t state;   /* enum group_state */
    uint8_t barrier; /* GROUP_BARRIER: which */
    bool reduces;    /* GROUP_BARRIER: barrier.red */
    uint32_t result; /* GROUP_RELEASED: what barrier.red gave */
    uint64_t turn;   /* when it last gave way */
};

struct warp {
    /* the running group: what handlers use */
    uint8_t *base[2] __attribute__((aligned(64))); /* the frame's slots, the program's constants */
    uint32_t mask;
    uint32_t pc;
    struct frame *frame;
    struct block *block;
    struct exec_state *state;
    uint32_t alive;   /* lanes not exited */
    uint32_t index;   /* in the block */
    uint32_t current; /* index of the running group */
    bool strong;      /* did something that a waiting loop would also do */
    bool fair;        /* choose the group that has waited longest, not the lowest */
    /* so far the first line of a cache, which a warp needs to go on from a barrier */
    uint32_t group_count;
    uint32_t outer; /* mask outside a guarded micro-operation */
    uint32_t spins, laps;
    uint32_t lanes; /* lanes that exist */
    uint64_t turns;
    uint32_t carry; /* add.cc's flag, a bit per lane */
    uint32_t faulting_lane;
    struct group groups[WARP_LANES];
    uint32_t tid[3][WARP_LANES];
    uint8_t *local; /* lane l's .local memory at local + l * local_stride */
    uint64_t local_stride;
    struct frame *free_frames;
};

struct barrier {
    uint32_t expected; /* threads; 0: all */
    uint32_t arrivals; /* of groups; 0: nobody has come */
    bool votes;        /* somebody came by barrier.red */
};

struct compiled_warp {
    struct warp *warp;
    uint8_t *slots;
};

/* See exec_lockstep.h. */
struct lockstep {
    const struct compiled *form; /* NULL: it has not begun */
    uint32_t pc, next;
    uint32_t came, all; /* a bit for each warp */
    uint8_t barrier;    /* number of that at `next` */
    bool full;          /* all warps have 32 lanes */
    /* What a turn needs of each warp: side by side, they lie in few lines of the cache. */
    struct compiled_warp warps[WARP_LANES];
};

struct block {
    struct exec_state *state;
    struct lockstep lockstep;
    bool active;
    bool lets; /* it said griddepcontrol.launch_dependents */
    uint64_t linear;
    uint32_t id[3];
    uint32_t cluster_rank;
    uint32_t place;         /* in state->blocks */
    uint32_t cluster_first; /* place of its cluster's first block; its peers follow */
    uint32_t warp_count, next_warp;
    uint32_t alive; /* warps */
    struct warp *warps;
    uint8_t *shared;
    struct barrier barriers[ALL_BARRIERS];
    uint32_t *arrived;         /* [ALL_BARRIERS][warp_count]: lanes that arrived */
    uint32_t *voted;           /* the same: their predicates */
    uint32_t *cluster_arrived; /* [warp_count]: lanes at the cluster barrier of this phase */
    uint32_t *cluster_open;    /* [warp_count]: lanes that may pass barrier.cluster.wait */
    uint64_t turns;            /* that it has had */
};

struct exec_state {
    struct exec_launch launch;
    struct program *program;
    uint8_t *params;
    uint64_t block_total, block_next;
    uint64_t lets;          /* blocks that said griddepcontrol.launch_dependents, or ended */
    uint64_t first, stride; /* its i-th block is number first + i * stride of the grid */
    uint32_t threads, warp_count, cluster_size;
    uint32_t shared_bytes, dynamic_base;
    bool consecutive; /* full warps differ in the lane's %tid.x alone, which counts lanes */
    uint64_t local_limit;
    struct block **blocks; /* the resident ones first */
    uint32_t resident, capacity, active, turn;
    uint64_t warp_instructions, thread_instructions;
    uint64_t budget;
    uint64_t progress; /* grows with each store or atomic: distinguishes waiting from work */
    uint64_t started;  /* nanoseconds */
    struct exec_region hints[REGION_HINTS];
    struct exec_region known[REGION_KNOWN];
    uint32_t known_count, known_next;
    struct touch *touch;
    struct touch *earlier; /* what exec_touches_since gave before; or NULL */
    bool touches_lost;     /* memory was short for some */
    struct device_trace_range *ranges;
    enum exec_status status;
    struct exec_fault fault;
    struct compiled_call call; /* of the warp that runs compiled code */
    struct exec_state **parts; /* divided: they do all the work */
    uint32_t part_count;
};

static inline void *slot(const struct warp *warp, uint32_t offset)
{
    return warp->base[offset >> 31] + (offset & ~SLOT_CONSTANT);
}

/* Loops over the lanes of the warp's mask. The full mask has a loop of its own for the vectoriser.
 */
#define LANES(warp, ...)                                                                           \
    do {                                                                                           \
        uint32_t mask_ = (warp)->mask;                                                             \
        if (mask_ == ALL_LANES) {                                                                  \
            _Pragma("GCC ivdep") for (int l = 0; l < WARP_LANES; l++)                              \
            {                                                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        } else {                                                                                   \
            for (; mask_; mask_ &= mask_ - 1) {                                                    \
                int l = __builtin_ctz(mask_);                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Set the lanes of the warp's mask in a predicate slot. */
static inline void slot_set_predicate(struct warp *warp, uint32_t offset, uint32_t value)
{
    uint32_t *predicate = slot(warp, offset);
    *predicate = (*predicate & ~warp->mask) | (value & warp->mask);
}

/* ---- the compiler of kernels ------------------------------------------------------------------
 */

/* Registered by runtime/device/compile. */
struct exec_compiler {
    /* The kernel is about to run, or has run: `ran` micro-operations so far. It may set
     * program->compiled. Called by several threads. */
    void (*consider)(struct program *program, uint64_t ran);
    /* The program goes. */
    void (*release)(struct program *program);
};
/* NULL: none. Before the first launch. */
void exec_set_compiler(const struct exec_compiler *compiler);
/* exec.c: as registered. */
const struct exec_compiler *exec_compiler(void);

/* ---- exec.c --------------------------------------------------------------------------------- */

/* exec_step of what is not divided. */
enum exec_status state_step(struct exec_state *state, uint64_t budget);
void state_release_blocks(struct exec_state *state);

/* ---- exec_grid_partition.c
 * --------------------------------------------------------------------------- */

/* Divides a launch that has not begun, if that is possible and worth it. False: memory is short. */
bool parts_divide(struct exec_state *state, bool ordered);
enum exec_status parts_step(struct exec_state *state, uint64_t budget);
/* Adds what the parts touched to the whole. */
void parts_touches(struct exec_state *state);
void parts_release(struct exec_state *state);

/* ---- exec_warp.c ---------------------------------------------------------------------------- */

enum warp_status { WARP_RUNNING, WARP_YIELDED, WARP_BLOCKED, WARP_EXITED, WARP_FAULT };

bool warp_start(struct warp *warp, struct block *block, uint32_t index);
enum warp_status warp_run(struct warp *warp, int64_t *budget);
/* The rest of a turn that compiled_turns began: its only group stopped with that flow; `progress`
 * as it was when it began to run. */
enum warp_status warp_go_on(struct warp *warp, enum flow flow, uint64_t progress, int64_t *budget);
/* Makes the warp's only group the running one, if it is ready and its program is compiled. The
 * compiled form; NULL: the warp must choose. */
const struct compiled *warp_take_alone(struct warp *warp);
void warp_release(struct warp *warp);
/* Takes lanes out of the running group: they go on elsewhere or end. */
void warp_leave(struct warp *warp, uint32_t lanes);
/* Add a group; merges nothing. */
struct group *warp_add(struct warp *warp, struct frame *frame, uint32_t pc, uint32_t lanes);
/* The lanes are done with the kernel. */
void warp_exit(struct warp *warp, uint32_t lanes);
struct frame *frame_create(struct warp *warp, const struct program *program, struct frame *parent,
                           uint32_t lanes);
void frame_release(struct warp *warp, struct frame *frame);

/* ---- exec_compiled.c ------------------------------------------------------------------------ */

void compiled_prepare(struct exec_state *state);

/* Runs the warp's group from warp->pc until something other than the next micro-operation is due,
 * or `stop` is reached (FLOW_SWITCH). Counts as the interpreter does. */
int compiled_straight(struct warp *warp, const struct compiled *form, int64_t *budget,
                      uint32_t stop);
/* Runs the open turn of a warp that warp_take_alone gave the form for, and the turns behind it of
 * warps that go on in the same form when one waits at a barrier. An enum flow of round->warp, whose
 * turn is still open; or COMPILED_NOBODY: none ran in it, or none is open. */
int compiled_turns(struct round *round, const struct compiled *form);

/* ---- exec_round.c --------------------------------------------------------------------------- */

enum turn { TURN_MORE, TURN_IDLE, TURN_BLOCKED, TURN_FINISHED, TURN_FAULT };

/* Every warp of the block has a turn. */
enum turn round_run(struct block *block, int64_t *budget);

/* ---- exec_fault.c --------------------------------------------------------------------------- */

/* Records these lanes' fault as that of the first of them; returns FLOW_FAULT. `op` is the access,
 * if it is one; `address` is the first lane's. */
int fault_raise(struct warp *warp, const struct micro *op, uint32_t lanes,
                enum exec_fault_kind kind, uint64_t address);
/* EXEC_FAULT_UNSUPPORTED for the warp's lanes; `said` says what is not supported. */
int fault_unsupported(struct warp *warp, const struct micro *op, const char *said);
/* Records a fault of no single lane. */
void fault_state(struct exec_state *state, enum exec_fault_kind kind);

/* ---- exec_space.c --------------------------------------------------------------------------- */

/* Finds the host pointers for the lanes of warp->mask to op->bytes * op->count bytes at slot a +
 * imm, in op->space. FLOW_NEXT or FLOW_FAULT. Records the touch. */
int space_resolve(struct warp *warp, const struct micro *op, uint8_t **pointers);
/* The two halves of that: the addresses, and a pointer for each. */
void space_addresses(struct warp *warp, const struct micro *op, uint64_t *addresses);
int space_resolve_at(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                     uint8_t **pointers);
/* One lane's host pointer to `bytes` bytes at a generic address, or NULL. */
uint8_t *space_generic(struct warp *warp, int lane, uint64_t address, uint64_t bytes, bool write);
/* Reads a string of the program at a generic address: the bytes up to its end or `limit` that can
 * be read. Returns its length. */
size_t space_text(struct warp *warp, int lane, uint64_t address, char *text, size_t limit);
void space_forget(struct exec_state *state);

/* ---- exec_pattern.c ------------------------------------------------------------------------- */

/* Lanes [first, first + count) access op->bytes * op->count bytes each at host + k * step. */
struct access_pattern {
    uint8_t *host;
    uint32_t first, count;
    uint32_t step; /* 0: all at one place */
};
/* Does what space_resolve_at does, if the lanes of warp->mask follow a pattern and all may access
 * what they ask for. False: nothing was done, and space_resolve_at must decide. */
bool space_pattern(struct warp *warp, const struct micro *op, const uint64_t *addresses,
                   struct access_pattern *pattern);
/* Runs a load or store of one element as wide as its register, if the lanes of a full warp access
 * such elements one behind the other, and all may. False: nothing was done. */
bool space_row(struct warp *warp, const struct micro *op);
/* The same for an address that is known to be affine in the lane, with the element's size as step,
 * where threads are consecutive: 32-bit parts of it may have wrapped. */
bool space_affine(struct warp *warp, const struct micro *op);
/* The same where some lanes of a full warp wait. */
bool space_affine_part(struct warp *warp, const struct micro *op);
/* And for a load from an address that all lanes share there. */
bool space_uniform(struct warp *warp, const struct micro *op);
/* struct compiled_call's load_row, store_row and load_same. */
int shared_load_row_32(struct compiled_call *call, unsigned pc, const void *at, unsigned imm,
                       void *lanes, unsigned mask);
int shared_load_row_64(struct compiled_call *call, unsigned pc, const void *at, unsigned imm,
                       void *lanes, unsigned mask);
int shared_store_row_32(struct compiled_call *call, unsigned pc, const void *at, unsigned imm,
                        const void *lanes, unsigned mask);
int shared_store_row_64(struct compiled_call *call, unsigned pc, const void *at, unsigned imm,
                        const void *lanes, unsigned mask);
int shared_load_same_32(struct compiled_call *call, unsigned pc, unsigned long at, void *lanes,
                        unsigned mask);
int shared_load_same_64(struct compiled_call *call, unsigned pc, unsigned long at, void *lanes,
                        unsigned mask);
/* Makes a thread's .local memory at least that large. */
bool space_grow_local(struct warp *warp, uint64_t bytes);
static inline uint8_t *space_local(const struct warp *warp, int lane, uint64_t address)
{
    return warp->local + (uint64_t)lane * warp->local_stride + address;
}

/* ---- exec_barrier.c ------------------------------------------------------------------------- */

/* Some lanes have exited: barriers that waited only for them open. */
void barrier_recheck(struct block *block);

/* ---- exec_print.c --------------------------------------------------------------------------- */

void print_text(struct exec_state *state, bool error, const char *text, size_t bytes);

#endif
