/* The device runtime: kernels that launch kernels, with streams and events of their own (CUDA C++
 * Programming Guide, "CUDA Dynamic Parallelism"). nvcc calls its functions by the names
 * __cudaCDP2...; older code has them without that prefix. The driver does the work. */
#include "runtime/device/exec/exec_call.h"

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,       /* cudaErrorInvalidValue */
    MEMORY_ALLOCATION = 2,   /* cudaErrorMemoryAllocation */
    NOT_PERMITTED = 800,     /* cudaErrorNotPermitted */
    CAPABILITY_MAJOR_90 = 9, /* of cudaDevAttrComputeCapabilityMajor */
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MULTIPROCESSORS = 16,
    ATTRIBUTE_WARP = 10,
    ATTRIBUTE_BLOCK_THREADS = 1,
    MULTIPROCESSORS = 132,
    BLOCK_THREADS = 1024
};

struct call {
    struct warp *warp;
    const struct call_site *site;
    const struct exec_runtime *runtime;
    void *user;
    uint64_t block;
    int lane;
};

static uint64_t argument(const struct call *call, uint32_t k)
{
    return builtin_argument(call->warp, call->site, k, call->lane);
}

/* Where the program wants a result. */
static uint32_t give(const struct call *call, uint32_t k, const void *from, uint32_t bytes)
{
    uint8_t *to = space_generic(call->warp, call->lane, argument(call, k), bytes, true);
    if (!to)
        return INVALID_VALUE;
    memcpy(to, from, bytes);
    return SUCCESS;
}

/* ---- What each function does for one lane ---- */

typedef uint64_t call_run(const struct call *call);

static uint64_t get_buffer(const struct call *call)
{
    struct exec_grid grid = {.function = argument(call, 0), .shared = (uint32_t)argument(call, 3)};
    builtin_argument_bytes(call->warp, call->site, 1, call->lane, grid.grid, sizeof grid.grid);
    builtin_argument_bytes(call->warp, call->site, 2, call->lane, grid.block, sizeof grid.block);
    return call->runtime->buffer(call->user, &grid);
}

static uint64_t launch(const struct call *call)
{
    return call->runtime->launch(call->user, argument(call, 0), argument(call, 1), call->block);
}

static uint64_t stream_create(const struct call *call)
{
    const uint64_t stream = call->runtime->stream_create(call->user);
    return stream ? give(call, 0, &stream, sizeof stream) : MEMORY_ALLOCATION;
}

static uint64_t stream_destroy(const struct call *call)
{
    return call->runtime->stream_destroy(call->user, argument(call, 0));
}

static uint64_t event_create(const struct call *call)
{
    const uint64_t event = call->runtime->event_create(call->user);
    return event ? give(call, 0, &event, sizeof event) : MEMORY_ALLOCATION;
}

static uint64_t event_destroy(const struct call *call)
{
    return call->runtime->event_destroy(call->user, argument(call, 0));
}

static uint64_t event_record(const struct call *call)
{
    return call->runtime->event_record(call->user, argument(call, 0), argument(call, 1),
                                       call->block);
}

static uint64_t stream_wait(const struct call *call)
{
    return call->runtime->event_wait(call->user, argument(call, 1), argument(call, 0), call->block);
}

static uint64_t copy(const struct call *call)
{
    const uint64_t bytes = argument(call, 2);
    const struct exec_rows to = {argument(call, 0), bytes, bytes, 1};
    const struct exec_rows from = {argument(call, 1), bytes, bytes, 1};
    return call->runtime->copy(call->user, &to, &from, argument(call, 4), call->block);
}

static uint64_t copy_rows(const struct call *call)
{
    const uint64_t width = argument(call, 4), height = argument(call, 5);
    const struct exec_rows to = {argument(call, 0), argument(call, 1), width, height};
    const struct exec_rows from = {argument(call, 2), argument(call, 3), width, height};
    return call->runtime->copy(call->user, &to, &from, argument(call, 7), call->block);
}

static uint64_t set(const struct call *call)
{
    const uint64_t bytes = argument(call, 2);
    const struct exec_rows to = {argument(call, 0), bytes, bytes, 1};
    return call->runtime->set(call->user, &to, (uint8_t)argument(call, 1), argument(call, 3),
                              call->block);
}

