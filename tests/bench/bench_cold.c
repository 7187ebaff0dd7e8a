/* What csan costs a program that does something between its calls: through the real hooks, with the
 * driver that does nothing, as a step of a framework makes them: 64 kernels from calls of their own
 * in deep stacks, on 300 blocks in few segments, nearly all on one stream; the caches are
 * cleared before each call that is timed (cold.h), or, `warm`, not. Each is the median of many,
 * less what the same call takes with csan off.
 *
 *   bench_cold [cold|warm [STEPS]] */
#include "cold.h"
#include <csan/csan.h>

#include <stdbool.h>
#include <string.h>

enum {
    KERNELS = 64,
    OPAQUE_EVERY = 4, /* every so many kernels one has no PTX */
    LAUNCHES = 128,   /* in a step */
    MARKED_EVERY = 32,
    SEGMENTS = 6,
    BLOCKS = 300,
    BLOCK_BYTES = 65536,
    STEPS = 40,
    WARMING_STEPS = 8
};

static struct {
    CUfunction functions[KERNELS];
    CUdeviceptr blocks[BLOCKS];
    CUstream stream, second;
    CUevent event;
    unsigned char *walked;
    bool cold;
} bench;

static void caches_clear(void)
{
    if (bench.cold)
        cold_clear(bench.walked);
}

/* ---- Timing ---- */

enum what { PTX_LAUNCH, OPAQUE_LAUNCH, RECORD, WAIT, GIVE, TAKE, SHARE, KINDS };
static const char *const names[KINDS] = {
    "launch, PTX",     "launch, no PTX",   "event record",    "wait",
    "block given out", "block taken back", "all, by launches"};

static struct cold_samples samples[KINDS];

/* One kind of call does work that another deferred: only the sum shows what it costs. */
static void sample(enum what what, uint64_t ticks)
{
    static uint64_t all;
    all += ticks;
    if (what == SHARE) {
        cold_sample(&samples[SHARE], all / LAUNCHES);
        all = 0;
    } else {
        cold_sample(&samples[what], ticks);
    }
}

/* ---- The step ---- */

static void launch(unsigned number)
{
    unsigned k = number % KERNELS;
    uint32_t count = BLOCK_BYTES / 4, zero = 0;
    uint64_t scale = 1;
    CUdeviceptr *at[3];
    for (unsigned i = 0; i < 3; i++)
        at[i] = &bench.blocks[(number * 7 + i * 101) % (BLOCKS - LAUNCHES)];
    void *parameters[] = {at[0],  at[1], at[2],  &count, &scale,
                          &scale, &zero, &scale, &zero,  &scale};
    caches_clear();
    uint64_t start = cold_ticks();
    check(cuLaunchKernel(bench.functions[k], BLOCK_BYTES / 4 / 256, 1, 1, 256, 1, 1, 0,
                         bench.stream, parameters, NULL),
          "cuLaunchKernel");
    sample(k % OPAQUE_EVERY ? PTX_LAUNCH : OPAQUE_LAUNCH, cold_ticks() - start);
}

static void mark(void)
{
    caches_clear();
    uint64_t start = cold_ticks();
    check(cuEventRecord(bench.event, bench.stream), "cuEventRecord");
    sample(RECORD, cold_ticks() - start);
    caches_clear();
    start = cold_ticks();
    check(cuStreamWaitEvent(bench.second, bench.event, 0), "cuStreamWaitEvent");
    sample(WAIT, cold_ticks() - start);
}

/* The blocks at the end are given out and taken back, each when some others were; the rest lives.
 */
static void *passing_block(unsigned number)
{
    return (void *)(uintptr_t)bench.blocks[BLOCKS - LAUNCHES + number % LAUNCHES];
}

static void block_change(unsigned number)
{
    enum { LATER = 16 };
    caches_clear();
    uint64_t start = cold_ticks();
    csan_pool_free(passing_block(number), bench.stream);
    sample(TAKE, cold_ticks() - start);
    caches_clear();
    start = cold_ticks();
    csan_pool_alloc(passing_block(number - LATER), BLOCK_BYTES, bench.stream);
    sample(GIVE, cold_ticks() - start);
}

static void work(unsigned number)
{
    launch(number);
    if (number % MARKED_EVERY == 0)
        mark();
    if (number % 2)
        block_change(number);
    if (number == LAUNCHES - 1)
        sample(SHARE, 0);
}

/* ---- The program ---- */

