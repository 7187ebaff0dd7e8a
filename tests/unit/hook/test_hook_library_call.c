/* What a library does with CUDA inside one of its calls is its own affair: by csan_library_begin,
 * and by the thread's flag. */
#include "tests/unit/hook/test_hook_order.h"

static CUstream one, other;
static CUdeviceptr memory;

/* One, if csan sees both memsets. */
static size_t races_of_memsets(void)
{
    const size_t before = races();
    memory = device(64);
    OK(cuMemsetD8Async(memory, 1, 64, one));
    OK(cuMemsetD8Async(memory, 2, 64, other));
    OK(cuCtxSynchronize());
    return races() - before;
}

static int begin(void **state)
{
    const int result = hook_setup(state);
    one = non_blocking();
    other = non_blocking();
    return result;
}

static void calls_inside_pass_by(void **state)
{
    (void)state;
    csan_library_begin();
    csan_library_begin();
    assert_int_equal(races_of_memsets(), 0);
    csan_library_end();
    assert_int_equal(races_of_memsets(), 0);
    csan_library_end();
    assert_int_equal(races_of_memsets(), 1);
}

static void the_flag_is_the_same_as_begin_and_end(void **state)
{
    (void)state;
    uint32_t *flag = csan_library_flag();
    assert_non_null(flag);
    assert_ptr_equal(csan_library_flag(), flag);
    assert_int_equal(*flag, 0);
    *flag = 1;
    assert_int_equal(races_of_memsets(), 0);
    csan_library_begin(); /* a call within */
    csan_library_end();
    assert_int_equal(*flag, 1);
    assert_int_equal(races_of_memsets(), 0);
    *flag = 0;
    assert_int_equal(races_of_memsets(), 1);
    csan_library_begin();
    assert_int_equal(*flag, 1);
    csan_library_end();
    assert_int_equal(*flag, 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(calls_inside_pass_by, begin),
        cmocka_unit_test_setup(the_flag_is_the_same_as_begin_and_end, begin),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_library_call", tests, NULL, NULL));
}
