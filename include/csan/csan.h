/* csan: finds data races between GPU streams.
 *
 * Three ways to use this header:
 *
 *  1. In a program that csan checks (linked with -lcsan or run under `csan run`): annotate what
 *     csan cannot see, and read the races found from a unit test. These functions are inline and
 *     do nothing when csan is absent or off: no library is needed to compile or link them.
 *
 *  2. To drive the detector yourself, without CUDA: csan_context_*, csan_lane_*, csan_event_*,
 *     csan_memory_*, csan_op_* (detector.h, which this header includes). Link with -lcsan.
 *
 *  3. To declare what a framework or a library does in a program: adapter.h, which this header
 *     includes, too.
 *
 * Words. A lane is anything that runs in order (a stream, the host). An op is one piece of work on
 * a lane. An op's access set is the list of byte ranges it touches. A site says where an op comes
 * from. Addresses and sizes are in bytes. All functions may be called from any thread.
 */
#ifndef CSAN_CSAN_H
#define CSAN_CSAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default) /* what the library exports */

#define CSAN_VERSION_MAJOR 0
#define CSAN_VERSION_MINOR 3

/* ---- What a race looks like ---------------------------------------------------------------- */

enum csan_access_kind {
    CSAN_READ = 1,
    CSAN_WRITE = 2,
    CSAN_ATOMIC = 3,
    CSAN_ALLOCATE = 4, /* in races only: the birth of the memory */
    CSAN_FREE = 5      /* in races only: its end */
};

/* Why an access is bounded (a may-access) and not exact. */
enum csan_bound {
    CSAN_EXACT = 0,
    CSAN_BOUND_DIRECTION, /* known per pointer only: what it may reach of its allocation */
    CSAN_BOUND_DATA,      /* the address depends on data in memory */
    CSAN_BOUND_GUARD,     /* whether the access happens depends on data in memory */
    CSAN_BOUND_BUDGET,    /* the analysis stopped at its budget */
    CSAN_BOUND_ANNOTATED, /* the program's annotation says "at most" */
    CSAN_BOUND_SHAPE,     /* the bytes touched have no shape that the analysis can describe */
    CSAN_BOUND_OBJECT     /* through a texture, surface or tensor map: somewhere in its memory */
};

/* How the access set of a launch is known, best first. The summary counts launches by level. */
enum csan_level {
    CSAN_LEVEL_ANNOTATED,
    CSAN_LEVEL_LIBRARY,   /* copies, sets, calls of libraries: what the call itself says */
    CSAN_LEVEL_OPERATOR,  /* what a framework says of the operator that made the launch */
    CSAN_LEVEL_TRACED,    /* each launch's own accesses, recorded by the embedded device */
    CSAN_LEVEL_RANGES,    /* byte ranges from PTX */
    CSAN_LEVEL_DIRECTION, /* read or write per pointer from PTX, whole allocation */
    CSAN_LEVEL_UNKNOWN,
    CSAN_LEVEL_LEARNED, /* what earlier launches of the kernel were seen to touch; after traced */
    CSAN_LEVEL_COUNT
};

enum csan_race_kind {
    CSAN_RACE_DATA,           /* two unordered accesses, at least one a write */
    CSAN_RACE_ATOMIC,         /* an atomic and a plain access, or atomics that overlap in part */
    CSAN_RACE_BIRTH,          /* use not ordered after a stream-ordered allocation */
    CSAN_RACE_FREE,           /* a free not ordered with a use */
    CSAN_RACE_USE_AFTER_FREE, /* use ordered after a stream-ordered free */
    CSAN_RACE_REUSE,          /* pool memory given out again while another stream still uses it */
    /* No races, but findings all the same (csan_race.error says more): */
    CSAN_RACE_OUT_OF_BOUNDS,    /* bytes beside the memory that the access is of */
    CSAN_RACE_DEVICE_EXCEPTION, /* a kernel failed */
    CSAN_RACE_UNINITIALIZED,    /* bytes read that nothing has written since their allocation */
    CSAN_RACE_LEAK,             /* memory that is never freed */
    CSAN_RACE_WRONG_DEVICE,     /* memory that the device cannot reach, or an object of another */
    CSAN_RACE_OUT_OF_MEMORY,    /* an allocation that failed */
    CSAN_RACE_KINDS
};

/* Findings by what a person has to look for: races of all kinds but reuse and use after free are
 * one. */
