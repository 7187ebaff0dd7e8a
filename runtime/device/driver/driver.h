/* What the files of the embedded device's driver share: the objects behind the handles of cuda.h,
 * the one struct of state, and what each file offers the others.
 *
 *   device ── contexts ── streams ── items (a queue)     events ── marks
 *          ── modules, libraries, kernels, functions     pools ── blocks
 *          ── two arenas: device memory, host memory
 *
 * Everything here is guarded by device.lock, which every entry point takes in device_enter* and
 * gives back in device_leave. Handles are pointers to these objects; device.objects knows which are
 * alive, so a stale handle is an error and not a crash.
 * Source of the rules: CUDA Driver API 13.0 (cuda.h), CUDA C++ Programming Guide. */
#ifndef RUNTIME_DEVICE_DRIVER_DRIVER_H
#define RUNTIME_DEVICE_DRIVER_DRIVER_H

/* Every version of every entry point is declared under its own name, so that the compiler compares
 * our definitions with NVIDIA's, and exported. */
#define __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_PUSH_VISIBILITY_DEFAULT
#include <cuda.h>
#undef __CUDA_API_PUSH_VISIBILITY_DEFAULT
#pragma GCC visibility push(default)
#include "runtime/cuda/newer.h"
#pragma GCC visibility pop

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <uthash.h>

#include "runtime/device/memory/arena.h"
#include "runtime/device/driver/failure.h"
#include "runtime/device/driver/work.h"
#include "runtime/device/schedule/schedule.h"
#include "runtime/device/schedule/schedule_text.h"
#include "runtime/trace/trace.h"

/* ---- Handles ------------------------------------------------------------------------------- */

enum object_kind {
    OBJECT_CONTEXT = 1,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_LIBRARY,
    OBJECT_KERNEL,
    OBJECT_FUNCTION,
    OBJECT_POOL,
    OBJECT_ARRAY,
    OBJECT_MIPMAPPED_ARRAY,
    OBJECT_TEXTURE,
    OBJECT_SURFACE,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_EXEC,
    OBJECT_USER,
    OBJECT_PHYSICAL,
    OBJECT_GREEN,
    OBJECT_LINK,
    OBJECT_SEMAPHORE
};

/* First member of everything a handle points to. */
struct object {
    enum object_kind kind;
    const void *key; /* the object's own address */
    UT_hash_handle hh;
};

/* ---- Work ---------------------------------------------------------------------------------- */

/* A point in a stream's order that others may wait for: an event's record, or a free. */
struct mark {
    unsigned references;
    bool done;
    CUresult error;  /* of the context when the mark was passed */
    uint64_t stream; /* serial of the stream, and the item's place in the order of all items */
    uint64_t sequence;
    uint64_t nanoseconds;      /* when done: CLOCK_MONOTONIC */
    struct CUstream_st *queue; /* the stream while the mark is not done, else NULL */
};

enum step {
    STEP_DONE,
    STEP_AGAIN,     /* more to do: the item stays at the head of its queue */
    STEP_SPINNING,  /* as AGAIN, but it waits for what other items do, which should run first */
    STEP_ELSEWHERE, /* another thread has it and will call queue_complete, or already has */
    STEP_FAULT      /* done, and the context has failed: see item->context_error */
};

/* One piece of work in a stream. Files that make work embed it as their first member. */
struct item {
    struct item *next;
    struct CUstream_st *stream;
    uint64_t sequence; /* the order in which all items were enqueued, from 1 */
    uint64_t slices;   /* steps made so far */
    uint64_t started;  /* the schedule's clock at the first step */
    bool running;      /* a thread is inside step, perhaps without the lock */
    bool spins;        /* its last step was in vain */
    bool of_program;   /* a host function: the program makes its accesses */
    struct mark *done; /* passed when the item is done; or NULL */
    struct mark *wait; /* the item may not start before this is done; or NULL */
    CUresult context_error;
    /* Does some of the work. Called with the lock held, which it may drop and take again. */
    enum step (*step)(struct item *item);
    /* Frees what the item owns, whether or not it ran. Called with the lock held. */
    void (*discard)(struct item *item);
    /* Makes a fresh item that does the same, for the next launch of a graph; NULL: memory is short.
     * Work that cannot be part of a graph has no such function. */
    struct item *(*again)(const struct item *item);
};

