/* csan's detector without CUDA: lanes, order, memory, ops, and the races that follow. Link with
 * -lcsan. csan.h has the words, and includes this header. csan/detector/context.h has what csan's
 * own hooks need beside it. */
#ifndef CSAN_DETECTOR_H
#define CSAN_DETECTOR_H

#include "csan.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default) /* what the library exports */

typedef struct csan_context csan_context;
typedef struct csan_snapshot csan_snapshot; /* an immutable clock, reference counted */
typedef struct csan_event csan_event;
typedef uint32_t csan_lane; /* CSAN_HOST or from csan_lane_create */
typedef uint32_t csan_site; /* 0: unknown */

#define CSAN_HOST    ((csan_lane)0)
#define CSAN_NO_LANE ((csan_lane)0xffffffffu)

/* `options`: "key=value:key=value" as in CSAN_OPTIONS, or NULL. `on_race` (may be NULL) is called
 * for each distinct race, and for each finding that is no race (csan_is_error). Option errors=off
 * leaves out what is found from accesses. The call is made outside the context's lock, and never
 * concurrently with itself. The struct stays until the context is destroyed, and only its group may
 * change. Returns NULL when memory is short or an option is wrong. In the second case `message`, of
 * `message_bytes`, says which option and what to write.
 */
csan_context *csan_context_create(const char *options,
                                  void (*on_race)(void *user, const struct csan_race *race),
                                  void *user, char *message, size_t message_bytes);
/* A context of its own lanes, order and shadow, for work that is judged apart from the rest. The
 * nodes of a graph are judged so against each other. Allocations are the parent's as of their first
 * access here. Sites are the parent's, and so are the races found. Destroy it before the parent. */
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
 * memory may read its source). Such a lane knows nothing but what it joins. Its
 * ops do not join the host, which may know more by the time the call returns. They race with
 * accesses of the host and of functions only: among streams the driver keeps its own order. */
enum csan_lane_role { CSAN_LANE_STREAM, CSAN_LANE_FUNCTION, CSAN_LANE_CALL };
csan_lane csan_lane_create_as(csan_context *context, enum csan_lane_role role, uint64_t handle,
                              const char *label, csan_lane maker);

/* Host threads as lanes of their own, beside CSAN_HOST, which from then on is what all of them
 * know: ops of any lane are ordered after that alone, so join a thread's lane before the ops that
 * it enqueues. A thread starts as CSAN_HOST is; make its lane while a thread that it is ordered
 * after still lives. Snapshots of every lane leave host lanes out. */
enum csan_host_lane {
    CSAN_HOST_THREAD,
    CSAN_HOST_SYNC_OBJECT /* what threads synchronize by, such as a semaphore */
};
csan_lane csan_lane_create_host(csan_context *context, const char *label, enum csan_host_lane kind);

/* The site of a graph's node as launched by a call with that stack: reports show both. */
csan_site csan_site_launched(csan_context *context, csan_site node, const void *const *frames,
                             size_t frame_count);

/* What a lane is, for reports; CSAN_LANE_OTHER until it is described: its label is all there is. */
enum csan_lane_kind {
    CSAN_LANE_OTHER,
    CSAN_LANE_BLOCKING,      /* a stream that the legacy default stream orders */
    CSAN_LANE_NON_BLOCKING,  /* one that it does not */
    CSAN_LANE_LEGACY,        /* the legacy default stream */
    CSAN_LANE_PER_THREAD,    /* a thread's per-thread default stream */
    CSAN_LANE_HOST_FUNCTION, /* in races only: a lane of the role CSAN_LANE_FUNCTION */
    CSAN_LANE_REQUEST,       /* what a library's call started, until the program waits for it */
    CSAN_LANE_GRID           /* in a branch: a kernel that launches kernels, or one of these */
};
/* A stream that is described gets the next letter: reports call it "stream A". `created`: where the
 * program made it, or 0. */
