/* Operators from summaries: when they rest and when they are followed again, and that launches of
 * resting operators are checked as with them. Each test runs again with deferred launches. */
#include "tests/unit/hook/hook_operators.h"

#include <sys/mman.h>

/* In the place of a pointer that a summary starts from: what nobody set, in words that left. */
static void where_a_summary_starts_is_no_pointer(void **state)
{
    (void)state;
    const uint64_t unset = CSAN_OPERATOR_STACK_MARK << 48;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), third = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, i == 0 ? unset : from, to, i == 0 ? third + 8 : third, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, unset, to, third, s);
    assert_true(source.asked);
}

static void they_rest_once_all_is_known(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    for (int i = 0; i < 999; i++)
        copies(f, from, to, 64, s);
    assert_int_equal(source.rest_calls, 0);
    copies_until_rest(f, from, to, 64, s);
    assert_int_equal(source.rest_calls, 1);
    assert_int_equal(source.follow_calls, 0);
}

static void what_rests_is_checked(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), other = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    copies(f, from, other, 64, s);
    assert_false(source.asked);
    OK(cuMemsetD8Async(other + 64, 0, 64, t)); /* behind what it touches */
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(other, 0, 64, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_string_equal(race.previous.name, copy.name);
    assert_string_equal(race.previous.arguments, names_of_copy[1]);
    assert_int_equal(race.previous.level, CSAN_LEVEL_OPERATOR);
    assert_int_equal(race.address, other);
    assert_int_equal(race.bytes, 64);
    OK(cuMemsetD8Async(from, 0, 64, t));
    assert_int_equal(races(), 2);
}