enum csan_finding_kind {
    CSAN_FINDING_RACE,
    CSAN_FINDING_REUSE,
    CSAN_FINDING_OUT_OF_BOUNDS,
    CSAN_FINDING_USE_AFTER_FREE,
    CSAN_FINDING_DEVICE_EXCEPTION,
    CSAN_FINDING_UNINITIALIZED,
    CSAN_FINDING_LEAK,
    CSAN_FINDING_WRONG_DEVICE,
    CSAN_FINDING_OUT_OF_MEMORY,
    CSAN_FINDING_KINDS
};

/* Which a csan_race of that kind is. */
static inline enum csan_finding_kind csan_finding_kind_of(int race_kind)
{
    switch (race_kind) {
    case CSAN_RACE_USE_AFTER_FREE:
        return CSAN_FINDING_USE_AFTER_FREE;
    case CSAN_RACE_REUSE:
        return CSAN_FINDING_REUSE;
    case CSAN_RACE_OUT_OF_BOUNDS:
        return CSAN_FINDING_OUT_OF_BOUNDS;
    case CSAN_RACE_DEVICE_EXCEPTION:
        return CSAN_FINDING_DEVICE_EXCEPTION;
    case CSAN_RACE_UNINITIALIZED:
        return CSAN_FINDING_UNINITIALIZED;
    case CSAN_RACE_LEAK:
        return CSAN_FINDING_LEAK;
    case CSAN_RACE_WRONG_DEVICE:
        return CSAN_FINDING_WRONG_DEVICE;
    case CSAN_RACE_OUT_OF_MEMORY:
        return CSAN_FINDING_OUT_OF_MEMORY;
    default:
        return CSAN_FINDING_RACE;
    }
}

enum { CSAN_NAME_MAX = 128 };

/* One side of a race. Strings live as long as the context. */
struct csan_race_access {
    uint64_t stream;  /* the lane's handle as the program sees it */
    int lane_kind;    /* enum csan_lane_kind */
    int host;         /* 1: the host itself, no stream */
    int at_call;      /* 1: a copy from pageable memory, which may read its source at the call */
    const char *lane; /* "stream A", "the host"; as labelled, where `framework` is set */
    const char *name; /* kernel or API function, as interned: a C++ kernel may be mangled */
    const char *arguments; /* "p, out"; "" when the access has no argument name */
    const char *ranges; /* NVTX ranges that were open at the call: "'forward' > 'layer 3'"; or "" */
    int kind;           /* enum csan_access_kind: the strongest of what it did there */
    int bound;          /* enum csan_bound: CSAN_EXACT or why it is not */
    uint32_t site;      /* equal sites: same API or kernel, same stack */
    int level;          /* enum csan_level: how its launch's accesses are known */
    uint64_t sequence;  /* the op's number, in the order ops entered csan, from 1 */
    const void *const *frames; /* return addresses, innermost first */
    size_t frame_count;
    const void *const *created_frames; /* where the stream was created; none: not known */
    size_t created_frame_count;
    /* of a graph's node: the call that launched the graph; of what a host function does: the call
       that enqueued it; else none */
    const void *const *launch_frames;
    size_t launch_frame_count;
    const char *defined; /* where the source defines the kernel, "/src/app.cu:9"; NULL: not known */
    const char
        *detail; /* of a library's call (csan_call): "512 MPI_FLOAT to rank 1, tag 7"; or "" */
};

/* Why two accesses have no order although the program looks as if they had one. */
enum csan_cause {
    CSAN_CAUSE_NONE,             /* nothing of the kind is known */
    CSAN_CAUSE_RECORDED_AGAIN,   /* wait: its event was recorded (record), then again (again) */
    CSAN_CAUSE_RECORDED_BEFORE,  /* wait: its event was recorded before the work (record) */
    CSAN_CAUSE_NEVER_RECORDED,   /* wait: its event was not recorded yet */
    CSAN_CAUSE_WAIT_ELSEWHERE,   /* wait: for the event of record, but in a third stream */
    CSAN_CAUSE_NON_BLOCKING,     /* the legacy default stream and a non-blocking stream */
    CSAN_CAUSE_PER_THREAD,       /* the per-thread default streams of two threads */
    CSAN_CAUSE_HOST_FUNCTION,    /* a host function is ordered with its own stream alone */
    CSAN_CAUSE_STREAM_DESTROYED, /* wait: the call that destroyed the earlier one's stream */
    CSAN_CAUSE_TWO_EXECUTABLE_GRAPHS, /* record, wait: launches of two executables of one graph */
    CSAN_CAUSE_NO_DEPENDENCY_WAIT,    /* wait: the overlapping launch that does not wait for the one
                                            before it */
    CSAN_CAUSE_AD_HOC /* the two may order each other through `word`: release and acquire */
};

