/* The engine's textures: what a fetch gives at each coordinate, and which bytes it reads. */
#include "tests/unit/device/exec/exec_harness.h"

#include <math.h>

enum { LANES = 32 };

static struct harness harness;

static void open_kernels(void)
{
    harness_open(&harness, "texture");
    harness.touches = true;
}

/* Memory of the device with these bytes. */
static uint64_t memory_of(const void *bytes, size_t count)
{
    uint64_t address = harness_allocate(&harness, count);
    memcpy(harness_host(&harness, address), bytes, count);
    return address;
}

/* Runs fetch_NAME for `lanes` indices; the results lie at the address that is returned. */
static const void *fetched(const char *name, uint64_t texture, const int *index, uint32_t lanes)
{
    uint64_t at = memory_of(index, lanes * sizeof *index);
    uint64_t out = harness_allocate(&harness, LANES * 16);
    harness_run(&harness, name, 1, lanes, 0, ARGUMENTS(&texture, &out, &at));
    return harness_host(&harness, out);
}

/* Bytes of [base, base + bytes) that the last launch read. */
static uint64_t bytes_read(uint64_t base, uint64_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < harness.range_count; i++) {
        const struct device_trace_range *range = &harness.ranges[i];
        uint64_t all = range->bytes;
        for (uint32_t d = 0; d < range->dims; d++)
            all *= range->count[d];
        if (range->kind == DEVICE_TRACE_READ && range->address - base < bytes)
            sum += all;
    }
    return sum;
}

static struct exec_texture linear(uint64_t base, uint64_t width, enum exec_texel texel,
                                  uint8_t channels, uint8_t channel_bytes)
{
    return (struct exec_texture){
        .levels[0] = {.base = base, .width = (uint32_t)width, .height = 1, .depth = 1},
        .level_count = 1,
        .shape = EXEC_SHAPE_LINEAR,
        .texel = (uint8_t)texel,
        .channels = channels,
        .channel_bytes = channel_bytes};
}

static void fetches_by_index(void **state)
{
    (void)state;
    const float texels[4] = {1.5f, -2, 1e30f, 4};
    const int index[8] = {0, 3, 2, 1, 4, -1, INT32_MAX, INT32_MIN};
    open_kernels();
    uint64_t base = memory_of(texels, sizeof texels);
    uint64_t t = harness_texture(&harness, linear(base, 4, EXEC_TEXEL_FLOAT, 1, 4));
    const float *got = fetched("fetch_float", t, index, 8);
    const float want[8] = {1.5f, 4, 1e30f, -2}; /* outside: zero */
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(bytes_read(base, sizeof texels), sizeof texels);
    fetched("fetch_float", t, (int[]){2, 2, 7}, 3);
    assert_int_equal(bytes_read(base, sizeof texels), 4);
    harness_close(&harness);
}

