#include "play.h"
#include "host_access.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The entry points whose default stream is the thread's own; cuda.h names them by macros alone. */
__typeof__(cuMemsetD8_v2) cuMemsetD8_v2_ptds;
__typeof__(cuMemsetD16_v2) cuMemsetD16_v2_ptds;
__typeof__(cuMemsetD32_v2) cuMemsetD32_v2_ptds;
__typeof__(cuMemsetD2D8_v2) cuMemsetD2D8_v2_ptds;
__typeof__(cuMemsetD2D16_v2) cuMemsetD2D16_v2_ptds;
__typeof__(cuMemsetD2D32_v2) cuMemsetD2D32_v2_ptds;
__typeof__(cuMemcpy3D_v2) cuMemcpy3D_v2_ptds;
__typeof__(cuMemcpy) cuMemcpy_ptds;
__typeof__(cuMemcpyHtoD_v2) cuMemcpyHtoD_v2_ptds;
__typeof__(cuMemcpyDtoH_v2) cuMemcpyDtoH_v2_ptds;
__typeof__(cuMemcpyDtoD_v2) cuMemcpyDtoD_v2_ptds;
__typeof__(cuMemcpy2D_v2) cuMemcpy2D_v2_ptds;

enum { GUARD_VALUE = 77, FILL = 0x5a };

/* As kernels.cu has it. */
struct range {
    uint64_t base;
    int width, stride, rows;
};

struct buffer {
    uint64_t base; /* 0: never allocated */
    bool live, streamed;
};

struct worker {
    sem_t go, done;
    void (*run)(void *data);
    void *data;
};

static struct {
    CUfunction kernels[2][3]; /* guarded; step, add4, add8 */
    CUdeviceptr guard;
    CUmemoryPool pool;
    struct buffer buffers[BUFFERS];
    CUstream streams[STREAMS];
    CUevent events[EVENTS];
    bool recorded[EVENTS];
    char keys[KEYS], host_keys[KEYS], start, end;
    uint8_t pattern[BUFFER_BYTES];
    uint64_t numbers; /* ops that csan has counted */
    int (*set_schedule)(const char *schedule);
    struct worker workers[THREADS];
    struct play *play;
    const struct program *program;
    unsigned current;  /* the op being played */
    unsigned turns;    /* host functions that ran */
    enum host_way way; /* see play_start */
} stage;

#define OK(call) check(call, #call)
static void check(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "oracle: %s returned %d; the program should not have been able to\n", call,
            (int)result);
    abort();
}

/* ---- Threads: one runs at a time ---- */

static void *worker_main(void *data)
{
    struct worker *worker = data;
    for (;;) {
        while (sem_wait(&worker->go) != 0)
            ;
        worker->run(worker->data);
        sem_post(&worker->done);
    }
    return NULL;
}

static CUcontext context;
static void adopt_context(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
}

static void run_on(unsigned thread, void (*run)(void *data), void *data)
{
    struct worker *worker = &stage.workers[thread];
    if (thread == 0) {
        run(data);
        return;
    }
    worker->run = run;
    worker->data = data;
    sem_post(&worker->go);
    while (sem_wait(&worker->done) != 0)
        ;
}

static void start_workers(void)
{
    for (unsigned i = 1; i < THREADS; i++) {
        pthread_t thread;
        sem_init(&stage.workers[i].go, 0, 0);
        sem_init(&stage.workers[i].done, 0, 0);
        if (pthread_create(&thread, NULL, worker_main, &stage.workers[i]) != 0)
            abort();
        run_on(i, adopt_context, NULL);
    }
}

/* ---- The stage is set ---- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
        fprintf(stderr, "oracle: cannot read the kernels in %s; run make\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

static void load_kernels(const char *path)
{
    static const char *const names[2][3] = {{"step", "add4", "add8"},
                                            {"step_guarded", "add4_guarded", "add4_guarded"}};
    CUmodule module;
    char *text = read_text(path);
    OK(cuModuleLoadData(&module, text));
    for (int guarded = 0; guarded < 2; guarded++)
        for (int i = 0; i < 3; i++)
            OK(cuModuleGetFunction(&stage.kernels[guarded][i], module, names[guarded][i]));
    free(text);
}

/* During a play, memory of a pool stays where it is, so that a kernel which uses it after its free
 * does no more harm than to its bytes. */
