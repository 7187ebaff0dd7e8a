/* How fast the embedded device runs kernels: instructions of single threads (lanes) a second, one
 * launch after the other on the execution engine alone, on one core and on all; and how many times
 * longer that takes than the same work in plain C, compiled for this machine, in the same run. On
 * one core the thread's own time is taken, on several that of a clock on the wall. With
 * recording on ("traced") the engine keeps the bytes each launch touches, as under csan.
 *
 * CSAN_DEVICE_COMPILE=always measures kernels as the host's machine code, without the time to
 * compile them.
 *
 *   bench_device [PTX [KERNEL]]     by default device.ptx beside the program, and all kernels */
#include "runtime/device/compile/compile.h"
#include "runtime/device/driver/worker_pool.h"
#include "runtime/device/exec/exec.h"
#include "runtime/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { BLOCKS = 512, THREADS = 256, N = BLOCKS * THREADS, ELEMENTS = 16 * N, TRIES = 5 };

static uint32_t *to, *from;

/* Of this thread alone: other work on the machine does not count. */
static double own_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- the kernels of device.cu in C --------------------------------------------------------------
 */

static void integers(uint32_t *out, const uint32_t *in, int rounds)
{
    (void)in;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = i;
        for (int k = 0; k < rounds; k++) {
            x = x * 1664525u + 1013904223u;
            x ^= x >> 13;
            x += x << 5;
        }
        out[i] = x;
    }
}

static void floats(uint32_t *out, const uint32_t *in, int rounds)
{
    (void)in;
    for (uint32_t i = 0; i < N; i++) {
        float x = (float)i * 1e-6f, y = 1.0f - x;
        for (int k = 0; k < rounds; k++) {
            x = x * 0.5f + y;
            y = y * 0.5f + x * 0.125f;
        }
        ((float *)out)[i] = x + y;
    }
}

static void streams(uint32_t *out, const uint32_t *in, int rounds)
{
    float *y = (float *)out;
    const float *x = (const float *)in;
    for (uint32_t i = 0; i < (uint32_t)rounds * N; i++)
        y[i] = 2.0f * x[i] + y[i];
}

static void tiles(uint32_t *out, const uint32_t *in, int rounds)
{
    float part[THREADS];
    for (uint32_t block = 0; block < BLOCKS; block++) {
        const float *own = (const float *)in + (size_t)block * THREADS;
        float sum = 0;
        for (int k = 0; k < rounds; k++) {
            for (uint32_t t = 0; t < THREADS; t++)
                part[t] = own[t] + (float)k;
            for (uint32_t half = THREADS / 2; half > 0; half /= 2)
                for (uint32_t t = 0; t < half; t++)
                    part[t] += part[t + half];
            sum += part[0];
        }
        for (uint32_t t = 0; t < THREADS; t++)
            ((float *)out)[block * THREADS + t] = sum;
    }
}

static void branches(uint32_t *out, const uint32_t *in, int rounds)
{
    (void)in;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = i + 1, steps = 0;
        while (x != 1 && steps < (uint32_t)rounds) {
            x = x % 2 ? 3 * x + 1 : x / 2;
            steps++;
        }
        out[i] = steps;
    }
}

static const struct work {
    const char *name;
    void (*host)(uint32_t *out, const uint32_t *in, int rounds);
    int rounds;
} works[] = {{"integers", integers, 200},
             {"floats", floats, 200},
             {"streams", streams, 16},
             {"tiles", tiles, 4},
             {"branches", branches, 500}};

/* ---- the engine ---------------------------------------------------------------------------- */

static uint64_t window;

static bool find(void *user, uint64_t address, struct exec_region *region)
{
    (void)user;
    uint32_t *bases[] = {to, from};
    for (int i = 0; i < 2; i++) {
        uint64_t base = (uint64_t)(uintptr_t)bases[i];
        *region = (struct exec_region){base, base + sizeof(uint32_t) * ELEMENTS, 0, true};
        if (address >= region->base && address < region->limit)
            return true;
    }
    return false;
}

struct run {
    double seconds;
    uint64_t instructions;
};

static struct run run_once(exec_image *image, const struct ptx_function *kernel, int rounds,
                           bool touches, uint32_t parts)
{
    struct {
        uint32_t *to, *from;
        int rounds;
    } parameters = {to, from, rounds};
    char message[512];
    struct exec_launch launch = {.image = image,
                                 .kernel = kernel,
                                 .grid = {BLOCKS, 1, 1},
                                 .block = {THREADS, 1, 1},
                                 .params = &parameters,
                                 .touches = touches,
                                 .parts = parts,
                                 .together = worker_pool_run,
                                 .memory = {.find = find, .window = window}};
    double (*const clock_of)(void) = parts > 1 ? seconds : own_seconds;
    struct run run = {clock_of(), 0};
    exec_state *state = exec_begin(&launch, message, sizeof message);
    if (!state) {
        fprintf(stderr, "bench_device: %s\n", message);
        exit(1);
    }
    enum exec_status status;
    do
        status = exec_step(state, 1 << 20);
    while (status == EXEC_RUNNING);
    if (status != EXEC_DONE) {
        fprintf(stderr, "bench_device: %s\n", exec_fault(state)->message);
        exit(1);
    }
    size_t count;
    exec_touches(state, &count);
    run.seconds = clock_of() - run.seconds;
    uint64_t warps;
    exec_counts(state, &warps, &run.instructions);
    exec_end(state);
    return run;
}