static void texels_of_every_format(void **state)
{
    (void)state;
    const int index[2] = {0, 1};
    const int32_t ints[2] = {-7, INT32_MAX};
    const int16_t shorts[4] = {-32768, 32767, -1, 2};
    const uint8_t bytes[8] = {0, 255, 51, 1, 9, 8, 7, 6};
    const uint16_t halves[2] = {0x3c00, 0xc500};
    open_kernels();
    uint64_t t =
        harness_texture(&harness, linear(memory_of(ints, sizeof ints), 2, EXEC_TEXEL_SIGNED, 1, 4));
    assert_memory_equal(fetched("fetch_int", t, index, 2), ints, sizeof ints);
    t = harness_texture(&harness,
                        linear(memory_of(shorts, sizeof shorts), 2, EXEC_TEXEL_SIGNED, 2, 2));
    const int32_t *wide = fetched("fetch_short2", t, index, 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(wide[i], shorts[i]);
    t = harness_texture(&harness,
                        linear(memory_of(bytes, sizeof bytes), 2, EXEC_TEXEL_UNSIGNED, 4, 1));
    const uint32_t *quads = fetched("fetch_uchar4", t, index, 2);
    for (int i = 0; i < 8; i++)
        assert_int_equal(quads[i], bytes[i]);
    t = harness_texture(&harness,
                        linear(memory_of(halves, sizeof halves), 2, EXEC_TEXEL_FLOAT, 1, 2));
    const float *floats = fetched("fetch_float", t, index, 2);
    assert_true(floats[0] == 1 && floats[1] == -5);
    harness_close(&harness);
}

/* cudaReadModeNormalizedFloat: the least signed number is -1, as the one above it. */
static void texels_scaled_to_one(void **state)
{
    (void)state;
    const int index[2] = {0, 1};
    const uint8_t bytes[8] = {0, 255, 51, 102, 0, 0, 0, 255};
    const int16_t shorts[2] = {-32768, 32767};
    open_kernels();
    struct exec_texture texture =
        linear(memory_of(bytes, sizeof bytes), 2, EXEC_TEXEL_UNSIGNED, 4, 1);
    texture.scaled = true;
    const float *got = fetched("fetch_float4", harness_texture(&harness, texture), index, 2);
    for (int i = 0; i < 8; i++)
        assert_true(got[i] == (float)bytes[i] / 255);
    texture = linear(memory_of(shorts, sizeof shorts), 2, EXEC_TEXEL_SIGNED, 1, 2);
    texture.scaled = true;
    got = fetched("fetch_float", harness_texture(&harness, texture), index, 2);
    assert_true(got[0] == -1 && got[1] == 1);
    harness_close(&harness);
}

static void lanes_apart_and_textures_apart(void **state)
{
    (void)state;
    float left[LANES], right[LANES];
    open_kernels();
    for (int i = 0; i < LANES; i++) {
        left[i] = (float)i;
        right[i] = (float)(100 + i);
    }
    uint64_t a = memory_of(left, sizeof left), b = memory_of(right, sizeof right);
    uint64_t ta = harness_texture(&harness, linear(a, LANES, EXEC_TEXEL_FLOAT, 1, 4));
    uint64_t tb = harness_texture(&harness, linear(b, LANES, EXEC_TEXEL_FLOAT, 1, 4));
    uint64_t out = harness_allocate(&harness, sizeof left);
    harness_run(&harness, "fetch_some", 1, LANES, 0, ARGUMENTS(&ta, &tb, &out));
    const float *got = harness_host(&harness, out);
    for (int i = 0; i < LANES; i++)
        assert_true(got[i] == (i & 1 ? (float)(i & 2 ? i : 100 + i) : 0));
    assert_int_equal(bytes_read(a, sizeof left), LANES / 4 * 4);
    assert_int_equal(bytes_read(b, sizeof right), LANES / 4 * 4);
    harness_close(&harness);
}

/* A texture of 4 x 2 texels of value 10 * row + column, in rows of 8. */
static struct exec_texture image(enum exec_address_mode mode, bool normalized)
{
    const float texels[16] = {0, 1, 2, 3, 99, 99, 99, 99, 10, 11, 12, 13, 99, 99, 99, 99};
    struct exec_texture texture =
        linear(memory_of(texels, sizeof texels), 4, EXEC_TEXEL_FLOAT, 1, 4);
    texture.shape = EXEC_SHAPE_2D;
    texture.levels[0].height = 2;
    texture.levels[0].pitch = 32;
    texture.modes[0] = texture.modes[1] = (uint8_t)mode;
    texture.normalized = normalized;
    return texture;
}

static void assert_points(enum exec_address_mode mode, bool normalized, const float (*at)[2],
                          const float *want, uint32_t count)
{
    open_kernels();
    struct exec_texture made = image(mode, normalized);
    uint64_t texture = harness_texture(&harness, made);
    uint64_t points = memory_of(at, count * sizeof *at);
    uint64_t out = harness_allocate(&harness, count * sizeof(float));
    harness_run(&harness, "point", 1, count, 0, ARGUMENTS(&texture, &out, &points));
    const float *got = harness_host(&harness, out);
    for (uint32_t i = 0; i < count; i++)
        if (got[i] != want[i])
            fail_msg("mode %d: (%g, %g) gives %g, not %g", mode, (double)at[i][0], (double)at[i][1],
                     (double)got[i], (double)want[i]);
    assert_in_range(bytes_read(made.levels[0].base, 64), 4, 32); /* nothing between the rows */
    harness_close(&harness);
}

static void points_by_address_mode(void **state)
{
    (void)state;
    const float texels[][2] = {{0, 0},         {3.99f, 1.5f}, {2.5f, 0.2f}, {-1, 5},
                               {1e30f, -0.5f}, {NAN, 1},      {-1e30f, 0},  {4, 2}};
    assert_points(EXEC_ADDRESS_CLAMP, false, texels, (float[]){0, 13, 2, 10, 3, 10, 0, 13}, 8);
    assert_points(EXEC_ADDRESS_BORDER, false, texels, (float[]){0, 13, 2, 0, 0, 0, 0, 0}, 8);
    /* without normalized coordinates these clamp */
    assert_points(EXEC_ADDRESS_WRAP, false, texels, (float[]){0, 13, 2, 10, 3, 10, 0, 13}, 8);
    const float shares[][2] = {{0, 0},           {0.5f, 0.5f},   {0.99f, 0.99f}, {1.3f, 0},
                               {-0.125f, 0.75f}, {2.5f, -0.25f}, {1, 1}};
    assert_points(EXEC_ADDRESS_CLAMP, true, shares, (float[]){0, 12, 13, 3, 10, 2 + 1, 13}, 7);
    assert_points(EXEC_ADDRESS_WRAP, true, shares, (float[]){0, 12, 13, 1, 13, 12, 0}, 7);
    assert_points(EXEC_ADDRESS_MIRROR, true, shares, (float[]){0, 12, 13, 2, 10, 2, 13}, 7);
    assert_points(EXEC_ADDRESS_BORDER, true, shares, (float[]){0, 12, 13, 0, 0, 0, 0}, 7);
}

static void bad_textures_are_faults(void **state)
{
    (void)state;
    const int index[1] = {0};
    open_kernels();
    uint64_t at = memory_of(index, sizeof index), out = harness_allocate(&harness, 64);
    uint64_t none = 77;
    uint64_t flat = harness_texture(&harness, image(EXEC_ADDRESS_CLAMP, false));
    uint64_t freed = harness_texture(&harness, linear(at + (1 << 20), 4, EXEC_TEXEL_FLOAT, 1, 4));
    assert_int_equal(harness_launch(&harness, "fetch_float", 1, 1, 0, ARGUMENTS(&none, &out, &at)),
                     EXEC_FAULT);
    assert_int_equal(harness.fault.kind, EXEC_FAULT_ILLEGAL_INSTRUCTION);
    assert_int_equal(harness_launch(&harness, "fetch_float", 1, 1, 0, ARGUMENTS(&flat, &out, &at)),
                     EXEC_FAULT);
    assert_int_equal(harness.fault.kind, EXEC_FAULT_ILLEGAL_INSTRUCTION);
    assert_int_equal(harness_launch(&harness, "fetch_float", 1, 1, 0, ARGUMENTS(&freed, &out, &at)),
                     EXEC_FAULT);
    assert_int_equal(harness.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
    harness_close(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetches_by_index),       cmocka_unit_test(texels_of_every_format),
        cmocka_unit_test(texels_scaled_to_one),   cmocka_unit_test(lanes_apart_and_textures_apart),
        cmocka_unit_test(points_by_address_mode), cmocka_unit_test(bad_textures_are_faults),
    };
    return harness_run_tests(tests);
}