/* Rows of a matrix, from the middle of a block. */
static void rows_are_placed(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUstream s = non_blocking(), t = non_blocking();
    CUdeviceptr from = device(BYTES), to = 0;
    const struct csan_dim rows = {64, 4};
    for (int i = 0; i < 100000 && (i < 20 || source.follows); i++) {
        to = i % 8 ? to : device(BYTES);
        const struct csan_access accesses[] = {
            {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
            {.base = to + 128,
             .bytes = 8,
             .dims = &rows,
             .dim_count = 1,
             .kind = CSAN_WRITE,
             .argument = 1}};
        between();
        const bool followed = source.follows;
        declare(&copy, accesses, 2);
        launch(f, from, to + 128, 0, s);
        ends(followed);
    }
    assert_false(source.follows);
    launch(f, from, to + 128, 0, s);
    for (int row = 0; row < 4; row++)
        OK(cuMemsetD8Async(to + 128 + 64 * (CUdeviceptr)row + 8, 0, 56, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(to + 128 + 192, 0, 8, t));
    assert_int_equal(races(), 1);
}

static void a_new_launch_wakes(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    launch(f, from, to, 128, s); /* another number */
    assert_true(source.asked);
    assert_int_equal(source.follow_calls, 1);
    for (uint64_t i = 0; i < AT_ONCE - 1; i++) {
        assert_int_equal(source.at_once_calls, 0);
        launch(f, from, to, 1000 + i, s);
    }
    launch(f, from, to, 5000, s);
    assert_int_equal(source.at_once_calls, 1);
}

/* It may do what the others did, and its races are possible ones. It may do more, too, so it does
 * not count as checked. */
static void a_new_launch_is_bounded(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    OK(cuCtxSynchronize());
    launch(f, from, to, 128, s);
    OK(cuMemsetD8Async(to, 0, 64, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    assert_string_equal(race.previous.name, copy.name);
    assert_int_equal(race.previous.level, CSAN_LEVEL_UNKNOWN);
}

/* The same numbers, but other blocks. */
static void a_pointer_that_lies_otherwise_wakes(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), larger = device(2 * BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    launch(f, from, larger, 64, s);
    assert_true(source.asked);
}

static void another_kernel_wakes(void **state)
{
    (void)state;
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(fresh(), from, to, 64, s);
    launch(fresh(), from, to, 64, s);
    assert_true(source.asked);
}

/* A number that changes with each launch and has no effect. */
static void numbers_without_effect(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (uint64_t i = 0; i < 100000 && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, i, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from, to, 1000000, s);
    assert_false(source.asked);
}

/* What functions left on the stack where nobody set a parameter: addresses of the stack, which
 * functions for callbacks shift. */
static void addresses_of_the_stack_are_not_compared(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    char room[2048];
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, (uintptr_t)room, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from, to, (uintptr_t)room + 1024, s);
    assert_false(source.asked);
    launch(f, from, to, 1024, s); /* it is not set in this launch, either */
    assert_false(source.asked);
    launch(f, from, from, 1024, s);
    assert_true(source.asked);
}

/* A number whose upper half nobody set: it has that of an address. The number counts. */
static void a_number_beside_half_an_address(void **state)
{
    (void)state;
    enum { PLACE_BYTES = 1 << 21 };
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    void *const wanted = (void *)(UINT64_C(0x7123) << 32);
    assert_ptr_equal(mmap(wanted, PLACE_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
                     wanted);
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (uint64_t i = 1; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, (uintptr_t)wanted + 64, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from, to, (uintptr_t)wanted + 128, s);
    assert_true(source.asked);
    munmap(wanted, PLACE_BYTES);
}

/* An address of the stack where there always was a zero, in words that left: it leads nowhere. */
static void an_address_of_the_stack_leads_nowhere(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    char room[64];
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (uint64_t i = 1; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, i << 32, s); /* the lower half does not change */
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from, to, (uintptr_t)room, s);
    assert_false(source.asked);
}

/* A number without effect that is an address in the block of the pointer behind it, by chance. */
static void a_number_that_leads_into_a_block(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (uint64_t i = 1; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, i << 32 | i, from, to, s);
        ends(true);
    }
    assert_false(source.follows);
    launch(f, from + 8, from, to, s);
    assert_false(source.asked);
    launch(f, device(BYTES), from, to, s); /* into another one */
    assert_false(source.asked);
    launch(f, 77, from, from, s); /* these are pointers, and lead into one block */
    assert_true(source.asked);
}

/* No launch has a pointer to `table`: it is touched only by who knows it from memory. */
static void launches_beside_an_argument(bool copies_from_host, uint8_t kind, int most)
{
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), table = device(BYTES);
    CUstream s = non_blocking();
    static char host[64];
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = table, .bytes = 64, .kind = kind, .argument = 1}};
    for (int i = 0; i < most && source.follows; i++) {
        declare(&copy, accesses, 2);
        if (copies_from_host)
            OK(cuMemcpyHtoDAsync_v2(to, host, 64, s));
        launch(f, from, to, 64, s);
        ends(true);
    }
}

static void an_argument_out_of_reach_is_not_touched(void **state)
{
    (void)state;
    launches_beside_an_argument(false, CSAN_READ, ENOUGH);
    assert_int_equal(source.rest_calls, 1);
}

static void but_where_memory_may_lead_to_it(void **state)
{
    (void)state;
    launches_beside_an_argument(true, CSAN_READ, 3000);
    launches_beside_an_argument(false, CSAN_WRITE, 3000);
    assert_int_equal(source.rest_calls, 0);
}

/* One launch reaches the one, another the other. */
static void launches_share_the_arguments(void **state)
{
    (void)state;
    CUfunction f = fresh(), g = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), between_them = device(BYTES);
    CUstream s = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, between_them, 64, s);
        launch(g, between_them, to, 64, s);
        ends(true);
    }
    assert_false(source.follows);
}

/* It touches nothing, whatever its operator reads. */
static void a_kernel_without_parameters(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUstream s = non_blocking();
    const struct csan_access access = {.base = device(BYTES), .bytes = 64, .kind = CSAN_READ};
    fake_set_parameters(0);
    for (int i = 0; i < ENOUGH && source.follows; i++) {
        declare(&copy, &access, 1);
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
        ends(true);
    }
    assert_int_equal(source.rest_calls, 1);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    settle();
    assert_false(source.asked);
    fake_set_parameters(3);
}

