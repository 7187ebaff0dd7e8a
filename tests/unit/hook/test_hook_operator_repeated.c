/* Launches at rest that were answered before and are made again: their answer is kept, for as long
 * as the memory that they point to and what is known of them are the same. Each test runs again
 * with deferred launches. */
#include "tests/unit/hook/hook_operators.h"

enum { TIMES = 5 }; /* then the answer is kept */

static void again(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t bytes, CUstream stream)
{
    for (int i = 0; i < TIMES; i++)
        launch(f, from, to, bytes, stream);
    assert_false(source.asked);
}

static void it_is_checked_again(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    again(f, from, to, 64, s);
    OK(cuMemsetD8Async(to + 64, 0, 64, t)); /* behind what it touches */
    OK(cuCtxSynchronize());
    assert_int_equal(races(), 0);
    launch(f, from, to, 64, s);
    OK(cuMemsetD8Async(to, 0, 64, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_string_equal(race.previous.name, copy.name);
    assert_string_equal(race.previous.arguments, names_of_copy[1]);
    assert_int_equal(race.previous.level, CSAN_LEVEL_OPERATOR);
    assert_int_equal(race.address, to);
    assert_int_equal(race.bytes, 64);
}

static const char *const names_of_move[] = {"source", "target" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator move = {"test::move(Tensor source, Tensor(a!) target)",
                                          names_of_move, 2, CSAN_NO_ARGUMENT};

/* One operator copies 64 bytes, another one 32: by the same kernel, from the same call. */
static void copies_or_moves(CUfunction f, CUdeviceptr from, CUdeviceptr to, bool moves,
                            CUstream stream)
{
    const uint64_t bytes = moves ? 32 : 64;
    const struct csan_access accesses[] = {
        {.base = from, .bytes = bytes, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = bytes, .kind = CSAN_WRITE, .argument = 1}};
    between();
    const bool followed = source.follows;
    declare(moves ? &move : &copy, accesses, 2);
    launch_one(f, from, to, bytes, stream);
    ends(followed);
}

static void each_bears_its_operators_name(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    for (int i = 0; i < ENOUGH && (i < 20 || source.follows); i++)
        copies_or_moves(f, from, to, i % 2, s);
    assert_false(source.follows);
    for (int i = 0; i < 4 * TIMES; i++) {
        const bool moves = i / 2 % 2;
        hook_setup(state);
        copies_or_moves(f, from, to, moves, s);
        OK(cuMemsetD8Async(to, 0, 1, t));
        assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
        assert_string_equal(race.previous.name, (moves ? &move : &copy)->name);
        assert_string_equal(race.previous.arguments, (moves ? names_of_move : names_of_copy)[1]);
    }
}

/* The same pointer, but the block behind it is another one. */
static void another_block_is_looked_up(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    csan_pool_alloc((void *)to, BYTES / 2, s);
    copies_until_rest(f, from, to, 64, s);
    again(f, from, to, 64, s);
    csan_pool_free((void *)to, s);
    csan_pool_alloc((void *)to, BYTES / 4, s);
    launch(f, from, to, 64, s);
    assert_true(source.asked);
}

/* An operator writes the whole block that a pool gave at the address. */
static void writes_block(CUfunction f, CUdeviceptr from, CUdeviceptr block, uint64_t bytes,
                         CUstream stream)
{
    const struct csan_access accesses[] = {
        {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
        {.base = block, .bytes = bytes, .kind = CSAN_WRITE, .argument = 1}};
    csan_pool_alloc((void *)block, bytes, stream);
    between();
    const bool followed = source.follows;
    declare(&copy, accesses, 2);
    launch_one(f, from, block, 7, stream);
    ends(followed);
}

/* Launches that pass the same, at an address that a pool gives to blocks of three sizes in turns.
 */
static void blocks_of_several_sizes_in_turns(void **state)
{
    static const uint64_t sizes[] = {BYTES, BYTES / 2, BYTES / 4};
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), block = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    for (int i = 0; i < ENOUGH && (i < 20 || source.follows); i++) {
        writes_block(f, from, block, sizes[i % 3], s);
        csan_pool_free((void *)block, s);
    }
    assert_false(source.follows);
    for (int i = 0; i < 12 * TIMES; i++) {
        const uint64_t bytes = sizes[i < 6 * TIMES ? i % 2 : i % 3], at = (uint64_t)i * 8 % BYTES;
        hook_setup(state);
        writes_block(f, from, block, bytes, s);
        OK(cuMemsetD8Async(block + at, 0, 1, t));
        if (at < bytes)
            assert_int_equal(first_kind(), CSAN_RACE_DATA);
        else /* what is left of a larger one */
            assert_true(!races() || first_kind() == CSAN_RACE_USE_AFTER_FREE);
        csan_pool_free((void *)block, s);
        source.asked = false; /* for the report: but the next one is made at rest, too */
    }
}

/* It writes `written` bytes, until operators rest. `number` is a parameter. */
static void writes_until_rest(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t written,
                              uint64_t number, CUstream stream)
{
    for (int i = 0; i < ENOUGH && (i < 20 || source.follows); i++) {
        const struct csan_access accesses[] = {
            {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
            {.base = to, .bytes = written, .kind = CSAN_WRITE, .argument = 1}};
        between();
        const bool followed = source.follows;
        declare(&copy, accesses, 2);
        launch_one(f, from, to, number, stream);
        ends(followed);
    }
    assert_false(source.follows);
}

/* Operators are followed again, and say something else of the same launch. */
static void what_is_known_changes(void **state)
{
    (void)state;
    CUfunction f = fresh(), other = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    again(f, from, to, 64, s);
    launch(other, from, to, 64, s);
    assert_true(source.asked);
    writes_until_rest(f, from, to, 128, 64, s);
    OK(cuCtxSynchronize());
    again(f, from, to, 64, s);
    OK(cuMemsetD8Async(to + 64, 0, 64, t));
    assert_int_equal(races(), 1);
}

/* ---- Tensor maps ---- */

/* The kernel copies through a map, and to a pointer: both lie in a buffer. */
struct mapped {
    CUtensorMap map;
    CUdeviceptr to;
};

static struct mapped mapped_to(CUdeviceptr from, CUdeviceptr to)
{
    struct mapped mapped = {.to = to};
    const cuuint64_t sizes[] = {16};
    const cuuint32_t ones[] = {1};
    OK(cuTensorMapEncodeTiled(&mapped.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1,
                              (void *)(uintptr_t)from, sizes, NULL, ones, ones,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return mapped;
}

static void mapped_launch(CUfunction f, const struct mapped *mapped, CUstream stream)
{
    struct mapped buffer = *mapped;
    size_t bytes = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra));
    settle();
}

static void mapped_until_rest(CUfunction f, CUdeviceptr from, const struct mapped *mapped,
                              CUstream stream)
{
    for (int i = 0; i < ENOUGH && (i < 20 || source.follows); i++) {
        const struct csan_access accesses[] = {
            {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
            {.base = mapped->to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
        between();
        const bool followed = source.follows;
        declare(&copy, accesses, 2);
        mapped_launch(f, mapped, stream);
        ends(followed);
    }
    assert_false(source.follows);
    for (int i = 0; i < TIMES; i++)
        mapped_launch(f, mapped, stream);
    assert_false(source.asked);
}

static CUfunction fresh_mapped(void)
{
    CUfunction f = fresh();
    fake_set_parameters(-2); /* the driver does not say */
    return f;
}

static void a_map_is_checked_again(void **state)
{
    (void)state;
    CUfunction f = fresh_mapped();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking(), t = non_blocking();
    const struct mapped mapped = mapped_to(from + 64, to);
    mapped_until_rest(f, from + 64, &mapped, s);
    OK(cuMemsetD8Async(from, 0, 64, t));
    OK(cuMemsetD8Async(to + 64, 0, 64, t));
    OK(cuCtxSynchronize());
    assert_int_equal(races(), 0);
    mapped_launch(f, &mapped, s);
    OK(cuMemsetD8Async(from + 64, 0, 64, t));
    assert_int_equal(races(), 1);
}

static void another_block_behind_a_map_is_looked_up(void **state)
{
    (void)state;
    CUfunction f = fresh_mapped();
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    csan_pool_alloc((void *)from, BYTES / 2, s);
    const struct mapped mapped = mapped_to(from, to);
    mapped_until_rest(f, from, &mapped, s);
    csan_pool_free((void *)from, s);
    csan_pool_alloc((void *)from, BYTES / 4, s);
    mapped_launch(f, &mapped, s);
    assert_true(source.asked);
}

/* ---- Any ---- */

static uint32_t random_below(uint32_t limit)
{
    static uint32_t number = 1;
    number = number * 1664525u + 1013904223u;
    return (number >> 8) % limit;
}

enum { BUFFERS = 4, SIZES = 3 };

/* One of few launches. */
static struct one {
    uint32_t from, to;
    uint64_t bytes;
} random_one(void)
{
    static const uint64_t sizes[SIZES] = {16, 48, 64};
    const uint32_t from = random_below(BUFFERS), to = from + 1 + random_below(BUFFERS - 1);
    return (struct one){from, to % BUFFERS, sizes[random_below(SIZES)]};
}

/* Half of the number is its effect; the other half has none. */
static void copies_one(CUfunction f, const CUdeviceptr *buffers, struct one one, uint32_t other,
                       CUstream stream)
{
    const CUdeviceptr from = buffers[one.from], to = buffers[one.to];
    const struct csan_access accesses[] = {
        {.base = from, .bytes = one.bytes, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = one.bytes, .kind = CSAN_WRITE, .argument = 1}};
    between();
    const bool followed = source.follows;
    declare(&copy, accesses, 2);
    launch_one(f, from, to, one.bytes | (uint64_t)other << 32, stream);
    ends(followed);
}

/* Few launches again and again: each is checked as what it is. `limit`: of the other half. */
static void random_launches_to(void **state, uint32_t limit)
{
    enum { ROUNDS = 2000 };
    CUfunction f = fresh();
    CUdeviceptr buffers[BUFFERS];
    CUstream s = non_blocking(), t = non_blocking();
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = device(BYTES);
    for (int i = 0; i < ENOUGH && (i < 4000 || source.follows); i++)
        copies_one(f, buffers, random_one(), random_below(limit), s);
    assert_false(source.follows);
    for (int i = 0; i < ROUNDS; i++) {
        const struct one one = random_one();
        const uint32_t at = random_below(80), which = random_below(BUFFERS);
        hook_setup(state);
        copies_one(f, buffers, one, random_below(limit), s);
        OK(cuMemsetD8Async(buffers[which] + at, 0, 1, t));
        assert_int_equal(races(), (which == one.from || which == one.to) && at < one.bytes);
        source.asked = false; /* for the report: but the next one is made at rest, too */
    }
}

static void random_launches(void **state)
{
    random_launches_to(state, 1);
}

static void random_launches_with_a_number_without_effect(void **state)
{
    random_launches_to(state, 1 << 24);
}

/* Half of a number changes and has no effect, until both halves are an address. */
static void a_number_that_becomes_a_pointer_is_looked_up(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr from = device(BYTES), to = device(BYTES), third = device(BYTES);
    const uint64_t lower = (uint32_t)(third + 8);
    CUstream s = non_blocking();
    for (uint64_t i = 1; i < ENOUGH && (i < 20 || source.follows); i++) {
        const struct csan_access accesses[] = {
            {.base = from, .bytes = 64, .kind = CSAN_READ, .argument = 0},
            {.base = to, .bytes = 64, .kind = CSAN_WRITE, .argument = 1}};
        between();
        const bool followed = source.follows;
        declare(&copy, accesses, 2);
        launch_one(f, from, to, lower | (1 << 24 | i) << 32, s);
        ends(followed);
    }
    assert_false(source.follows);
    for (uint64_t i = 1; i < TIMES; i++)
        launch(f, from, to, lower | (1 << 25 | i) << 32, s);
    assert_false(source.asked);
    launch(f, from, to, third + 8, s);
    assert_true(source.asked);
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup(function, setup)
    const struct CMUnitTest tests[] = {
        TEST(it_is_checked_again),
        TEST(each_bears_its_operators_name),
        TEST(another_block_is_looked_up),
        TEST(blocks_of_several_sizes_in_turns),
        TEST(what_is_known_changes),
        TEST(a_map_is_checked_again),
        TEST(another_block_behind_a_map_is_looked_up),
        TEST(random_launches),
        TEST(random_launches_with_a_number_without_effect),
        TEST(a_number_that_becomes_a_pointer_is_looked_up),
    };
    return operators_main(argc, argv, "", tests, sizeof tests / sizeof *tests);
}