static uint64_t set_rows(const struct call *call)
{
    const struct exec_rows to = {argument(call, 0), argument(call, 1), argument(call, 3),
                                 argument(call, 4)};
    return call->runtime->set(call->user, &to, (uint8_t)argument(call, 2), argument(call, 5),
                              call->block);
}

static uint64_t no_error(const struct call *call)
{
    (void)call;
    return SUCCESS;
}

static uint64_t device(const struct call *call)
{
    const uint32_t ordinal = 0;
    return give(call, 0, &ordinal, sizeof ordinal);
}

static uint64_t device_count(const struct call *call)
{
    const uint32_t count = 1;
    return give(call, 0, &count, sizeof count);
}

static uint64_t device_attribute(const struct call *call)
{
    const uint64_t which = argument(call, 1);
    const uint32_t value = which == ATTRIBUTE_MAJOR             ? CAPABILITY_MAJOR_90
                           : which == ATTRIBUTE_MULTIPROCESSORS ? MULTIPROCESSORS
                           : which == ATTRIBUTE_WARP            ? WARP_LANES
                           : which == ATTRIBUTE_BLOCK_THREADS   ? BLOCK_THREADS
                                                                : 0;
    return value ? give(call, 0, &value, sizeof value) : INVALID_VALUE;
}

static uint64_t allocate(const struct call *call)
{
    const struct exec_memory *memory = &call->warp->state->launch.memory;
    const uint64_t address =
        memory->allocate ? memory->allocate(memory->user, argument(call, 1), 256) : 0;
    return address ? give(call, 0, &address, sizeof address) : MEMORY_ALLOCATION;
}

static uint64_t release(const struct call *call)
{
    const uint64_t address = argument(call, 0);
    return !address || heap_free(call->warp, address) ? SUCCESS : INVALID_VALUE;
}

/* "not permitted": waiting for children inside a kernel is gone since CUDA 12. */
static uint64_t synchronize(const struct call *call)
{
    (void)call;
    return NOT_PERMITTED;
}

static const struct {
    const char *name; /* behind "__cudaCDP2" or "cuda" */
    call_run *run;
    uint32_t arguments;
} functions[] = {
    {"GetParameterBufferV2", get_buffer, 4},
    {"LaunchDeviceV2", launch, 2},
    {"StreamCreateWithFlags", stream_create, 2},
    {"StreamDestroy", stream_destroy, 1},
    {"EventCreateWithFlags", event_create, 2},
    {"EventDestroy", event_destroy, 1},
    {"EventRecord", event_record, 2},
    {"EventRecordWithFlags", event_record, 3},
    {"StreamWaitEvent", stream_wait, 3},
    {"MemcpyAsync", copy, 5},
    {"MemsetAsync", set, 4},
    {"Memcpy2DAsync", copy_rows, 8},
    {"Memset2DAsync", set_rows, 6},
    {"GetLastError", no_error, 0},
    {"PeekAtLastError", no_error, 0},
    {"GetDevice", device, 1},
    {"GetDeviceCount", device_count, 1},
    {"DeviceGetAttribute", device_attribute, 3},
    {"Malloc", allocate, 2},
    {"Free", release, 1},
    {"DeviceSynchronize", synchronize, 0},
};

static int run_function(struct warp *w, const struct micro *op, call_run *run)
{
    const struct exec_memory *memory = &w->state->launch.memory;
    struct call call = {.warp = w,
                        .site = op->pointer,
                        .runtime = memory->runtime,
                        .user = memory->user,
                        .block = w->block->linear};
    if (!memory->runtime)
        return fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, 0);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        call.lane = __builtin_ctz(m);
        builtin_return(w, call.site, call.lane, run(&call));
    }
    w->state->progress++;
    return FLOW_NEXT;
}

static int run_named(struct warp *w, const struct micro *op)
{
    const struct call_site *site = op->pointer;
    return run_function(w, op, functions[site->builtin].run);
}

micro_run *launch_builtin_find(const char *name, uint32_t arguments, uint32_t *number)
{
    static const char *const prefixes[] = {"__cudaCDP2", "cuda"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) != 0)
            continue;
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
            if (strcmp(name + length, functions[k].name) == 0 &&
                arguments >= functions[k].arguments) {
                *number = (uint32_t)k;
                return run_named;
            }
    }
    return NULL;
}
