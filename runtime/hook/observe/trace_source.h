/* A source of traces: the embedded device, which traces every launch, or the tracer of a GPU, which
 * patches a kernel's machine code for requested launches. Both report with the types of
 * runtime/trace/trace.h. trace.c uses the one that this process has.
 *
 * The functions are called from within hooks, with no lock held, on any thread. None may wait for
 * the device: a program that spins on a flag would hang. */
#ifndef RUNTIME_HOOK_OBSERVE_TRACE_SOURCE_H
#define RUNTIME_HOOK_OBSERVE_TRACE_SOURCE_H

#include "runtime/trace/trace.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/sass/reads.h"
#include "runtime/sass/map_use.h"

/* A launch that is about to be made. */
struct trace_want {
    CUfunction function; /* as the program passes it: a CUkernel, too */
    CUstream stream;
    bool thread_default; /* stream 0 is the per-thread default stream */
    bool collective;     /* its blocks wait for each other, or for other devices' */
    bool confirms;       /* what it touches is known already, as far as launches taught */
    uint64_t threads;    /* of its grid */
    uint64_t reach;      /* bytes of the blocks that its pointers lead into; 0: it is not known */
    /* What it touches through tensor maps, as struct trace_source's `maps` has them, if those are
     * known; valid until the call returns. */
    bool maps_are_known;
    uint32_t mapped_count;
    const struct device_trace_range *mapped;
};

/* A kernel that an executable graph is to hold. */
struct trace_code {
    CUfunction function; /* as the program passes it: a CUkernel, too */
    CUcontext context;   /* that it is to run in; NULL: the current one */
    bool learned;        /* its launches in the graph may be traced, now and then */
    bool wanted;         /* the first ones will */
    bool plain;          /* the source's own, from graph_begins to graph_ends */
};

/* What launches may be traced for. */
enum trace_time { TRACE_TO_LEARN = 1, TRACE_TO_CONFIRM = 2 };

struct trace_source {
    const char *name;
    bool every;    /* it traces each launch, wanted or not */
    bool strength; /* strong loads and stores, and atomic operations at block scope, are reported as
                      PTX has them; else by what the instruction does */
    /* Once, when the driver's library was opened and before any of its functions runs, where traces
     * may be wanted of this process; `asked`: of most launches. NULL: nothing to prepare. */
    void (*prepare)(bool asked);
    /* From `prepare` on, after the driver may have made a context, before anything is enqueued in
     * it. */
    void (*context_made)(void);
    /* From `prepare` on, around each call of the driver that launches a kernel or a graph, with no
     * lock held. */
    void (*launch_begins)(void);
    void (*launch_ends)(void);
    /* From `prepare` on, around each call of the driver that puts kernels into an executable graph,
     * with no lock held: each once; `others`: and such that are not known; `made`: the call
     * succeeded. To be called if it says that it changes code. */
    bool (*changes_code)(void);
    void (*graph_begins)(struct trace_code *kernels, size_t count, bool others);
    void (*graph_ends)(const struct trace_code *kernels, size_t count, bool others, bool made);
    /* Subscribes, once, before the first launch that is reported: `done` as in
     * device_trace_subscribe. False: this process has no such source. */
    bool (*open)(device_trace_done *done, void *user);
    /* Before the driver's call, on the thread that makes it: trace this thread's next launch.
     * False: it cannot be now. A source that changes the kernel's code refuses collective launches.
     * NULL withdraws the request, if the driver's call failed or made no launch. Not asked for
     * captured launches. */
    bool (*want)(const struct trace_want *what);
    /* Right after the driver's call, with no lock held: the number of this thread's newest launch
     * that is traced, 0: none. A launch that was not wanted leaves it. For each number `done` is
     * called once, `lost` where nothing was recorded. */
    uint64_t (*last_launch)(void);
    /* The same of the kernel that is that node of the graph which this thread launches next: before
     * the driver's call, any number of them; and for each that was not refused, right after it,
     * whether the call succeeded: its number, 0: it is not traced. NULL: nodes are not
     * distinguished. */
    bool (*want_node)(CUgraphNode node, const struct trace_want *what);
    uint64_t (*node_launched)(CUgraphNode node, bool succeeded);
    /* This kernel's launches are not wanted any more for now: when none of a module is, its code
     * may be put back as it was. `launch`: one was not; false then: another one that was, and could
     * not be traced, may come yet, and this is to be said again of the next. */
    bool (*settle)(CUfunction function, bool launch);
    /* Which of its parameters, of that many words, a launch of the kernel of that name may read;
     * the caller frees it. NULL, as returned: all, as far as is known; as the function: that is not
     * known of any. */
    struct reads *(*reads)(CUfunction function, const char *kernel, uint32_t words);
    /* The tensor maps that this kernel copies through, by their offset in its parameters, if the
     * source does not see that and needs them with each request; `maps` has room for MAP_USES_MOST.
     * NULL: it sees them. */
    uint32_t (*maps)(CUfunction function, const char *kernel, struct map_use *maps);
    /* Before each launch of which something could be learned: for what there is time, a bit for
     * each enum trace_time. One of which only what is known would be confirmed may be asked for if
     * that says so, others always; but no launch is traced for what there is none for. NULL: for
     * all. */
    unsigned (*time)(void);
    /* The program has waited for work of the device: a good moment to change its code. NULL: never
     * mind. */
    void (*waited)(void);
    /* From rest until resume no thread of the source's own is within the driver: around calls that
     * may end a context, and for good at the program's end. False: it did not come to rest, and is
     * not to be resumed. NULL: it has no thread. */
    bool (*rest)(void);
    void (*resume)(void);
    /* Why launches are not traced, or some are not; a text that is good until the next call. NULL:
     * nothing is in the way. May be NULL. */
    const char *(*missing)(void);
};

/* The embedded device, where it is this process's driver. */
const struct trace_source *trace_source_embedded(void);

/* Returns the GPU's (runtime/tracer), which registers here before the driver is opened. NULL in
 * builds without it; its answer is NULL, too, where there is none. */
typedef const struct trace_source *trace_source_function(void);
extern trace_source_function *trace_source_gpu;
/* What its traces are kept under, from process to process (identity.h). */
#define TRACE_SOURCE_GPU "the GPU"

/* Whether the driver is the embedded device. */
bool trace_source_is_embedded(void);
/* Whether a GPU's may be prepared. The driver's tools interface is its own from then on: a profiler
 * that comes later gets nothing (seen on an H200, driver 580: PyTorch's saw no kernel). So where
 * nobody asked for traces and somebody else may want it, it is not, and `*rival` says who; else
 * that is NULL. */
bool trace_source_is_free(bool asked, const char **rival);
/* As struct trace_source has it, of a GPU's that is free. False: launches of this process will not
 * be traced. */
bool trace_source_prepare(bool asked);
/* Who may want it by now; NULL: nobody. */
const char *trace_source_rival(void);
void trace_source_context_made(void);
void trace_source_launch_begins(void);
void trace_source_launch_ends(void);
bool trace_source_changes_code(void);
void trace_source_graph_begins(struct trace_code *kernels, size_t count, bool others);
void trace_source_graph_ends(const struct trace_code *kernels, size_t count, bool others,
                             bool made);

/* The one that this process has, opened; NULL: none. Asked once. */
const struct trace_source *trace_source_open(device_trace_done *done, void *user);

#endif
