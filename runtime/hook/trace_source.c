/* The sources of traces. See trace_source.h. */
#include "runtime/hook/trace_source.h"

typedef void subscribe_function(device_trace_done *done, void *user);
typedef uint64_t last_launch_function(void);

static struct {
    last_launch_function *last_launch;
} embedded;

/* ---- The embedded device ---- */

static bool embedded_open(device_trace_done *done, void *user)
{
    subscribe_function *subscribe = (subscribe_function *)driver_function("device_trace_subscribe");
    if (!subscribe)
        return false;
    subscribe(done, user);
    embedded.last_launch = (last_launch_function *)driver_function("device_trace_last_launch");
    return embedded.last_launch != NULL;
}

/* It traces each launch, to the byte. */
static bool embedded_want(const struct trace_want *what)
{
    (void)what;
    return true;
}

static uint64_t embedded_last_launch(void)
{
    return embedded.last_launch();
}

static void embedded_settle(CUfunction function)
{
    (void)function;
}

const struct trace_source *trace_source_embedded(void)
{
    static const struct trace_source source = {.name = "the embedded device",
                                               .every = true,
                                               .strength = true,
                                               .open = embedded_open,
                                               .want = embedded_want,
                                               .last_launch = embedded_last_launch,
                                               .settle = embedded_settle};
    return &source;
}

/* ---- The one there is ---- */

/* It may be there, and yet not prepared. */
static const struct trace_source *source_gpu(void)
{
    return tracer_source ? tracer_source() : NULL;
}

void trace_source_prepare(void)
{
    const struct trace_source *source = source_gpu();
    if (source && !driver_function("device_trace_subscribe"))
        source->prepare();
}

void trace_source_context_made(void)
{
    const struct trace_source *source = source_gpu();
    if (source)
        source->context_made();
}

void trace_source_launch_begins(void)
{
    const struct trace_source *source = source_gpu();
    if (source)
        source->launch_begins();
}

void trace_source_launch_ends(void)
{
    const struct trace_source *source = source_gpu();
    if (source)
        source->launch_ends();
}

void trace_source_graph_begins(const struct trace_code *kernels, size_t count, bool others)
{
    const struct trace_source *source = source_gpu();
    if (source)
        source->graph_begins(kernels, count, others);
}

void trace_source_graph_ends(void)
{
    const struct trace_source *source = source_gpu();
    if (source)
        source->graph_ends();
}

const struct trace_source *trace_source_open(device_trace_done *done, void *user)
{
    const struct trace_source *source = trace_source_embedded();
    if (source->open(done, user))
        return source;
    source = source_gpu();
    return source && source->open(done, user) ? source : NULL;
}
