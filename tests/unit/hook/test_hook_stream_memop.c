/* Words that streams write and wait for: which write a wait acquires, and waits that stay open. */
#include "tests/unit/hook/test_hook.h"

#define OK(call)                    assert_int_equal((call), CUDA_SUCCESS)
#define WRITE(p, stream)            OK(cuMemsetD8Async((p), 0, 64, (stream)))
#define SIGNAL(stream, word, value) OK(cuStreamWriteValue32_v2((stream), (word), (value), 0))
#define AWAIT(stream, word, value)                                                                 \
    OK(cuStreamWaitValue32_v2((stream), (word), (value), CU_STREAM_WAIT_VALUE_GEQ))

static void a_wait_acquires_the_first_write_that_satisfies_it(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64), q = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    SIGNAL(a, word, 1);
    WRITE(q, a);
    SIGNAL(a, word, 2);
    AWAIT(b, word, 1);
    WRITE(p, b);
    assert_int_equal(races(), 0);
    WRITE(q, b);
    assert_int_equal(races(), 1);
}

static void a_later_write_keeps_an_open_wait(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64), q = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    AWAIT(b, word, 2);
    WRITE(p, b);
    WRITE(q, b);
    SIGNAL(a, word, 1);
    WRITE(p, a);
    SIGNAL(a, word, 2);
    assert_int_equal(races(), 0);
    WRITE(q, a);
    assert_int_equal(races(), 1);
}

static void a_wait_that_nobody_satisfied_orders_nothing(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    WRITE(p, a);
    AWAIT(b, word, 1);
    WRITE(p, b);
    OK(cuEventRecord(e, b));
    OK(cuEventSynchronize(e)); /* so a kernel or the host wrote it */
    assert_int_equal(races(), 1);
}

static void the_memory_of_a_word_may_be_another_one_s(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64), again;
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    SIGNAL(a, word, 1);
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(word));
    fake_reuse_handle((void *)word);
    OK(cuMemAlloc_v2(&again, 64));
    assert_int_equal(again, word);
    WRITE(p, a);
    AWAIT(b, again, 1);
    WRITE(p, b);
    OK(cuStreamSynchronize(b));
    assert_int_equal(races(), 1);
}

static void a_set_of_the_word_takes_its_value_away(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64);
    CUstream a = non_blocking(), b = non_blocking(), c = non_blocking();
    WRITE(p, a);
    SIGNAL(a, word, 1);
    OK(cuCtxSynchronize());
    OK(cuMemsetD32Async(word, 0, 1, a));
    OK(cuStreamSynchronize(a));
    WRITE(p, a);
    AWAIT(b, word, 1);
    WRITE(p, b);
    SIGNAL(a, word, 1);
    assert_int_equal(races(), 0); /* by the second signal, not by the first */
    WRITE(p, c);
    assert_int_equal(races(), 1);
}

static void a_write_that_fails_releases_nothing(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    WRITE(p, a);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamWriteValue32_v2(a, word, 1, 0), CUDA_ERROR_INVALID_VALUE);
    AWAIT(b, word, 1);
    WRITE(p, b);
    OK(cuStreamSynchronize(b));
    assert_int_equal(races(), 1);
}

static void a_wait_that_fails_holds_back_nothing(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    fake_fail_next(CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuStreamWaitValue32_v2(b, word, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    WRITE(p, b);
    WRITE(p, a);
    assert_int_equal(races(), 1);
}

/* Older ones are forgotten: the wait then acquires more than it must, never less. */
static void thousands_of_counts(void **state)
{
    (void)state;
    CUdeviceptr word = device(64), p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    for (cuuint32_t i = 1; i <= 5000; i++) {
        WRITE(p, a);
        SIGNAL(a, word, i);
        AWAIT(b, word, i);
        WRITE(p, b);
        OK(cuStreamWriteValue32_v2(b, word + 8, i, 0));
        AWAIT(a, word + 8, i);
    }
    assert_int_equal(races(), 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(a_wait_acquires_the_first_write_that_satisfies_it),
        TEST(a_later_write_keeps_an_open_wait),
        TEST(a_wait_that_nobody_satisfied_orders_nothing),
        TEST(the_memory_of_a_word_may_be_another_one_s),
        TEST(a_set_of_the_word_takes_its_value_away),
        TEST(a_write_that_fails_releases_nothing),
        TEST(a_wait_that_fails_holds_back_nothing),
        TEST(thousands_of_counts),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_value", tests, NULL, NULL));
}
