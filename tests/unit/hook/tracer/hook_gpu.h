/* What the tests of the tracer share: the GPU that stands in (fake_gpu.h), its controls, and
 * kernels of machine code. */
#ifndef TESTS_UNIT_HOOK_TRACER_HOOK_GPU_H
#define TESTS_UNIT_HOOK_TRACER_HOOK_GPU_H

#include "tests/unit/hook/tracer/fake_gpu.h"
#include "tests/unit/hook/test_hook.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)
#define GPU      FAKE_DRIVER "/gpu"
#define TOOLS    GPU "/tools"

static const char machine_code[64] = "\177ELF\2\1\1";

static inline CUfunction fresh_in(CUmodule *module)
{
    static int number;
    char name[32];
    CUfunction f;
    snprintf(name, sizeof name, "kernel%d", __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
    OK(cuModuleLoadData(module, machine_code));
    OK(cuModuleGetFunction(&f, *module, name));
    fake_set_parameters(2);
    return f;
}

/* A kernel with two pointers of which nothing is known yet. */
static inline CUfunction fresh(void)
{
    CUmodule module;
    return fresh_in(&module);
}

static inline CUresult launch_blocks(unsigned blocks, CUfunction f, CUdeviceptr p, CUdeviceptr q,
                                     CUstream stream)
{
    return cuLaunchKernel(f, blocks, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p, &q}, NULL);
}

static inline CUresult launch(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream)
{
    return launch_blocks(1, f, p, q, stream);
}

static void (*hold)(int on);
static void (*break_context)(int result);
static void (*fail_launches)(int result);
static void (*busy)(int on);
static void (*block_records)(int on);
static int (*records_blocked)(void);
static void (*block_copies)(int on);
static int (*copies_blocked)(void);
static void (*set_context)(void *context);
static int (*launches)(void);
static void (*block_graphs)(int on);
static int (*graphs_blocked)(void);
static void (*block_ends)(int on);
static int (*ends_blocked)(void);
static int (*prohibited)(void);
static void (*structure)(int bytes);
static void (*touch)(uint64_t address, uint32_t bytes, uint64_t stride, uint32_t count, int kind);
static struct fake_changes (*changes)(void);
static void (*refuse_patches)(int result);
static void (*refuse_records)(int result);
static void (*launch_in)(CUcontext context);
static void (*copy_by_tensor_maps)(int on);
static void (*code)(const char *kernel, uint32_t bytes, uint32_t words);
static void (*code_ends)(uint32_t word);
static void (*launch_node)(CUmodule module);
static void (*block_changes)(int on);
static int (*changes_blocked)(void);

static inline void controls_find(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *tools = dlopen(TOOLS "/libsanitizer-public.so", RTLD_NOW);
    const struct {
        void *library;
        const char *name;
        void **function;
    } wanted[] = {{driver, "fake_hold", (void **)&hold},
                  {driver, "fake_break", (void **)&break_context},
                  {driver, "fake_fail_launches", (void **)&fail_launches},
                  {driver, "fake_busy", (void **)&busy},
                  {driver, "fake_block_records", (void **)&block_records},
                  {driver, "fake_records_blocked", (void **)&records_blocked},
                  {driver, "fake_block_copies", (void **)&block_copies},
                  {driver, "fake_copies_blocked", (void **)&copies_blocked},
                  {driver, "fake_set_context", (void **)&set_context},
                  {driver, "fake_launches", (void **)&launches},
                  {driver, "fake_block_graphs", (void **)&block_graphs},
                  {driver, "fake_graphs_blocked", (void **)&graphs_blocked},
                  {driver, "fake_block_ends", (void **)&block_ends},
                  {driver, "fake_ends_blocked", (void **)&ends_blocked},
                  {driver, "fake_prohibited", (void **)&prohibited},
                  {driver, "fake_set_structure", (void **)&structure},
                  {tools, "fake_touch", (void **)&touch},
                  {tools, "fake_changes", (void **)&changes},
                  {tools, "fake_refuse_patches", (void **)&refuse_patches},
                  {tools, "fake_refuse_records", (void **)&refuse_records},
                  {tools, "fake_launch_in", (void **)&launch_in},
                  {tools, "fake_copy_by_tensor_maps", (void **)&copy_by_tensor_maps},
                  {tools, "fake_code", (void **)&code},
                  {tools, "fake_code_ends", (void **)&code_ends},
                  {tools, "fake_launch_node", (void **)&launch_node},
                  {tools, "fake_block_changes", (void **)&block_changes},
                  {tools, "fake_changes_blocked", (void **)&changes_blocked}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].function = wanted[i].library ? dlsym(wanted[i].library, wanted[i].name) : NULL;
        if (!*wanted[i].function) {
            fprintf(stderr, "no %s\n", wanted[i].name);
            exit(2);
        }
    }
}