static void kernel_text(FILE *file, int number)
{
    fprintf(file,
            ".visible .entry kernel%d(.param .u64 to, .param .u64 a, .param .u64 b, "
            ".param .u32 count, .param .u64 s, .param .u64 t%s)\n"
            "{\n.reg .b32 %%r<6>;\n.reg .b64 %%rd<12>;\n.reg .f32 %%f<4>;\n.reg .pred %%p1;\n"
            "ld.param.u64 %%rd1, [to];\nld.param.u64 %%rd2, [a];\nld.param.u64 %%rd3, [b];\n"
            "ld.param.u32 %%r1, [count];\n"
            "cvta.to.global.u64 %%rd4, %%rd1;\ncvta.to.global.u64 %%rd5, %%rd2;\n"
            "cvta.to.global.u64 %%rd6, %%rd3;\n"
            "mov.u32 %%r2, %%ctaid.x;\nmov.u32 %%r3, %%ntid.x;\nmov.u32 %%r4, %%tid.x;\n"
            "mad.lo.s32 %%r5, %%r2, %%r3, %%r4;\nsetp.ge.s32 %%p1, %%r5, %%r1;\n@%%p1 bra DONE;\n"
            "mul.wide.s32 %%rd7, %%r5, 4;\nadd.s64 %%rd8, %%rd4, %%rd7;\n"
            "add.s64 %%rd9, %%rd5, %%rd7;\nadd.s64 %%rd10, %%rd6, %%rd7;\n"
            "ld.global.f32 %%f1, [%%rd9];\nld.global.f32 %%f2, [%%rd10];\n"
            "add.f32 %%f3, %%f1, %%f2;\nst.global.f32 [%%rd8], %%f3;\nDONE:\nret;\n}\n",
            number,
            number % 2 ? ", .param .u32 u, .param .u64 v, .param .u32 w, .param .u64 x" : "");
}

static void kernels_load(void)
{
    char *text;
    size_t bytes;
    CUmodule module;
    FILE *file = open_memstream(&text, &bytes);
    fputs(".version 8.0\n.target sm_90\n.address_size 64\n", file);
    for (int i = 0; i < KERNELS; i++)
        if (i % OPAQUE_EVERY)
            kernel_text(file, i);
    fclose(file);
    check(cuModuleLoadData(&module, text), "cuModuleLoadData");
    for (int i = 0; i < KERNELS; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel%d", i);
        check(cuModuleGetFunction(&bench.functions[i], module, name), "cuModuleGetFunction");
    }
}

static void blocks_make(void)
{
    CUdeviceptr segments[SEGMENTS];
    for (int i = 0; i < SEGMENTS; i++)
        check(cuMemAlloc_v2(&segments[i], (size_t)BLOCKS * BLOCK_BYTES), "cuMemAlloc");
    for (int i = 0; i < BLOCKS; i++) {
        bench.blocks[i] =
            segments[i % SEGMENTS] + (CUdeviceptr)(i / SEGMENTS) * 2 * (CUdeviceptr)BLOCK_BYTES;
        csan_pool_alloc((void *)(uintptr_t)bench.blocks[i], BLOCK_BYTES, bench.stream);
    }
}

/* Prints the medians to the parent. */
static void measure(int steps)
{
    double start = nanoseconds();
    uint64_t ticks = cold_ticks();
    cold_thread();
    check(cuStreamCreate(&bench.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuStreamCreate(&bench.second, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuEventCreate(&bench.event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    kernels_load();
    blocks_make();
    cold_driver();
    bench.walked = calloc(COLD_BYTES, 1);
    for (int i = 0; i < KINDS; i++)
        samples[i].ticks =
            calloc((size_t)(steps + WARMING_STEPS) * LAUNCHES, sizeof *samples[i].ticks);
    bool cold = bench.cold;
    bench.cold = false;
    cold_outer(work, LAUNCHES, KERNELS, WARMING_STEPS, COLD_OUTER_FRAMES);
    bench.cold = cold;
    for (int i = 0; i < KINDS; i++)
        samples[i].count = 0;
    cold_outer(work, LAUNCHES, KERNELS, steps, COLD_OUTER_FRAMES);
    double rate = (double)(cold_ticks() - ticks) / (nanoseconds() - start);
    for (int i = 0; i < KINDS; i++)
        printf("%.1f\n", cold_median(&samples[i], rate));
}

/* In a process of its own, with csan on or off. */
static void measure_apart(const char *how, bool on, int steps, double *medians)
{
    char number[16], command[600];
    snprintf(number, sizeof number, "%d", steps);
    snprintf(command, sizeof command, "CSAN=%d /proc/%d/exe %s %s", on, (int)getpid(), how, number);
    FILE *child = popen(command, "r");
    for (int i = 0; i < KINDS; i++)
        if (!child || fscanf(child, "%lf", &medians[i]) != 1) {
            fprintf(stderr, "bench_cold: '%s' failed\n", command);
            exit(1);
        }
    pclose(child);
}

static void row(const char *how)
{
    double on[KINDS], off[KINDS];
    measure_apart(how, true, STEPS, on);
    measure_apart(how, false, STEPS, off);
    for (int i = 0; i < KINDS; i++)
        printf("%s: %-17s %6.0f ns (with csan off, the driver that does nothing: %4.0f ns)\n", how,
               names[i], on[i] - off[i], off[i]);
}

int main(int argc, char **argv)
{
    bench_start(argv);
    cold_run(argc, argv, &bench.cold, measure, row);
    return 0;
}
