/* Launches that are wanted and cannot be traced when they come, for the device is busy: what
 * becomes of the request, on the fake GPU (hook_gpu.h). */
#include "tests/unit/hook/tracer/hook_gpu.h"

static CUfunction known(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (int i = 0; i < 4; i++) { /* two to learn, the fourth to confirm */
        OK(launch(f, p, q, NULL));
        wait_reported();
        OK(cuCtxSynchronize());
    }
    return f;
}

/* The device is idle at last: a good moment for changes. */
static void end_of_work(void)
{
    busy(0);
    wait_reported();
    OK(cuCtxSynchronize());
}

/* However many known ones of its kernel come before that. */
static void a_request_holds_until_its_module_is_patched(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q);
    for (int i = 0; i < 1100; i++) /* so that none is confirmed meanwhile */
        OK(launch(f, p, q, NULL));
    end_of_work();
    end_of_work();
    struct fake_changes before = changes();
    for (int round = 0; round < 10; round++) {
        busy(1);
        OK(launch_blocks(2, f, p, q, NULL));
        for (int i = 0; i < 20; i++)
            OK(launch(f, p, q, NULL));
        end_of_work();
    }
    assert_in_range(changes().traced, before.traced + 2, before.traced + 8);
    before = changes();
    OK(launch_blocks(2, f, p, q, NULL));
    assert_int_equal(changes().traced, before.traced);
}

/* From one place; how many launches were traced by then, after each. */
static __attribute__((noipa)) void launch_each(size_t count, const unsigned *blocks, CUfunction f,
                                               CUdeviceptr p, CUdeviceptr q, int *traced)
{
    for (size_t i = 0; i < count; i++) {
        OK(launch_blocks(blocks[i], f, p, q, NULL));
        wait_reported();
        OK(cuCtxSynchronize());
        traced[i] = changes().traced;
    }
}

/* Launches of a known kernel are deferred (deferred.h): if one should have taught something after
 * all, the next one like it does. */
static void a_deferred_launch_leaves_its_request(void **state)
{
    enum { KNOWN = 10, NEW = 3, ALL = KNOWN + NEW };
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q);
    unsigned blocks[ALL];
    int traced[ALL];
    for (int i = 0; i < ALL; i++)
        blocks[i] = i < KNOWN ? 1 : 2;
    launch_each(ALL, blocks, f, p, q, traced);
    assert_int_equal(traced[KNOWN], traced[KNOWN - 1]); /* it was deferred */
    assert_int_equal(traced[KNOWN + 1], traced[KNOWN] + 1);
    assert_int_equal(traced[KNOWN + 2], traced[KNOWN] + 2);
}

/* Forms of a kernel in turn, and one of them new: each time it comes after launches that would be
 * deferred. */
static void forms_in_turn_are_all_learned(void **state)
{
    enum { FORMS = 12, ROUNDS = 8, ALL = FORMS * ROUNDS };
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q);
    unsigned blocks[ALL];
    int traced[ALL];
    for (int i = 0; i < ALL; i++)
        blocks[i] = 1 + (unsigned)(i % FORMS);
    for (int i = 0; i < 8; i++)
        launch_each(2 * FORMS, blocks, f, p, q, traced); /* but for the last */
    for (int i = FORMS - 1; i < ALL; i += FORMS)
        blocks[i] = 100;
    launch_each(ALL, blocks, f, p, q, traced);
    struct fake_changes before = changes();
    for (int i = 0; i < 3; i++)
        OK(launch_blocks(100, f, p, q, NULL));
    assert_in_range(changes().traced, before.traced, before.traced + 1); /* one to confirm */
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuMemsetD8Async(q + 64, 0, 64, other)); /* what it does not touch */
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 64, other));
    assert_int_equal(races(), 1);
}

/* Nor is what is to be confirmed heard of for ever, since another launch of the kernel is not. */
static void a_request_to_confirm_holds_as_well(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q);
    for (int i = 0; i < 4; i++) {
        OK(launch_blocks(2, f, p, q, NULL));
        end_of_work();
    }
    struct fake_changes before = changes();
    for (int round = 0; round < 200; round++) {
        busy(1);
        OK(launch(f, p, q, NULL));
        OK(launch_blocks(2, f, p, q, NULL));
        end_of_work();
    }
    assert_in_range(changes().traced, before.traced + 8, before.traced + 12); /* at 8, 16, ... */
    assert_in_range(changes().heard, before.heard + 1, before.heard + 100);
}

/* Nor is it taken back since another launch is confirmed. */
static void a_confirmation_withdraws_no_request(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q);
    for (int i = 0; i < 3; i++) {
        OK(launch(f, p, q, NULL));
        end_of_work();
    }
    busy(1);
    OK(launch_blocks(2, f, p, q, NULL));
    end_of_work();
    struct fake_changes before = changes();
    OK(launch(f, p, q, NULL)); /* its eighth */
    end_of_work();
    assert_int_equal(changes().traced, before.traced + 1);
    OK(launch(f, p, q, NULL));
    end_of_work();
    busy(1);
    OK(launch_blocks(2, f, p, q, NULL));
    assert_int_equal(changes().traced, before.traced + 2);
    end_of_work();
}

/* For a graph to be made of it a module is patched, and wanted for nothing else. */
static void graphs_are_no_tries_in_vain(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q);
    for (int i = 0; i < 12; i++) {
        graph_of(f, p, q, 1);
        OK(cuCtxSynchronize());
        OK(cuCtxSynchronize());
    }
    struct fake_changes before = changes();
    OK(launch_blocks(2, f, p, q, NULL));
    wait_reported();
    assert_int_equal(changes().traced, before.traced + 1);
}

/* What was heard before a module was patched is no reason to give it up. */
static void patience_begins_with_the_patch(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUfunction f = known(p, q), g = known(p, q), once = fresh();
    for (int i = 0; i < 4; i++)
        OK(cuCtxSynchronize());
    OK(launch(once, p, q, NULL)); /* and never again, so launches are heard of */
    wait_reported();
    for (int i = 0; i < 9000; i++)
        OK(launch(f, p, q, NULL));
    busy(1);
    OK(launch_blocks(2, g, p, q, NULL));
    end_of_work();
    OK(cuCtxSynchronize());
    struct fake_changes before = changes();
    busy(1);
    OK(launch_blocks(2, g, p, q, NULL));
    assert_int_equal(changes().traced, before.traced + 1);
    end_of_work();
}

#define TEST(name) cmocka_unit_test_setup(name, tracer_setup)

int main(int argc, char **argv)
{
    (void)argc;
    gpu_test_start(argv);
    controls_find();
    const struct CMUnitTest tests[] = {
        TEST(a_request_holds_until_its_module_is_patched),
        TEST(a_request_to_confirm_holds_as_well),
        TEST(a_confirmation_withdraws_no_request),
        TEST(graphs_are_no_tries_in_vain),
        TEST(patience_begins_with_the_patch),
        TEST(a_deferred_launch_leaves_its_request),
        TEST(forms_in_turn_are_all_learned),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_requests", tests, NULL, NULL));
}
