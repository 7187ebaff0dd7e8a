/* csan: finds data races between GPU streams.
 *
 * Two ways to use this header:
 *
 *  1. In a program that csan checks (linked with -lcsan or run under `csan run`): annotate what
 *     csan cannot see, and read the races found from a unit test. These functions are inline and
 *     do nothing when csan is absent or off: no library is needed to compile or link them.
 *
 *  2. To drive the detector yourself, without CUDA: csan_context_*, csan_lane_*, csan_event_*,
 *     csan_memory_*, csan_op_*. Link with -lcsan. The CUDA hooks use nothing else.
 *
 * Words: a lane is anything that runs in order (a stream, the host); an op is one piece of work on
 * a lane; an op's access set is the list of byte ranges it touches; a site says where an op comes
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
#define CSAN_VERSION_MINOR 2

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
    CSAN_BOUND_SHAPE,     /* the bytes touched have no shape that the analysis can tell */
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
    CSAN_CAUSE_NO_DEPENDENCY_WAIT     /* wait: the overlapping launch that does not wait for the one
                                         before it */
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
struct csan_shortage {
    int host; /* 1: memory of the host was asked for; the device's is told all the same */
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

/* What a finding that is no race has beside: csan_race.current is the access or call that is wrong,
 * csan_race.address and bytes are what it touches and should not, csan_race.allocation the memory
 * nearest to that, csan_race.previous the call that freed it, if one did (else its kind is 0).
 * Strings and frames live as long as the context. */
struct csan_error {
    const char *exception; /* what a kernel met, "illegal address"; NULL: none has failed */
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
    uint64_t threads; /* how many met the same, as far as is known */
    /* The call by which the program learned of it; NULL: not yet. */
    const char *reported_by;
    const void *const *reported_frames;
    size_t reported_frame_count;
    uint64_t launches_since; /* between the launch that failed and that call */
    /* Of a leak: how many allocations, and their bytes. */
    uint64_t count, total;
    const struct csan_shortage *shortage; /* of an allocation that failed; else NULL */
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
    int framework; /* 1: a framework told of its operators, as PyTorch's adapter does */
    /* Of memory that is a variable of a module: its qualifier and name, "__constant__ taps" (a C++
       name may be mangled), and the executable or library that the module is of, "" where that is
       not known. Else both are NULL. */
    const char *variable, *variable_module;
    const struct csan_error
        *error; /* of what is no race: kinds from CSAN_RACE_OUT_OF_BOUNDS on, and a use after free
                   or a second free that the driver refused; else NULL */
};

/* 1: it is no race, and has `error`. */
static inline int csan_is_error(const struct csan_race *race)
{
    return race->error != NULL;
}

/* ---- 1. In a program that csan checks ------------------------------------------------------ */

/* A CUDA stream handle (cudaStream_t or CUstream), or NULL for the default stream. */
typedef void *csan_stream;

struct csan_operator;
struct csan_operator_call;
struct csan_stack_source;
struct csan_python_stacks;
struct csan_access;

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

/* Tell csan of a block that a pool allocator of the program hands out for use on `stream`, and
 * takes back. A pool orders nothing by itself: work of a former owner that is unordered with the
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

/* What the calling thread enqueues, captures into a graph, frees or says it touches between the two
 * is not checked against anything, now or later; the order that it makes (events, waits,
 * synchronizations) counts. They nest. For what is known to be harmless and is not worth an order;
 * a file of suppressions (option suppressions) does it without touching the program. */
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

/* For compilers that make kernels at run time and load machine code only: the PTX that `function`,
 * a valid CUfunction, CUkernel or cudaKernel_t, was compiled from, `bytes` long, with or without a
 * NUL at its end. It tells csan what the kernel's launches touch: best said before the first one,
 * else it holds from the next launch on. The text is copied, and read at the launch. Said again,
 * the last one holds; forgotten when the module is unloaded. Not needed where the image loaded was
 * PTX, or machine code that ptxas was asked to keep line information with (-lineinfo): that text
 * wins. PTX that cannot be read, or that has no such kernel with such parameters, is said once on
 * standard error, and the kernel stays unknown. Any thread may call it. */
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

/* ---- For the adapter of a framework -------------------------------------------------------- */

/* An operator of a framework, such as PyTorch's. While one runs on a thread, the kernel launches,
 * copies and sets that the thread makes are its: reports name it and its arguments, and a kernel of
 * which csan does not know exactly what it touches is taken to touch what the operator does. Lives
 * as long as the process, with what it points to. */
struct csan_operator {
    const char *name;             /* as reports show it: PyTorch's schema */
    const char *const *arguments; /* an access's `argument` is an index into these */
    size_t argument_count;
    uint16_t output; /* the argument that memory goes by which it makes; or CSAN_NO_ARGUMENT */
};

/* As the last character of an argument's name: it is returned, too. Alone: the output. */
#define CSAN_ARGUMENT_RETURNED "\1"

/* One call of it. */
struct csan_operator_call {
    const struct csan_access *accesses; /* to memory of the device */
    size_t count;
    const struct csan_access *host_accesses; /* to memory of the host, which the operator itself */
    size_t host_count;                       /* touches if it makes no launch */
    int composite; /* it does its work through other operators: reports name those */
};

/* Operators nest; begin and end are called on one thread. The arrays of the call, not the struct,
 * stay valid until its end. The innermost operator owns a launch; the outermost one that is not
 * composite names it. An operator that launches nothing touches no memory of the device. Memory
 * that the thread gets while it runs, from CUDA or a pool that csan is told of, is the operator's:
 * its output, or what serves it. */
static inline void csan_operator_begin(const struct csan_operator *what,
                                       const struct csan_operator_call *call)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->operator_begin(what, call);
}
static inline void csan_operator_end(void)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->operator_end();
}

