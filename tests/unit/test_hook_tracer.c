/* The tracer of a GPU, on a machine without one: the fake driver stands for the GPU's, a fake
 * Sanitizer API runs csan's patch, compiled for the host, for what the test says that a kernel
 * touches. Kernels are machine code, so whatever is known of them was traced. Where csan is built
 * without its tracer, the summary must say so. */
#include "test_hook.h"

#include "fake_gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OK(call)       assert_int_equal((call), CUDA_SUCCESS)
#define GPU            FAKE_DRIVER "/gpu"
#define TOOLS          GPU "/tools"
#define SYSTEM_LIBRARY "/usr/local/cuda/compute-sanitizer/libsanitizer-public.so"

static const char machine_code[64] = "\177ELF\2\1\1";

static char output[8192];

/* For a run of this program for one launch. */
static CUdeviceptr two_buffers(CUdeviceptr *second)
{
    CUdeviceptr first = 0;
    fake_set_parameters =
        (void (*)(int))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_set_parameters");
    if (!fake_set_parameters || cuMemAlloc_v2(&first, 512) != CUDA_SUCCESS ||
        cuMemAlloc_v2(second, 512) != CUDA_SUCCESS)
        exit(2);
    return first;
}

/* This program again, for one launch on that driver, and what it prints. */
static int run(const char *mode, const char *directory, const char *environment,
               const char *options)
{
    char command[2048];
    snprintf(command, sizeof command,
             "env -u CUDA_HOME -u CUDA_PATH LD_LIBRARY_PATH='%s' %s CSAN_OPTIONS="
             "'symbolize=0:access=learn:learn_cache_mb=0:%s' '%s' %s 2>&1",
             directory, environment, options, program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

static CUfunction fresh_in(CUmodule *module)
{
    static int number;
    char name[32];
    CUfunction f;
    snprintf(name, sizeof name, "kernel%d", ++number);
    OK(cuModuleLoadData(module, machine_code));
    OK(cuModuleGetFunction(&f, *module, name));
    fake_set_parameters(2);
    return f;
}

/* A kernel with two pointers of which nothing is known yet. */
static CUfunction fresh(void)
{
    CUmodule module;
    return fresh_in(&module);
}

static CUresult launch_blocks(unsigned blocks, CUfunction f, CUdeviceptr p, CUdeviceptr q,
                              CUstream stream)
{
    return cuLaunchKernel(f, blocks, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p, &q}, NULL);
}

static CUresult launch(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream)
{
    return launch_blocks(1, f, p, q, stream);
}

#ifdef TRACER

static void (*hold)(int on);
static void (*break_context)(int result);
static void (*fail_launches)(int result);
static void (*busy)(int on);
static void (*block_records)(int on);
static int (*records_blocked)(void);
static void (*block_copies)(int on);
static int (*copies_blocked)(void);
static int (*prohibited)(void);
static void (*touch)(uint64_t address, uint32_t bytes, uint64_t stride, uint32_t count, int kind);
static struct fake_changes (*changes)(void);
static void (*refuse_patches)(int result);
static void (*refuse_records)(int result);
static void (*launch_in)(CUcontext context);
static void (*copy_by_tensor_maps)(int on);
static void (*code)(const char *kernel, uint32_t bytes, uint32_t words);
static void (*launch_node)(CUmodule module);
static void (*block_changes)(int on);
static int (*changes_blocked)(void);

static void controls_find(void)
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
                  {driver, "fake_prohibited", (void **)&prohibited},
                  {tools, "fake_touch", (void **)&touch},
                  {tools, "fake_changes", (void **)&changes},
                  {tools, "fake_refuse_patches", (void **)&refuse_patches},
                  {tools, "fake_refuse_records", (void **)&refuse_records},
                  {tools, "fake_launch_in", (void **)&launch_in},
                  {tools, "fake_copy_by_tensor_maps", (void **)&copy_by_tensor_maps},
                  {tools, "fake_code", (void **)&code},
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

/* Until then, or for two seconds. */
static void wait_until(int (*reached)(void))
{
    for (int i = 0; i < 2000 && !reached(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(reached());
}

/* Asking for races waits for what is under way, a second at most: on a busy machine that is not
 * enough. At once when nothing is. */
static void wait_told(void)
{
    for (int i = 0; i < 20; i++)
        races();
}

/* Whether it is traced, and told. */
static bool traced(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream)
{
    int before = changes().traced;
    OK(launch(f, p, q, stream));
    wait_told();
    return changes().traced > before;
}

/* Whatever the test before left under way is over. */
static int tracer_setup(void **state)
{
    hold(0);
    busy(0);
    break_context(0);
    fail_launches(0);
    refuse_records(0);
    block_records(0);
    block_copies(0);
    block_changes(0);
    wait_told();
    return hook_setup(state);
}

/* What came before is ordered before what comes. */
static void all_done(void)
{
    OK(cuCtxSynchronize());
    csan_races_clear();
    hook_setup(NULL);
}

/* ---- What a launch touches ---- */

static void a_module_is_patched_while_it_loads(void **state)
{
    (void)state;
    struct fake_changes before = changes(), after;
    fresh();
    after = changes();
    assert_int_equal(after.at_load, before.at_load + 1);
    assert_int_equal(after.live, before.live + 1);
}

static void a_launch_is_told_to_the_byte(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q + 16, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(fresh(), p, q, s));
    assert_int_equal(changes().shift, 2);
    OK(cuMemsetD8Async(q, 0, 16, t));
    OK(cuMemsetD8Async(q + 80, 0, 432, t));
    OK(cuMemsetD8Async(p, 0, 512, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_int_equal(race.address, q + 16);
    assert_int_equal(race.bytes, 64);
    assert_string_equal(race.previous.arguments, "1");
}

static void reads_and_atomics_are_told_apart(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512);
    touch(p, 4, 4, 8, FAKE_READ);
    assert_true(traced(fresh(), p, p, non_blocking()));
    assert_true(traced(fresh(), p, p, non_blocking()));
    assert_int_equal(races(), 0);
    touch(p, 4, 4, 4, FAKE_ATOMIC);
    assert_true(traced(fresh(), p, p, non_blocking()));
    assert_int_not_equal(csan_races_since(hook_mark(), &race, 1), 0);
    assert_int_equal(race.bytes, 16);
}

static void narrow_accesses_make_the_next_record_finer(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q + 3, 1, 1, 10, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().shift, 2);
    all_done();
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().shift, 0);
    OK(cuMemsetD8Async(q, 0, 3, t));
    OK(cuMemsetD8Async(q + 13, 0, 3, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 16, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_int_equal(race.address, q + 3);
    assert_int_equal(race.bytes, 10);
}

/* More than a record of four bytes a bit has room for. */
static void much_makes_the_next_record_coarser(void **state)
{
    (void)state;
    enum { STRIDE = 4096, COUNT = 40000 };
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr p = device(512), q = device((size_t)STRIDE * COUNT);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q, 4, STRIDE, COUNT, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().shift, 2);
    all_done();
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().shift, 6);
    OK(cuMemcpyDtoDAsync_v2(p, q + 64, 256, t));
    assert_int_equal(races(), 0);
    OK(cuMemcpyDtoDAsync_v2(p, q + 60, 256, t)); /* no byte that was written, in its granule */
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
}

/* One run of bytes through two arguments' memory is two ranges. */
static void ranges_end_with_allocations(void **state)
{
    (void)state;
    struct csan_race race;
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    fake_reuse_handle(memory);
    CUdeviceptr p = device(512);
    fake_reuse_handle(memory + 512);
    CUdeviceptr q = device(512);
    touch(p + 256, 4, 4, 128, FAKE_WRITE);
    assert_true(traced(fresh(), p, q, non_blocking()));
    OK(cuMemsetD8Async(q, 0, 512, non_blocking()));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_string_equal(race.previous.arguments, "1");
    assert_int_equal(race.address, q);
    assert_int_equal(race.bytes, 256);
}

static void handles_that_come_again_start_anew(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction f = fresh_in(&module), g;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 1, 1, 1, FAKE_WRITE);
    assert_true(traced(f, p, q, non_blocking()));
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    OK(cuModuleLoadData(&module, machine_code));
    fake_reuse_handle(f);
    OK(cuModuleGetFunction(&g, module, "another"));
    assert_ptr_equal(f, g);
    assert_true(traced(g, p, q, non_blocking()));
    assert_int_equal(changes().shift, 2);
}

