/* How csan's cost grows with a program: through the real hooks, with the driver that does nothing.
 *
 *   streams  each step launches a kernel in the next stream, records an event there and makes the
 *            stream after it wait; then all streams are waited for at once, and once more by one
 *            launch in the legacy stream when they are blocking ones
 *   events   made, recorded after a launch each, all alive; then each waited for, then destroyed
 *   threads  each launches in a stream of its own, on memory of its own, as fast as it can: what
 *            one lock costs. A machine of two cores can at best do twice what one thread does
 *
 * bench_graph measures graphs.
 *
 *   bench_scale [nonblocking|blocking|events|threads [COUNT]] */
#include "hook_bench.h"

#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

enum { BYTES = 4096, EVENT_STREAMS = 32, STEPS = 400000, THREAD_LAUNCHES = 2000000 };

/* Thread i of 1024 copies a word. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry copy(.param .u64 to, .param .u64 from)\n"
    "{\n.reg .b32 %r<2>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [to];\nld.param.u64 %rd2, [from];\n"
    "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd5, %r1, 4;\n"
    "add.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n"
    "ld.global.f32 %f1, [%rd7];\nst.global.f32 [%rd6], %f1;\nret;\n}\n";

static CUfunction copy;

static long resident_kibibytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    if (file && fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A stream with memory of its own. */
struct own {
    CUstream stream;
    CUevent event;
    CUdeviceptr to, from;
};

