/* What a launch costs whose access set was learned (access=learn), beside the same launch of which
 * nothing is known (access=ptx): kernels without PTX, as a framework launches them, with 3 to 6
 * pointers among 100 to 700 bytes of parameters, one with 4 KiB, of which 3 or 4 are written
 * through; from deep stacks of their own, on blocks of few segments; the caches cleared before each
 * (cold.h), or `warm`. The driver and the tools interface are the tests' GPU (fake_gpu.h). Each is
 * the median of many steps, by a step's launches, less what the same launch takes with csan off.
 *
 *   bench_learn [cold|warm [STEPS]] */
#include "cold.h"
#include <csan/csan.h>
#include "tests/unit/hook/tracer/fake_gpu.h"

#include <stdbool.h>

enum {
    KERNELS = 48,
    LAUNCHES = 96, /* in a step: each kernel's on two sets of blocks */
    SEGMENTS = 6,
    BLOCKS = 300,
    BLOCK_BYTES = 65536,
    TOUCHED_BYTES = 16,
    POINTERS_MAX = 6,
    PARAMETERS_MAX = 4096,
    STEPS = 40,
    WARMING_STEPS = 20 /* after 16 launches a set is confirmed at the 32nd, the 64th, ... */
};

static struct {
    CUfunction functions[KERNELS];
    CUdeviceptr segments[SEGMENTS];
    CUstream stream;
    unsigned char *walked;
    bool cold;
    struct cold_samples samples;
    void (*touch)(uint64_t address, uint32_t bytes, uint64_t stride, uint32_t count, int kind);
    struct fake_changes (*changes)(void);
    void (*structure)(int bytes);
} bench;

/* ---- Kernels ---- */

static uint32_t bytes_of(unsigned kernel)
{
    static const uint32_t usual[] = {104, 200, 328, 456, 696};
    return kernel == KERNELS - 1 ? PARAMETERS_MAX : usual[kernel % 5];
}

static unsigned pointers_of(unsigned kernel)
{
    return 3 + kernel % 4;
}

static unsigned touched_of(unsigned kernel)
{
    unsigned most = 3 + kernel % 2;
    return most < pointers_of(kernel) ? most : pointers_of(kernel);
}

static CUdeviceptr block_at(unsigned segment, unsigned number)
{
    return bench.segments[segment] + (CUdeviceptr)number * 2 * BLOCK_BYTES;
}

/* Sizes, strides, and pairs of such; the pointers in equal distances, in the parameters as in
 * memory: the tools interface reports accesses at equal distances. */
