/* The tracer of a GPU, on a machine without one: the fake driver stands for the GPU's, a fake
 * Sanitizer API runs csan's patch, compiled for the host, for what the test says that a kernel
 * touches. Kernels are machine code, so whatever is known of them was traced. */
#include "tests/unit/hook/tracer/hook_gpu.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void a_launch_is_reported_to_the_byte(void **state)
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

static void reads_and_atomics_are_distinguished(void **state)
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

static void nothing_is_reported_before_the_launch_is_done(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    touch(q, 4, 4, 16, FAKE_WRITE);
    hold(1);
    OK(launch(fresh(), p, q, non_blocking()));
    OK(cuMemsetD8Async(q, 0, 64, non_blocking()));
    assert_int_equal(races(), 0);
    hold(0);
    wait_reported();
    assert_int_equal(races(), 1);
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
 * its launches touch is known as before. */
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

/* One look is all that a confirmation takes: the module is as it was before the launch is reported.
 */
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
    wait_reported();
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().unpatched, before.unpatched);
    for (int i = 0; i < 400; i++)
        OK(launch(often, p, q, s));
    wait_reported();
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
    assert_false(traced(f, p, q, s)); /* all that were reported agree */
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
        wait_reported();
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
    wait_reported();
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

/* Launches of a kernel that reads those words of its parameters, two pointers and some that are
 * never the same, once a pointer, too; but `count`, if there is one, behind which it reads only
 * where that is not 0. Returns how many of them were traced. */
static int launches_traced(const char *kernel, int parameter_count, uint32_t words, uint64_t *count)
{
    enum { MOST = 12 };
    CUmodule module;
    CUfunction f;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    int before = changes().traced;
    touch(q, 4, 4, 16, FAKE_WRITE);
    code(kernel, (uint32_t)parameter_count * 8, words);
    if (count)
        code_ends(4); /* of its two words, the first */
    OK(cuModuleLoadData(&module, machine_code));
    code("kernel", 0, 0);
    OK(cuModuleGetFunction(&f, module, kernel));
    fake_set_parameters(parameter_count);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t rest = i == 5 ? p + 8 : i * 0x10001;
        void *parameters[MOST] = {&p, &q, count};
        for (int k = count ? 3 : 2; k < parameter_count; k++)
            parameters[k] = &rest;
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, parameters, NULL));
        wait_reported();
    }
    return changes().traced - before;
}

/* Whatever is left where nobody wrote: twice to learn, and the fourth and the eighth again. */
static void what_a_kernel_does_not_read_is_not_in_its_key(void **state)
{
    (void)state;
    assert_int_equal(launches_traced("reader", 3, 0xf, NULL), 4);
    assert_in_range(launches_traced("reader", 3, 0x3f, NULL), 5, 8);
}

static void what_a_launch_does_not_read_is_not_in_its_key(void **state)
{
    (void)state;
    uint64_t none = 0, some = 1;
    assert_int_equal(launches_traced("counts", 12, 0xffffff, &none), 4);
    assert_in_range(launches_traced("counts", 12, 0xffffff, &some), 5, 8);
}

/* The patched code of a graph's node finds random data, unless csan sets it to none. */
static void nodes_of_graphs_get_an_empty_record(void **state)
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

/* Its patches cost the graph's launches, and show nothing of them. */
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
    wait_reported();
    hold(1);
    before = changes();
    for (int i = 0; i < 4; i++)
        OK(launch(fresh(), p, q, non_blocking()));
    assert_int_equal(changes().traced, before.traced + 2);
    hold(0);
    wait_reported();
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
    wait_reported();
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

static void *destroy_stream(void *stream)
{
    return (void *)(uintptr_t)cuStreamDestroy(stream);
}