/* "Stream `serial` up to `sequence` is ordered before": what a stream has waited for. */
struct order {
    uint64_t stream, sequence;
};

enum { STREAM_ATTRIBUTES = 17 }; /* CU_LAUNCH_ATTRIBUTE_* */

struct CUstream_st {
    struct object object;
    struct CUctx_st *context;
    struct CUstream_st *next; /* context->streams, in order of creation */
    uint64_t serial;          /* cuStreamGetId */
    unsigned flags;           /* CU_STREAM_NON_BLOCKING */
    int priority;
    bool legacy;     /* the context's legacy default stream */
    bool per_thread; /* some thread's default stream */
    uint64_t thread; /* which */
    bool destroyed;  /* freed once its queue is empty and nobody waits for it */
    unsigned waiters;
    struct item *head, *tail;
    struct CUstream_st *busy_next, *busy_previous; /* device.busy, while the queue is not empty */
    uint64_t last;                                 /* sequence of the newest item ever enqueued */
    bool branch;                                   /* of a graph's launches: it has no handle */
    struct capture *capture;    /* what it is captured into, see graph.h; or NULL */
    struct node_list *frontier; /* captured: what the next node depends on */
    struct order *orders;       /* direct event dependencies, one per stream waited for */
    size_t order_count, order_capacity;
    CUstreamAttrValue attributes[STREAM_ATTRIBUTES];
    /* If a launch with programmatic stream serialization is the stream's next work, it may begin
     * when `lets` is passed, and griddepcontrol waits for `end`. Both NULL: it may not begin early.
     */
    struct {
        struct mark *lets, *end;
        uint64_t sequence; /* of the stream's newest item then */
    } beside;
};

struct CUevent_st {
    struct object object;
    struct CUctx_st *context;
    unsigned flags;
    struct mark *mark;           /* the last record, or NULL */
    struct shared_event *shared; /* with CU_EVENT_INTERPROCESS: see interprocess_event.c */
    /* If that was in a captured stream: which capture (0: it was not), and the nodes that it stands
     * for. */
    uint64_t capture;
    struct node_list *captured;
};

/* ---- Contexts ------------------------------------------------------------------------------ */

enum { CONTEXT_LIMITS = CU_LIMIT_MAX };

struct CUctx_st {
    struct object object;
    struct CUctx_st *next;
    uint64_t id;
    int ordinal;           /* of its device */
    struct CUctx_st *home; /* for a green context: the primary one, which has its code and memory */
    struct mark *initial_mark; /* what streams that are made later must wait for; or NULL */
    unsigned peers;            /* devices, by bit, whose memory its kernels may touch */
    bool primary;
    unsigned retained; /* primary: cuDevicePrimaryCtxRetain calls */
    unsigned flags;
    CUresult error; /* sticky: a kernel of this context failed */
    CUfunc_cache cache;
    CUsharedconfig shared;
    size_t limits[CONTEXT_LIMITS];
    struct arena *heap;          /* of malloc in kernels: heap.h; NULL: no kernel has used it */
    struct CUstream_st *streams; /* the legacy stream is the first */
    struct CUstream_st *legacy;
    struct CUmod_st *modules;
    unsigned waiters; /* threads inside schedule_until for this context */
};

/* ---- Stream-ordered memory ----------------------------------------------------------------- */

/* Memory that a pool holds and that has no owner. */
struct pool_block {
    struct pool_block *next;
    uint64_t address, span;
    struct mark *freed; /* passed when the free is executed; NULL: freed by the host */
};

struct CUmemPoolHandle_st {
    struct object object;
    struct CUmemPoolHandle_st *next;
    uint32_t id;             /* the flags of its blocks in the arena */
    int ordinal;             /* of its device */
    unsigned readers;        /* devices, by bit, whose kernels may touch its memory, too */
    bool destroyed;          /* freed with its last allocation */
    struct pool_block *idle; /* ordered by address */
    int reuse_events, reuse_opportunistic, reuse_internal;
    uint64_t threshold;                                /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */
    uint64_t reserved, reserved_high, used, used_high; /* bytes */
    uint64_t live;                                     /* allocations out */
    bool shareable;                                    /* has handles for other processes */
    struct pool_import *import;                        /* of another process; or NULL */
};