/* The stack of an interpreted language, as frames that csan keeps and compares like return
 * addresses, and only at a report asks the meaning of. Bit 63 of a frame is set, which no address
 * of the program's has. */
struct csan_source_line {
    const char *file, *function; /* valid as long as the process lives; file NULL: a heading that */
    unsigned line;               /* `function` is, between two stacks */
};
struct csan_stack_source {
    uint32_t size; /* sizeof(struct csan_stack_source) */
    /* The calling thread's frames, innermost first, at most `capacity`. 0: it runs none of that
     * language. Called at each launch and allocation, in any thread; `locked`: from where an
     * allocator of the program may hold a lock, so that it must wait for none. */
    size_t (*capture)(const void **frames, size_t capacity, int locked);
    /* What a frame means; 0: not known. */
    int (*describe)(const void *frame, struct csan_source_line *line);
    /* 1: capture waits for a lock of the program. While an operator runs its stack at the beginning
     * holds, and capture is not called; nor is it outside of operators where CUDA gives memory or
     * takes it back: there an allocator of the program holds a lock for which the owner of that one
     * may wait. */
    int waits;
};
static inline void csan_stack_source_set(const struct csan_stack_source *source)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->stack_source(source);
}

/* Python's stacks as csan reads them (CPython 3.8 to 3.14), for adapters that add to them. Waits
 * for no lock of the program's or the interpreter's; any thread. */
struct csan_python_stacks {
    uint32_t size; /* sizeof(struct csan_python_stacks) of the library */
    /* The calling thread's innermost frame, to tell whether Python was called since; NULL: none. */
    const void *(*top)(void);
    /* Its frames are never below 2^20, but for bit 63: those are the adapter's to use. */
    const struct csan_stack_source *source;
};
/* `in`: a function of the interpreter's (Py_GetVersion), for one that was loaded for its library
 * alone or after csan; or NULL. NULL: no interpreter is in the process that csan knows, or csan or
 * its option python_stacks is off. */
static inline const struct csan_python_stacks *csan_python(const void *in)
{
    const struct csan_api *api = csan_active();
    if (!api || api->size <= offsetof(struct csan_api, python))
        return NULL;
    return api->python(in);
}

/* To be called after each report of a race that makes the program fail, unless halt_on_error=0 is
 * set, on the thread whose call showed it, with locks of csan held: it must not call CUDA or csan.
 * 1: it sees to it that the program ends. `report` is the text that was printed, valid during the
 * call. Findings that are no races come here, too, and always make the program fail: csan_is_error
 * tells them apart, race->error has more of them, and race->previous.kind is 0 where nothing came
 * before. */
static inline void csan_on_race(int (*handler)(void *user, const struct csan_race *race,
                                               const char *report),
                                void *user)
{
    const struct csan_api *api = csan_active();
    if (api)
        api->on_race(handler, user);
}

