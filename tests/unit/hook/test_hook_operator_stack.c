/* The operators that run on a thread: which of them names work, and what memory belongs to them. */
#include "tests/unit/hook/test_hook_order.h"

#include <pthread.h>
#include <stdbool.h>

enum { BYTES = 64 };

static const char *const names[] = {"self", "out" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator outer = {"test::outer(Tensor self) -> Tensor", names, 2, 1};
static const struct csan_operator inner = {"test::inner(Tensor(a!) self)", names, 1,
                                           CSAN_NO_ARGUMENT};

static void begins(const struct csan_operator *what, bool composite)
{
    csan_operator_begin(what, &(struct csan_operator_call){.composite = composite});
}

/* Who names the set that races with one of another stream. */
static struct csan_race race_of(CUdeviceptr memory)
{
    struct csan_race race = {0};
    OK(cuMemsetD8Async(memory, 1, BYTES, non_blocking()));
    OK(cuMemsetD8Async(memory, 2, BYTES, non_blocking()));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    return race;
}

static void the_outermost_names(void **state)
{
    (void)state;
    begins(&outer, false);
    begins(&inner, false);
    const struct csan_race race = race_of(device(BYTES));
    csan_operator_end();
    csan_operator_end();
    assert_string_equal(race.current.name, outer.name);
}

static void not_if_it_is_composite(void **state)
{
    (void)state;
    begins(&outer, true);
    begins(&inner, false);
    const struct csan_race race = race_of(device(BYTES));
    csan_operator_end();
    csan_operator_end();
    assert_string_equal(race.current.name, inner.name);
}

/* More than are kept: those beyond are counted. */
static void many_within_each_other(void **state)
{
    (void)state;
    enum { MANY = 200 };
    begins(&outer, false);
    for (int i = 0; i < MANY; i++)
        begins(&inner, false);
    struct csan_race race = race_of(device(BYTES));
    assert_string_equal(race.current.name, outer.name);
    for (int i = 0; i < MANY; i++)
        csan_operator_end();
    csan_operator_end();
    csan_operator_end(); /* one too many has no effect */
    CUdeviceptr memory = device(BYTES);
    OK(cuCtxSynchronize());
    hook_setup(state);
    race = race_of(memory);
    assert_string_equal(race.current.name, "cuMemsetD8Async");
}

/* Memory that was made within is the operator's output; not what was made before. */
static void memory_within_is_the_output(void **state)
{
    (void)state;
    static const char *const expected[] = {"", "out" CSAN_ARGUMENT_RETURNED};
    for (int within = 0; within < 2; within++) {
        const CUdeviceptr memory = device(BYTES);
        CUstream stream = non_blocking();
        if (!within)
            csan_pool_alloc((void *)memory, BYTES, stream);
        begins(&outer, false);
        if (within)
            csan_pool_alloc((void *)memory, BYTES, stream);
        const struct csan_race race = race_of(memory);
        csan_operator_end();
        assert_string_equal(race.current.arguments, expected[within]);
        OK(cuCtxSynchronize());
        hook_setup(state);
    }
}

static void *begins_and_leaves(void *unused)
{
    begins(&outer, false);
    begins(&inner, false);
    OK(cuMemsetD8Async(device(BYTES), 1, BYTES, non_blocking()));
    return unused;
}

static void a_thread_ends_within_one(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_create(&thread, NULL, begins_and_leaves, NULL);
    pthread_join(thread, NULL);
    const struct csan_race race = race_of(device(BYTES));
    assert_string_equal(race.current.name, "cuMemsetD8Async");
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_outermost_names, hook_setup),
        cmocka_unit_test_setup(not_if_it_is_composite, hook_setup),
        cmocka_unit_test_setup(many_within_each_other, hook_setup),
        cmocka_unit_test_setup(memory_within_is_the_output, hook_setup),
        cmocka_unit_test_setup(a_thread_ends_within_one, hook_setup),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_operator_stack", tests, NULL, NULL));
}