/* ---- When ---- */

static void nothing_is_told_before_the_launch_is_done(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 4, 4, 16, FAKE_WRITE);
    hold(1);
    OK(launch(fresh(), p, q, non_blocking()));
    OK(cuMemsetD8Async(q, 0, 64, non_blocking()));
    assert_int_equal(races(), 0);
    hold(0);
    wait_told();
    assert_int_equal(races(), 1);
}

/* Three launches: two to learn from, and one that is known. */
static CUfunction learned(CUdeviceptr p, CUdeviceptr q, CUstream s)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    assert_true(traced(f, p, q, s));
    assert_false(traced(f, p, q, s));
    return f;
}

static void any_wait_is_a_moment_to_unpatch(void **state)
{
    (void)state;
    char bytes[16];
    CUevent event;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    OK(cuEventCreate(&event, 0));
    struct fake_changes before = changes();
    learned(p, q, s);
    OK(cuEventRecord(event, s));
    OK(cuEventSynchronize(event));
    assert_int_equal(changes().live, before.live);
    learned(p, q, s);
    OK(cuMemcpyDtoH_v2(bytes, p, sizeof bytes));
    assert_int_equal(changes().live, before.live);
}

static void what_is_known_is_unpatched_when_idle(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    OK(cuCtxSynchronize());
    busy(1);
    struct fake_changes before = changes();
    learned(p, q, s);
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched);
    busy(0);
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    assert_int_equal(changes().live, before.live);
}