static void an_operator_on_several_streams_is_followed(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
    for (int i = 0; i < ENOUGH; i++) {
        declare(&copy, accesses, 2);
        launch(f, from, to, 64, s);
        launch(f, from, to, 64, t);
        ends(true);
        OK(cuCtxSynchronize());
    }
    assert_int_equal(source.rest_calls, 0);
}

/* An operator of the host may touch it next, and csan would not hear of it. */
static void memory_that_the_host_shares_wakes(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    copies_until_rest(f, from, to, 64, s);
    OK(cuMemcpyDtoHAsync_v2(pinned, to, 64, s));
    assert_true(source.asked);
    for (int i = 0; i < 20; i++)
        copies(f, from, to, 64, s);
    assert_true(source.follows);
    OK(cuStreamSynchronize(s));
    copies(f, from, to, 64, s);
    assert_false(source.follows);
    OK(cuMemcpyDtoHAsync_v2(pinned, to, 64, s));
    assert_true(source.asked);
    OK(cuStreamSynchronize(s)); /* before an operator began */
    assert_false(source.asked);
    assert_int_equal(races(), 0);
    OK(cuMemFreeHost(pinned));
}

/* Of more streams than are kept at a time, most of which the host has waited for. */
static void many_streams_work_on_memory_that_the_host_shares(void **state)
{
    enum { KEPT = 8 };
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), streams[KEPT + 1];
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 4 * (KEPT + 1), 0));
    copies_until_rest(f, from, to, 64, s);
    OK(cuCtxSynchronize());
    for (int i = 0; i <= KEPT; i++) {
        streams[i] = non_blocking();
        if (i == KEPT)
            OK(cuStreamSynchronize(streams[0]));
        OK(cuMemcpyDtoHAsync_v2((char *)pinned + 4 * i, to + 4 * (CUdeviceptr)i, 4, streams[i]));
        if (i == 0) /* from here on operators are followed */
            copies(f, from, to, 64, s);
    }
    assert_true(source.follows);
    OK(cuCtxSynchronize());
    copies_until_rest(f, from, to, 64, s);
    OK(cuMemFreeHost(pinned));
}

static void they_are_looked_at_again(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    int launches = 0;
    for (; launches < SPAN && !source.asked; launches++)
        launch(f, from, to, 64, s);
    assert_true(source.asked);
    assert_true(launches > 30000);
    copies_until_rest(f, from, to, 64, s);
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(where_a_summary_starts_is_no_pointer), /* first: few launches are said */
        TEST(they_rest_once_all_is_known),
        TEST(what_rests_is_checked),
        TEST(rows_are_placed),
        TEST(a_new_launch_wakes),
        TEST(a_new_launch_is_bounded),
        TEST(a_pointer_that_lies_otherwise_wakes),
        TEST(another_kernel_wakes),
        TEST(numbers_without_effect),
        TEST(addresses_of_the_stack_are_not_compared),
        TEST(a_number_beside_half_an_address),
        TEST(an_address_of_the_stack_leads_nowhere),
        TEST(a_number_that_leads_into_a_block),
        TEST(an_argument_out_of_reach_is_not_touched),
        TEST(but_where_memory_may_lead_to_it),
        TEST(launches_share_the_arguments),
        TEST(a_kernel_without_parameters),
        TEST(memory_that_the_host_shares_wakes),
        TEST(many_streams_work_on_memory_that_the_host_shares),
        TEST(they_are_looked_at_again),
        TEST(an_operator_on_several_streams_is_followed), /* last: from then on few operators are
                                                             compared */
    };
    return operators_main(argc, argv, "verbosity=2:", tests, sizeof tests / sizeof *tests);
}