static struct run best_of(exec_image *image, const struct ptx_function *kernel, int rounds,
                          bool touches, uint32_t parts)
{
    struct run best = {1e9, 0};
    for (int i = 0; i < TRIES; i++) {
        struct run run = run_once(image, kernel, rounds, touches, parts);
        best = run.seconds < best.seconds ? run : best;
    }
    return best;
}

static double time_host(const struct work *work)
{
    double best = 1e9;
    for (int i = 0; i < TRIES; i++) {
        double start = own_seconds();
        work->host(to, from, work->rounds);
        __asm__ volatile("" ::"r"(to) : "memory");
        double took = own_seconds() - start;
        best = took < best ? took : best;
    }
    return best;
}

/* The same results, or the figures mean nothing. */
static void check(const struct work *work, const uint32_t *device)
{
    for (uint32_t i = 0; i < ELEMENTS; i++)
        if (device[i] != to[i]) {
            fprintf(stderr, "bench_device: %s: element %u is %08x, should be %08x\n", work->name, i,
                    device[i], to[i]);
            exit(1);
        }
}

static void reset(void)
{
    memset(to, 0, sizeof(uint32_t) * ELEMENTS);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        ((float *)from)[i] = (float)(i % 1000) * 0.001f;
}

static void bench(exec_image *image, const struct ptx_module *module, const struct work *work)
{
    const struct ptx_function *kernel = ptx_module_function(module, work->name);
    uint32_t *device = malloc(sizeof(uint32_t) * ELEMENTS);
    reset();
    struct run plain = best_of(image, kernel, work->rounds, false, 1);
    memcpy(device, to, sizeof(uint32_t) * ELEMENTS);
    reset();
    double host = time_host(work);
    check(work, device);
    struct run traced = best_of(image, kernel, work->rounds, true, 1);
    struct run divided = best_of(image, kernel, work->rounds, true, worker_pool_size());
    double rate = (double)plain.instructions / plain.seconds;
    printf("%-10s %14.0f %12.0f %12.0f %12.0f %8.2f %8.2f\n", work->name,
           (double)plain.instructions / 1e6, rate / 1e6,
           (double)traced.instructions / traced.seconds / 1e6,
           (double)divided.instructions / divided.seconds / 1e6, plain.seconds / host,
           traced.seconds / host);
    free(device);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 16 << 20);
    if (!file || !text) {
        fprintf(stderr, "bench_device: cannot read %s: give a .ptx file\n", path);
        exit(1);
    }
    fread(text, 1, (16 << 20) - 1, file) ? (void)0 : exit(1);
    fclose(file);
    return text;
}

static void *map(size_t bytes, int protection)
{
    void *memory =
        mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        exit(1);
    return memory;
}

int main(int count, char **arguments)
{
    char path[4096];
    const uint64_t align = 16 << 20;
    struct ptx_error error;
    const char *slash = strrchr(arguments[0], '/');
    snprintf(path, sizeof path, "%.*sdevice.ptx", (int)(slash ? slash - arguments[0] + 1 : 0),
             arguments[0]);
    char *text = read_file(count > 1 ? arguments[1] : path);
    struct ptx_module *module = ptx_parse(text, strlen(text), &error);
    if (!module) {
        fprintf(stderr, "bench_device: %s\n", error.message);
        return 1;
    }
    to = map(sizeof(uint32_t) * ELEMENTS, PROT_READ | PROT_WRITE);
    from = map(sizeof(uint32_t) * ELEMENTS, PROT_READ | PROT_WRITE);
    uint64_t reserved = (uint64_t)(uintptr_t)map(2 * EXEC_WINDOW_BYTES, PROT_NONE);
    window = (reserved + align - 1) / align * align;
    compile_start(compile_mode_of(getenv("CSAN_DEVICE_COMPILE"), COMPILE_OFF));
    exec_image *image = exec_image_create(module, 0, 0);
    printf("%-10s %14s %12s %12s %8u cores %8s %8s\n", "kernel", "M instructions", "M/s",
           "M/s traced", worker_pool_size(), "times C", "traced");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (count < 3 || !strcmp(arguments[2], works[i].name))
            bench(image, module, &works[i]);
    exec_image_release(image);
    ptx_module_release(module);
    free(text);
    return 0;
}