/* The fourth launch is looked at again; the module is patched for it, at once or later, and what
 * its launches touch is told as before. */
static void what_is_wanted_again_is_patched_when_idle(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUfunction f = learned(p, q, s);
    OK(cuStreamSynchronize(s));
    all_done();
    struct fake_changes before = changes();
    touch(q + 256, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().patched, before.patched + 1);
    OK(cuMemsetD8Async(q + 64, 0, 192, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.address, q + 256);
    assert_int_equal(race.bytes, 64);
    all_done();
    CUfunction g = learned(p, q, s);
    OK(cuStreamSynchronize(s));
    before = changes();
    busy(1);
    assert_false(traced(g, p, q, s));
    assert_int_equal(changes().patched, before.patched);
    busy(0);
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().patched, before.patched + 1);
    assert_true(traced(g, p, q, s));
}

/* One look is all that a confirmation takes: the module is as it was before the launch is told. */
static void what_was_looked_at_again_is_unpatched(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = learned(p, q, s);
    OK(cuStreamSynchronize(s));
    struct fake_changes before = changes();
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().patched, before.patched + 1);
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    assert_int_equal(changes().live, before.live);
}

/* A kernel that is launched once, and so is not known, does not keep its module patched for all the
 * launches of another; when it comes again, it is learned. */
static void what_never_comes_is_not_waited_for(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUmodule module;
    CUfunction once = fresh_in(&module), often;
    OK(cuModuleGetFunction(&often, module, "often"));
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(once, p, q, s));
    assert_true(traced(often, p, q, s));
    assert_true(traced(often, p, q, s));
    struct fake_changes before = changes();
    for (int i = 0; i < 100; i++)
        OK(launch(often, p, q, s));
    wait_told();
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched);
    for (int i = 0; i < 400; i++)
        OK(launch(often, p, q, s));
    wait_told();
    OK(cuStreamSynchronize(s));
    assert_true(changes().unpatched > before.unpatched);
    assert_int_equal(changes().live, before.live - 1);
    assert_true(traced(once, p, q, s));
    assert_false(traced(once, p, q, s));
}

/* A kernel that touched memory once and now nothing at all is not believed. */
static void an_empty_trace_after_others_is_lost(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = fresh();
    for (uint32_t i = 0; i < 4; i++) { /* the fourth is looked at again */
        touch(q, 4, 4, i == 1 ? 0 : 16, FAKE_WRITE);
        assert_true(traced(f, p, q, s));
        all_done();
    }
    assert_false(traced(f, p, q, s)); /* all that were told agree */
    OK(cuMemsetD8Async(q, 0, 512, non_blocking()));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_int_equal(race.bytes, 64);
}

/* A launch is under way, traced again, when one of two blocks says that the kernel is known. */
static void nothing_is_unpatched_under_a_launch(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = learned(p, q, s);
    for (int i = 0; i < 2; i++) {
        OK(launch_blocks(2, f, p, q, s));
        wait_told();
    }
    hold(1);
    struct fake_changes before = changes();
    OK(launch(f, p, q, s));
    OK(launch_blocks(2, f, p, q, s));
    assert_int_equal(changes().traced, before.traced + 1);
    before = changes();
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched);
    hold(0);
    wait_told();
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched + 1);
}

static void a_module_nobody_learns_of_is_unpatched(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    for (int i = 0; i < 8; i++) /* those that nobody launched from are unpatched */
        OK(cuCtxSynchronize());
    assert_true(traced(fresh(), p, q, s)); /* launches are listened to again */
    CUfunction f = fresh();
    OK(cuCtxSynchronize());
    struct fake_changes before = changes();
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     .value = {.cooperative = 1}};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, s, &cooperative, 1};
    OK(cuLaunchKernelEx(&config, f, (void *[]){&p, &q}, NULL));
    assert_int_equal(changes().traced, before.traced); /* its blocks may wait for each other */
    OK(cuCtxSynchronize());
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    config.numAttrs = 0;
    OK(cuLaunchKernelEx(&config, f, (void *[]){&p, &q}, NULL));
    OK(cuCtxSynchronize());
    OK(cuLaunchKernelEx(&config, f, (void *[]){&p, &q}, NULL));
    assert_int_equal(changes().traced, before.traced + 1);
}