static void parameters_fill(uint64_t *words, unsigned number)
{
    unsigned kernel = number % KERNELS, pointers = pointers_of(kernel);
    uint32_t count = bytes_of(kernel) / 8;
    unsigned first = number * 7 % 20, apart = 1 + number % 5;
    for (uint32_t i = 0; i < count; i++)
        words[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? (uint64_t)(i + 1) << 32 | 256 : 4 * i;
    for (unsigned i = 0; i < pointers; i++)
        words[1 + i * (count / POINTERS_MAX)] = block_at(number % SEGMENTS, first + i * apart);
    if (bench.touch)
        bench.touch(words[1], TOUCHED_BYTES, (uint64_t)apart * 2 * BLOCK_BYTES, touched_of(kernel),
                    FAKE_WRITE);
}

static void launch(unsigned number)
{
    uint64_t words[PARAMETERS_MAX / 8];
    void *parameters[] = {words};
    parameters_fill(words, number);
    if (bench.cold)
        cold_clear(bench.walked);
    uint64_t start = cold_ticks();
    check(cuLaunchKernel(bench.functions[number % KERNELS], 64, 1, 1, 256, 1, 1, 0, bench.stream,
                         parameters, NULL),
          "cuLaunchKernel");
    cold_sample(&bench.samples, cold_ticks() - start);
}

/* ---- The program ---- */

static void kernels_load(void)
{
    static const char machine_code[64] = "\177ELF\2\1\1";
    for (unsigned i = 0; i < KERNELS; i++) {
        char name[32];
        CUmodule module;
        snprintf(name, sizeof name, "kernel%u", i);
        check(cuModuleLoadData(&module, machine_code), "cuModuleLoadData");
        check(cuModuleGetFunction(&bench.functions[i], module, name), "cuModuleGetFunction");
    }
}

static void blocks_make(void)
{
    for (unsigned i = 0; i < SEGMENTS; i++)
        check(cuMemAlloc_v2(&bench.segments[i], (size_t)BLOCKS * BLOCK_BYTES), "cuMemAlloc");
    for (unsigned i = 0; i < BLOCKS; i++)
        csan_pool_alloc((void *)(uintptr_t)block_at(i % SEGMENTS, i / SEGMENTS), BLOCK_BYTES,
                        bench.stream);
}

static void controls_find(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *tools = dlopen(FAKE_DRIVER "/tools/libsanitizer-public.so", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&bench.structure = driver ? dlsym(driver, "fake_set_structure") : NULL;
    *(void **)&bench.touch = tools ? dlsym(tools, "fake_touch") : NULL;
    *(void **)&bench.changes = tools ? dlsym(tools, "fake_changes") : NULL;
}

/* How the driver lays out a kernel's parameters is asked at its first launch. Then what was traced
 * is waited for, as a program waits for its device. */
static void learn(void)
{
    for (unsigned i = 0; i < LAUNCHES; i++) {
        bench.structure((int)bytes_of(i % KERNELS));
        launch(i);
    }
    for (int step = 0; step < WARMING_STEPS; step++) {
        check(cuStreamSynchronize(bench.stream), "cuStreamSynchronize");
        csan_races_since(csan_race_mark(), NULL, 0);
        cold_outer(launch, LAUNCHES, KERNELS, 1, COLD_OUTER_FRAMES);
    }
}

/* Prints the median to the parent. */
static void measure(int steps)
{
    double start = nanoseconds();
    uint64_t ticks = cold_ticks();
    bool cold = bench.cold, learns = strcmp(getenv("BENCH_LEARN"), "learn") == 0;
    cold_thread();
    check(cuStreamCreate(&bench.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    kernels_load();
    controls_find();
    if (!bench.structure || (learns && !bench.touch)) {
        fprintf(stderr, "bench_learn: no fake GPU; run make bench\n");
        exit(1);
    }
    blocks_make();
    bench.walked = calloc(COLD_BYTES, 1);
    bench.samples.ticks =
        calloc((size_t)(steps + WARMING_STEPS + 1) * LAUNCHES, sizeof *bench.samples.ticks);
    bench.cold = false;
    learn();
    cold_driver();
    bench.cold = cold;
    bench.samples.count = 0;
    int traced = learns ? bench.changes().traced : 0;
    cold_outer(launch, LAUNCHES, KERNELS, steps, COLD_OUTER_FRAMES);
    if (learns && (!traced || bench.changes().traced - traced > steps * LAUNCHES / 10))
        fprintf(stderr, "bench_learn: %d launches were traced before, %d while timed\n", traced,
                bench.changes().traced - traced);
    double rate = (double)(cold_ticks() - ticks) / (nanoseconds() - start);
    printf("%.1f\n", cold_median_each(&bench.samples, LAUNCHES, rate));
}

/* In a process of its own. */
static double measure_apart(const char *how, const char *access, int steps)
{
    char command[600];
    const char *options = getenv("CSAN_OPTIONS");
    double median = 0;
    snprintf(command, sizeof command,
             "CSAN=%d BENCH_LEARN=%s CSAN_OPTIONS=print_summary=0:learn_cache_mb=0:access=%s:%s "
             "/proc/%d/exe %s %d",
             strcmp(access, "off") != 0, access, strcmp(access, "off") == 0 ? "ptx" : access,
             options ? options : "", (int)getpid(), how, steps);
    FILE *child = popen(command, "r");
    if (!child || fscanf(child, "%lf", &median) != 1) {
        fprintf(stderr, "bench_learn: '%s' failed\n", command);
        exit(1);
    }
    pclose(child);
    return median;
}

static void row(const char *how)
{
    double off = measure_apart(how, "off", STEPS);
    double unknown = measure_apart(how, "ptx", STEPS) - off;
    double known = measure_apart(how, "learn", STEPS) - off;
    printf("%s: known launch %6.0f ns, unknown %6.0f ns, learning adds %6.0f ns (with csan off, "
           "the driver that does nothing: %4.0f ns)\n",
           how, known, unknown, known - unknown, off);
}

int main(int argc, char **argv)
{
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", FAKE_DRIVER "/tools", 1);
    bench_start(argv);
    cold_run(argc, argv, &bench.cold, measure, row);
    return 0;
}
