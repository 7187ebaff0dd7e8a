/* What a launch costs csan where it knows kernels by their operators alone, with the driver that
 * does nothing: with hooks only, and while operators rest. Kernels have no PTX. A launch has eight
 * parameters, or one of 4 KiB with lists of pointers, as those of optimizers. Printed is the time
 * of all threads and on the wall for each launch, less the same with csan off.
 *
 *   bench_rest [WAY LAUNCHES]     WAY: hooks; again, with the same bytes as a launch before; other,
 * with another number
 */
#include "hook_bench.h"
#include <csan/adapter.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    KERNELS = 24,
    LISTS_EVERY = 12, /* so many kernels one has lists */
    LIST_BYTES = 4096,
    LIST_POINTERS = 120,
    BLOCKS = 400,
    BLOCK_BYTES = 65536,
    TOGETHER = 96, /* launches between two waits */
    UNTIL_REST = 400
};

enum way { HOOKS, AGAIN, OTHER, WAYS };
static const char *const way_names[WAYS] = {"hooks", "again", "other"};

static struct {
    CUfunction functions[KERNELS];
    CUdeviceptr blocks[BLOCKS];
    CUstream stream;
    enum way way;
    bool follows, asked;
    uint64_t number;
} bench;

/* ---- The framework ---- */

static const char *const arguments[] = {"self", "other", "out" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator add = {"bench::add(Tensor self, Tensor other, Tensor(a!) out)",
                                         arguments, 3, CSAN_NO_ARGUMENT};

static void source_follow(int now)
{
    (void)now;
    bench.asked = true;
}
static void source_rest(void)
{
    bench.follows = bench.asked = false;
}
static const struct csan_operator_source source = {sizeof source, source_follow, source_rest};

static CUdeviceptr block(unsigned k, unsigned i)
{
    return bench.blocks[(k * 13 + i * 7) % BLOCKS];
}

static void launch_lists(unsigned k, const struct csan_access *accesses)
{
    static uint64_t lists[LIST_BYTES / 8];
    (void)accesses;
    for (unsigned i = 0; i < LIST_POINTERS; i++)
        lists[i] = block(k, i);
    lists[LIST_POINTERS] = bench.number;
    check(cuLaunchKernel(bench.functions[k], 64, 1, 1, 512, 1, 1, 0, bench.stream,
                         (void *[]){lists}, NULL),
          "cuLaunchKernel");
}

static void launch_few(unsigned k)
{
    uint64_t pointers[3] = {block(k, 0), block(k, 1), block(k, 2)},
             numbers[5] = {BLOCK_BYTES, k, 1, 2};
    numbers[4] = bench.number;
    void *parameters[] = {&pointers[0], &pointers[1], &pointers[2], &numbers[0],
                          &numbers[1],  &numbers[2],  &numbers[3],  &numbers[4]};
    check(
        cuLaunchKernel(bench.functions[k], 64, 1, 1, 256, 1, 1, 0, bench.stream, parameters, NULL),
        "cuLaunchKernel");
}

static void operate(unsigned k)
{
    struct csan_access accesses[LIST_POINTERS];
    const bool lists = k % LISTS_EVERY == 0, followed = bench.follows;
    const unsigned count = lists ? LIST_POINTERS : 3;
    for (unsigned i = 0; followed && i < count; i++)
        accesses[i] = (struct csan_access){.base = block(k, i),
                                           .bytes = BLOCK_BYTES,
                                           .kind = lists || i == 2 ? CSAN_WRITE : CSAN_READ,
                                           .argument = (uint8_t)(i < 3 ? i : 2)};
    if (followed)
        csan_operator_begin(&add,
                            &(struct csan_operator_call){.accesses = accesses, .count = count});
    if (lists)
        launch_lists(k, accesses);
    else
        launch_few(k);
    if (followed)
        csan_operator_end();
}

static void steps(unsigned launches)
{
    for (unsigned i = 0; i < launches; i++) {
        bench.number += bench.way == OTHER;
        bench.follows = bench.follows || bench.asked;
        operate(i % KERNELS);
        if (i % TOGETHER == TOGETHER - 1)
            check(cuStreamSynchronize(bench.stream), "cuStreamSynchronize");
    }
}

/* ---- The program ---- */

static void kernels_load(bool on)
{
    static const char code[64] = "\177ELF\2\1\1";
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void (*parameters)(int) = (void (*)(int))dlsym(driver, "fake_set_parameters");
    void (*structure)(int) = (void (*)(int))dlsym(driver, "fake_set_structure");
    for (unsigned k = 0; k < KERNELS; k++) {
        CUmodule module;
        char name[32];
        snprintf(name, sizeof name, "kernel%u", k);
        check(cuModuleLoadData(&module, code), "cuModuleLoadData");
        check(cuModuleGetFunction(&bench.functions[k], module, name), "cuModuleGetFunction");
        parameters(8);
        structure(k % LISTS_EVERY ? 0 : LIST_BYTES);
        bench.follows = on;
        operate(k);
        check(cuStreamSynchronize(bench.stream), "cuStreamSynchronize");
    }
}

static void blocks_make(void)
{
    CUdeviceptr memory;
    check(cuMemAlloc_v2(&memory, (size_t)BLOCKS * BLOCK_BYTES), "cuMemAlloc");
    for (int i = 0; i < BLOCKS; i++) {
        bench.blocks[i] = memory + (CUdeviceptr)i * BLOCK_BYTES;
        csan_pool_alloc((void *)(uintptr_t)bench.blocks[i], BLOCK_BYTES, bench.stream);
    }
}

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(unsigned launches)
{
    check(cuStreamCreate(&bench.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    blocks_make();
    const bool on = bench.way != HOOKS && strcmp(getenv("CSAN"), "0") != 0;
    if (on)
        csan_operator_source_set(&source);
    kernels_load(on);
    for (int i = 0; i < UNTIL_REST && (i < 12 || bench.follows); i++)
        steps(TOGETHER);
    if (on && bench.follows) {
        fprintf(stderr, "bench_rest: operators do not rest\n");
        exit(1);
    }
    const double start = processor_time(), wall = nanoseconds();
    steps(launches);
    printf("%.1f %.1f\n", (processor_time() - start) / launches, (nanoseconds() - wall) / launches);
}

static void row(enum way way, unsigned launches)
{
    double cpu[2], wall[2];
    for (int on = 0; on < 2; on++) {
        char command[300];
        snprintf(command, sizeof command, "CSAN=%d /proc/%d/exe %s %u", on, (int)getpid(),
                 way_names[way], launches);
        FILE *child = popen(command, "r");
        if (!child || fscanf(child, "%lf %lf", &cpu[on], &wall[on]) != 2)
            exit(1);
        pclose(child);
    }
    printf("%s: %6.0f ns a launch of processors, %6.0f ns on the wall\n", way_names[way],
           cpu[1] - cpu[0], wall[1] - wall[0]);
}

int main(int argc, char **argv)
{
    setenv("CSAN_OPTIONS",
           "print_summary=0:access=ptx:learn_cache_mb=0:operator_summaries=1:host=guard", 0);
    bench_start(argv);
    for (int i = 0; i < WAYS && argc > 1; i++)
        if (strcmp(argv[1], way_names[i]) == 0)
            bench.way = (enum way)i;
    if (argc == 3)
        measure((unsigned)atoi(argv[2]));
    for (int i = 0; i < WAYS && argc == 1; i++)
        row((enum way)i, 200000);
    return 0;
}