/* A place for a debugger to stop, as ThreadSanitizer's __tsan_on_report is: libcsan calls it for
 * each race that no suppression and no baseline has, possible ones too, and for each finding that
 * is no race (csan_is_error), once its report is written. It does nothing; a program does not call
 * it.
 *
 *     CSAN=1 CSAN_OPTIONS=backlog=0 gdb -ex 'set breakpoint pending on' \
 *         -ex 'break csan_on_report' -ex run ./app
 *     (gdb) print *race
 *     (gdb) backtrace
 *
 * `race` and what it points to live until the process ends. It is called on the thread that found
 * the race, with locks of csan held. That thread is inside the CUDA call that showed it where
 * backlog=0 or halt_on_error=1 is set; otherwise it may be a thread of csan's own. */
void csan_on_report(const struct csan_race *race);

/* ---- 2. Driving the detector --------------------------------------------------------------- */

typedef struct csan_context csan_context;
typedef struct csan_snapshot csan_snapshot; /* an immutable clock, reference counted */
typedef struct csan_event csan_event;
typedef uint32_t csan_lane; /* CSAN_HOST or from csan_lane_create */
typedef uint32_t csan_site; /* 0: unknown */

#define CSAN_HOST    ((csan_lane)0)
#define CSAN_NO_LANE ((csan_lane)0xffffffffu)

/* `options`: "key=value:key=value" as in CSAN_OPTIONS, or NULL. `on_race` (may be NULL) is called
 * for each distinct race, and for each finding that is no race (csan_is_error; option errors=off
 * leaves out what is found from accesses), outside the context's lock, never concurrently with
 * itself; the struct stays until the context is destroyed, and only its group may change. Returns
 * NULL when memory is short, or an option is wrong: then `message`, of `message_bytes`, says which
 * and what to write.
 */
csan_context *csan_context_create(const char *options,
                                  void (*on_race)(void *user, const struct csan_race *race),
                                  void *user, char *message, size_t message_bytes);
/* A context of its own lanes, order and shadow, for work that is judged apart from the rest, such
 * as the nodes of a graph against each other. Allocations are the parent's as of their first access
 * here, sites are the parent's, and so are the races found. Destroy it before the parent. */
csan_context *csan_context_branch(csan_context *parent);
/* Decides what is still pending at the next best level, reports it, and frees everything. */
void csan_context_destroy(csan_context *context);

/* Sites. `name` and `arguments` are copied; equal contents give the same site. `frames` are return
 * addresses, innermost first (at most 64 are kept). argument_count <= 65535. */
csan_site csan_site_intern(csan_context *context, const char *name, const char *const *arguments,
                           size_t argument_count, const void *const *frames, size_t frame_count);

/* Lanes. `handle` is what the program calls the stream and need not be unique: handles are reused.
 * A new lane starts ordered after all the host knows. Destroying it lets its number be used again
 * once all its work is known to the host; no call may use it afterwards. */
csan_lane csan_lane_create(csan_context *context, uint64_t handle, const char *label);
void csan_lane_destroy(csan_context *context, csan_lane lane);
/* A new lane that starts ordered after all that `maker` knows and did. */
csan_lane csan_lane_create_after(csan_context *context, uint64_t handle, const char *label,
                                 csan_lane maker);
/* The same, where what it stands for matters. FUNCTION: a function of the host's that a stream
 * runs. CALL: what calls may do before they return, beside what they enqueue (a copy from pageable
 * memory may read its source). Such a lane knows nothing but what it is told to join, nor do its
 * ops join the host, which may have learned of more before the call returned and was told of. They
 * race with accesses of the host and of functions only: among streams the driver keeps its own
 * order. */
enum csan_lane_role { CSAN_LANE_STREAM, CSAN_LANE_FUNCTION, CSAN_LANE_CALL };
csan_lane csan_lane_create_as(csan_context *context, enum csan_lane_role role, uint64_t handle,
                              const char *label, csan_lane maker);

/* Host threads as lanes of their own, beside CSAN_HOST, which from then on is what all of them
 * know: ops of any lane are ordered after that alone, so join a thread's lane before the ops that
 * it enqueues. A thread starts as CSAN_HOST is; make its lane while a thread that it is ordered
 * after still lives. Snapshots of every lane leave host lanes out. */
enum csan_host_lane {
    CSAN_HOST_THREAD,
    CSAN_HOST_MEETING /* what threads synchronize by, such as a semaphore */
};
csan_lane csan_lane_create_host(csan_context *context, const char *label, enum csan_host_lane kind);