/* A call of the program that a report names beside the two accesses. */
struct csan_race_call {
    const char *lane;  /* NULL: there is none */
    const char *event; /* the program's own name of the event that it is about; NULL: none */
    const char *name;  /* the site's */
    uint64_t after;    /* the number (sequence) of the newest op that entered csan before it */
    const void *const *frames;
    size_t frame_count;
};

/* What is known of why there is no order, and how to make one. */
struct csan_race_order {
    int cause; /* enum csan_cause, which says what the calls are */
    struct csan_race_call record, again, wait;
    struct csan_race_call usable; /* a record behind the earlier access that can be waited for */
    uint64_t word, word_bytes;    /* the memory of CSAN_CAUSE_AD_HOC */
};

enum { CSAN_ALSO_MAX = 16, CSAN_TIME_UNKNOWN = 1 };
struct csan_race_also {
    const char *lane;
    uint64_t stream, sequence; /* as in csan_race_access */
    uint64_t address, bytes;   /* the first contiguous run of overlapping bytes */
};

/* Where an address lies, seen from the memory that is nearest. */
enum csan_where { CSAN_WHERE_UNKNOWN, CSAN_WHERE_INSIDE, CSAN_WHERE_BEHIND, CSAN_WHERE_BEFORE };

/* What one place of the program holds of a device's memory. */
struct csan_held {
    uint32_t site;    /* equal sites: same call, same stack; 0: not known */
    const char *name; /* of the call, as interned */
    const void *const *frames;
    size_t frame_count;
    uint64_t count, bytes;
    uint64_t oldest, newest; /* how old they are, in nanoseconds */
};

/* A device's memory when an allocation failed, in bytes. */
enum { CSAN_HELD_MAX = 10 };
struct csan_out_of_memory {
    int host; /* 1: the request was for memory of the host; the device's numbers are there all the
                 same */
    int device;
    uint64_t asked;
    uint64_t free, total;                 /* of the device; total 0: not known */
    uint64_t own, own_count;              /* of allocations of this process that csan knows */
    uint64_t others;                      /* the rest: other processes, and what the driver needs */
    uint64_t unused;                      /* the device's default pool keeps and does not use */
    uint64_t reserved, allocated;         /* pools with declared blocks: memory, and live blocks */
    struct csan_held held[CSAN_HELD_MAX]; /* the largest first */
    size_t held_count;
    uint64_t more, more_bytes; /* places that are not listed */
};

/* What a finding that is no race has beside. csan_race.current is the access or call that is wrong.
 * csan_race.address and csan_race.bytes are what it touches and should not, and
 * csan_race.allocation is the memory nearest to that. csan_race.previous is the call that freed it;
 * its kind is 0 if none did. Strings and frames live as long as the context. */
struct csan_error {
    const char *exception; /* why the kernel failed, "illegal memory access"; NULL: none did */
    const char *code;      /* the error that the program gets, "cudaErrorIllegalAddress"; or NULL */
    const char *detail;    /* whole sentences that say more, "" for none */
    const char *function;  /* of the instruction that failed; NULL: not known */
    const char *place;     /* and where it is, "scatter.cu:21" */
    int where;             /* enum csan_where: of csan_race.address */
    uint64_t distance;     /* bytes from the memory's begin (INSIDE, BEFORE) or end (BEHIND) */
    /* The memory in which the address is, if that is not csan_race.allocation; bytes 0: none. */
    uint64_t neighbour, neighbour_bytes;
    const void *const *neighbour_frames;
    size_t neighbour_frame_count;
    /* Of a kernel that failed: */
    int has_thread; /* 1: block and thread are known */
    int device;     /* CUDA's number of it */
    uint32_t grid[3], block_size[3], block[3], thread[3];
    uint64_t threads; /* how many failed in the same way, as far as is known */
    /* The call by which the program learned of it; NULL: not yet. */
    const char *reported_by;
    const void *const *reported_frames;
    size_t reported_frame_count;
    uint64_t launches_since; /* between the launch that failed and that call */
    /* Of a leak: how many allocations, and their bytes. */
    uint64_t count, total;
    union {
        const struct csan_out_of_memory *out_of_memory; /* of an allocation that failed; or NULL */
        const struct csan_out_of_memory *shortage
            __attribute__((deprecated("use out_of_memory"))); /* its name before 0.3 */
    };
};