/* ---- Scheduling ---------------------------------------------------------------------------- */

/* One or more equal steps of a recorded schedule. */
struct recorded_step {
    uint64_t point;  /* the occasion at which it is made: the n-th since the start */
    uint64_t item;   /* its number in the order of all enqueues */
    uint64_t budget; /* warp instructions it may run */
    uint64_t count;  /* so many times */
    bool idle;       /* made before that occasion, while the program made no call */
};

struct recording {
    void *file;                  /* a FILE: where this run is saved, or NULL */
    struct recorded_step saved;  /* not written yet while count > 0 */
    struct recorded_step *steps; /* replay: what is to be done */
    size_t count, next;
    bool late, fixed; /* what the file records of reads and of memory */
    bool whole;       /* the file had its last line */
    uint64_t made;    /* steps saved */
};

struct schedule {
    enum policy policy;
    struct schedule_choice choice;
    bool stages_late;     /* pageable sources are read when the copy runs */
    bool released;        /* hold: what was waited for is done */
    unsigned patience;    /* hold: queries in vain so far */
    uint64_t random;      /* state of the generator that API calls draw from */
    uint64_t idle_random; /* and of the one the idle worker draws from */
    unsigned granularity; /* random: how large slices may be, see policy.c */
    uint64_t point;       /* occasions to act so far; a recorded step refers to this number */
    uint64_t clock;       /* steps made so far */
    uint64_t sequence;    /* of the newest item */
    uint64_t base;        /* its value when the schedule began, from which recordings count */
    uint64_t pending;     /* items in all queues */
    uint64_t
        elsewhere;    /* items, and steps, that a thread is working on, perhaps without the lock */
    uint64_t threads; /* that ever enqueued anything */
    uint64_t last_call; /* nanoseconds: when the program was inside the API last */
    unsigned inside;    /* threads inside an API call */
    bool ignores_clock; /* see device_schedule_ignore_clock */
    uint64_t idle_ns;   /* after which the device works by itself, at the least */
    bool by_default;    /* the environment asked for no schedule, or for eager */
    bool worker_started;
    bool asleep;         /* the worker, until there is work */
    pthread_cond_t work; /* the idle worker sleeps here */
    struct recording recording;
};

/* ---- The state ----------------------------------------------------------------------------- */

struct trace_state {
    device_trace_done *done;
    void *user;
    uint64_t launches; /* ids given out */
    uint64_t *dropped; /* launches that never ended, which the observer does not know yet */
    size_t dropped_count, dropped_capacity;
};

struct failure_state {
    device_failure_done *failed;
    void *user;
};

/* What the device lacks and has said so. */
struct said {
    pthread_mutex_t lock;
    const char *names[1024];
    size_t count;
};

/* One of the devices that the program sees. They differ only in name: they share one memory, and
 * any of them may touch it. */
struct ordinal {
    struct CUctx_st *primary;
    unsigned primary_flags;
    struct CUmemPoolHandle_st *default_pool, *current_pool;
};
enum { ORDINALS_MAX = 8 };

struct hostfunc_item;
struct view;

struct device {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an item was completed elsewhere, or stopped running */
    atomic_uint entering;   /* threads that wait for the lock; a loop that holds it lets them in */
    atomic_bool closing;    /* the process is ending */
    atomic_bool forked;     /* a child of a process that used the device */
    atomic_bool initialised;
    struct object *objects;
    struct arena device_memory;
    struct arena host_memory; /* pinned and managed */
    uint64_t total_memory;
    struct registered *registered;
    uint64_t window; /* exec_memory.window */
    struct CUctx_st *contexts;
    struct CUstream_st *busy, *busy_last; /* streams with work, in the order in which they got it */
    uint64_t next_context, next_stream;
    uint32_t next_pool;
    struct CUmemPoolHandle_st *pools;
    struct ordinal ordinals[ORDINALS_MAX];
    int ordinal_count;
    struct capture *captures; /* under way */
    uint64_t next_capture;
    struct graph_block *graph_blocks; /* memory of graphs */
    struct CUlib_st *libraries;
    struct view *views_destroyed; /* textures and surfaces that older work may use: texture.c */
    struct schedule schedule;
    bool fixed_memory; /* addresses do not depend on the schedule: see outcome.c */
    struct trace_state trace;
    struct failure_state failure;
    const struct device_work_watch *work; /* or NULL */
    struct said said;
    /* host functions run on a thread of their own */
    struct hostfunc_item *hostfunc_head, *hostfunc_tail;
    pthread_cond_t hostfunc_work;
    bool hostfunc_started;
    uint64_t host_writers; /* pending items that may write the program's own memory */
};
extern struct device device;