/* Copies through tensor maps are seen by no patch, so what is traced of such a launch lacks them.
 */
static void nothing_is_learned_through_tensor_maps(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    copy_by_tensor_maps(1);
    CUfunction f = fresh();
    copy_by_tensor_maps(0);
    for (int i = 0; i < 4; i++) {
        assert_false(traced(f, p, q, s));
        OK(cuStreamSynchronize(s));
    }
}

/* A launch with a third parameter that is never the same, once a pointer, too. Returns how many of
 * them were traced. */
static int launches_traced(uint32_t words)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    int before = changes().traced;
    touch(q, 4, 4, 16, FAKE_WRITE);
    code("reader", 24, words);
    OK(cuModuleLoadData(&module, machine_code));
    code("kernel", 0, 0);
    OK(cuModuleGetFunction(&f, module, "reader"));
    fake_set_parameters(3);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t rest = i == 5 ? p + 8 : i * 0x10001;
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&p, &q, &rest}, NULL));
        wait_told();
    }
    return changes().traced - before;
}

/* Whatever is left where nobody wrote: twice to learn, and the fourth and the eighth again. */
static void what_a_kernel_does_not_read_is_not_in_its_key(void **state)
{
    (void)state;
    assert_int_equal(launches_traced(0xf), 4);
    assert_in_range(launches_traced(0x3f), 5, 8);
}

/* The patched code of a graph's node finds whatever there is, unless it is told. */
static void nodes_of_graphs_are_told_that_they_have_no_record(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUmodule module;
    CUfunction f = fresh_in(&module);
    touch(q, 4, 4, 16, FAKE_WRITE);
    OK(cuCtxSynchronize());
    launch_node(module);
    OK(launch(f, p, q, s));
    launch_node(module);
    OK(cuStreamSynchronize(s));
    launch_node(module);
}

/* Its patches cost the graph's launches, and tell nothing of them. */
static void a_module_launched_in_graphs_only_is_unpatched(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUmodule module;
    CUfunction f = fresh_in(&module);
    OK(cuCtxSynchronize());
    struct fake_changes before = changes();
    launch_node(module);
    OK(cuCtxSynchronize());
    assert_int_equal(changes().unpatched, before.unpatched + 1); /* nobody asked for it */
    OK(launch(f, p, q, s));
    OK(cuCtxSynchronize());
    assert_int_equal(changes().patched, before.patched + 1);
    assert_true(traced(f, p, q, s));
    before = changes();
    for (int i = 0; i < 300; i++)
        launch_node(module);
    OK(cuCtxSynchronize());
    assert_int_equal(changes().unpatched, before.unpatched + 1); /* it asks no more */
    launch_node(module);
    assert_true(traced(f, p, q, s));
    assert_int_equal(changes().patched, before.patched + 1);
}

/* ---- What goes wrong ---- */

/* There is memory for two records, of which the second is not cleared while the device is held up.
 */
static void without_room_launches_are_not_traced(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 4, 4, 16, FAKE_WRITE);
    hold(1);
    struct fake_changes before = changes();
    for (int i = 0; i < 3; i++)
        OK(launch(fresh(), p, q, non_blocking()));
    assert_int_equal(changes().traced, before.traced + 1);
    hold(0);
    wait_told();
    hold(1);
    before = changes();
    for (int i = 0; i < 4; i++)
        OK(launch(fresh(), p, q, non_blocking()));
    assert_int_equal(changes().traced, before.traced + 2);
    hold(0);
    wait_told();
    assert_true(traced(fresh(), p, q, non_blocking()));
}

/* Its launches are wanted, and there is no record for them: patched code would be slow for nothing.
 */
static void nothing_is_patched_for_want_of_records(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    hold(1);
    struct fake_changes before = changes();
    for (int i = 0; i < 2; i++)
        OK(launch(fresh(), p, q, t));
    assert_int_equal(changes().traced, before.traced + 2);
    for (int i = 0; i < 300; i++)
        OK(launch(f, p, q, s));
    before = changes();
    for (int i = 0; i < 3; i++) {
        OK(cuStreamSynchronize(s));
        OK(launch(f, p, q, s));
    }
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    assert_int_equal(changes().patched, before.patched);
    hold(0);
    wait_told();
    assert_true(traced(f, p, q, s));
}

