/* The learner against random kernels whose true sets are known. */
#include "tests/unit/learn/test_learner.h"

enum kernel_kind {
    PLAIN,     /* n numbers */
    SEEDED,    /* n numbers, and three numbers that change with every launch */
    MODES,     /* every value of the mode strides otherwise */
    BETWEEN,   /* from one pointer to another in the same block */
    GATHER,    /* data says where */
    SOMETIMES, /* data says whether: mostly not */
    THRESHOLD, /* a number without effect until it is large */
    KINDS
};

/* Fills world with a launch; true: its set is a function of its key, each value of which has an
 * effect. */
static bool random_launch(uint64_t *seed, int kind)
{
    uint64_t p = (world_below(seed, 2) ? A : B) + 256 * world_below(seed, 4);
    uint64_t q = C + 256 * world_below(seed, 4);
    uint32_t n = 8 + (uint32_t)world_below(seed, 3) * 24, mode = (uint32_t)world_below(seed, 5);
    world_begin(&world);
    world_pointer(&world, p);
    if (kind != BETWEEN)
        world_pointer(&world, q);
    world_number(&world, n);
    switch (kind) {
    case PLAIN:
        world_touch(&world, DEVICE_TRACE_READ, q, 4 * n);
        world_touch(&world, DEVICE_TRACE_WRITE, p, 4 * n);
        break;
    case SEEDED:
        for (int i = 0; i < 3; i++)
            world_number(&world, (uint32_t)world_random(seed));
        world_touch(&world, DEVICE_TRACE_WRITE, p, 4 * n);
        break;
    case MODES:
        world_number(&world, mode);
        world_touch_rows(&world, DEVICE_TRACE_WRITE, p, 4, 8 + 4 * mode, n);
        break;
    case BETWEEN:
        world_pointer(&world, p + 4 * n + 4 * mode);
        world_touch(&world, DEVICE_TRACE_WRITE, p, 4 * n + 4 * mode);
        break;
    case GATHER:
        world_touch(&world, DEVICE_TRACE_READ, q + 16 * world_below(seed, 64), 16);
        world_touch(&world, DEVICE_TRACE_WRITE, p, 4 * n);
        break;
    case SOMETIMES:
        world_touch(&world, DEVICE_TRACE_WRITE, p, 4 * n);
        if (world_below(seed, 8) == 0)
            world_touch(&world, DEVICE_TRACE_WRITE, p + 512, 4);
        break;
    case THRESHOLD:
        mode = (uint32_t)world_below(seed, 32);
        world_number(&world, mode);
        world_touch(&world, DEVICE_TRACE_WRITE, p, mode < 28 ? 64 : 8 * mode);
        break;
    }
    world_anchors(&world);
    return kind < GATHER;
}

static void truth(uint8_t *marks)
{
    struct learned_set *set = world_set(&world);
    memset(marks, 0, 3 * SIZE);
    world_mark(&world, set, A, marks, SIZE);
    world_mark(&world, set, B, marks + SIZE, SIZE);
    world_mark(&world, set, C, marks + 2 * SIZE, SIZE);
    learned_set_release(set);
}

static void random_kernels(void **state)
{
    static uint8_t wanted[3 * SIZE], marked[3 * SIZE];
    size_t known = 0, bounded = 0, wrong = 0, asked = 0;
    for (uint64_t round = 1; round <= 300; round++) {
        uint64_t seed = round * 0x9e3779b97f4a7c15u;
        int kind = (int)(round % KINDS);
        begin(state);
        world_block(&world, C, SIZE);
        bool depends = false;
        for (int i = 0; i < 200; i++) {
            bool function = random_launch(&seed, kind);
            ask();
            truth(wanted);
            asked++;
            if (reply.answer == LEARN_KNOWN || reply.answer == LEARN_BOUNDED) {
                memset(marked, 0, sizeof marked);
                world_mark(&world, reply.set, A, marked, SIZE);
                world_mark(&world, reply.set, B, marked + SIZE, SIZE);
                world_mark(&world, reply.set, C, marked + 2 * SIZE, SIZE);
            }
            if (reply.answer == LEARN_KNOWN) {
                known++;
                bool right = memcmp(wanted, marked, sizeof marked) == 0;
                wrong += !right && !reply.trace;
                assert_true(right || !function);
            }
            if (reply.answer == LEARN_BOUNDED) {
                bounded++;
                depends = true;
                assert_false(function);
                for (size_t k = 0; k < sizeof marked; k++)
                    assert_int_equal(wanted[k] & ~marked[k], 0);
            }
            if (reply.trace)
                take_trace();
            else
                launch_key_release(&key);
        }
        assert_true(depends || kind != GATHER);
        end(state);
    }
    assert_true(known > asked / 2); /* learning answers most launches */
    assert_true(bounded > asked / 12);
    assert_true(wrong > 0 && wrong < asked / 50); /* where data decides, until it is found out */
    begin(state);
}