void csan_lane_describe(csan_context *context, csan_lane lane, enum csan_lane_kind kind,
                        csan_site created);
/* The program's own name of a stream, or whose per-thread default stream it is; copied. NULL or "":
 * none again. */
void csan_lane_name(csan_context *context, csan_lane lane, const char *name);
/* The lane runs a part of what the program knows as the stream `whole`. Its name is that stream's
 * name, followed by its own label from the first comma on. */
void csan_lane_part_of(csan_context *context, csan_lane lane, csan_lane whole);

/* Order. lane_waits: what `lane` does from now on is ordered after all `other` has done so far.
 * A snapshot is `lane` as of now; joining it later orders after that moment only. */
void csan_lane_waits(csan_context *context, csan_lane lane, csan_lane other);
/* The call `what` was seen to make the host wait for all that `other` has done so far, but nothing
 * promises it. CSAN_NO_LANE stands for every lane. `what` is a string that lives as long as the
 * context. That is no order; a race between those two sides says so (csan_race.unpromised). */
void csan_lane_observed_wait(csan_context *context, csan_lane other, const char *what);
/* The same for all that is behind the snapshot. */
void csan_snapshot_observed_wait(csan_context *context, const csan_snapshot *snapshot,
                                 const char *what);
/* A memory pool observed that all work behind the snapshot has finished, and reuses blocks because
 * of it. That orders the owners of a block, and of memory at the host, which such a pool gives out
 * without declaring it. It orders nothing else; a race of another kind says so. */
void csan_snapshot_seen_by_pool(csan_context *context, const csan_snapshot *snapshot);
csan_snapshot *csan_snapshot_take(csan_context *context, csan_lane lane);
csan_snapshot *csan_snapshot_take_all(csan_context *context); /* every lane */
void csan_snapshot_join(csan_context *context, csan_lane lane, const csan_snapshot *snapshot);
void csan_snapshot_release(csan_context *context, csan_snapshot *snapshot);

/* An order not decided yet: a wait for something that may be released later by any lane. Joining
 * the promise holds `lane`'s later work back inside csan (never the program) until it is kept. At
 * the time-out the edge is given up and counted. Owned and released like any snapshot.
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
    CSAN_STEP_RECORD = 1,       /* object: the event; detail: a site that has its name, or 0 */
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
    CSAN_STEP_ELAPSED_FROM,       /* object: an event. The program asked how much time of the device
                                     passed from its last record to that of the next step's: */
    CSAN_STEP_ELAPSED,            /* object: an event; detail: so many nanoseconds */
    CSAN_STEP_THREAD,             /* object: the number of the host thread that makes the steps and
                                     waits from here on */
    CSAN_STEP_HOST_WAIT,   /* object: enum csan_synchronization_kind, or 0: a copy or set that
                              waits. The lane, the host's, joins what the call waited for: */
    CSAN_STEP_HOST_WAITED, /* up to here */
    CSAN_STEP_DEVICE, /* object: CUDA's number of the device that the lane works on, and one; 0:
                         not known. Of the host's lane: that calls are made for from here on */
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
 * are ended first, silently (their free was not seen). The site of a variable has no frames. Its
 * name is qualifier and name, "__constant__ taps". Its one argument is the file that its module is
 * of, or "". Returns 0, or -1 when bytes is 0 or wraps.
 */
int csan_memory_create(csan_context *context, enum csan_memory_kind kind, uint64_t base,
                       uint64_t bytes, csan_lane lane, csan_site site);

/* A free, in two steps around the real call. Begin removes the allocation at `base` from what later
 * calls can find, and checks the free as an op of `lane` when `checked`. It returns NULL when there
 * is no such allocation. End with `failed` puts it back as it was; else the free stands.
 * CSAN_FREE_WAITED: it ordered all earlier work of every lane, as of begin, before the host. */
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
/* The owner of the memory at address: the block of a declared pool, else the live allocation. 1 and
 * its range, or 0. Both as of the program, even while something waits in the queue. */