/* Its record comes back when what was before it in the stream is done. */
static void launches_that_fail_after_all_keep_nothing(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(fresh(), p, q, s));
    fail_launches(CUDA_ERROR_INVALID_VALUE);
    struct fake_changes before = changes();
    for (int i = 0; i < 3000 && changes().traced < before.traced + 6; i++) {
        assert_int_equal(launch(f, p, q, s), CUDA_ERROR_INVALID_VALUE);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    fail_launches(0);
    assert_int_equal(changes().traced, before.traced + 6);
    for (int i = 0; i < 2000 && !traced(fresh(), p, q, s); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    before = changes();
    f = learned(p, q, s);
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched + 1);
}

static void records_that_the_api_refuses_come_back(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr p = device(512), q = device(512);
    refuse_records(6);
    for (int i = 0; i < 4; i++)
        assert_false(traced(f, p, q, non_blocking()));
    refuse_records(0);
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, non_blocking()));
}

/* As a program has it that captures on another thread. */
static void no_call_ends_a_capture(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    int before = prohibited();
    learned(p, q, s);
    OK(cuStreamSynchronize(s));
    assert_int_equal(prohibited(), before);
}

static void *launch_elsewhere(void *function)
{
    touch(0, 4, 4, 0, FAKE_WRITE);
    return (void *)(uintptr_t)launch(function, 0, 0, 0);
}

static void join(pthread_t thread)
{
    void *result;
    alarm(20);
    pthread_join(thread, &result);
    alarm(0);
    assert_null(result);
}

/* A full queue makes who records an event wait, for work that another thread is to start. */
static void a_driver_that_waits_holds_up_nobody_else(void **state)
{
    (void)state;
    pthread_t thread;
    CUfunction f = fresh();
    CUdeviceptr p = device(512);
    CUstream s = non_blocking();
    block_records(1);
    assert_int_equal(pthread_create(&thread, NULL, launch_elsewhere, f), 0);
    wait_until(records_blocked);
    alarm(20);
    OK(cuMemsetD8Async(p, 0, 64, s));
    alarm(0);
    block_records(0);
    join(thread);
}

static void *synchronize(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)cuCtxSynchronize();
}

/* The change waits for what other threads do. Their launches are not traced meanwhile: a record of
 * code that is not patched would be an empty one. */
static void launches_go_on_while_modules_change(void **state)
{
    (void)state;
    pthread_t changer;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    OK(cuCtxSynchronize());
    busy(1);
    CUfunction f = learned(p, q, s);
    busy(0);
    block_changes(1);
    assert_int_equal(pthread_create(&changer, NULL, synchronize, NULL), 0);
    wait_until(changes_blocked);
    alarm(20);
    int before = changes().traced;
    OK(launch(f, p, q, s));
    CUmodule module;
    fresh_in(&module);
    OK(cuModuleUnload(module));
    alarm(0);
    assert_int_equal(changes().traced, before);
    block_changes(0);
    join(changer);
}

/* Its launches under way are lost, and the next context has records of its own. */
static void contexts_end_with_launches_under_way(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 4, 4, 16, FAKE_WRITE);
    hold(1);
    OK(launch(fresh(), p, q, non_blocking()));
    OK(cuCtxDestroy_v2((CUcontext)0xc0));
    assert_int_equal(races(), 0);
    hold(0);
    fake_set_context((void *)0xd0);
    struct fake_changes before = changes();
    for (int i = 0; i < 3; i++)
        assert_true(traced(fresh(), p, q, non_blocking()));
    assert_int_equal(changes().traced, before.traced + 3);
}

/* The record lies where the kernel cannot reach it. */
static void a_launch_in_another_context_has_no_record(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_in((CUcontext)0x1c0);
    struct fake_changes before = changes();
    assert_false(traced(f, p, q, s));
    launch_in(NULL);
    OK(cuStreamSynchronize(s)); /* nobody knows whether it will ever have one */
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    OK(launch(f, p, q, s));
    assert_true(traced(f, p, q, s));
}

static void *destroy(void *context)
{
    return (void *)(uintptr_t)cuCtxDestroy_v2(context);
}

/* Its memory must not go while the reader copies from it. */
static void contexts_end_when_the_reader_is_out(void **state)
{
    (void)state;
    pthread_t thread;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 4, 4, 16, FAKE_WRITE);
    block_copies(1);
    OK(launch(fresh(), p, q, non_blocking()));
    wait_until(copies_blocked);
    assert_int_equal(pthread_create(&thread, NULL, destroy, (void *)0xd0), 0);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    block_copies(0);
    join(thread);
    fake_set_context((void *)0xe0);
    assert_true(traced(fresh(), p, q, non_blocking()));
}