/* Of POINTERS pointers, in one of a few ways; each leads to `length[i]` bytes. Some traces are
 * coarse ones of the same bytes. */
enum { POINTERS = 4, WAYS = 8 };
static void launch_coarse(uint64_t *seed, const uint64_t (*ways)[POINTERS], const uint32_t *length)
{
    const uint64_t *pointers = ways[world_below(seed, WAYS)];
    world_begin(&world);
    for (int i = 0; i < POINTERS; i++)
        world_pointer(&world, pointers[i]);
    world_anchors(&world);
    for (int i = 0; i < POINTERS; i++)
        if (length[i])
            world_touch(&world, DEVICE_TRACE_WRITE, pointers[i], length[i]);
    world.trace.inexact = world_below(seed, 3) == 0;
    ask();
}

/* Exact traces take the place of coarse ones while access classes become one. The learner must not
 * release a set that it does not hold, so the test holds all the sets that it reported. */
static void random_coarse_traces(void **state)
{
    enum { LAUNCHES = 40, HELD = 3 };
    struct learned_set *marked[LAUNCHES];
    for (uint64_t round = 1; round <= 3000; round++) {
        uint64_t seed = round * 0x9e3779b97f4a7c15u, ways[WAYS][POINTERS];
        uint32_t length[POINTERS], count = 0;
        for (int i = 0; i < POINTERS; i++)
            length[i] = (uint32_t)(32 * world_below(&seed, 4));
        for (int i = 0; i < WAYS * POINTERS; i++)
            ways[i / POINTERS][i % POINTERS] =
                (world_below(&seed, 3) ? A : B) + 1024 + 32 * world_below(&seed, 6);
        begin(state);
        for (int i = 0; i < LAUNCHES; i++) {
            launch_coarse(&seed, ways, length);
            if (reply.trace) {
                struct learned_set *set = marked[count++] = world_set(&world);
                for (int k = 1; k < HELD; k++)
                    learned_set_retain(set);
                learner_take_trace(learner, kernel, &key, &world.launch, set);
            }
            launch_key_release(&key);
        }
        end(state);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(marked[i]->references, HELD);
            for (int k = 0; k < HELD; k++)
                learned_set_release(marked[i]);
        }
    }
    begin(state);
}

/* Kernels of three pointers into two blocks, at random places that overlap, touch or are equal;
 * each pointer is read and written at random distances from it, as a number says, which is never
 * without effect. A seed changes with every launch. What is known is never wrong. */
static void random_places(void **state)
{
    static uint8_t wanted[3 * SIZE], marked[3 * SIZE];
    size_t known = 0, traced = 0, asked = 0;
    for (uint64_t round = 1; round <= 300; round++) {
        uint64_t seed = round * 0xd1342543de82ef95u;
        uint32_t from[3][2], length[3][2];
        for (int i = 0; i < 3; i++)
            for (int kind = 0; kind < 2; kind++) {
                from[i][kind] = (uint32_t)(32 * world_below(&seed, 2));
                length[i][kind] = (uint32_t)(64 * world_below(&seed, 4));
            }
        begin(state);
        for (int i = 0; i < 300; i++) {
            uint32_t mode = (uint32_t)world_below(&seed, 3);
            world_begin(&world);
            for (int k = 0; k < 3; k++) {
                uint64_t block = world_below(&seed, 4) ? A : B;
                uint64_t p = block + 512 * world_below(&seed, 7);
                world_pointer(&world, p);
                for (uint32_t kind = 0; kind < 2; kind++)
                    if (length[k][kind])
                        world_touch(&world, kind, p + from[k][kind],
                                    length[k][kind] + (k ? 32 * mode : 0));
            }
            world_number(&world, mode);
            world_number(&world, (uint32_t)world_random(&seed));
            world_touch(&world, DEVICE_TRACE_ATOMIC, B + 4000, 4 + mode);
            world_pointer(&world, B + 4000);
            world_anchors(&world);
            ask();
            truth(wanted);
            asked++;
            traced += reply.trace;
            assert_int_not_equal(reply.answer, LEARN_UNKNOWN);
            assert_int_not_equal(reply.answer, LEARN_BOUNDED);
            if (reply.answer == LEARN_KNOWN) {
                known++;
                memset(marked, 0, sizeof marked);
                world_mark(&world, reply.set, A, marked, SIZE);
                world_mark(&world, reply.set, B, marked + SIZE, SIZE);
                assert_memory_equal(wanted, marked, sizeof marked);
            }
            if (reply.trace)
                take_trace();
            else
                launch_key_release(&key);
        }
        end(state);
    }
    print_message("random places: %zu known, %zu traced of %zu\n", known, traced, asked);
    assert_true(known > asked / 10 * 9);
    begin(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_kernels, end),
        cmocka_unit_test_teardown(random_coarse_traces, end),
        cmocka_unit_test_teardown(random_places, end),
    };
    return cmocka_run_group_tests_name("learner_random", tests, NULL, NULL);
}
