/* A source of traces. It is the embedded device, which traces every launch, or the tracer of a GPU,
 * which patches a kernel's machine code for requested launches. Both report with the types of
 * runtime/trace/trace.h. trace.c uses the one that this process has.
 *
 * The functions are called within hooks, with no lock held, on any thread. None may wait for the
 * device: a program that spins on a flag would hang. */
#ifndef RUNTIME_HOOK_OBSERVE_TRACE_SOURCE_H
#define RUNTIME_HOOK_OBSERVE_TRACE_SOURCE_H

#include "runtime/trace/trace.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/sass/reads.h"
#include "runtime/sass/map_use.h"

/* A launch that is about to be made. */
struct trace_want {
    CUfunction function; /* as the program passes it, which may be a CUkernel */
    CUstream stream;
    bool thread_default; /* stream 0 is the per-thread default stream */
    bool collective;     /* its blocks wait for each other, or for other devices */
    bool confirms;       /* earlier launches have shown what it touches */
    uint64_t threads;    /* of its grid */
    uint64_t reach;      /* bytes of the blocks that its pointers lead into; 0: not known */
    /* What it touches through tensor maps, in the form of struct trace_source's `maps`, if that is
     * known. Valid until the call returns. */
    bool maps_are_known;
    uint32_t mapped_count;
    const struct device_trace_range *mapped;
};

/* A kernel that goes into an executable graph. */
struct trace_code {
    CUfunction function; /* as the program passes it, which may be a CUkernel */
    CUcontext context;   /* the context that it will run in; NULL: the current one */
    bool learned;        /* its launches in the graph may be traced at times */
    bool wanted;         /* the first ones will */
    bool plain;          /* belongs to the source, from graph_begins to graph_ends */
};

/* What launches may be traced for. */
enum trace_time { TRACE_TO_LEARN = 1, TRACE_TO_CONFIRM = 2 };

struct trace_source {
    const char *name;
    bool every;    /* it traces each launch, wanted or not */
    bool strength; /* strong loads and stores, and atomic operations at block scope, are reported as
                      the PTX has them; else by what the instruction does */
    bool constants; /* loads from __constant__ variables are reported */
    /* Called once, if this process may want traces, when the driver's library was opened and before
     * any of its functions runs. `asked`: traces of most launches are wanted. NULL: nothing to
     * prepare. */
    void (*prepare)(bool asked);
    /* Called after `prepare`, when the driver may have made a context, before anything is enqueued
     * in it. */
    void (*context_made)(void);
    /* Called after `prepare`, around each call of the driver that launches a kernel or a graph,
     * with no lock held. */
    void (*launch_begins)(void);
    void (*launch_ends)(void);
    /* Called after `prepare`, around each call of the driver that puts kernels into an executable
     * graph, with no lock held. Each kernel is listed once; `others`: there are also unknown ones;
     * `made`: the call succeeded. Only if the source says that it changes code. */
    bool (*changes_code)(void);
    void (*graph_begins)(struct trace_code *kernels, size_t count, bool others);
    void (*graph_ends)(const struct trace_code *kernels, size_t count, bool others, bool made);
    /* Subscribes, once, before the first launch that is reported; `done` is as in
     * device_trace_subscribe. False: this process has no such source. */
    bool (*open)(device_trace_done *done, void *user);
    /* Called before the driver's call, on the thread that makes it: trace this thread's next
     * launch. False: it cannot be traced now. A source that changes the kernel's code refuses
     * collective launches. NULL withdraws the request, if the driver's call failed or made no
     * launch. Not called for captured launches. */
    bool (*want)(const struct trace_want *what);
    /* Called right after the driver's call, with no lock held. Returns the number of this thread's
     * newest traced launch; 0: none. A launch that was not requested leaves it. `done` is called
     * once for each number; `lost` if nothing was recorded. */
    uint64_t (*last_launch)(void);
    /* The same for a kernel that is a node of the graph which this thread launches next. The first
     * is called before the driver's call, any number of times. The second is called right after it
     * for each that was not refused, with whether the call succeeded. It returns a number; 0: it is
     * not traced. NULL: the source does not distinguish nodes. */
    bool (*want_node)(CUgraphNode node, const struct trace_want *what);
    uint64_t (*node_launched)(CUgraphNode node, bool succeeded);
    /* No launches of this kernel are wanted for now. If this holds for all kernels of a module, the
     * source may restore its code. `launch`: a launch was not wanted. False: then another launch,
     * which was wanted and could not be traced, may still come, and this is called again for the
     * next one. */
    bool (*settle)(CUfunction function, bool launch);
    /* Which words of its parameters, of so many, a launch of the kernel of that name may read; the
     * caller frees the result. If NULL is returned: all, as far as is known. If the function is
     * NULL: that is not known for any kernel. */
    struct reads *(*reads)(CUfunction function, const char *kernel, uint32_t words);
    /* The tensor maps that this kernel copies through, by their offset in its parameters, if the
     * source does not see these copies and needs the maps with each request. `maps` has room for
     * MAP_USES_MOST. NULL: the source sees them. */
    uint32_t (*maps)(CUfunction function, const char *kernel, struct map_use *maps);
    /* Called before each launch that csan could learn from. Returns for which traces there is time,
     * one bit for each enum trace_time. To confirm what is known, a trace may be requested only if
     * that bit is set. Other traces may always be requested, but are refused when there is no time.
     * NULL: there is time for all. */
    unsigned (*time)(void);
    /* The program has waited for work of the device: a good moment to change its code. NULL: not
     * needed. */
    void (*waited)(void);
    /* From rest until resume no thread of the source's own is within the driver. Called around
     * calls that may end a context, and for good at the program's end. False: the thread did not
     * come to rest, and is not to be resumed. NULL: the source has no thread. */
    bool (*rest)(void);
    void (*resume)(void);
    /* Why launches, or some of them, are not traced; a text that is valid until the next call.
     * NULL: nothing hinders it. The function may be NULL. */
    const char *(*missing)(void);
};

/* The embedded device, if it is this process's driver. */
const struct trace_source *trace_source_embedded(void);

/* The source for a GPU (runtime/tracer), which registers here before the driver is opened. NULL in
 * builds without it. Its answer is NULL, too, if there is no such source. */
typedef const struct trace_source *trace_source_function(void);
extern trace_source_function *trace_source_gpu;
/* The name under which its traces are kept from process to process (identity.h). */
#define TRACE_SOURCE_GPU "the GPU"

/* Whether the source for a GPU may be prepared. From then on the driver's tools interface belongs
 * to it: a profiler that comes later gets nothing (seen on an H200 with driver 580: PyTorch's saw
 * no kernel). So if nobody asked for traces and another tool may want the interface, the answer is
 * false, and `*rival` names the tool; else that is NULL. */
bool trace_source_is_free(bool asked, const char **rival);
/* As struct trace_source has it, for a GPU whose interface is free. False: launches of this process
 * will not be traced. */
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

/* The source of this process, opened at the first call; NULL: none. */
const struct trace_source *trace_source_open(device_trace_done *done, void *user);

#endif