struct csan_race {
    int kind;                              /* enum csan_race_kind */
    int possible;                          /* 1: one side at least is bounded: a possible race */
    uint64_t address, bytes;               /* the first contiguous run of overlapping bytes */
    uint64_t allocation, allocation_bytes; /* base 0: csan saw no allocation there */
    uint64_t pointer; /* data pointer the report names: the access's own base address */
    struct csan_race_access current, previous;
    const void *const *allocation_frames;
    size_t allocation_frame_count;
    uint64_t number;        /* from 1, in the order found */
    const char *unpromised; /* the call that was seen to order the two, though nothing promises it;
                               with " (documented)" at its end, what option implicit_sync=none
                               leaves out; or NULL */
    const struct csan_race_order *order; /* lives as long as the context */
    int in_graph; /* 1: between two nodes of one graph, whose lanes are not streams */
    /* The first race that the same missing order explains: this one's own number, or an earlier
       one's. */
    uint64_t group;
    /* Other lanes of which the same call did the earlier access; at most CSAN_ALSO_MAX of
       also_total. */
    const struct csan_race_also *also;
    size_t also_count, also_total;
    uint64_t
        time; /* when it was found, in nanoseconds since 1970; up to CSAN_TIME_UNKNOWN: unknown */
    uint64_t group_previous, group_current; /* the sequence numbers of that first race's accesses */
    int framework; /* 1: a framework declared its operators, as PyTorch's adapter does */
    /* Of memory that is a variable of a module: its qualifier and name, "__constant__ taps" (a C++
       name may be mangled), and the executable or library that the module is of, "" where that is
       not known. Else both are NULL. */
    const char *variable, *variable_module;
    const struct csan_error
        *error; /* of what is no race: kinds from CSAN_RACE_OUT_OF_BOUNDS on, and a use after free
                   or a second free that the driver refused; else NULL */
    /* What is no memory of the program, but lives as memory does: "texture object", "surface
       object". Its destruction is the free, and kernels that use it read it. Else NULL. */
    const char *object;
};

/* 1: it is no race, and has `error`. */
static inline int csan_is_error(const struct csan_race *race)
{
    return race->error != NULL;
}

/* ---- In a program that csan checks ------------------------------------------------------------
 */

/* A CUDA stream handle (cudaStream_t or CUstream), or NULL for the default stream. */
typedef void *csan_stream;

struct csan_operator;
struct csan_operator_call;
struct csan_operator_source;
struct csan_indices;
struct csan_stack_source;
struct csan_python_stacks;
struct csan_access;
struct csan_call;
struct csan_call_counts;
struct csan_activity;
struct csan_link;
struct csan_synchronization;

/* The table behind the inline functions; a program calls those, not this. */
struct csan_api {
    uint32_t size; /* sizeof(struct csan_api) of the library: later members may be missing */
    void (*pool_alloc)(const void *block, size_t bytes, csan_stream stream);
    void (*pool_free)(const void *block, csan_stream stream);
    void (*launch_touches)(const void *range, size_t bytes, int kind);
    void (*host_touches)(const void *range, size_t bytes, int kind);
    void (*happens_before)(const void *key, csan_stream stream);
    void (*happens_after)(const void *key, csan_stream stream);
    uint64_t (*race_mark)(void);
    size_t (*races_since)(uint64_t mark, struct csan_race *races, size_t capacity);
    void (*races_clear)(void);
    void (*operator_begin)(const struct csan_operator *what, const struct csan_operator_call *call);
    void (*operator_end)(void);
    void (*stack_source)(const struct csan_stack_source *source);
    void (*on_race)(int (*handler)(void *user, const struct csan_race *race, const char *report),
                    void *user);
    void (*kernel_ptx)(void *function, const char *ptx, size_t bytes);
    void (*ignore)(int begin);
    void (*benign_range)(const void *range, size_t bytes);
    void (*host_happens)(const void *key, int before);
    const struct csan_python_stacks *(*python)(const void *in);
    size_t (*races_copy)(uint64_t mark, void *races, size_t capacity, size_t bytes_each);
    void (*name_stream)(csan_stream stream, const char *name);
    size_t (*findings_copy)(uint64_t mark, void *findings, size_t capacity, size_t bytes_each);
    /* What csan found of the kernel that failed with that error (CUresult, cudaError_t; 0: any),
       for a framework's exception; NULL: nothing. */
    const char *(*failure_text)(int code);
    void (*operator_indices)(const struct csan_indices *indices, size_t count);
    void (*call_touches)(const struct csan_call *call);
    uint64_t (*request_start)(const struct csan_call *call);
    void (*request_end)(uint64_t request, int waited);
    void (*library)(int begin);
    const struct csan_activity *(*activity)(void);
    void *(*host_view)(const void *pointer);
    void (*call_counts)(const struct csan_call_counts *counts);
    int (*operator_source)(const struct csan_operator_source *source);
    void (*link)(const struct csan_link *link);
    uint64_t (*token)(void);
    void (*barrier)(uint64_t barrier, uint64_t processes, int leave);
    int (*links)(void);
    size_t (*report_since)(uint64_t mark, size_t index, char *text, size_t capacity);
    void (*unmodelled)(const char *what);
    uint64_t (*on_synchronize)(void (*callback)(void *user,
                                                const struct csan_synchronization *what),
                               void *user);
    void (*off_synchronize)(uint64_t id);
    uint32_t *(*library_flag)(void);
    void (*exposed)(const void *memory, size_t bytes, int begin);
};