/* Another kernel each time, with the copies that fake_sanitizer.c has under that number. */
static inline CUfunction copier_like(int copies, int bytes)
{
    enum { MOST = 32 };
    static char names[MOST][16]; /* what is learned goes by them */
    static int number;
    CUmodule module;
    CUfunction f;
    assert_in_range(number, 0, MOST - 1);
    const char *name = names[number];
    snprintf(names[number], sizeof names[number], "copier%d", number);
    number++;
    copy_by_tensor_maps(copies);
    code(name, bytes, 0);
    OK(cuModuleLoadData(&module, machine_code));
    code("kernel", 0, 0);
    copy_by_tensor_maps(0);
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* Its code says that it loads through one map and stores through another. */
static inline CUfunction copier(void)
{
    return copier_like(2, 128);
}

/* The first 64 bytes of a map of rows of 32 bytes. */
static inline void map_rows(uint8_t *out, CUdeviceptr at, uint64_t rows, uint64_t pitch)
{
    CUtensorMap map;
    OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)at,
                              (cuuint64_t[]){8, rows}, &pitch, (cuuint32_t[]){8, 1},
                              (cuuint32_t[]){1, 1}, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    memcpy(out, &map, 64);
}

/* Asking for races waits for what is under way, a second at most: on a busy machine that is not
 * enough. At once when nothing is. */
static inline void wait_reported(void)
{
    for (int i = 0; i < 20; i++)
        races();
}

/* Whether it is traced and reported. */
static inline bool traced(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream)
{
    int before = changes().traced;
    OK(launch(f, p, q, stream));
    wait_reported();
    return changes().traced > before;
}

/* Until then, or for two seconds. */
static inline void wait_until(int (*reached)(void))
{
    for (int i = 0; i < 2000 && !reached(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(reached());
}

static inline void join(pthread_t thread)
{
    void *result;
    alarm(20);
    pthread_join(thread, &result);
    alarm(0);
    assert_null(result);
}

static inline void *synchronize(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)cuCtxSynchronize();
}

/* Whatever the test before left under way is over. */
static inline int tracer_setup(void **state)
{
    hold(0);
    busy(0);
    break_context(0);
    fail_launches(0);
    refuse_records(0);
    block_records(0);
    block_copies(0);
    block_changes(0);
    block_ends(0);
    block_graphs(0);
    wait_reported();
    return hook_setup(state);
}

/* Adds nodes that follow each other, behind `node` if there is one; returns the last. */
static inline CUgraphNode nodes_add(CUgraph graph, CUgraphNode node, CUfunction f, CUdeviceptr p,
                                    CUdeviceptr q, int nodes)
{
    const CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = f,
                                               .gridDimX = 1,
                                               .gridDimY = 1,
                                               .gridDimZ = 1,
                                               .blockDimX = 1,
                                               .blockDimY = 1,
                                               .blockDimZ = 1,
                                               .kernelParams = (void *[]){&p, &q}};
    for (int i = 0; i < nodes; i++) {
        CUgraphNode before = node;
        OK(cuGraphAddKernelNode_v2(&node, graph, before ? &before : NULL, before != NULL, &params));
    }
    return node;
}

static inline CUgraph graph_make(void)
{
    CUgraph graph;
    CUresult (*create)(CUgraph *, unsigned) =
        (CUresult(*)(CUgraph *, unsigned))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGraphCreate");
    OK(create(&graph, 0));
    return graph;
}

/* Three launches: two to learn from, and one that is known. */
static inline CUfunction learned(CUdeviceptr p, CUdeviceptr q, CUstream s)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    assert_true(traced(f, p, q, s));
    assert_false(traced(f, p, q, s));
    return f;
}

static inline CUgraphExec graph_of(CUfunction f, CUdeviceptr p, CUdeviceptr q, int nodes)
{
    CUgraphExec exec;
    CUgraph graph = graph_make();
    nodes_add(graph, NULL, f, p, q, nodes);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* What came before is ordered before what comes. */
static inline void all_done(void)
{
    OK(cuCtxSynchronize());
    csan_races_clear();
    hook_setup(NULL);
}

/* Runs the test again with the GPU that stands in, and with options that suit most of them: no test
 * waits for time to confirm, however long a machine takes for what came before. */
static inline void gpu_test_start(char **argv)
{
    setenv("CSAN_OPTIONS",
           "symbolize=0:print_summary=0:log_path=/dev/null:access=learn:learn_cache_mb=0:"
           "learn_memory_mb=3:learn_confirm_ms=600000:pending_timeout_ms=10000",
           0);
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", TOOLS, 1);
    hook_test_start_on(GPU, argv);
}

#endif