/* The kernel trapped: nobody knows what it touched. Last, for no record is left. */
static void a_broken_context_is_told_as_lost(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 4, 4, 16, FAKE_WRITE);
    break_context(CUDA_ERROR_LAUNCH_FAILED);
    OK(launch(fresh(), p, q, non_blocking()));
    OK(cuMemsetD8Async(q, 0, 64, non_blocking()));
    assert_int_equal(races(), 0);
    assert_false(traced(fresh(), p, q, non_blocking()) && traced(fresh(), p, q, non_blocking()));
    break_context(0);
}

static void a_forked_child_runs_as_without_csan(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct fake_changes before = changes();
        CUmodule module;
        CUfunction f;
        int failed = cuModuleLoadData(&module, machine_code) != CUDA_SUCCESS ||
                     cuModuleGetFunction(&f, module, "child") != CUDA_SUCCESS ||
                     launch(f, 0, 0, 0) != CUDA_SUCCESS;
        _exit(failed || changes().patched != before.patched);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void nothing_was_changed_within_a_launch(void **state)
{
    (void)state;
    assert_int_equal(changes().forbidden, 0);
}

/* ---- Without it ---- */

static void a_wheel_has_it_beside_the_run_time_library(void **state)
{
    (void)state;
    assert_int_equal(run("wheel", GPU, "", ""), 0);
    assert_non_null(strstr(output, "1 launch traced"));
}

static void a_toolkit_has_it(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU, "CUDA_HOME='" TOOLS "'", ""), 0);
    assert_null(strstr(output, "could not be traced"));
}

static void a_missing_library_is_said(void **state)
{
    (void)state;
    if (access(SYSTEM_LIBRARY, F_OK) == 0)
        skip(); /* it is not missing */
    assert_int_equal(run("once", GPU, "", ""), 0);
    assert_non_null(strstr(output, "could not be traced: libsanitizer-public.so of the CUDA "
                                   "Toolkit was not found"));
}

static void another_tool_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU ":" TOOLS, "FAKE_SANITIZER=taken", ""), 0);
    assert_non_null(strstr(output, "could not be traced: another tool"));
}

static void no_memory_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU ":" TOOLS, "", "learn_memory_mb=0"), 0);
    assert_non_null(strstr(output, "could not be traced: learn_memory_mb=0"));
}

/* A launch of many threads that fills a record has larger ones from then on; one of few does not.
 */
static void much_makes_the_next_record_larger(void **state)
{
    (void)state;
    assert_int_equal(run("much", GPU ":" TOOLS, "", "learn_memory_mb=40:print_summary=0"), 0);
    assert_string_equal(output, "sizes 0 1 0, granules 4 4 4\n");
}

/* Changes that take long are made to learn, and to confirm only now and then. */
static void confirming_is_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(run("slow", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "traced 2 + 1, patched 1 + 1 + 1\n");
}

/* While all is known, nobody hears of launches, and what no kernel was launched from is unpatched,
 * too; a new kernel is learned all the same. */