static inline bool device_exists(CUdevice ordinal)
{
    return ordinal >= 0 && ordinal < device.ordinal_count;
}

/* ---- driver.c ------------------------------------------------------------------------------ */

/* Takes the lock for an entry point. After CUDA_SUCCESS it is held: end with device_leave. The
 * plain form requires cuInit; device_enter_context also requires a current context that has not
 * failed. Both let the scheduler run work. */
CUresult device_enter(void);
CUresult device_enter_context(struct CUctx_st **context);
/* As device_enter_context, but it accepts a failed context: for functions that must clean up. */
CUresult device_enter_failed(struct CUctx_st **context);
CUresult device_leave(CUresult result);
void device_lock(void);
void device_unlock(void);
/* Lets waiting threads in, while a loop holds the lock for long. */
void device_breathe(void);
uint64_t device_nanoseconds(void);
/* Prints one line on standard error, after "csan device: ". */
void device_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says once for each name that the device lacks it. Returns CUDA_ERROR_NOT_SUPPORTED. */
CUresult device_lacks(const char *name);

void object_add(struct object *object, enum object_kind kind);
void object_remove(struct object *object);
/* The object if `handle` is a live one of that kind, else NULL. */
void *object_find(const void *handle, enum object_kind kind);

struct device_entry {
    const char *name;   /* as asked for: "cuMemAlloc" */
    const char *symbol; /* "cuMemAlloc_v2" */
    uint32_t version;   /* CUDA version that introduced it: 3020 */
    uint8_t per_thread; /* 1: for per-thread default streams */
    void *function;
};
extern const struct device_entry device_entries[]; /* sorted by name, then version; generated */
extern const size_t device_entry_count;

/* ---- context.c ----------------------------------------------------------------------------- */

extern _Thread_local bool context_in_host_function;
struct CUctx_st *context_current(void);
struct CUctx_st *context_create(int ordinal, unsigned flags, bool primary);
/* The device of memory with that tag (memory.tag); 0 when its context is gone. */
int context_ordinal_of_tag(uint32_t tag);
void context_destroy(struct CUctx_st *context);
/* The kernel or copy of an item failed: pending work of its context never runs. */
void context_fail(struct CUctx_st *context, CUresult error);
size_t context_limit_default(CUlimit limit);

/* ---- green_context.c
 * ------------------------------------------------------------------------------- */

/* The green context that a created stream belongs to, or NULL. Without the lock. */
CUgreenCtx green_of_stream(CUstream handle);
/* A stream was created: it waits for the events that its context waits for. */
void green_stream_created(struct CUstream_st *stream);

/* The context that has the code and the memory. */
static inline const struct CUctx_st *context_home(const struct CUctx_st *context)
{
    return context->home ? context->home : context;
}

/* ---- stream.c ------------------------------------------------------------------------------ */

struct CUstream_st *stream_create(struct CUctx_st *context, unsigned flags, int priority);
/* A queue without a handle: a branch of a graph's launches. */
struct CUstream_st *stream_create_branch(struct CUctx_st *context);
/* Its owner is gone: it is freed once it is empty. */
void stream_abandon(struct CUstream_st *stream);
/* A number for the calling thread that no later thread gets. */
uint64_t stream_thread(void);
/* The stream that a handle means in the calling thread: NULL, CU_STREAM_LEGACY,
 * CU_STREAM_PER_THREAD or a created one. NULL when there is no such stream. */
struct CUstream_st *stream_resolve(struct CUctx_st *context, CUstream handle, bool per_thread);
/* Enters the device for a call on that stream of the current context. If it fails, the device is
 * not entered. */
CUresult stream_enter(CUstream handle, bool per_thread, struct CUstream_st **stream);
void stream_release_if_drained(struct CUstream_st *stream);
void stream_free(struct CUstream_st *stream);
bool stream_is_blocking(const struct CUstream_st *stream);