/* NULL when csan is off. Weak: the address itself is NULL when csan is not in the process. */
const struct csan_api *csan_api(void) __attribute__((weak));

static inline const struct csan_api *csan_active(void)
{
    return csan_api ? csan_api() : NULL;
}

/* 1 when csan is in this process and checking. */
static inline int csan_enabled(void)
{
    return csan_active() != NULL;
}

/* Declare a block that a pool allocator of the program hands out for use on `stream`, and takes
 * back. A pool orders nothing by itself: work of a former owner that is unordered with the
 * next owner's is reported as "memory reused while stream S still uses it". `bytes` > 0; the block
 * may lie inside a CUDA allocation or anywhere else. Freeing an unknown block is counted and
 * ignored. */
static inline void csan_pool_alloc(const void *block, size_t bytes, csan_stream stream)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->pool_alloc(block, bytes, stream);
}
static inline void csan_pool_free(const void *block, csan_stream stream)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->pool_free(block, stream);
}

/* Name what the calling thread's next kernel launch touches. Once one is given, the launch's access
 * set is exactly the annotations given since the thread's last launch, and exact. */
static inline void csan_launch_reads(const void *range, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->launch_touches(range, bytes, CSAN_READ);
}
static inline void csan_launch_writes(const void *range, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->launch_touches(range, bytes, CSAN_WRITE);
}

/* The calling thread touches these bytes now: memory that streams use too (pinned, managed, or the
 * host side of an asynchronous copy). */
static inline void csan_host_reads(const void *range, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->host_touches(range, bytes, CSAN_READ);
}
static inline void csan_host_writes(const void *range, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->host_touches(range, bytes, CSAN_WRITE);
}

/* Declare an order csan cannot see (a flag in memory, another process): everything enqueued on
 * `stream` before csan_happens_before(key, stream) is ordered before everything enqueued on any
 * stream after a later csan_happens_after(key, stream). A key used again joins both. */
static inline void csan_happens_before(const void *key, csan_stream stream)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->happens_before(key, stream);
}
static inline void csan_happens_after(const void *key, csan_stream stream)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->happens_after(key, stream);
}

/* The same between host threads, where host_order=threads makes each a lane of its own: what the
 * calling thread did and knows to have finished before csan_host_happens_before(key) is ordered
 * before what any thread does after a later csan_host_happens_after(key). Not needed for
 * pthread_create, pthread_join, mutexes and what else csan sees; nothing happens where all threads
 * share one order. */
static inline void csan_host_happens_before(const void *key)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, host_happens))
        api->host_happens(key, 1);
}
static inline void csan_host_happens_after(const void *key)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, host_happens))
        api->host_happens(key, 0);
}

/* Between the two, csan checks nothing that the calling thread enqueues, captures into a graph,
 * frees or declares, now or later. The order that it makes (events, waits, synchronizations)
 * counts. They nest. They are for what is known to be harmless and is not worth an order. A file of
 * suppressions (option suppressions) does the same without a change of the program. */
static inline void csan_ignore_begin(void)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, ignore))
        api->ignore(1);
}
static inline void csan_ignore_end(void)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, ignore))
        api->ignore(0);
}

/* From now on nobody minds races on these bytes, such as a counter that only has to be roughly
 * right: no access to them is checked, until memory that holds them is allocated anew. Any thread
 * may call it, from the time when the memory is allocated. */
static inline void csan_benign_range(const void *range, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, benign_range))
        api->benign_range(range, bytes);
}

/* Reports call the stream by this name from now on: "stream 'copy'" rather than "stream A". The
 * text is copied, at most CSAN_NAME_MAX - 1 bytes of it; NULL or "" takes the name away. NULL is
 * the legacy default stream of the current context; a per-thread default stream is called by its
 * thread, and keeps that. nvtxNameCudaStream and nvtxNameCuStream of NVTX do the same. Any thread
 * may call it. */
static inline void csan_name_stream(csan_stream stream, const char *name)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, name_stream))
        api->name_stream(stream, name);
}

