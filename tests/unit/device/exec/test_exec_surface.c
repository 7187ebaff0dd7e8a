/* The engine's surfaces: reductions, formatted stores, queries, and what lies beyond the edges. */
#include "tests/unit/device/exec/exec_harness.h"
#include "runtime/device/exec/texture/texel.h"

enum { LANES = 32, WIDTH = 4, HEIGHT = 4 };

static struct harness harness;

static void open_kernels(void)
{
    harness_open(&harness, "surface");
    harness.touches = true;
}

/* WIDTH x HEIGHT texels. */
static struct exec_texture image(enum exec_texel texel, uint8_t channels, uint8_t channel_bytes,
                                 uint8_t shape)
{
    const uint64_t row = WIDTH * (uint64_t)channels * channel_bytes;
    return (struct exec_texture){
        .levels[0] = {.base = harness_allocate(&harness, row * HEIGHT),
                      .pitch = row,
                      .slice = row * HEIGHT,
                      .width = WIDTH,
                      .height = shape == EXEC_SHAPE_1D ? 1 : HEIGHT,
                      .depth = 1},
        .level_count = 1,
        .shape = shape,
        .texel = (uint8_t)texel,
        .channels = channels,
        .channel_bytes = channel_bytes,
    };
}

static uint64_t words(const int32_t *from, size_t count)
{
    uint64_t address = harness_allocate(&harness, count * sizeof *from);
    memcpy(harness_host(&harness, address), from, count * sizeof *from);
    return address;
}

static void reduces(void **state)
{
    (void)state;
    int32_t values[LANES], sum[2] = {0}, least[2] = {0}, greatest[2] = {0}, bits[2] = {0};
    open_kernels();
    for (int i = 0; i < LANES; i++) {
        values[i] = (i * 37) % 64 - 31;
        sum[i & 1] += values[i];
        least[i & 1] = values[i] < least[i & 1] ? values[i] : least[i & 1];
        greatest[i & 1] = values[i] > greatest[i & 1] ? values[i] : greatest[i & 1];
        bits[i & 1] |= values[i];
    }
    struct exec_texture made = image(EXEC_TEXEL_SIGNED, 1, 4, EXEC_SHAPE_2D);
    uint64_t surface = harness_texture(&harness, made), value = words(values, LANES);
    harness_run(&harness, "reduce", 1, LANES, 0, ARGUMENTS(&surface, &value));
    const int32_t *rows = harness_host(&harness, made.levels[0].base);
    assert_memory_equal(&rows[0], sum, sizeof sum);
    assert_memory_equal(&rows[WIDTH], least, sizeof least);
    assert_memory_equal(&rows[2 * WIDTH], greatest, sizeof greatest);
    assert_memory_equal(&rows[3 * WIDTH], bits, sizeof bits);
    for (size_t i = 0; i < harness.range_count; i++) /* what reads the values is no atomic */
        if (harness.ranges[i].address - made.levels[0].base < 64)
            assert_int_equal(harness.ranges[i].kind, DEVICE_TRACE_ATOMIC);
    harness_close(&harness);
}

static void assert_stored(enum exec_texel texel, uint8_t channel_bytes, const int32_t *from,
                          const void *want)
{
    open_kernels();
    struct exec_texture made = image(texel, 4, channel_bytes, EXEC_SHAPE_1D);
    uint64_t surface = harness_texture(&harness, made), value = words(from, 4);
    harness_run(&harness, "formatted", 1, 2, 0, ARGUMENTS(&surface, &value));
    const uint8_t *stored = harness_host(&harness, made.levels[0].base);
    assert_memory_equal(stored, want, (size_t)channel_bytes * 4);
    assert_memory_equal(stored + (size_t)channel_bytes * 4, want, (size_t)channel_bytes * 4);
    harness_close(&harness);
}

static void stores_by_format(void **state)
{
    (void)state;
    const int32_t numbers[4] = {-1000, 70000, 5, -3};
    float floats[4] = {1.5f, -2, 0, 65536};
    int32_t bits[4];
    memcpy(bits, floats, sizeof bits);
    assert_stored(EXEC_TEXEL_SIGNED, 1, numbers, (int8_t[]){-128, 127, 5, -3});
    assert_stored(EXEC_TEXEL_SIGNED, 2, numbers, (int16_t[]){-1000, 32767, 5, -3});
    assert_stored(EXEC_TEXEL_UNSIGNED, 1, numbers, (uint8_t[]){255, 255, 5, 255});
    assert_stored(EXEC_TEXEL_SIGNED, 4, numbers, numbers);
    assert_stored(EXEC_TEXEL_FLOAT, 4, bits, bits);
    assert_stored(EXEC_TEXEL_FLOAT, 2, bits, (uint16_t[]){0x3e00, 0xc000, 0, 0x7c00});
}

static void says_what_it_is(void **state)
{
    (void)state;
    open_kernels();
    struct exec_texture made = image(EXEC_TEXEL_FLOAT, 1, 4, EXEC_SHAPE_2D), layers = made;
    layers.layered = layers.normalized = true;
    layers.levels[0].depth = 3;
    uint64_t texture = harness_texture(&harness, layers), surface = harness_texture(&harness, made);
    uint64_t out = harness_allocate(&harness, 64);
    harness_run(&harness, "query", 1, 1, 0, ARGUMENTS(&texture, &surface, &out));
    const int32_t want[8] = {WIDTH, HEIGHT, 1, 1, 3, 1, WIDTH, HEIGHT};
    assert_memory_equal(harness_host(&harness, out), want, sizeof want);
    harness_close(&harness);
}

static void assert_trap(int32_t x, int32_t y, enum exec_fault_kind kind)
{
    open_kernels();
    uint64_t surface = harness_texture(&harness, image(EXEC_TEXEL_SIGNED, 1, 4, EXEC_SHAPE_2D));
    enum exec_status status =
        harness_launch(&harness, "trapping", 1, 1, 0, ARGUMENTS(&surface, &x, &y));
    assert_int_equal(status, kind == EXEC_FAULT_NONE ? EXEC_DONE : EXEC_FAULT);
    assert_int_equal(harness.fault.kind, kind);
    harness_close(&harness);
}

static void traps_beyond_the_edges(void **state)
{
    (void)state;
    assert_trap(0, 0, EXEC_FAULT_NONE);
    assert_trap(4 * WIDTH - 4, HEIGHT - 1, EXEC_FAULT_NONE);
    assert_trap(4 * WIDTH, 0, EXEC_FAULT_SURFACE);
    assert_trap(-4, 0, EXEC_FAULT_SURFACE);
    assert_trap(4 * WIDTH - 2, 0, EXEC_FAULT_SURFACE);
    assert_trap(0, HEIGHT, EXEC_FAULT_SURFACE);
    assert_trap(0, -1, EXEC_FAULT_SURFACE);
    assert_trap(2, 0, EXEC_FAULT_MISALIGNED_ADDRESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduces),
        cmocka_unit_test(stores_by_format),
        cmocka_unit_test(says_what_it_is),
        cmocka_unit_test(traps_beyond_the_edges),
    };
    return harness_run_tests(tests);
}