/* The site of a graph's node as launched by a call with that stack: reports show both. */
csan_site csan_site_launched(csan_context *context, csan_site node, const void *const *frames,
                             size_t frame_count);

/* What a lane is, for reports; CSAN_LANE_OTHER until it is described: its label is all there is. */
enum csan_lane_kind {
    CSAN_LANE_OTHER,
    CSAN_LANE_BLOCKING,     /* a stream that the legacy default stream orders */
    CSAN_LANE_NON_BLOCKING, /* one that it does not */
    CSAN_LANE_LEGACY,       /* the legacy default stream */
    CSAN_LANE_PER_THREAD,   /* a thread's per-thread default stream */
    CSAN_LANE_HOST_FUNCTION /* in races only: a lane of the role CSAN_LANE_FUNCTION */
};
/* A stream that is described gets the next letter: reports call it "stream A". `created`: where the
 * program made it, or 0. */
void csan_lane_describe(csan_context *context, csan_lane lane, enum csan_lane_kind kind,
                        csan_site created);
/* The program's own name of a stream, or whose per-thread default stream it is; copied. NULL or "":
 * none again. */
void csan_lane_name(csan_context *context, csan_lane lane, const char *name);
/* The lane runs a part of what the program knows as the stream `whole`: it bears that one's name,
 * and what its own label has from its first comma on. */
void csan_lane_part_of(csan_context *context, csan_lane lane, csan_lane whole);

/* Order. lane_waits: what `lane` does from now on is ordered after all `other` has done so far.
 * A snapshot is `lane` as of now; joining it later orders after that moment only. */
void csan_lane_waits(csan_context *context, csan_lane lane, csan_lane other);
/* The call `what` (a string that lives as long as the context) was seen to make the host wait for
 * all that `other` has done so far (CSAN_NO_LANE: every lane), but nothing promises it. That is no
 * order; a race between those two sides says so (csan_race.unpromised). */
void csan_lane_seen_to_wait(csan_context *context, csan_lane other, const char *what);
/* ... for all that is behind the snapshot. */
void csan_snapshot_seen_to_wait(csan_context *context, const csan_snapshot *snapshot,
                                const char *what);
/* A pool of memory saw all that is behind the snapshot finish, and gives out blocks again by that.
 * That is no order but between the owners of a block, and of memory at the host, which such a pool
 * gives out untold; a race of other kind says so. */
void csan_snapshot_seen_by_pool(csan_context *context, const csan_snapshot *snapshot);
csan_snapshot *csan_snapshot_take(csan_context *context, csan_lane lane);
csan_snapshot *csan_snapshot_take_all(csan_context *context); /* every lane */
void csan_snapshot_join(csan_context *context, csan_lane lane, const csan_snapshot *snapshot);
void csan_snapshot_release(csan_context *context, csan_snapshot *snapshot);

/* An order not decided yet: a wait for something that may be released later by any lane. Joining
 * the promise holds `lane`'s later work back inside csan (never the program) until it is kept, or
 * until the time-out, when the edge is given up and counted. Owned and released like any snapshot.
 */
csan_snapshot *csan_snapshot_promise(csan_context *context);
void csan_snapshot_keep(csan_context *context, csan_snapshot *promise, csan_lane lane);

/* Events. A wait on a never-recorded event is no order; the last record wins. event_snapshot
 * returns what a wait now would join, or NULL when never recorded; the caller releases it. */
csan_event *csan_event_create(csan_context *context);
void csan_event_destroy(csan_context *context, csan_event *event);
void csan_event_record(csan_context *context, csan_event *event, csan_lane lane);
void csan_event_record_snapshot(csan_context *context, csan_event *event,
                                const csan_snapshot *snapshot);
void csan_event_wait(csan_context *context, csan_event *event, csan_lane lane);
csan_snapshot *csan_event_snapshot(csan_context *context, csan_event *event);

/* What the program did on `lane` just now to make order, for reports to explain a race by. It
 * orders nothing: the joins above do. `object` and `detail` are what each kind says: numbers
 * that are not used again for another, but where it is a site. `site`: where the program made the
 * call. */
