/* Keys: what is in the signature, what in the scalars, and what in neither. */
#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/launch_key.h"

enum { A = 0x10000000, B = 0x20000000, SIZE = 4096 };

static struct world world;

/* A key with two pointers and two numbers. */
static struct launch_key key_of(uint64_t p, uint64_t q, uint32_t n, uint32_t m)
{
    struct launch_key key;
    world.block_count = 0;
    world_block(&world, A, SIZE);
    world_block(&world, B, SIZE);
    world_begin(&world);
    world_pointer(&world, p);
    world_number(&world, n);
    world_number(&world, m);
    world_pointer(&world, q);
    world_anchors(&world);
    assert_true(launch_key_make(&key, &world.launch));
    return key;
}

/* Whether they differ in the signature (1), in a scalar (2), or not (0). */
static int differ(struct launch_key a, struct launch_key b)
{
    a.words = a.room;
    b.words = b.room;
    if (a.signature_bytes != b.signature_bytes || memcmp(a.words, b.words, a.signature_bytes) != 0)
        return 1;
    assert_int_equal(a.scalar_count, b.scalar_count);
    return memcmp(launch_key_scalars(&a), launch_key_scalars(&b), a.scalar_count * 4) ? 2 : 0;
}

static void pointers_are_in_the_signature_and_not_their_values(void **state)
{
    (void)state;
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(B, A, 1, 2)), 0);
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(A + 256, B + 1024, 1, 2)), 0);
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(A, 0, 1, 2)), 1);       /* null */
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(A, 2 * B, 1, 2)), 1);   /* nobody's */
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(A, A + 512, 1, 2)), 0); /* one block */
}

static void numbers_and_alignment_are_scalars(void **state)
{
    (void)state;
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(A, B, 1, 3)), 2);
    assert_int_equal(differ(key_of(A, B, 1, 2), key_of(A + 4, B, 1, 2)), 2);
    assert_int_equal(differ(key_of(A, A + 512, 1, 2), key_of(A, A + 1024, 1, 2)), 0);
    assert_int_equal(differ(key_of(A, A + 512, 1, 2), key_of(A + 256, A + 768, 1, 2)), 0);
}

static void grid_and_memory_are_in_the_signature(void **state)
{
    (void)state;
    struct launch_key key = key_of(A, B, 1, 2), other;
    uint32_t *const numbers[] = {&world.launch.grid[1], &world.launch.block[2],
                                 &world.launch.cluster[0], &world.launch.shared};
    for (size_t i = 0; i < 4; i++) {
        *numbers[i] += 1;
        assert_true(launch_key_make(&other, &world.launch));
        assert_int_equal(differ(key, other), 1);
        *numbers[i] -= 1;
    }
}

/* A tensor map is identified by its encoding's arguments; its bytes hold an address. */
static void tensor_maps_are_identified_by_their_encoding(void **state)
{
    (void)state;
    uint8_t parameters[136] = {0};
    struct learn_anchor map = {.kind = LEARN_TENSOR_MAP,
                               .bytes = 128,
                               .identity = 7,
                               .address = A,
                               .block = {A, A + SIZE}};
    struct learn_launch launch = {
        .parameters = parameters, .parameter_bytes = 136, .anchors = &map, .anchor_count = 1};
    struct launch_key key, other;
    assert_true(launch_key_make(&key, &launch));
    parameters[17] = 1;
    map.address = A + 256;
    assert_true(launch_key_make(&other, &launch));
    assert_int_equal(differ(key, other), 0);
    map.identity = 8;
    assert_true(launch_key_make(&other, &launch));
    assert_int_equal(differ(key, other), 1);
    map.identity = 7;
    parameters[130] = 1; /* behind it */
    assert_true(launch_key_make(&other, &launch));
    assert_int_equal(differ(key, other), 2);
}

static void signatures_are_read_again(void **state)
{
    (void)state;
    static struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    struct learn_launch launch;
    struct launch_key key = key_of(A, B, 1, 2);
    assert_true(launch_key_read_signature(key.room, key.signature_bytes, &launch, anchors));
    assert_int_equal(launch.block[0], 32);
    assert_int_equal(launch.anchor_count, 2);
    assert_int_equal(anchors[1].offset, 16);
    for (uint32_t bytes = 0; bytes < key.signature_bytes; bytes++)
        assert_false(launch_key_read_signature(key.room, bytes, &launch, anchors));
}

static void large_keys_have_room(void **state)
{
    (void)state;
    static uint8_t parameters[4096];
    struct learn_launch launch = {.parameters = parameters, .parameter_bytes = 4096};
    struct launch_key key, copy;
    parameters[4095] = 3;
    assert_true(launch_key_make(&key, &launch));
    assert_true(launch_key_copy(&copy, &key));
    assert_int_equal(launch_key_scalars(&copy)[1023], 3u << 24);
    launch_key_release(&key);
    launch_key_release(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_are_in_the_signature_and_not_their_values),
        cmocka_unit_test(numbers_and_alignment_are_scalars),
        cmocka_unit_test(grid_and_memory_are_in_the_signature),
        cmocka_unit_test(tensor_maps_are_identified_by_their_encoding),
        cmocka_unit_test(signatures_are_read_again),
        cmocka_unit_test(large_keys_have_room),
    };
    return cmocka_run_group_tests_name("launch_key", tests, NULL, NULL);
}