/* ---- queue.c ------------------------------------------------------------------------------- */

/* The newest item this thread enqueued that is more than a mark; 0: none. */
extern _Thread_local uint64_t queue_last_item;

struct mark *mark_create(void);
struct mark *mark_retain(struct mark *mark);
void mark_release(struct mark *mark);
void mark_pass(struct mark *mark, CUresult error);

/* Appends an item to its stream's queue, and then lets the policy act. Takes ownership. */
void queue_enqueue(struct CUstream_st *stream, struct item *item);
/* The same without the policy, for several items at once. Call schedule_enqueued afterwards. */
void queue_append(struct CUstream_st *stream, struct item *item);
/* An item that nobody will run. */
void queue_drop(struct item *item);
/* Makes an item that only passes or waits for a mark. */
struct item *queue_marker(struct mark *done, struct mark *wait);
/* Append such an item, without the policy. Takes both marks. */
CUresult queue_append_marker(struct CUstream_st *stream, struct mark *done, struct mark *wait);
/* Whether the head of this stream's queue may run now. */
bool queue_ready(const struct CUstream_st *stream);
/* Runs one step of the head. The lock may be dropped meanwhile. */
enum step queue_step(struct CUstream_st *stream);
/* The head, which was given away with STEP_ELSEWHERE, is done. */
void queue_complete(struct item *item, CUresult error);
/* Whether everything enqueued on the stream up to `sequence` is done. */
bool queue_drained(const struct CUstream_st *stream, uint64_t sequence);
/* Drop what is pending and not running. */
void queue_discard(struct CUstream_st *stream);

/* ---- schedule.c: when work runs ------------------------------------------------------------- */

/* What a synchronizing call waits for: a mark; or a stream, or every stream of a context, up to an
 * item. Waiting for the legacy stream covers the context's blocking streams. */
struct goal {
    struct mark *mark;
    struct CUstream_st *stream;
    struct CUctx_st *context;
    uint64_t sequence;
};
struct goal goal_mark(struct mark *mark);
struct goal goal_stream(struct CUstream_st *stream);
struct goal goal_context(struct CUctx_st *context);
/* Whether waiting for the goal includes waiting for this stream. */
bool goal_covers(const struct goal *goal, const struct CUstream_st *stream);
bool schedule_reached(const struct goal *goal);
/* Runs work until the goal is reached. Returns the context's error if it fails on the way. */
CUresult schedule_until(const struct goal *goal, struct CUctx_st *context);
/* Enqueues an item and, if asked, waits until it is done. */
CUresult schedule_item(struct CUstream_st *stream, struct item *item, bool wait);
/* Waits for all work of all contexts, as freeing memory does. */
void schedule_all(void);
void schedule_start(void);
/* The process ends: writes the recording to its file. */
void schedule_close(void);
/* Starts a detached thread of the driver's own, which gets none of the program's signals. */
bool schedule_thread(void *(*run)(void *));
/* A moment from now, for pthread_cond_timedwait. */
struct timespec schedule_deadline(uint64_t nanoseconds);
/* How many warp instructions the running slice of a kernel should have. */
uint64_t schedule_budget(void);
/* Whether no schedule, or eager, was asked for. Then the device does as real ones do, where the
 * documentation leaves a choice. */
bool schedule_is_usual(void);
/* Whether nobody records, replays or compares runs, so that blocks of a kernel may run at the same
 * time. */
bool schedule_is_free(void);
/* Called at every entry, and after an enqueue. */
void schedule_entry(void);
void schedule_enqueued(void);
/* A query makes one step towards its goal (else polling under `lazy` would never end). */
void schedule_query(const struct goal *goal);

/* ---- policy.c: which piece of legal work is next --------------------------------------------- */

/* Begins with a policy. POLICY_REPLAY requires that its recording is loaded. */
void policy_start(const struct schedule_choice *choice);
/* The queue whose head is next on the way to the goal; NULL when nothing may run here. */
struct CUstream_st *policy_pick(const struct goal *goal);
/* Without a goal: the oldest work (at random: any), for work that may run unasked. */
struct CUstream_st *policy_pick_any(uint64_t *random);
/* Whether this may run unasked. Under hold some work may not. */
struct CUstream_st *policy_pick_oldest(void);
bool policy_coin(void);
/* Warp instructions of the next slice of an item that has run so many. */
uint64_t policy_budget(uint64_t slices);
/* An item left its queue. */
void policy_finished(uint64_t item);