enum csan_step_kind {
    CSAN_STEP_RECORD = 1,       /* object: the event; detail: a site that bears its name, or 0 */
    CSAN_STEP_WAIT,             /* the same */
    CSAN_STEP_WAIT_UNRECORDED,  /* the same, of an event that was not recorded yet */
    CSAN_STEP_EVENT_DESTROYED,  /* object: the event */
    CSAN_STEP_STREAM_DESTROYED, /* the lane's, with work that nobody waited for */
    CSAN_STEP_GRAPH_LAUNCH,   /* object: the executable; detail: what graph it is of. It begins: */
    CSAN_STEP_GRAPH_LAUNCHED, /* ops up to here are its nodes' */
    CSAN_STEP_OVERLAPPING_LAUNCH, /* object: the launch, which may begin before the one before it
                                     ends; detail: that one, if it is such a launch itself, else 0
                                   */
    CSAN_STEP_OVERLAPPING_WAITED, /* the same: it has waited for the one before it */
    CSAN_STEP_KINDS
};
void csan_step(csan_context *context, csan_lane lane, enum csan_step_kind kind, uint64_t object,
               uint64_t detail, csan_site site);

/* Memory. Which rules a range follows between two owners. */
enum csan_memory_kind {
    CSAN_MEMORY_DEVICE, /* cuMemAlloc: born and freed at the host */
    CSAN_MEMORY_HOST,   /* pinned or registered */
    CSAN_MEMORY_MANAGED,
    CSAN_MEMORY_STREAM,  /* cuMemAllocAsync: born and freed on a stream; a hidden pool may reuse it
                          */
    CSAN_MEMORY_VARIABLE /* a module's __device__ or __constant__ variable, which is there as long
                            as its module. The birth only gives it a name: every use comes after it,
                            and what used the bytes before still counts */
};

/* A birth: an op of `lane` when `kind` is STREAM, else of the host. Overlapping live allocations
 * are ended first, silently (their free was not seen). The site of a variable has no frames; its
 * name is qualifier and name, "__constant__ taps", and its one argument the file that its module is
 * of, or "". Returns 0, or -1 when bytes is 0 or wraps.
 */
int csan_memory_create(csan_context *context, enum csan_memory_kind kind, uint64_t base,
                       uint64_t bytes, csan_lane lane, csan_site site);

/* A free, in two steps around the real call. Begin removes the allocation at `base` from what later
 * calls can find, checks the free as an op of `lane` when `checked`, and returns NULL when there is
 * no such allocation. End with `failed` puts it back as it was. Without, the free stands; with
 * CSAN_FREE_WAITED it ordered all earlier work of every lane as of begin before the host. */
typedef struct csan_free csan_free;
enum csan_free_waits {
    CSAN_FREE_NO_WAIT,
    CSAN_FREE_WAITED,
    CSAN_FREE_FORGOTTEN /* ordered nothing but what the caller says, and whatever used the memory is
                         * gone: with its context, or begin's lane waited for it */
};
csan_free *csan_memory_free_begin(csan_context *context, uint64_t base, csan_lane lane, int checked,
                                  csan_site site);
void csan_memory_free_end(csan_context *context, csan_free *token, int failed,
                          enum csan_free_waits waited);

/* The live allocation that contains address: 1 and its range and kind, or 0. Pointers may be NULL.
 */
int csan_memory_find(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes,
                     enum csan_memory_kind *kind);
/* Whose memory is at address: the block of a told pool, else the live allocation. 1 and its range,
 * or 0. Both as of the program, even while something waits in the queue. */
int csan_memory_owner(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes);

/* Memory that is mapped in two places: [base, base + bytes) is another name of [onto, onto +
 * bytes), and ops that touch one touch the other; until unalias, for every name inside the range.
 * Births, frees and told blocks are by the names that they are told with. Not for branches. */
void csan_memory_alias(csan_context *context, uint64_t base, uint64_t bytes, uint64_t onto);
void csan_memory_unalias(csan_context *context, uint64_t base, uint64_t bytes);

/* Ops from now on are not checked for these bytes, until a birth or a told block there; see
 * csan_benign_range above. Not for branches. */
void csan_memory_benign(csan_context *context, uint64_t base, uint64_t bytes);

/* Blocks of a pool that csan is told about; see csan_pool_alloc above. */
int csan_memory_pool_alloc(csan_context *context, uint64_t base, uint64_t bytes, csan_lane lane,
                           csan_site site);
int csan_memory_pool_free(csan_context *context, uint64_t base, csan_lane lane, csan_site site);

/* Ops. An access touches [base + sum(i_k * stride_k), + bytes), 0 <= i_k < count_k: a linear memory
 * access descriptor (LMAD; Paek, Hoeflinger, Padua, "Efficient and precise array access analysis",
 * TOPLAS 2002). Strides are in bytes, any sign, any order. */