/* For compilers that make kernels at run time and load machine code only. `ptx` is the PTX that
 * `function` (a valid CUfunction, CUkernel or cudaKernel_t) was compiled from, `bytes` long, with
 * or without a NUL at its end. csan learns from it what the kernel's launches touch. Call this
 * before the first launch; otherwise it takes effect at the next launch. csan copies the text and
 * reads it at the launch. A second call replaces the first; unloading the module removes the text.
 * It is not needed if the loaded image was PTX, or machine code that ptxas compiled with line
 * information (-lineinfo): that text takes precedence. csan may be unable to read the PTX, or find
 * no such kernel with such parameters in it. Then it says so once on standard error, and the kernel
 * stays unknown. Any thread may call it. */
static inline void csan_kernel_ptx(void *function, const char *ptx, size_t bytes)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, kernel_ptx))
        api->kernel_ptx(function, ptx, bytes);
}

/* For unit tests: a mark, then the distinct races found since it. Waits until csan has decided all
 * that the program enqueued and finished. races_since fills at most `capacity` structs and returns
 * how many there are in all; 0 when csan is absent or off. Strings and frames stay valid until the
 * process ends. races_clear forgets the races found so far: they count neither for csan_races_since
 * nor for the exit code, and may be reported again. Findings that are no races are left out: see
 * csan_findings_since. */
static inline uint64_t csan_race_mark(void)
{
    const struct csan_api *api = csan_active();
    return api ? api->race_mark() : 0;
}
static inline size_t csan_races_since(uint64_t mark, struct csan_race *races, size_t capacity)
{
    const struct csan_api *api = csan_active();
    if (!api)
        return 0;
    if (api->size > offsetof(struct csan_api, races_copy))
        return api->races_copy(mark, races, capacity, sizeof(struct csan_race));
    return api->races_since(mark, NULL, 0); /* an older library's struct is another */
}
/* The same for findings of all kinds, those that are no races too: csan_finding_kind_of says which
 * each is, csan_is_error whether `error` has more of it. Marks are csan_race_mark's, and
 * csan_races_clear forgets these, too. */
static inline size_t csan_findings_since(uint64_t mark, struct csan_race *findings, size_t capacity)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, findings_copy))
        return 0;
    return api->findings_copy(mark, findings, capacity, sizeof(struct csan_race));
}
/* The whole report of one of them, for a test's failure text: `index` counts from 0 as in the array
 * of csan_findings_since. Fills `text` with at most `capacity` bytes, the last of them NUL, and
 * returns the report's length in bytes without that; 0: there is no such finding. It looks symbols
 * up, which may take seconds for the first report. Thread-safe; not to be called in a handler of
 * csan_on_race. */
static inline size_t csan_report_since(uint64_t mark, size_t index, char *text, size_t capacity)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, report_since))
        return 0;
    return api->report_since(mark, index, text, capacity);
}
static inline size_t csan_race_count(void)
{
    return csan_races_since(0, NULL, 0);
}
static inline void csan_races_clear(void)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->races_clear();
}

/* For wrappers of libraries: the program used `what` ("MPI_Send_c"), which nobody follows. The
 * summary names it. The text stays where it is. */
static inline void csan_unmodelled(const char *what)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, unmodelled))
        api->unmodelled(what);
}

/* ---- Between processes ------------------------------------------------------------------------
 *
 * csan checks each process by itself. `csan merge --order` puts the recordings of several together,
 * and finds accesses to memory that they share (cudaIpcOpenMemHandle) and that nothing orders. It
 * knows the order that events and handles of CUDA make. Declare any other order (messages of MPI,
 * sockets, pipes, semaphores, flags in shared memory) by these. They do nothing where nothing is
 * recorded. Any thread may call them. */

/* A token for a message of the program's own: what the calling thread did and knows to have
 * finished before csan_send() comes before what another process does after csan_receive() of the
 * same token. Send the token along with the message. One process may receive it, once. 0: csan is
 * off; csan_receive(0) does nothing. */
static inline uint64_t csan_send(void)
{
    const struct csan_api *api = csan_active();
    return api && api->size > offsetof(struct csan_api, token) ? api->token() : 0;
}
static inline void csan_receive(uint64_t token);

/* Around a barrier of `processes` processes: what each did and knew before it entered comes before
 * what any of them does after it left. `barrier`: a number that the program chooses for it, the
 * same in all of them. Each call of csan_barrier_enter begins the next round. One thread of each
 * process takes part. */
static inline void csan_barrier_enter(uint64_t barrier, uint64_t processes)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, barrier))
        api->barrier(barrier, processes, 0);
}
static inline void csan_barrier_leave(uint64_t barrier, uint64_t processes)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, barrier))
        api->barrier(barrier, processes, 1);
}

/* For wrappers of libraries that move messages. The calling thread's order is
 * meant. */