/* ---- schedule_file.c: a schedule in a file
 * ------------------------------------------------------- */

/* Saves the steps made from now on. False, with a message printed: the file cannot be written. */
bool recording_save(const char *path, const char *policy);
/* Loads the steps to make. False, with a message printed: the file cannot be read, or is damaged.
 */
bool recording_load(const char *path);
/* A step was made. */
void recording_add(const struct recorded_step *step);
/* The step to make at this occasion, or (idle) before the next one; NULL: none. */
const struct recorded_step *recording_next(bool idle);
/* It was made. */
void recording_pass(void);
/* The program did not do what was recorded: says so, and the run goes on eagerly. */
void recording_abandon(const char *why);
void recording_flush(void);
void recording_close(void);

/* ---- outcome.c: what a run did and left ------------------------------------------------------ */

void outcome_start(void);
bool outcome_wanted(void);
/* New device memory that nobody uses yet. */
void outcome_born(uint64_t address, uint64_t bytes);
void outcome_item(uint64_t item, uint64_t started);
void outcome_copy(uint64_t item, uint64_t hash);
/* A context failed, and its pending work is dropped. */
void outcome_failed(CUresult error);
/* A block that nobody may use any more, with its present bytes. */
void outcome_freed(const struct arena_info *info);
void outcome_freed_at(const struct arena *arena, uint64_t base);
void outcome_flush(void);
void outcome_close(void);

/* ---- texture.c ----------------------------------------------------------------------------- */

struct exec_texture;
/* exec_memory.find_texture and find_surface: called while a kernel runs, which is with the lock
 * held. `user` is the kernel's item. What was destroyed after the kernel was enqueued is found,
 * too.
 */
const struct exec_texture *texture_find(void *user, uint64_t handle);
const struct exec_texture *surface_find(void *user, uint64_t handle);
/* Free what the context made and nobody destroyed. */
void texture_forget(const struct CUctx_st *context);

/* ---- launch.c ------------------------------------------------------------------------------ */

/* Reports dropped launches to the observer. Drops the lock meanwhile. */
void launch_report_dropped(void);

/* ---- failure.c ----------------------------------------------------------------------------- */

/* Reports the failure to the subscriber, without the lock; or prints it on standard error, unless
 * that was done. */
void failure_report(const struct device_failure *failure, bool printed);

/* ---- memory.c, pool.c, copy.c, host_function.c
 * -----------------------------------------------------
 */

enum memory_kind { MEMORY_PAGEABLE, MEMORY_DEVICE, MEMORY_HOST, MEMORY_MANAGED, MEMORY_REGISTERED };

struct memory {
    enum memory_kind kind;
    uint64_t base, bytes; /* the live allocation; 0: none, or pageable */
    uint32_t tag, flags;
    uint64_t id;
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
};

/* Memory of the program's own that cuMemHostRegister pinned. */
struct registered {
    struct registered *next;
    struct CUctx_st *context;
    uint64_t base, bytes;
    unsigned flags;
    bool sync_memops;
};
/* What an address belongs to. */
struct memory memory_at(uint64_t address);
/* Whether [address, address + bytes) lies inside one live allocation. */
bool memory_contains(const struct memory *memory, uint64_t address, uint64_t bytes);
/* Whether all of a range of pageable memory exists. */
bool memory_is_mapped(uint64_t address, uint64_t bytes);
/* Where this process can touch a valid address. */
static inline void *memory_pointer(uint64_t address)
{
    if (arena_owns(&device.device_memory, address))
        address += device.device_memory.delta;
    return (void *)address;
}