static void keep_pool(CUdevice device)
{
    uint64_t all = UINT64_MAX;
    OK(cuDeviceGetDefaultMemPool(&stage.pool, device));
    OK(cuMemPoolSetAttribute(stage.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
}

static void make_buffers(void)
{
    void *pinned, *pageable = aligned_alloc(512, 512);
    CUdeviceptr device, managed;
    OK(cuMemAlloc_v2(&device, BUFFER_BYTES));
    OK(cuMemHostAlloc(&pinned, BUFFER_BYTES, 0));
    OK(cuMemAllocManaged(&managed, BUFFER_BYTES, CU_MEM_ATTACH_GLOBAL));
    uint64_t bases[] = {device, (uintptr_t)pinned, (uintptr_t)pageable, managed};
    for (int i = 0; i < BUFFER_DYNAMIC; i++)
        stage.buffers[i] = (struct buffer){bases[i], true, false};
    for (int i = 0; i < BUFFER_BYTES; i++)
        stage.pattern[i] = (uint8_t)(i * 37 + 11);
}

/* A race made here. False: csan did not see it. */
static bool make_race(struct csan_race *race)
{
    CUstream streams[2];
    uint64_t mark = csan_race_mark();
    for (int i = 0; i < 2; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        OK(cuMemsetD8Async(stage.buffers[BUFFER_DEVICE].base, 0, 1, streams[i]));
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        OK(cuStreamDestroy_v2(streams[i]));
    stage.numbers += 2;
    /* The byte may be of a block that the pool took back, too: one more finding for each set. */
    struct csan_race found[4];
    const size_t count = csan_races_since(mark, found, 4);
    for (size_t i = 0; i < count && i < 4; i++)
        if (found[i].kind == CSAN_RACE_DATA) {
            *race = found[i];
            return true;
        }
    return false;
}

/* csan counts ops from the process's start: a race shows the count. False: there is none. */
static bool learn_numbers(void)
{
    struct csan_race race;
    if (!make_race(&race))
        return false;
    stage.numbers = race.current.sequence;
    return true;
}

void play_start(const char *kernels, enum host_way way)
{
    stage.way = way;
    CUdevice device;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    adopt_context(NULL);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&stage.set_schedule = driver ? dlsym(driver, "device_schedule_set") : NULL;
    void (*ignore_clock)(void);
    *(void **)&ignore_clock = driver ? dlsym(driver, "device_schedule_ignore_clock") : NULL;
    if (!stage.set_schedule || !ignore_clock) {
        fprintf(stderr, "oracle: libcuda.so.1 is not the embedded device\n");
        exit(2);
    }
    ignore_clock(); /* else a busy machine may make one play what no other is */
    load_kernels(kernels);
    keep_pool(device);
    OK(cuMemAlloc_v2(&stage.guard, sizeof(int)));
    OK(cuMemsetD32_v2(stage.guard, GUARD_VALUE, 1)); /* a copy's content csan would know */
    make_buffers();
    start_workers();
    OK(cuCtxSynchronize());
    if (!learn_numbers()) {
        fprintf(stderr, "oracle: csan does not see two unordered sets; is it in the process?\n");
        exit(2);
    }
}

/* ---- Ops ---- */

struct call {
    const struct op *op;
    struct happening *happening;
    unsigned index;
    CUstream stream;
};

static CUstream handle_of(const struct op *op)
{
    unsigned stream = program_stream(op);
    return stream == 0 ? NULL : stream == 1 ? CU_STREAM_PER_THREAD : stage.streams[stream];
}

/* Where the rows begin; 0: not there. Kernels alone may use what was freed. */
static uint64_t place_of(struct call *call, unsigned i, bool stale_too)
{
    const struct rows *rows = &call->op->ranges[i];
    const struct buffer *buffer = &stage.buffers[rows->buffer];
    struct happening *happening = call->happening;
    bool stale = !buffer->live && buffer->base && buffer->streamed;
    if (!rows->rows || !(buffer->live || (stale && stale_too)))
        return 0;
    happening->base[i] = buffer->base;
    happening->stale[i] = stale;
    return buffer->base + rows->offset;
}

static struct range range_of(struct call *call, unsigned i, int element)
{
    uint64_t place = place_of(call, i, true);
    const struct rows *rows = &call->op->ranges[i];
    if (!place)
        return (struct range){0};
    return (struct range){place, rows->width / element, rows->stride,
                          call->happening->stale[i] ? 1 : rows->rows};
}

static void count_ops(struct call *call, unsigned count)
{
    call->happening->done = true;
    call->happening->number = stage.numbers + 1;
    stage.numbers += count;
}

static void play_kernel(struct call *call)
{
    bool guarded = call->op->flags & FLAG_GUARDED, wide = call->op->flags & FLAG_WIDE;
    unsigned number = call->index + 1;
    struct range ranges[RANGES];
    void *parameters[] = {&ranges[0], &ranges[1], &ranges[2], &number, &stage.guard};
    void *add_parameters[] = {&ranges[0], &number, &stage.guard};
    bool add = call->op->kind == OP_ADD;
    for (unsigned i = 0; i < (add ? 1 : RANGES); i++)
        ranges[i] = range_of(call, i, add ? (wide ? 8 : 4) : 1);
    OK(cuLaunchKernel(stage.kernels[guarded][add ? 1 + wide : 0], 1, 1, 1, 32, 1, 1, 0,
                      call->stream, add ? add_parameters : parameters, NULL));
    count_ops(call, 1);
}

static CUmemorytype type_of(const struct op *op, unsigned i)
{
    uint8_t buffer = op->ranges[i].buffer;
    if (op->flags & FLAG_UNIFIED || buffer == BUFFER_MANAGED)
        return CU_MEMORYTYPE_UNIFIED;
    return buffer == BUFFER_PINNED || buffer == BUFFER_PAGEABLE ? CU_MEMORYTYPE_HOST
                                                                : CU_MEMORYTYPE_DEVICE;
}

static void copy_rows(const struct op *op, uint64_t to, uint64_t from, CUstream stream)
{
    CUDA_MEMCPY2D_v2 what = {.srcMemoryType = type_of(op, 0),
                             .dstMemoryType = type_of(op, 1),
                             .srcDevice = from,
                             .srcHost = (void *)from,
                             .srcPitch = op->ranges[0].stride,
                             .dstDevice = to,
                             .dstHost = (void *)to,
                             .dstPitch = op->ranges[1].stride,
                             .WidthInBytes = op->ranges[0].width,
                             .Height = op->ranges[0].rows};
    if (op->flags & FLAG_ASYNC)
        OK(cuMemcpy2DAsync_v2(&what, stream));
    else if (op->flags & FLAG_THREAD)
        OK(cuMemcpy2D_v2_ptds(&what));
    else
        OK(cuMemcpy2D_v2(&what));
}

/* The rows as planes of one row, or of two. */
static void copy_planes(const struct op *op, uint64_t to, uint64_t from, CUstream stream)
{
    unsigned rows = op->ranges[0].rows, height = rows == 4 ? 2 : 1;
    CUDA_MEMCPY3D_v2 what = {.srcMemoryType = type_of(op, 0),
                             .dstMemoryType = type_of(op, 1),
                             .srcDevice = from,
                             .srcHost = (void *)from,
                             .srcPitch = op->ranges[0].stride,
                             .srcHeight = height,
                             .dstDevice = to,
                             .dstHost = (void *)to,
                             .dstPitch = op->ranges[1].stride,
                             .dstHeight = height,
                             .WidthInBytes = op->ranges[0].width,
                             .Height = height,
                             .Depth = rows / height};
    if (op->flags & FLAG_ASYNC)
        OK(cuMemcpy3DAsync_v2(&what, stream));
    else if (op->flags & FLAG_THREAD)
        OK(cuMemcpy3D_v2_ptds(&what));
    else
        OK(cuMemcpy3D_v2(&what));
}

static void copy_unified(const struct op *op, uint64_t to, uint64_t from, CUstream stream)
{
    size_t bytes = op->ranges[0].width;
    if (op->flags & FLAG_ASYNC)
        OK(cuMemcpyAsync(to, from, bytes, stream));
    else if (op->flags & FLAG_THREAD)
        OK(cuMemcpy_ptds(to, from, bytes));
    else
        OK(cuMemcpy(to, from, bytes));
}

static void copy_named(const struct op *op, uint64_t to, uint64_t from, CUstream stream)
{
    size_t bytes = op->ranges[0].width;
    bool from_host = type_of(op, 0) == CU_MEMORYTYPE_HOST;
    bool to_host = type_of(op, 1) == CU_MEMORYTYPE_HOST;
    bool async = op->flags & FLAG_ASYNC, own = op->flags & FLAG_THREAD;
    if (from_host)
        OK(async ? cuMemcpyHtoDAsync_v2(to, (void *)from, bytes, stream)
           : own ? cuMemcpyHtoD_v2_ptds(to, (void *)from, bytes)
                 : cuMemcpyHtoD_v2(to, (void *)from, bytes));
    else if (to_host)
        OK(async ? cuMemcpyDtoHAsync_v2((void *)to, from, bytes, stream)
           : own ? cuMemcpyDtoH_v2_ptds((void *)to, from, bytes)
                 : cuMemcpyDtoH_v2((void *)to, from, bytes));
    else
        OK(async ? cuMemcpyDtoDAsync_v2(to, from, bytes, stream)
           : own ? cuMemcpyDtoD_v2_ptds(to, from, bytes)
                 : cuMemcpyDtoD_v2(to, from, bytes));
}

static void play_copy(struct call *call)
{
    const struct op *op = call->op;
    uint64_t from = place_of(call, 0, false), to = place_of(call, 1, false);
    if (!from || !to)
        return;
    CUmemorytype types[2] = {type_of(op, 0), type_of(op, 1)};
    if (op->ranges[0].rows > 1 && op->flags & FLAG_PLANES)
        copy_planes(op, to, from, call->stream);
    else if (op->ranges[0].rows > 1)
        copy_rows(op, to, from, call->stream);
    else if (types[0] == CU_MEMORYTYPE_UNIFIED || types[1] == CU_MEMORYTYPE_UNIFIED ||
             (types[0] == CU_MEMORYTYPE_HOST && types[1] == CU_MEMORYTYPE_HOST))
        copy_unified(op, to, from, call->stream);
    else
        copy_named(op, to, from, call->stream);
    count_ops(call, program_copy_reads_at_call(op) ? 2 : 1);
}

static CUresult set_row(const struct call *call, CUdeviceptr to, unsigned value, size_t count)
{
    bool async = call->op->flags & FLAG_ASYNC, own = call->op->flags & FLAG_THREAD;
    uint16_t two = (uint16_t)value;
    uint8_t one = (uint8_t)value;
    switch (call->op->other) {
    case 4:
        return async ? cuMemsetD32Async(to, value, count, call->stream)
               : own ? cuMemsetD32_v2_ptds(to, value, count)
                     : cuMemsetD32_v2(to, value, count);
    case 2:
        return async ? cuMemsetD16Async(to, two, count, call->stream)
               : own ? cuMemsetD16_v2_ptds(to, two, count)
                     : cuMemsetD16_v2(to, two, count);
    default:
        return async ? cuMemsetD8Async(to, one, count, call->stream)
               : own ? cuMemsetD8_v2_ptds(to, one, count)
                     : cuMemsetD8_v2(to, one, count);
    }
}

static CUresult set_rows(const struct call *call, CUdeviceptr to, unsigned value, size_t count)
{
    bool async = call->op->flags & FLAG_ASYNC, own = call->op->flags & FLAG_THREAD;
    size_t stride = call->op->ranges[0].stride, rows = call->op->ranges[0].rows;
    uint16_t two = (uint16_t)value;
    uint8_t one = (uint8_t)value;
    switch (call->op->other) {
    case 4:
        return async ? cuMemsetD2D32Async(to, stride, value, count, rows, call->stream)
               : own ? cuMemsetD2D32_v2_ptds(to, stride, value, count, rows)
                     : cuMemsetD2D32_v2(to, stride, value, count, rows);
    case 2:
        return async ? cuMemsetD2D16Async(to, stride, two, count, rows, call->stream)
               : own ? cuMemsetD2D16_v2_ptds(to, stride, two, count, rows)
                     : cuMemsetD2D16_v2(to, stride, two, count, rows);
    default:
        return async ? cuMemsetD2D8Async(to, stride, one, count, rows, call->stream)
               : own ? cuMemsetD2D8_v2_ptds(to, stride, one, count, rows)
                     : cuMemsetD2D8_v2(to, stride, one, count, rows);
    }
}

static void play_set(struct call *call)
{
    const struct rows *rows = &call->op->ranges[0];
    uint64_t to = place_of(call, 0, false);
    unsigned value = (call->index * 29 + 3) * 0x01010101u;
    if (!to)
        return;
    OK((rows->rows > 1 ? set_rows : set_row)(call, to, value, rows->width / call->op->other));
    count_ops(call, 1);
}

static void play_allocate(struct call *call)
{
    struct buffer *buffer = &stage.buffers[call->op->ranges[0].buffer];
    uint64_t bytes = program_allocation_bytes(call->op);
    CUdeviceptr base;
    if (buffer->live)
        return;
    bool async = call->op->flags & FLAG_ASYNC;
    OK(async ? cuMemAllocAsync(&base, bytes, call->stream) : cuMemAlloc_v2(&base, bytes));
    *buffer = (struct buffer){base, true, async};
    call->happening->block = base;
    call->happening->block_bytes = bytes;
    count_ops(call, 1);
    if (call->op->flags & FLAG_BARE)
        return;
    OK(cuMemsetD8Async(base, FILL, bytes, call->stream));
    call->happening->second = ++stage.numbers;
}

static void play_free(struct call *call)
{
    struct buffer *buffer = &stage.buffers[call->op->ranges[0].buffer];
    if (!buffer->live)
        return;
    call->happening->block = buffer->base;
    call->happening->streamed = buffer->streamed;
    bool async = call->op->flags & FLAG_ASYNC && buffer->streamed;
    buffer->live = false;
    count_ops(call, 1); /* csan looks at a free before it is made */
    OK(async ? cuMemFreeAsync(buffer->base, call->stream) : cuMemFree_v2(buffer->base));
}

static void note_bytes(const void *bytes, size_t count)
{
    struct play *play = stage.play;
    if (play->byte_count + count > OUTCOME_BYTES)
        abort();
    memcpy(play->bytes + play->byte_count, bytes, count);
    play->byte_count += count;
}

/* ---- The host's accesses ---- */

/* csan is to see accesses to it that nobody declares. */
static bool is_watched(const uint8_t *place)
{
    return stage.way != HOST_DECLARED &&
           (uint64_t)place - stage.buffers[BUFFER_PAGEABLE].base >= BUFFER_BYTES;
}

/* Returns whether csan counts an op. */
static bool access_for_csan(const struct host_access *access)
{
    return host_access_make(access, is_watched(access->place) ? stage.way : HOST_DECLARED);
}

static void play_host(struct call *call)
{
    const struct rows *rows = &call->op->ranges[0];
    uint8_t *place = (uint8_t *)place_of(call, 0, false);
    uint8_t bytes[BUFFER_BYTES];
    const bool reads = call->op->kind == OP_HOST_READ;
    const struct host_access access = {.place = place,
                                       .count = rows->width,
                                       .to = reads ? bytes : NULL,
                                       .value = (uint8_t)(call->index * 31 + 7)};
    call->happening->unseen = !access_for_csan(&access);
    if (reads)
        note_bytes(bytes, rows->width);
    count_ops(call, !call->happening->unseen);
}

/* On the device's thread, while the playing one waits for it in a call. */
static void CUDA_CB run_function(void *data)
{
    struct happening *happening = data;
    const struct op *op = &stage.program->ops[happening - stage.play->happenings];
    const struct rows *rows = &op->ranges[0];
    uint8_t *place = (uint8_t *)(happening->base[0] + rows->offset);
    happening->ran = stage.current;
    happening->turn = ++stage.turns;
    const struct host_access access = {
        .place = place,
        .count = rows->width,
        .to = op->flags & FLAG_WIDE ? NULL : happening->read,
        .value = (uint8_t)((happening - stage.play->happenings) * 23 + 5)};
    happening->number = stage.numbers + 1;
    if (!is_watched(place))
        stage.numbers++; /* csan has it as soon as it is declared */
    happening->unseen = !access_for_csan(&access);
}

static void play_function(struct call *call)
{
    if (!place_of(call, 0, false))
        return;
    call->happening->done = true;
    OK(cuLaunchHostFunc(call->stream, run_function, call->happening));
}

static void play_pool(struct call *call)
{
    void *block = (void *)place_of(call, 0, false);
    if (call->op->kind == OP_POOL_ALLOCATE)
        csan_pool_alloc(block, call->op->ranges[0].width, call->stream);
    else
        csan_pool_free(block, call->stream);
    call->happening->done = true;
}

static void destroy_stream(unsigned stream)
{
    if (stage.streams[stream])
        OK(cuStreamDestroy_v2(stage.streams[stream]));
    stage.streams[stream] = NULL;
}

static void play_stream(struct call *call)
{
    unsigned stream = call->op->stream;
    unsigned flags = call->op->flags & FLAG_NON_BLOCKING ? CU_STREAM_NON_BLOCKING : 0;
    if (stream < 2 || (call->op->kind == OP_STREAM_DESTROY && !stage.streams[stream]))
        return;
    destroy_stream(stream);
    if (call->op->kind == OP_STREAM_CREATE)
        OK(call->op->flags & FLAG_PRIORITY
               ? cuStreamCreateWithPriority(&stage.streams[stream], flags, -1)
               : cuStreamCreate(&stage.streams[stream], flags));
    call->happening->done = true;
}

static void play_query(struct call *call, CUresult result)
{
    if (result != CUDA_ERROR_NOT_READY)
        check(result, "a query");
    call->happening->success = result == CUDA_SUCCESS;
    call->happening->done = true;
}

static void play_event(struct call *call)
{
    const struct op *op = call->op;
    CUevent event = stage.events[op->event];
    float milliseconds;
    switch (op->kind) {
    case OP_EVENT_RECORD:
        OK(cuEventRecord(event, call->stream));
        stage.recorded[op->event] = true;
        break;
    case OP_EVENT_WAIT:
        OK(cuStreamWaitEvent(call->stream, event, 0));
        break;
    case OP_EVENT_SYNCHRONIZE:
        OK(cuEventSynchronize(event));
        break;
    case OP_EVENT_QUERY:
        play_query(call, cuEventQuery(event));
        break;
    case OP_EVENT_ELAPSED: /* an error when one was never recorded */
        if (!stage.recorded[op->event] || !stage.recorded[op->other])
            return;
        play_query(call, cuEventElapsedTime(&milliseconds, event, stage.events[op->other]));
        break;
    default:
        OK(cuEventDestroy_v2(event));
        OK(cuEventCreate(&stage.events[op->event], CU_EVENT_DEFAULT));
        stage.recorded[op->event] = false;
    }
    call->happening->done = true;
}

static void play_order(struct call *call)
{
    switch (call->op->kind) {
    case OP_STREAM_SYNCHRONIZE:
        OK(cuStreamSynchronize(call->stream));
        break;
    case OP_STREAM_QUERY:
        play_query(call, cuStreamQuery(call->stream));
        break;
    case OP_DEVICE_SYNCHRONIZE:
        OK(cuCtxSynchronize());
        break;
    case OP_BEFORE:
        csan_happens_before(&stage.keys[call->op->event % KEYS], call->stream);
        csan_host_happens_before(&stage.host_keys[call->op->event % KEYS]);
        break;
    default:
        csan_happens_after(&stage.keys[call->op->event % KEYS], call->stream);
        csan_host_happens_after(&stage.host_keys[call->op->event % KEYS]);
    }
    call->happening->done = true;
}

static bool needs_stream(const struct op *op)
{
    switch (op->kind) {
    case OP_STREAM_CREATE:
    case OP_STREAM_DESTROY:
    case OP_DEVICE_SYNCHRONIZE:
    case OP_EVENT_SYNCHRONIZE:
    case OP_EVENT_QUERY:
    case OP_EVENT_ELAPSED:
    case OP_EVENT_RENEW:
    case OP_HOST_READ:
    case OP_HOST_WRITE:
        return false;
    default:
        return true;
    }
}

static void play_op(void *data)
{
    static void (*const functions[OP_KINDS])(struct call *) = {
        [OP_STREAM_CREATE] = play_stream,
        [OP_STREAM_DESTROY] = play_stream,
        [OP_STREAM_SYNCHRONIZE] = play_order,
        [OP_STREAM_QUERY] = play_order,
        [OP_DEVICE_SYNCHRONIZE] = play_order,
        [OP_EVENT_RECORD] = play_event,
        [OP_EVENT_WAIT] = play_event,
        [OP_EVENT_SYNCHRONIZE] = play_event,
        [OP_EVENT_QUERY] = play_event,
        [OP_EVENT_ELAPSED] = play_event,
        [OP_EVENT_RENEW] = play_event,
        [OP_KERNEL] = play_kernel,
        [OP_ADD] = play_kernel,
        [OP_COPY] = play_copy,
        [OP_SET] = play_set,
        [OP_ALLOCATE] = play_allocate,
        [OP_FREE] = play_free,
        [OP_HOST_READ] = play_host,
        [OP_HOST_WRITE] = play_host,
        [OP_POOL_ALLOCATE] = play_pool,
        [OP_POOL_FREE] = play_pool,
        [OP_BEFORE] = play_order,
        [OP_AFTER] = play_order,
        [OP_HOST_FUNCTION] = play_function,
    };
    struct call *call = data;
    call->stream = handle_of(call->op);
    if (needs_stream(call->op) && program_stream(call->op) > 1 && !call->stream)
        return;
    functions[call->op->kind](call);
}

/* ---- Before and after ---- */

/* Which block an allocation gets is up to what lies idle in the pool, so each play begins with
 * nothing there. */
static void demand_empty_pool(void)
{
    uint64_t bytes;
    OK(cuMemPoolGetAttribute(stage.pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes));
    if (!bytes)
        return;
    fprintf(stderr, "oracle: the play before left %llu bytes in the pool; trim it\n",
            (unsigned long long)bytes);
    abort();
}

/* When the host has waited for all. Pages are still guarded if another thread knows less. */
static void access_buffer(int buffer, uint8_t *to, const uint8_t *from)
{
    const struct host_access access = {.place = (uint8_t *)stage.buffers[buffer].base,
                                       .count = BUFFER_BYTES,
                                       .to = to,
                                       .from = from};
    if (stage.way == HOST_GUARDED && is_watched(access.place))
        stage.numbers += host_access_make(&access, HOST_GUARDED);
    else
        host_access_plainly(&access);
}

static void fill_buffers(void)
{
    OK(cuMemcpyHtoD_v2(stage.buffers[BUFFER_DEVICE].base, stage.pattern, BUFFER_BYTES));
    stage.numbers += 2; /* from pageable memory */
    OK(cuCtxSynchronize());
    for (int i = BUFFER_PINNED; i < BUFFER_DYNAMIC; i++)
        access_buffer(i, NULL, stage.pattern);
    for (int i = 0; i < EVENTS; i++) {
        OK(cuEventCreate(&stage.events[i], CU_EVENT_DEFAULT));
        stage.recorded[i] = false;
    }
}

static void read_device(uint64_t base)
{
    uint8_t bytes[BUFFER_BYTES];
    OK(cuMemcpyDtoH_v2(bytes, base, BUFFER_BYTES));
    OK(cuCtxSynchronize()); /* with implicit_sync=none the copy alone is no order */
    stage.numbers++;
    note_bytes(bytes, BUFFER_BYTES);
}

static void read_host(int buffer)
{
    uint8_t bytes[BUFFER_BYTES];
    access_buffer(buffer, bytes, NULL);
    note_bytes(bytes, BUFFER_BYTES);
}

/* Blocks of pools that the program did not give back. */
static void end_blocks(const struct program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        const struct happening *happening = &stage.play->happenings[i];
        if (op->kind == OP_POOL_ALLOCATE && happening->done)
            csan_pool_free((void *)(happening->base[0] + op->ranges[0].offset), NULL);
    }
}

static void thread_starts(void *unused)
{
    (void)unused;
    csan_host_happens_after(&stage.start);
}

static void thread_ends(void *unused)
{
    (void)unused;
    csan_host_happens_before(&stage.end);
}

/* Where host threads are lanes of their own: no play is ordered with another by chance. */
static void start_threads(void)
{
    csan_host_happens_before(&stage.start);
    for (unsigned i = 1; i < THREADS; i++)
        run_on(i, thread_starts, NULL);
}

static void end_threads(void)
{
    for (unsigned i = 1; i < THREADS; i++)
        run_on(i, thread_ends, NULL);
    csan_host_happens_after(&stage.end);
}

static void read_and_clear(const struct program *program)
{
    OK(cuCtxSynchronize());
    end_blocks(program);
    for (size_t i = 0; i < program->count; i++)
        if (program->ops[i].kind == OP_HOST_FUNCTION)
            note_bytes(stage.play->happenings[i].read, sizeof stage.play->happenings[i].read);
    read_device(stage.buffers[BUFFER_DEVICE].base);
    for (int i = BUFFER_PINNED; i < BUFFER_DYNAMIC; i++)
        read_host(i);
    for (int i = BUFFER_DYNAMIC; i < BUFFERS; i++) {
        struct buffer *buffer = &stage.buffers[i];
        if (buffer->live) {
            read_device(buffer->base);
            OK(cuMemFree_v2(buffer->base));
            stage.numbers++;
        }
        *buffer = (struct buffer){0};
    }
    OK(cuMemPoolTrimTo(stage.pool, 0));
    for (unsigned i = 2; i < STREAMS; i++)
        destroy_stream(i);
    for (int i = 0; i < EVENTS; i++)
        OK(cuEventDestroy_v2(stage.events[i]));
}

void play_program(const struct program *program, const char *schedule, struct play *play)
{
    stage.play = play;
    stage.program = program;
    stage.turns = 0;
    play->byte_count = 0;
    play->way = stage.way;
    if (stage.set_schedule(schedule) != 0) {
        fprintf(stderr, "oracle: the device has no schedule '%s'\n", schedule);
        exit(2);
    }
    demand_empty_pool();
    fill_buffers();
    if (program->host_threads)
        start_threads();
    uint64_t mark = csan_race_mark();
    for (int i = 0; i < BUFFER_DYNAMIC; i++)
        play->buffers[i] = stage.buffers[i].base;
    for (unsigned i = 0; i < program->count; i++) {
        struct call call = {&program->ops[i], &play->happenings[i], i, NULL};
        play->happenings[i] = (struct happening){0};
        stage.current = i;
        run_on(program->ops[i].thread, play_op, &call);
    }
    stage.current = (unsigned)program->count;
    if (program->host_threads)
        end_threads();
    read_and_clear(program);
    play->race_count = csan_races_since(mark, play->races, RACES_MAX);
    if (play->race_count > RACES_MAX)
        play->race_count = RACES_MAX;
    struct csan_race race;
    play->stuck = program_has_functions(program) && !make_race(&race);
    csan_races_clear();
}

bool play_uses_freed_memory(const struct program *program, const struct play *play)
{
    for (size_t i = 0; i < program->count; i++)
        for (unsigned range = 0; range < RANGES; range++)
            if (play->happenings[i].stale[range])
                return true;
    return false;
}