enum csan_link_kind {
    CSAN_LINK_SEND = 1, /* message `number`, from 1, of the channel `key` leaves */
    CSAN_LINK_RECEIVE,  /* it has come; each message comes to one process */
    CSAN_LINK_ENTER,    /* the collective call `key`, which no other call has, begins */
    CSAN_LINK_LEAVE,    /* it ends here; it has waited for `number` processes that entered. As many
                           as `peers` say LEAVE; those that enter may say it, too */
    /* csan's own, of CUDA's handles; `key` is what the handle's bytes make: */
    CSAN_LINK_SHARE,  /* a handle was made of the memory [address, address + bytes), from byte
                         `number` on. `peers` 1: openings at any time are of it: it has its key for
                         itself */
    CSAN_LINK_OPEN,   /* it was opened, as that memory here */
    CSAN_LINK_CLOSE,  /* the memory at `address` was closed; if `bytes` is not 0, all that lies in
                         [address, address + bytes) */
    CSAN_LINK_RECORD, /* an event that processes share was recorded in the lane */
    CSAN_LINK_WAIT,   /* the lane waits for its newest record of any process. `peers` 1 in both: no
                         event,   but a process that starts another, and what that one begins with */
    /* for messages that are matched by the order of sends and receives, as MPI's are: */
    CSAN_LINK_NEXT, /* the next message of the channel `key` leaves; one process alone sends there.
                       `number`: of a send that waits for its receive: the how manieth of these it
                       is in the process, from 1 */
    CSAN_LINK_TAKE, /* a message of the channel has come. `number`: the how manieth receive of the
                       process it is, from 1, in the order in which they were posted. Receives of a
                       channel have its messages in that order. `key` 0: it received nothing.
                       `peers`: how many posted before it are open and might be of the channel */
    CSAN_LINK_LOOK, /* the message of the channel is there that the receive `number`, if it is
                       posted next, will have */
    CSAN_LINK_LACK, /* something may order processes that nobody follows: enum csan_link_lack */
    /* csan's own, of memory with a descriptor: */
    CSAN_LINK_MAP, /* [address, address + bytes) is now what processes have as memory `key`, from
                      byte `number` on */
    /* for values that one process sets and any number of others read, as in a store: */
    CSAN_LINK_PUBLISH, /* the value `key` is set */
    CSAN_LINK_LEARN, /* it was read: all that was known to who set it is known here. `peers` 1: as a
                        message, by one process alone, the first of those that are equal */
    /* for sends that wait for their receive: */
    CSAN_LINK_POST,  /* the receive `number` of CSAN_LINK_TAKE is posted here. One that does not say
                        so is posted where it is over */
    CSAN_LINK_TAKEN, /* the send `number` of CSAN_LINK_NEXT is over: its receive was posted */
    /* for messages of CSAN_LINK_SEND: */
    CSAN_LINK_UNWANTED, /* nobody receives message `number` of the channel `key` */
    /* for locks that a process may have before it knows, as those of MPI's windows. The n-th of
       both of a process and key belong together, and either may come first: */
    CSAN_LINK_LOCK,   /* the process has the lock `key` here at the latest. `peers` 1: with others
                         that share it. `number`: of the machine, whose clock both have */
    CSAN_LINK_UNLOCK, /* it begins to give it back */
    CSAN_LINK_KINDS
};
/* The `key` of CSAN_LINK_LACK. */
enum csan_link_lack {
    CSAN_LACK_COMMUNICATOR = 1, /* messages of a communicator that csan does not know */
    CSAN_LACK_ONE_SIDED = 3,    /* values of a window that ranks read while others may write them.
                                   `number`: the window. `peers`: 1: writes, 2: reads */
    CSAN_LACK_FREED,            /* a request that nobody can wait for any more */
    CSAN_LACK_CANCELLED,        /* a send that was cancelled, or a call that failed */
    CSAN_LACK_THREADS,          /* threads that send or receive by one communicator */
    CSAN_LACK_GRAPH,            /* calls of NCCL in a graph */
    CSAN_LACK_STORE,            /* calls of a store that do not say who set what */
    CSAN_LACK_UNFOLLOWED,       /* calls that move data and that nobody follows: csan_unmodelled */
    CSAN_LACKS
};
struct csan_link {
    int kind; /* enum csan_link_kind */
    uint64_t key, number, peers;
    uint64_t address, bytes; /* of a message: `bytes` that it has, for csan info */
    uint64_t time;           /* nanoseconds of CLOCK_MONOTONIC; 0: now */
};
static inline void csan_link(const struct csan_link *link)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, link))
        api->link(link);
}
/* 1: links go into a recording. Else they need not be made. The answer stays. */
static inline int csan_links_wanted(void)
{
    const struct csan_api *api = csan_active();
    return api && api->size > offsetof(struct csan_api, links) ? api->links() : 0;
}
static inline void csan_receive(uint64_t token)
{
    const struct csan_link link = {CSAN_LINK_RECEIVE, token, 1, 0, 0, 0, 0};
    if (token)
        csan_link(&link);
}