static void launches_are_listened_to_while_it_matters(void **state)
{
    (void)state;
    assert_int_equal(run("quiet", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 0, heard 0, traced 2, live 1, heard more\n");
}

/* A kernel that was launched once, and so is not known, is waited for in vain. */
static void what_is_never_launched_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(run("left", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 1, then 0, heard 0\n");
}

/* A kernel with another grid each time is never known: it is learned of for a while, and then only
 * now and then. Where every launch is to be traced, all are. */
static void learning_is_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(run("grids", GPU ":" TOOLS, "", "learn_warmup_ms=20:print_summary=0"), 0);
    assert_string_equal(output, "some traced, live 0\n");
    assert_int_equal(
        run("grids", GPU ":" TOOLS, "", "access=exact:learn_warmup_ms=20:print_summary=0"), 0);
    assert_string_equal(output, "all traced, live 1\n");
}

static void what_is_loaded_to_be_launched_is_traced_at_once(void **state)
{
    (void)state;
    assert_int_equal(run("lazy", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 0, then 1, traced 1\n");
}

static void refused_patches_are_said(void **state)
{
    (void)state;
    assert_int_equal(run("refused", GPU ":" TOOLS, "", ""), 0);
    assert_non_null(strstr(output, "refused 1 modules or contexts (first: an invalid parameter)"));
}

/* What the reader watches does not keep the program from ending. */
static void a_program_may_end_meanwhile(void **state)
{
    (void)state;
    alarm(30);
    assert_int_equal(run("end", GPU ":" TOOLS, "", ""), 0);
    alarm(0);
}

static int mode_much(CUdeviceptr p, CUdeviceptr q)
{
    struct fake_changes seen[3];
    static const unsigned blocks[] = {64, 64, 2};
    CUfunction f = fresh();
    touch(q, 4, 4096, 40000, FAKE_WRITE);
    for (int i = 0; i < 3; i++) {
        if (launch_blocks(blocks[i], f, p, q, NULL) != CUDA_SUCCESS)
            return 1;
        wait_told();
        seen[i] = changes();
    }
    printf("sizes %u %u %u, granules %u %u %u\n", seen[0].size, seen[1].size, seen[2].size,
           1u << seen[0].shift, 1u << seen[1].shift, 1u << seen[2].shift);
    return 0;
}

static void *unblock(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    block_changes(0);
    return unused;
}

/* The first kernel is known from two launches. To patch its module for the fourth, which confirms
 * that, takes three tenths of a second, so the eighth is not looked at; another kernel of the
 * module is learned all the same. */
static int mode_slow(CUdeviceptr p, CUdeviceptr q)
{
    CUmodule module;
    CUfunction f = fresh_in(&module);
    pthread_t thread;
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (int i = 0; i < 3; i++) {
        launch(f, p, q, NULL);
        wait_told();
    }
    cuCtxSynchronize();
    struct fake_changes first = changes();
    block_changes(1);
    if (pthread_create(&thread, NULL, unblock, NULL) != 0)
        return 1;
    launch(f, p, q, NULL);
    pthread_join(thread, NULL);
    wait_told();
    cuCtxSynchronize();
    for (int i = 0; i < 6; i++) {
        launch(f, p, q, NULL);
        cuCtxSynchronize();
    }
    struct fake_changes second = changes();
    CUfunction g;
    cuModuleGetFunction(&g, module, "other");
    launch(g, p, q, NULL);
    cuCtxSynchronize();
    printf("traced %d + %d, patched %d + %d + %d\n", first.traced, second.traced - first.traced,
           first.patched, second.patched - first.patched, changes().patched - second.patched);
    return first.unpatched == 1 && second.unpatched == 2 ? 0 : 1;
}

/* Each launch runs for 5 ms. */
static int mode_grids(CUdeviceptr p, CUdeviceptr q)
{
    enum { LAUNCHES = 40 };
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (unsigned i = 1; i <= LAUNCHES; i++) {
        launch_blocks(i, f, p, q, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        wait_told();
        cuCtxSynchronize();
    }
    struct fake_changes end = changes();
    printf("%s traced, live %d\n",
           end.traced == LAUNCHES                        ? "all"
           : end.traced > 2 && end.traced < LAUNCHES / 2 ? "some"
                                                         : "others",
           end.live);
    return 0;
}

static int mode_quiet(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    fresh(); /* which nobody launches */
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (int i = 0; i < 2; i++) {
        launch(f, p, q, NULL);
        wait_told();
    }
    for (int i = 0; i < 10; i++) {
        launch(f, p, q, NULL);
        wait_told();
        cuCtxSynchronize();
    }
    struct fake_changes known = changes();
    launch(f, p, q, NULL);
    struct fake_changes quiet = changes();
    CUfunction g = fresh();
    for (int i = 0; i < 3; i++) {
        launch(g, p, q, NULL);
        wait_told();
    }
    struct fake_changes end = changes();
    printf("live %d, heard %d, traced %d, live %d, heard %s\n", known.live,
           quiet.heard - known.heard, end.traced - known.traced, end.live,
           end.heard > quiet.heard ? "more" : "nothing");
    return 0;
}

static int mode_left(CUdeviceptr p, CUdeviceptr q)
{
    int live[2];
    CUfunction once = fresh(), f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(once, p, q, NULL);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 100 + 300 * k; i++) {
            launch(f, p, q, NULL);
            wait_told();
            cuCtxSynchronize();
        }
        live[k] = changes().live;
    }
    int heard = changes().heard;
    launch(f, p, q, NULL);
    printf("live %d, then %d, heard %d\n", live[0], live[1], changes().heard - heard);
    return 0;
}

/* A kernel that is loaded at its first launch, of which a trace is wanted. */
static int mode_lazy(CUdeviceptr p, CUdeviceptr q)
{
    CUlibrary library;
    CUkernel kernel;
    fake_set_parameters(2);
    touch(q, 4, 4, 16, FAKE_WRITE);
    if (cuLibraryLoadData(&library, machine_code, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS ||
        cuLibraryGetKernel(&kernel, library, "lazy") != CUDA_SUCCESS)
        return 2;
    struct fake_changes before = changes();
    launch((CUfunction)kernel, p, q, NULL);
    wait_told();
    printf("live %d, then %d, traced %d\n", before.live, changes().live, changes().traced);
    return 0;
}

static int mode_run(const char *mode)
{
    if (strcmp(mode, "wheel") == 0)
        dlopen(TOOLS "/libcudart.so.13", RTLD_NOW);
    CUdeviceptr q, p = two_buffers(&q);
    controls_find();
    if (strcmp(mode, "much") == 0)
        return mode_much(p, q);
    if (strcmp(mode, "slow") == 0)
        return mode_slow(p, q);
    if (strcmp(mode, "grids") == 0)
        return mode_grids(p, q);
    if (strcmp(mode, "quiet") == 0)
        return mode_quiet(p, q);
    if (strcmp(mode, "left") == 0)
        return mode_left(p, q);
    if (strcmp(mode, "lazy") == 0)
        return mode_lazy(p, q);
    if (strcmp(mode, "refused") == 0)
        refuse_patches(1);
    if (strcmp(mode, "end") == 0)
        hold(1);
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    if (strcmp(mode, "wheel") == 0)
        printf("%d launch traced\n", changes().traced);
    return 0;
}

#else

static int mode_run(const char *mode)
{
    (void)mode;
    CUdeviceptr q, p = two_buffers(&q);
    launch(fresh(), p, q, NULL);
    return 0;
}

static void a_build_without_it_says_so(void **state)
{
    (void)state;
    assert_int_equal(run("once", FAKE_DRIVER, "", ""), 0);
    assert_non_null(strstr(output, "could not be traced: this csan was built without its tracer"));
}

#endif

int main(int argc, char **argv)
{
    if (argc > 1)
        return mode_run(argv[1]);
#ifdef TRACER
#define TEST(name) cmocka_unit_test_setup(name, tracer_setup)
    setenv("CSAN_OPTIONS",
           "symbolize=0:print_summary=0:log_path=/dev/null:access=learn:learn_cache_mb=0:"
           "learn_memory_mb=3:pending_timeout_ms=10000",
           0);
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", TOOLS, 1);
    hook_test_start_on(GPU, argv);
    controls_find();
    const struct CMUnitTest tests[] = {
        TEST(a_module_is_patched_while_it_loads),
        TEST(a_launch_is_told_to_the_byte),
        TEST(reads_and_atomics_are_told_apart),
        TEST(narrow_accesses_make_the_next_record_finer),
        TEST(much_makes_the_next_record_coarser),
        TEST(ranges_end_with_allocations),
        TEST(handles_that_come_again_start_anew),
        TEST(nothing_is_told_before_the_launch_is_done),
        TEST(any_wait_is_a_moment_to_unpatch),
        TEST(what_is_known_is_unpatched_when_idle),
        TEST(what_is_wanted_again_is_patched_when_idle),
        TEST(what_was_looked_at_again_is_unpatched),
        TEST(what_never_comes_is_not_waited_for),
        TEST(an_empty_trace_after_others_is_lost),
        TEST(nothing_is_unpatched_under_a_launch),
        TEST(a_module_nobody_learns_of_is_unpatched),
        TEST(nothing_is_learned_through_tensor_maps),
        TEST(what_a_kernel_does_not_read_is_not_in_its_key),
        TEST(nodes_of_graphs_are_told_that_they_have_no_record),
        TEST(a_module_launched_in_graphs_only_is_unpatched),
        TEST(without_room_launches_are_not_traced),
        TEST(nothing_is_patched_for_want_of_records),
        TEST(launches_that_fail_after_all_keep_nothing),
        TEST(records_that_the_api_refuses_come_back),
        TEST(no_call_ends_a_capture),
        TEST(a_driver_that_waits_holds_up_nobody_else),
        TEST(launches_go_on_while_modules_change),
        TEST(a_launch_in_another_context_has_no_record),
        TEST(contexts_end_with_launches_under_way),
        TEST(contexts_end_when_the_reader_is_out),
        TEST(a_broken_context_is_told_as_lost),
        TEST(a_forked_child_runs_as_without_csan),
        TEST(nothing_was_changed_within_a_launch),
        TEST(a_wheel_has_it_beside_the_run_time_library),
        TEST(a_toolkit_has_it),
        TEST(a_missing_library_is_said),
        TEST(another_tool_is_said),
        TEST(no_memory_is_said),
        TEST(much_makes_the_next_record_larger),
        TEST(confirming_is_not_for_ever),
        TEST(learning_is_not_for_ever),
        TEST(launches_are_listened_to_while_it_matters),
        TEST(what_is_never_launched_is_not_waited_for),
        TEST(what_is_loaded_to_be_launched_is_traced_at_once),
        TEST(refused_patches_are_said),
        TEST(a_program_may_end_meanwhile),
    };
#else
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_build_without_it_says_so, hook_setup)};
#endif
    return hook_finish(cmocka_run_group_tests_name("hook_tracer", tests, NULL, NULL));
}
