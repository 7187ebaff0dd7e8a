/* Operators from summaries with host=guard: work on memory that the host shares wakes no operators
 * where each access of the host's to it is seen. Each test runs again with deferred launches. */
#include "tests/unit/hook/hook_operators.h"

enum {
    PINNED = 192 << 10, /* has pages of its own, which are guarded as a whole */
    LARGE = 384 << 10   /* is guarded at its ends and between */
};

static volatile char *pinned_alloc(size_t bytes)
{
    void *pinned;
    OK(cuMemHostAlloc(&pinned, bytes, 0));
    return pinned;
}

static void work_that_is_guarded_does_not_wake(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(PINNED);
    CUstream s = non_blocking();
    volatile char *pinned = pinned_alloc(PINNED);
    copies_until_rest(f, from, to, 64, s);
    OK(cuMemcpyHtoDAsync_v2(to, (void *)pinned, PINNED, s));
    assert_false(source.asked);
    copies(f, from, to, 64, s);
    assert_false(source.follows);
    assert_int_equal(races(), 0);
    OK(cuStreamSynchronize(s));
    OK(cuMemFreeHost((void *)pinned));
}

/* The host's own accesses at rest: the one after the wait is right. */
static void the_host_is_checked_at_rest(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(PINNED);
    CUstream s = non_blocking();
    volatile char *pinned = pinned_alloc(PINNED);
    copies_until_rest(f, from, to, 64, s);
    OK(cuMemcpyDtoHAsync_v2((void *)pinned, to, PINNED, s));
    OK(cuStreamSynchronize(s));
    (void)pinned[100];
    assert_int_equal(races(), 0);
    OK(cuMemcpyDtoHAsync_v2((void *)pinned, to, PINNED, s));
    assert_false(source.asked);
    (void)pinned[100];
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.address, (uintptr_t)pinned + 100);
    assert_false(race.possible);
    OK(cuStreamSynchronize(s));
    OK(cuMemFreeHost((void *)pinned));
}

static void so_are_the_ends_of_much_memory(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(LARGE);
    CUstream s = non_blocking();
    volatile char *pinned = pinned_alloc(LARGE);
    copies_until_rest(f, from, to, 64, s);
    OK(cuMemcpyHtoDAsync_v2(to, (void *)pinned, LARGE, s));
    assert_false(source.asked);
    OK(cuStreamSynchronize(s));
    OK(cuMemFreeHost((void *)pinned));
}

/* More than is guarded at a time. */
static void work_beyond_the_limit_wakes(void **state)
{
    (void)state;
    enum { BLOCKS = 8, FIT = 4 };
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(PINNED);
    CUstream s = non_blocking();
    volatile char *pinned[BLOCKS];
    copies_until_rest(f, from, to, 64, s);
    for (int i = 0; i < BLOCKS; i++) {
        pinned[i] = pinned_alloc(PINNED);
        OK(cuMemcpyHtoDAsync_v2(to, (void *)pinned[i], PINNED, s));
        assert_true(i >= FIT || !source.asked);
    }
    assert_true(source.asked);
    OK(cuStreamSynchronize(s));
    for (int i = 0; i < BLOCKS; i++)
        OK(cuMemFreeHost((void *)pinned[i]));
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(work_that_is_guarded_does_not_wake),
        TEST(the_host_is_checked_at_rest),
        TEST(so_are_the_ends_of_much_memory),
        TEST(work_beyond_the_limit_wakes),
    };
    return operators_main(argc, argv, "host=guard:host_guard_mb=1:", tests,
                          sizeof tests / sizeof *tests);
}