/* It is gone at any moment, and what goes on in it is not known. */
static void no_stream_is_asked_that_is_being_destroyed(void **state)
{
    (void)state;
    pthread_t thread;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    OK(cuMemsetD8Async(p, 0, 64, t));
    CUfunction f = learned(p, q, s);
    OK(cuCtxSynchronize());
    struct fake_changes before = changes();
    int asked = prohibited();
    block_ends(1);
    assert_int_equal(pthread_create(&thread, NULL, destroy_stream, t), 0);
    wait_until(ends_blocked);
    assert_false(traced(f, p, q, s)); /* what is looked at again */
    assert_int_equal(prohibited(), asked);
    assert_int_equal(changes().patched, before.patched);
    block_ends(0);
    join(thread);
    OK(cuStreamSynchronize(s));
    assert_int_equal(changes().patched, before.patched + 1);
    assert_true(traced(f, p, q, s));
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

/* Kernels of its own, launched until they are known, and waited for. */
static void *learn_and_wait(void *unused)
{
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUresult result = CUDA_SUCCESS;
    (void)unused;
    for (int kernel = 0; kernel < 20; kernel++) {
        CUfunction f = fresh();
        CUgraphExec exec = graph_of(fresh(), p, q, 2);
        for (int i = 0; i < 10 && result == CUDA_SUCCESS; i++) {
            result = i % 2 ? cuGraphLaunch(exec, s) : launch(f, p, q, s);
            if (result == CUDA_SUCCESS)
                result = cuStreamSynchronize(s);
        }
    }
    return (void *)(uintptr_t)result;
}

static void threads_launch_while_others_change_modules(void **state)
{
    enum { THREADS = 8 };
    (void)state;
    pthread_t threads[THREADS];
    struct fake_changes before = changes();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, learn_and_wait, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    wait_reported();
    assert_true(changes().unpatched > before.unpatched);
    assert_int_equal(changes().forbidden, 0);
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
static void a_broken_context_is_reported_as_lost(void **state)
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

#define TEST(name) cmocka_unit_test_setup(name, tracer_setup)

int main(int argc, char **argv)
{
    (void)argc;
    gpu_test_start(argv);
    controls_find();
    const struct CMUnitTest tests[] = {
        TEST(a_module_is_patched_while_it_loads),
        TEST(a_launch_is_reported_to_the_byte),
        TEST(reads_and_atomics_are_distinguished),
        TEST(narrow_accesses_make_the_next_record_finer),
        TEST(much_makes_the_next_record_coarser),
        TEST(ranges_end_with_allocations),
        TEST(handles_that_come_again_start_anew),
        TEST(nothing_is_reported_before_the_launch_is_done),
        TEST(any_wait_is_a_moment_to_unpatch),
        TEST(what_is_known_is_unpatched_when_idle),
        TEST(what_is_wanted_again_is_patched_when_idle),
        TEST(what_was_looked_at_again_is_unpatched),
        TEST(what_never_comes_is_not_waited_for),
        TEST(an_empty_trace_after_others_is_lost),
        TEST(nothing_is_unpatched_under_a_launch),
        TEST(a_module_nobody_learns_of_is_unpatched),
        TEST(what_a_kernel_does_not_read_is_not_in_its_key),
        TEST(what_a_launch_does_not_read_is_not_in_its_key),
        TEST(nodes_of_graphs_get_an_empty_record),
        TEST(a_module_launched_in_graphs_only_is_unpatched),
        TEST(without_room_launches_are_not_traced),
        TEST(nothing_is_patched_for_want_of_records),
        TEST(launches_that_fail_after_all_keep_nothing),
        TEST(records_that_the_api_refuses_come_back),
        TEST(no_call_ends_a_capture),
        TEST(a_driver_that_waits_holds_up_nobody_else),
        TEST(no_stream_is_asked_that_is_being_destroyed),
        TEST(launches_go_on_while_modules_change),
        TEST(a_launch_in_another_context_has_no_record),
        TEST(threads_launch_while_others_change_modules),
        TEST(contexts_end_with_launches_under_way),
        TEST(contexts_end_when_the_reader_is_out),
        TEST(a_broken_context_is_reported_as_lost),
        TEST(a_forked_child_runs_as_without_csan),
        TEST(nothing_was_changed_within_a_launch),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_tracer", tests, NULL, NULL));
}