/* ---- Reports as they are made ------------------------------------------------------------- */

/* To be called after each report of a race that makes the program fail, unless halt_on_error=0 is
 * set. It runs with locks of csan held, so it must not call CUDA or csan: on the thread whose call
 * showed the race, or on one of csan's while a framework's operators rest. It returns 1 if it sees
 * to it that the program ends. `report` is the text that was printed, valid during the call.
 * Findings that are no races come here, too, and always make the program fail. csan_is_error
 * recognizes them, race->error describes them, and race->previous.kind is 0 if there is no earlier
 * access. */
static inline void csan_on_race(int (*handler)(void *user, const struct csan_race *race,
                                               const char *report),
                                void *user)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->on_race(handler, user);
}

/* A place for a debugger to stop, as ThreadSanitizer's __tsan_on_report is. libcsan calls it once a
 * report is written: for each race, possible ones too, and for each finding that is no race
 * (csan_is_error). What a suppression or a baseline has is left out. It does nothing; a program
 * does not call it.
 *
 *     CSAN=1 CSAN_OPTIONS=deferred_limit=0 gdb -ex 'set breakpoint pending on' \
 *         -ex 'break csan_on_report' -ex run ./app
 *     (gdb) print *race
 *     (gdb) backtrace
 *
 * `race` and what it points to live until the process ends. It is called on the thread that found
 * the race, with locks of csan held. That thread is inside the CUDA call that showed it where
 * deferred_limit=0 or halt_on_error=1 is set; otherwise it may be a thread of csan's own. */
void csan_on_report(const struct csan_race *race);

/* ---- Synchronizations as they end ---------------------------------------------------------- */

enum csan_synchronization_kind {
    CSAN_SYNCHRONIZED_STREAM = 1, /* cudaStreamSynchronize, cuStreamSynchronize */
    CSAN_SYNCHRONIZED_EVENT,      /* cudaEventSynchronize, cuEventSynchronize */
    CSAN_SYNCHRONIZED_DEVICE      /* cudaDeviceSynchronize, cuCtxSynchronize */
};
/* A call by which the host waited, and that has ended. */
struct csan_synchronization {
    uint32_t size;        /* sizeof of the library's struct: later members may be missing */
    int kind;             /* enum csan_synchronization_kind */
    int result;           /* CUresult: 0 (CUDA_SUCCESS) if all it waited for is done */
    const char *function; /* of the driver, "cuStreamSynchronize"; lives as long as the process */
    csan_stream stream;   /* STREAM: which one; NULL: the legacy default stream. The per-thread
                             default stream is CU_STREAM_PER_THREAD */
    void *event;          /* EVENT: the CUevent */
    void *context;        /* DEVICE: the CUcontext; NULL: the thread's current one */
};

/* From now on csan calls `callback` after each synchronization that the program makes: of a stream,
 * an event or a device, also where the call failed. Calls that CUDA makes inside of other calls are
 * not among them. Nor are queries, and waits inside copies, sets and frees.
 *
 * Returns an id for csan_off_synchronize. 0: csan is off, or there are 16 callbacks already.
 * Callbacks have no order among each other.
 *
 * The call comes on the thread that synchronized, before the call of CUDA returns to the program.
 * Several threads may be in a callback at once. csan holds no lock then, and knows the order that
 * the call made. A callback may therefore call everything in this header, and the driver. Example:
 * csan_findings_since says what the work since the last synchronization did wrong. Do not call
 * CUDA's runtime: nobody promises that it may be entered again from inside. What a callback
 * enqueues is checked as the program's own. Synchronizations that it makes order as any other, and
 * call no callback. `what` is valid during the call. */
static inline uint64_t
csan_on_synchronize(void (*callback)(void *user, const struct csan_synchronization *what),
                    void *user)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, on_synchronize))
        return 0;
    return api->on_synchronize(callback, user);
}
/* Ends that. No call begins after it returns, and it waits for those of other threads: `user` may
 * then be freed. So do not hold a lock that the callback takes. A callback may end itself; other
 * threads may then still be in it. Ids of callbacks that have ended, and 0, do nothing. */
static inline void csan_off_synchronize(uint64_t id)
{
    const struct csan_api *api = csan_active();
    if (api && api->size > offsetof(struct csan_api, off_synchronize))
        api->off_synchronize(id);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include "adapter.h"
#include "detector.h"

#endif