int csan_memory_owner(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes);

/* Memory that is mapped in two places: [base, base + bytes) is another name of [onto, onto +
 * bytes). Ops that touch one touch the other, until unalias, for every name inside the range.
 * Births, frees and declared blocks use the addresses of their own calls. Not for branches. */
void csan_memory_alias(csan_context *context, uint64_t base, uint64_t bytes, uint64_t onto);
void csan_memory_unalias(csan_context *context, uint64_t base, uint64_t bytes);

/* Ops from now on are not checked for these bytes, until a birth or a declared block there; see
 * csan_benign_range above. Not for branches. */
void csan_memory_benign(csan_context *context, uint64_t base, uint64_t bytes);

/* Blocks of a declared pool; see csan_pool_alloc above. */
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

/* How an op may order itself with another one through these bytes. Kernels that spin on a flag do
 * so (PTX ISA, "Release and Acquire Patterns"). A race that such an order would explain is a
 * possible one. */
enum csan_access_order { CSAN_ACQUIRES = 1, CSAN_RELEASES = 2 };

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
    uint8_t order; /* set of enum csan_access_order: what may order the op with one that runs at the
                      same time; 0: nothing */
};
#define CSAN_NO_ARGUMENT ((uint16_t)0xffff)

/* One op, checked and recorded: `lane` takes its next epoch after joining the host. The arrays are
 * read during the call only. Accesses to memory in no allocation are kept by address. Returns its
 * number (sequence, as in csan_race_access), or 0 when there is no such lane. */
uint64_t csan_op(csan_context *context, csan_lane lane, csan_site site, enum csan_level level,
                 const struct csan_access *accesses, size_t count);

/* The next op of `lane` belongs to the same operator as the ops of the lane `other` numbered from
 * `first` to `last`. What the operator touches is known, but not which of its ops touches what. So
 * bytes that these ops have in common are no conflict. It may be called several times before that
 * op. */
void csan_op_same_operator(csan_context *context, csan_lane lane, csan_lane other, uint64_t first,
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

/* Calls on_op for each op as it enters, on the thread that made it, with its number (sequence, as
 * in csan_race_access), lane and site. Frees are ops too. `before`: the CUDA call is still to be
 * made, else it was made. Set it before the first op; NULL: none. */
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
    uint64_t duplicates;                 /* races that occurred again and are not reported again */
    uint64_t pending_timeouts, pending_overflows, promises_broken;
    uint64_t strided_dropped;                            /* strided records lost to the cap */
    uint64_t lanes, allocations, cells, strided_records; /* live now */
    uint64_t unknown_frees;
    uint64_t grouped;    /* of races and possible ones: explained by the order that another lacks */
    uint64_t suppressed; /* distinct races that suppressions or a baseline matched: no others count
                            them */
    /* Pairs of the device's ops that nothing orders, if option count_unordered is set. */
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

/* Names of versions before 0.3. They warn, and version 0.4 will not have them. */
#define CSAN_RENAMED_(text) _Pragma(text)
#define csan_op_sibling                                                                            \
    CSAN_RENAMED_("GCC warning \"use csan_op_same_operator\"") csan_op_same_operator
#define csan_lane_seen_to_wait                                                                     \
    CSAN_RENAMED_("GCC warning \"use csan_lane_observed_wait\"") csan_lane_observed_wait
#define csan_snapshot_seen_to_wait                                                                 \
    CSAN_RENAMED_("GCC warning \"use csan_snapshot_observed_wait\"") csan_snapshot_observed_wait
#define csan_shortage CSAN_RENAMED_("GCC warning \"use csan_out_of_memory\"") csan_out_of_memory
#define CSAN_HOST_MEETING                                                                          \
    CSAN_RENAMED_("GCC warning \"use CSAN_HOST_SYNC_OBJECT\"") CSAN_HOST_SYNC_OBJECT

#ifdef __cplusplus
}
#endif
#endif