static struct own own_create(unsigned flags)
{
    struct own own;
    check(cuStreamCreate(&own.stream, flags), "cuStreamCreate");
    check(cuEventCreate(&own.event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    check(cuMemAlloc_v2(&own.to, BYTES), "cuMemAlloc");
    check(cuMemAlloc_v2(&own.from, BYTES), "cuMemAlloc");
    return own;
}

static void own_destroy(struct own own)
{
    check(cuStreamDestroy_v2(own.stream), "cuStreamDestroy");
    check(cuEventDestroy_v2(own.event), "cuEventDestroy");
    check(cuMemFree_v2(own.to), "cuMemFree");
    check(cuMemFree_v2(own.from), "cuMemFree");
}

static void launch(struct own own, CUstream stream)
{
    void *parameters[] = {&own.to, &own.from};
    check(cuLaunchKernel(copy, 1, 1, 1, BYTES / 4, 1, 1, 0, stream, parameters, NULL),
          "cuLaunchKernel");
}

/* ---- Streams ---- */

static void measure_streams(int count, unsigned flags)
{
    long before = resident_kibibytes();
    struct own *owns = calloc((size_t)count, sizeof *owns);
    double start = nanoseconds();
    for (int i = 0; i < count; i++)
        owns[i] = own_create(flags);
    double created = nanoseconds();
    for (int i = 0; i < STEPS; i++) {
        struct own *own = &owns[i % count], *next = &owns[(i + 1) % count];
        launch(*own, own->stream);
        check(cuEventRecord(own->event, own->stream), "cuEventRecord");
        check(cuStreamWaitEvent(next->stream, own->event, 0), "cuStreamWaitEvent");
    }
    double stepped = nanoseconds();
    if (flags == CU_STREAM_DEFAULT)
        launch(owns[0], NULL);
    double gathered = nanoseconds();
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    double synchronized = nanoseconds();
    long after = resident_kibibytes();
    for (int i = 0; i < count; i++)
        own_destroy(owns[i]);
    free(owns);
    printf("%6d %-12s streams: create %6.0f ns, step %6.0f ns, synchronize %6.1f us, %5.2f KiB a "
           "stream",
           count, flags == CU_STREAM_DEFAULT ? "blocking" : "non-blocking",
           (created - start) / count, (stepped - created) / STEPS, (synchronized - gathered) / 1e3,
           (double)(after - before) / count);
    if (flags == CU_STREAM_DEFAULT)
        printf(", legacy launch %6.1f us", (gathered - stepped) / 1e3);
    printf("\n");
}

static void nonblocking(int count)
{
    measure_streams(count, CU_STREAM_NON_BLOCKING);
}

static void blocking(int count)
{
    measure_streams(count, CU_STREAM_DEFAULT);
}

/* ---- Events ---- */

static void events(int count)
{
    struct own owns[EVENT_STREAMS];
    CUevent *events = calloc((size_t)count, sizeof(CUevent));
    for (int i = 0; i < EVENT_STREAMS; i++)
        owns[i] = own_create(CU_STREAM_NON_BLOCKING);
    memset(events, 0, (size_t)count * sizeof(CUevent)); /* its pages are not csan's */
    long before = resident_kibibytes();
    double start = nanoseconds();
    for (int i = 0; i < count; i++) {
        struct own own = owns[i % EVENT_STREAMS];
        check(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), "cuEventCreate");
        launch(own, own.stream);
        check(cuEventRecord(events[i], own.stream), "cuEventRecord");
    }
    double recorded = nanoseconds();
    long after = resident_kibibytes();
    for (int i = 0; i < count; i++)
        check(cuStreamWaitEvent(owns[(i + 1) % EVENT_STREAMS].stream, events[i], 0),
              "cuStreamWaitEvent");
    double waited = nanoseconds();
    for (int i = 0; i < count; i++)
        check(cuEventDestroy_v2(events[i]), "cuEventDestroy");
    double destroyed = nanoseconds();
    for (int i = 0; i < EVENT_STREAMS; i++)
        own_destroy(owns[i]);
    free(events);
    printf("%8d events: create, launch and record %6.0f ns, wait %5.0f ns, destroy %5.0f ns, %5.0f "
           "bytes an event\n",
           count, (recorded - start) / count, (waited - recorded) / count,
           (destroyed - waited) / count, (double)(after - before) * 1024 / count);
}

/* ---- Threads ---- */

static struct {
    pthread_barrier_t start;
    int launches; /* of each thread */
} work;

static void *launches(void *unused)
{
    struct own own = own_create(CU_STREAM_NON_BLOCKING);
    (void)unused;
    launch(own, own.stream);
    pthread_barrier_wait(&work.start);
    for (int i = 0; i < work.launches; i++)
        launch(own, own.stream);
    own_destroy(own);
    return NULL;
}

/* Nanoseconds of wall-clock time a launch, over all threads. */
static double measure_threads(int count)
{
    pthread_t threads[16];
    work.launches = THREAD_LAUNCHES / count;
    pthread_barrier_init(&work.start, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, launches, NULL);
    pthread_barrier_wait(&work.start);
    double start = nanoseconds();
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    double each = (nanoseconds() - start) / THREAD_LAUNCHES;
    pthread_barrier_destroy(&work.start);
    return each;
}

static void threads(int count)
{
    double one = measure_threads(1), each = count == 1 ? one : measure_threads(count);
    printf("%3d threads, each in its own stream: %6.0f ns a launch, %5.2f times one thread's (%ld "
           "cores)\n",
           count, each, each / one, sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- Rows ---- */

static const struct {
    const char *name;
    void (*measure)(int count);
    int counts[5];
} parts[] = {{"nonblocking", nonblocking, {32, 512, 4096}},
             {"blocking", blocking, {32, 512, 4096}},
             {"events", events, {10000, 100000, 1000000}},
             {"threads", threads, {1, 2, 4, 8, 16}}};
enum { PARTS = sizeof parts / sizeof *parts, COUNTS = sizeof parts->counts / sizeof(int) };

static void row(const char *name, int count)
{
    CUmodule module;
    check(cuModuleLoadData(&module, module_text), "cuModuleLoadData");
    check(cuModuleGetFunction(&copy, module, "copy"), "cuModuleGetFunction");
    for (int i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0)
            parts[i].measure(count);
}

/* In a process of its own, so that none pays for what another left. */
static int row_apart(const char *name, int count)
{
    char number[16];
    char *arguments[] = {(char *)"bench_scale", (char *)name, number, NULL};
    pid_t child;
    int status = 1;
    snprintf(number, sizeof number, "%d", count);
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0)
        waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    bench_start(argv);
    if (argc == 3) {
        row(argv[1], atoi(argv[2]));
        return 0;
    }
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < COUNTS && parts[i].counts[k]; k++)
            if ((argc == 1 || strcmp(argv[1], parts[i].name) == 0) &&
                row_apart(parts[i].name, parts[i].counts[k]) != 0)
                return 1;
    return 0;
}
