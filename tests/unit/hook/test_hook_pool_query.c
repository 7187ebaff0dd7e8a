/* Pools of memory that ask for events, by a library that bears the name of PyTorch's. */
#include "tests/unit/hook/test_hook_order.h"

#include <dlfcn.h>

typedef int asks(CUresult (*query)(CUevent), CUevent event);

static asks *pool, *pinned_pool, *program;

static void pools_open(void)
{
    void *library = dlopen(FAKE_DRIVER "/libc10_cuda.so", RTLD_NOW);
    assert_non_null(library);
    typedef asks *asks_of(void);
    asks_of *of_pool, *of_pinned_pool, *of_program;
    *(void **)&of_pool = dlsym(library, "fake_pool");
    *(void **)&of_pinned_pool = dlsym(library, "fake_pinned_pool");
    *(void **)&of_program = dlsym(library, "fake_program");
    pool = of_pool();
    pinned_pool = of_pinned_pool();
    program = of_program();
}

/* A block of 64 bytes, and an event behind its first write. */
static CUdeviceptr block_written(CUevent e)
{
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    csan_pool_alloc((void *)p, 64, a);
    WRITE(p, a);
    OK(cuEventRecord(e, a));
    return p;
}

/* First, because later tests run in a process with declared blocks. */
static void without_declared_blocks_every_answer_orders(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking();
    CUevent e = event();
    pools_open();
    WRITE(p, a);
    OK(cuEventRecord(e, a));
    assert_true(pool(cuEventQuery, e));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void the_program_s_query_orders(void **state)
{
    (void)state;
    CUevent e = event();
    CUdeviceptr p = block_written(e);
    assert_true(program(cuEventQuery, e));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void a_pool_s_query_orders_nothing(void **state)
{
    (void)state;
    CUevent e = event();
    CUdeviceptr p = block_written(e);
    assert_true(pool(cuEventQuery, e));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    struct csan_race race;
    assert_int_equal(csan_races_since(0, &race, 1), 1);
    assert_string_equal(race.unpromised, "an event query of a memory pool");
    OK(cuEventSynchronize(e));
}

static void nor_does_that_of_an_older_pool_of_pinned_memory(void **state)
{
    (void)state;
    CUevent e = event();
    CUdeviceptr p = block_written(e);
    assert_true(pinned_pool(cuEventQuery, e));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    OK(cuEventSynchronize(e));
}

static void it_orders_the_block_s_owners(void **state)
{
    (void)state;
    CUevent e = event();
    CUdeviceptr p = block_written(e);
    assert_true(pool(cuEventQuery, e));
    csan_pool_free((void *)p, NULL);
    csan_pool_alloc((void *)p, 64, NULL);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
}

static void without_it_they_race(void **state)
{
    (void)state;
    CUdeviceptr p = block_written(event());
    csan_pool_free((void *)p, NULL);
    csan_pool_alloc((void *)p, 64, NULL);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

/* Pinned memory comes from a pool without declared blocks. */
static void it_orders_memory_at_the_host(void **state)
{
    (void)state;
    CUevent e = event();
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    void *host;
    block_written(event()); /* some are declared */
    OK(cuMemHostAlloc(&host, 64, 0));
    OK(cuMemcpyDtoHAsync_v2(host, p, 64, a));
    OK(cuEventRecord(e, a));
    assert_true(pool(cuEventQuery, e));
    OK(cuMemcpyDtoHAsync_v2(host, p, 64, b));
    assert_int_equal(races(), 0);
    OK(cuMemcpyDtoHAsync_v2(host, p, 64, a));
    assert_int_equal(races(), 1);
    OK(cuMemFreeHost(host));
}

#define TEST(name) cmocka_unit_test_setup(name, hook_setup)

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(without_declared_blocks_every_answer_orders),
        TEST(the_program_s_query_orders),
        TEST(a_pool_s_query_orders_nothing),
        TEST(nor_does_that_of_an_older_pool_of_pinned_memory),
        TEST(it_orders_the_block_s_owners),
        TEST(without_it_they_race),
        TEST(it_orders_memory_at_the_host),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_poll", tests, NULL, NULL));
}