/* Who owns an arena's block; kept in its tag with the context. */
enum memory_owner {
    OWNER_PROGRAM = 1, /* cuMemAlloc, cuMemHostAlloc */
    OWNER_MANAGED,     /* cuMemAllocManaged */
    OWNER_POOL,        /* cuMemAllocAsync, while a program has it */
    OWNER_POOL_IDLE,   /* in a pool, freed */
    OWNER_ARRAY,       /* CUDA arrays */
    OWNER_MODULE,      /* variables */
    OWNER_DRIVER,      /* workspaces */
    OWNER_GRAPH,       /* allocation nodes of graphs */
    OWNER_RESERVED,    /* cuMemAddressReserve; virtual.c knows what is mapped there */
    OWNER_INTERPROCESS /* another process's memory; interprocess.c knows how much */
};
static inline uint32_t memory_tag(const struct CUctx_st *context, enum memory_owner owner)
{
    if (context && context->home)
        context = context->home;
    return (uint32_t)(context ? context->id << 4 : 0) | owner;
}
static inline enum memory_owner memory_tag_owner(uint32_t tag)
{
    return tag & 15;
}

/* virtual.c. Finds the memory that is mapped around an address of a reservation (`info` describes
 * it) and may be touched, with its neighbours; false: none. */
bool virtual_find(uint64_t address, struct arena_info *info, bool *writable);
/* Of what is mapped at that address: the device whose memory it is, and whether kernels of the
 * device `ordinal` may touch it. False: nothing is mapped there. */
bool virtual_reach(uint64_t address, int ordinal, int *owner, bool *reaches);

/* interprocess.c. The same for memory of another process; false: none is there. */
bool interprocess_find(uint64_t address, struct arena_info *info);
/* A block of device memory is going to be freed. */
void interprocess_freed(const struct arena_info *info);
/* The context ends what it opened. */
void interprocess_forget(const struct CUctx_st *context);
/* An allocation of a pool is free, and its handles are refused; or the pool gives its addresses
 * back, which then have pages of this process's own. */
void interprocess_withdraw(const struct arena_info *info);
void interprocess_return(uint64_t base, uint64_t bytes);
/* What a handle of another process holds, for the allocation at an address. `owner` is whose it
 * must be. Waits for all work, so others are let in. */
struct shared_handle;
CUresult interprocess_share(uint64_t address, enum memory_owner owner,
                            struct shared_handle *handle);
/* Maps the memory of a handle of another process; counts when it is open already. */
CUresult interprocess_open(struct CUctx_st *context, const struct shared_handle *handle,
                           CUdeviceptr *pointer);
/* Whether memory that was opened begins at the address, and of which kind its handle is (enum
 * shared_kind); and closes it. */
bool interprocess_is_open(uint64_t address, uint8_t kind);
void interprocess_close(uint64_t address);

/* memory/pool_interprocess.c: frees what cuMemPoolImportPointer gave, in stream order; stream NULL:
 * now. CUDA_ERROR_NOT_FOUND: it gave no such memory. */
CUresult pool_import_free(struct CUstream_st *stream, uint64_t address);
void pool_import_release(struct CUmemPoolHandle_st *pool);
struct CUmemPoolHandle_st *pool_create(int ordinal);

/* What is mapped around an address that arena_find found: `info` says how much of it exists. False:
 * nothing is there. */
static inline bool memory_mapped(uint64_t address, struct arena_info *info, bool *writable)
{
    const enum memory_owner owner = memory_tag_owner(info->tag);
    return owner == OWNER_RESERVED       ? virtual_find(address, info, writable)
           : owner == OWNER_INTERPROCESS ? interprocess_find(address, info)
                                         : true;
}
/* As device_enter_context, for a call that a stream capture does not see. */
CUresult memory_enter_unsafe(struct CUctx_st **context);
/* Freeing memory waits for all work of the device: that is what the driver does, though the
 * documentation only allows it. Work may fail while we wait. */
CUresult memory_settle(struct CUctx_st *context);

/* Frees what the context allocated and nobody freed. */
void memory_forget(struct CUctx_st *context);

/* If the block is a pool's, gives it back to the pool, as freed by the host now. False: it is not.
 */
bool pool_free_now(uint64_t address);
/* Returns idle memory of all pools so that `bytes` may fit. True if any was returned. */
bool pool_release_idle(uint64_t bytes);
struct CUmemPoolHandle_st *pool_of(uint64_t address);
/* At a synchronization: returns what is above the release thresholds. */
void pool_trim(void);
void pool_start(void);

/* attribute.c: what cuDeviceGetAttribute gives. */
int attribute_value(CUdevice_attribute attribute);

#endif
