/* The sources of traces. See trace_source.h. */
#include "runtime/hook/observe/trace_source.h"
#include "csan/base/environment.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t last_launch_function(void);

static struct {
    last_launch_function *last_launch;
} embedded;

/* ---- The embedded device ---- */

static bool embedded_open(device_trace_done *done, void *user)
{
    driver_trace_subscribe_function *subscribe = driver_trace_subscribe();
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

static bool embedded_settle(CUfunction function, bool launch)
{
    (void)function, (void)launch;
    return true;
}

const struct trace_source *trace_source_embedded(void)
{
    static const struct trace_source source = {.name = "the embedded device",
                                               .every = true,
                                               .strength = true,
                                               .constants = true,
                                               .open = embedded_open,
                                               .want = embedded_want,
                                               .last_launch = embedded_last_launch,
                                               .settle = embedded_settle};
    return &source;
}

/* ---- The one there is ---- */

trace_source_function *trace_source_gpu;

/* It may be there, and yet not prepared. */
static const struct trace_source *source_gpu(void)
{
    return trace_source_gpu ? trace_source_gpu() : NULL;
}

static int is_cupti(struct dl_phdr_info *object, size_t bytes, void *user)
{
    const char *slash = strrchr(object->dlpi_name, '/');
    (void)bytes;
    (void)user;
    return strncmp(slash ? slash + 1 : object->dlpi_name, "libcupti.so", 11) == 0;
}

/* Profilers come as libraries that the driver loads (CUPTI User's Guide, "CUPTI Initialization"),
 * or are the program's own, as PyTorch's. */
const char *trace_source_rival(void)
{
    const char *injected = environment_get("CUDA_INJECTION64_PATH");
    if (injected && *injected)
        return "CUDA_INJECTION64_PATH names a tool";
    return dl_iterate_phdr(is_cupti, NULL) ? "the program has CUPTI, and may profile itself" : NULL;
}

bool trace_source_is_free(bool asked, const char **rival)
{
    *rival = source_gpu() && !asked ? trace_source_rival() : NULL;
    return source_gpu() && !*rival;
}

bool trace_source_prepare(bool asked)
{
    const struct trace_source *source = source_gpu();
    source->prepare(asked);
    return source->changes_code();
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

bool trace_source_changes_code(void)
{
    const struct trace_source *source = source_gpu();
    return source && source->changes_code();
}

void trace_source_graph_begins(struct trace_code *kernels, size_t count, bool others)
{
    source_gpu()->graph_begins(kernels, count, others);
}

void trace_source_graph_ends(const struct trace_code *kernels, size_t count, bool others, bool made)
{
    source_gpu()->graph_ends(kernels, count, others, made);
}

const struct trace_source *trace_source_open(device_trace_done *done, void *user)
{
    const struct trace_source *source = trace_source_embedded();
    if (source->open(done, user))
        return source;
    source = source_gpu();
    return source && source->open(done, user) ? source : NULL;
}