enum { CSAN_MAX_DIMS = 6 };
struct csan_dim {
    int64_t stride;
    uint64_t count;
};

#define CSAN_TO_END UINT64_MAX /* as `bytes`: to the end of the allocation that contains base */

struct csan_access {
    uint64_t base;
    uint64_t bytes;              /* contiguous bytes of one element, > 0, or CSAN_TO_END */
    const struct csan_dim *dims; /* dim_count of them; may be NULL when 0 */
    uint8_t dim_count;           /* at most CSAN_MAX_DIMS */
    uint8_t kind;                /* CSAN_READ, CSAN_WRITE or CSAN_ATOMIC */
    uint8_t bound;               /* enum csan_bound; CSAN_EXACT: surely touched, every byte */
    uint8_t element_bytes;       /* atomics: bytes of one atomic operation; 0: not said */
    uint16_t argument;           /* index into the site's arguments, or CSAN_NO_ARGUMENT */
};
#define CSAN_NO_ARGUMENT ((uint16_t)0xffff)

/* One op, checked and recorded: `lane` takes its next epoch after joining the host. The arrays are
 * read during the call only. Accesses to memory in no allocation are kept by address. Returns its
 * number (sequence, as in csan_race_access), or 0 when there is no such lane. */
uint64_t csan_op(csan_context *context, csan_lane lane, csan_site site, enum csan_level level,
                 const struct csan_access *accesses, size_t count);

/* The next op of `lane` has siblings: ops of the lane `other` numbered from `first` to `last`. They
 * are parts of one work, of which it is known what it touches, but not which part touches what: so
 * what they have in common is no conflict. May be said several times before that op. */
void csan_op_sibling(csan_context *context, csan_lane lane, csan_lane other, uint64_t first,
                     uint64_t last);

/* An op whose access set comes later. What depends on it waits inside csan. `fallback` is used if
 * resolve does not come before the time-out (option pending_timeout_ms) or the queue is full
 * (option pending_limit), and that is counted. Ticket 0: the op was taken with its fallback at
 * once. */
uint64_t csan_op_pending(csan_context *context, csan_lane lane, csan_site site,
                         enum csan_level fallback_level, const struct csan_access *fallback,
                         size_t fallback_count);
void csan_op_resolve(csan_context *context, uint64_t ticket, enum csan_level level,
                     const struct csan_access *accesses, size_t count);

/* Be told of each op as it enters, on the thread that made it: its number (sequence, as in
 * csan_race_access), lane and site. Frees are ops too; `before`: the call this is about is still to
 * be made, else it was. Set before the first op; NULL: none. */
void csan_context_observe(csan_context *context,
                          void (*on_op)(void *user, uint64_t sequence, csan_lane lane,
                                        csan_site site, int before),
                          void *user);

/* Decide everything that waits, giving up on what is not resolved: used at exit. */
void csan_context_drain(csan_context *context);

struct csan_stats {
    uint64_t ops;                        /* all ops */
    uint64_t launches[CSAN_LEVEL_COUNT]; /* ops by level */
    uint64_t races, possible;            /* distinct, not cleared */
    uint64_t duplicates;                 /* races met again, which is not reported again */
    uint64_t pending_timeouts, pending_overflows, promises_broken;
    uint64_t strided_dropped;                            /* strided records lost to the cap */
    uint64_t lanes, allocations, cells, strided_records; /* live now */
    uint64_t unknown_frees;
    uint64_t grouped;    /* of races and possible ones: explained by the order that another lacks */
    uint64_t suppressed; /* distinct races that suppressions or a baseline matched: no others count
                            them */
    /* Pairs of the device's ops that nothing orders, if option count_unordered asked for them. */
    uint64_t unordered, unordered_counted;
    uint64_t errors; /* distinct findings that are no races, not cleared */
};
void csan_context_stats(csan_context *context, struct csan_stats *stats);

/* Races found, as for csan_races_since; marks are race numbers. */
uint64_t csan_context_race_mark(csan_context *context);
size_t csan_context_races_since(csan_context *context, uint64_t mark, struct csan_race *races,
                                size_t capacity);
/* The same of all findings; see csan_findings_since. */
size_t csan_context_findings_since(csan_context *context, uint64_t mark, struct csan_race *races,
                                   size_t capacity);
void csan_context_races_clear(csan_context *context);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
