/* What a channel of a fetch is: single texels of every format, the border, and sums as they were
 * measured on an H200. */
#include "runtime/device/exec/exec_half.h"
#include "runtime/device/exec/texture/filter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct exec_texture texture_of(enum exec_texel texel, uint8_t channel_bytes)
{
    return (struct exec_texture){.texel = (uint8_t)texel,
                                 .channels = 1,
                                 .channel_bytes = channel_bytes,
                                 .scaled = texel != EXEC_TEXEL_FLOAT,
                                 .linear = true};
}

/* The sum of numbers with weights; the last weight is what is left. NULL: the border. */
static float sum_of(const struct exec_texture *texture, unsigned count, const int *const *numbers,
                    const unsigned *weights)
{
    struct sampler_tap taps[SAMPLER_TAPS];
    const uint8_t *texels[SAMPLER_TAPS];
    unsigned rest = SAMPLER_ONE;
    for (unsigned k = 0; k < count; k++) {
        taps[k].weight = k + 1 < count ? weights[k] : rest;
        rest -= taps[k].weight;
        texels[k] = (const uint8_t *)numbers[k];
    }
    return float_from_bits(filter_sum(texture, taps, texels, count, 0));
}

static float single(const struct exec_texture *texture, int number)
{
    return sum_of(texture, 1, (const int *const[]){&number}, (const unsigned[]){SAMPLER_ONE});
}

static float pair(const struct exec_texture *texture, int a, unsigned weight, int b)
{
    return sum_of(texture, 2, (const int *const[]){&a, &b}, (const unsigned[]){weight});
}

static void sums_of_floats_are_exact(void **unused)
{
    (void)unused;
    struct exec_texture texture = texture_of(EXEC_TEXEL_FLOAT, 4);
    int a, b;
    memcpy(&a, &(float){3}, sizeof a);
    memcpy(&b, &(float){60}, sizeof b);
    assert_true(pair(&texture, a, 1, b) == 60 - 57 / 256.0f);
    assert_true(isnan(single(&texture, 0x7fc00000)));
}

/* 8 bits without a sign are repeated to make 16; those with one nearly so. */
static void scaled_numbers_as_measured(void **unused)
{
    (void)unused;
    const struct exec_texture bytes = texture_of(EXEC_TEXEL_UNSIGNED, 1);
    const struct exec_texture chars = texture_of(EXEC_TEXEL_SIGNED, 1);
    const struct exec_texture words = texture_of(EXEC_TEXEL_UNSIGNED, 2);
    const struct exec_texture shorts = texture_of(EXEC_TEXEL_SIGNED, 2);
    for (int i = 0; i < 256; i++)
        assert_true(single(&bytes, i) == (float)i / 255);
    for (int i = 0; i < 65536; i++)
        assert_true(single(&words, i) == (float)i / 65535);
    static const int linear[][2] = {{-128, -32767}, {-127, -32767}, {-126, -32509}, {-65, -16771},
                                    {-64, -16512},  {-60, -15480},  {-7, -1806},    {0, 0},
                                    {1, 258},       {63, 16254},    {64, 16513},    {127, 32767}};
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
        assert_true(single(&chars, linear[i][0]) == (float)linear[i][1] / 32767);
    assert_true(single(&shorts, -32768) == -1);
    assert_true(pair(&bytes, 0, 128, 255) == 32768 / 65535.0f);
    assert_true(pair(&chars, -128, 128, 127) == -129 / 32767.0f);
    assert_true(pair(&shorts, -32768, 128, 32767) == 0);
}

/* Sums of one channel of 8 bits with a sign, in units of 1/256, and the numbers of 16 bits that
 * they were seen to become. */
static void signed_sums_as_measured(void **unused)
{
    (void)unused;
    static const int sums[][2] = {{62, 62},       {192, 194},       {831, 837},      {832, 839},
                                  {15887, 16011}, {15888, 16013},   {16384, 16513},  {-48, -48},
                                  {-50, -51},     {-432, -435},     {-433, -437},    {-816, -822},
                                  {-817, -824},   {-16384, -16512}, {-16385, -16514}};
    const struct exec_texture texture = texture_of(EXEC_TEXEL_SIGNED, 1);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const int low = (int)floor(sums[i][0] / 256.0), high = low + 1;
        const unsigned weight = (unsigned)(sums[i][0] - low * 256);
        const float got = weight ? pair(&texture, high, weight, low) : single(&texture, low);
        if (got != (float)sums[i][1] / 32767)
            fail_msg("%d: %g, not %d", sums[i][0], (double)got * 32767, sums[i][1]);
    }
}

/* Two channels, the first one's weight, and the sum in units of 2^-15. */
static void srgb_as_measured(void **unused)
{
    (void)unused;
    struct exec_texture texture = texture_of(EXEC_TEXEL_UNSIGNED, 1);
    texture.srgb = true;
    static const int singles[][2] = {{1, 10},      {31, 448},   {32, 472},  {63, 1632},
                                     {64, 1680},   {94, 3664},  {97, 3904}, {188, 16512},
                                     {252, 32000}, {255, 32768}};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        assert_int_equal(single(&texture, singles[i][0]) * 32768, singles[i][1]);
    static const float pairs[][4] = {
        {28, 255, 242, 368.5f}, {21, 90, 32, 391.75f}, {8, 20, 0, 6.25f},
        {22, 30, 22, 262},      {245, 63, 229, 26768},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const float *p = pairs[i];
        const float got = pair(&texture, (int)p[0], (unsigned)p[1], (int)p[2]);
        if (got != p[3] / 32768)
            fail_msg("sRGB %g and %g: %.9g, not %g", (double)p[0], (double)p[2],
                     (double)got * 32768, (double)p[3]);
    }
}

/* A color of 1/2 is stored as the format's number below it, but as the nearest sRGB. */
static void borders_as_measured(void **unused)
{
    (void)unused;
    static const struct {
        enum exec_texel texel;
        uint8_t bytes;
        float point, linear;
    } formats[] = {
        {EXEC_TEXEL_UNSIGNED, 1, 127 / 255.0f, 127 / 255.0f},
        {EXEC_TEXEL_SIGNED, 1, 63 / 127.0f, 16254 / 32767.0f},
        {EXEC_TEXEL_UNSIGNED, 2, 32767 / 65535.0f, 32767 / 65535.0f},
        {EXEC_TEXEL_SIGNED, 2, 16383 / 32767.0f, 16383 / 32767.0f},
        {EXEC_TEXEL_FLOAT, 4, 0.5f, 0.5f},
    };
    const int *const outside[] = {NULL};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct exec_texture texture = texture_of(formats[i].texel, formats[i].bytes);
        texture.border[0] = float_bits(0.5f);
        assert_true(sum_of(&texture, 1, outside, (const unsigned[]){SAMPLER_ONE}) ==
                    formats[i].linear);
        assert_true(float_from_bits(filter_gathered(&texture, NULL, 0)) == formats[i].linear);
        texture.linear = false;
        assert_true(sum_of(&texture, 1, outside, (const unsigned[]){SAMPLER_ONE}) ==
                    formats[i].point);
    }
    struct exec_texture texture = texture_of(EXEC_TEXEL_UNSIGNED, 1);
    texture.srgb = true;
    texture.border[0] = float_bits(0.5f);
    assert_true(sum_of(&texture, 1, outside, (const unsigned[]){SAMPLER_ONE}) == 16512 / 32768.0f);
    for (size_t i = 0; i < 3; i++) { /* colors that no format has */
        texture.border[0] = float_bits((float[]){NAN, -1, 7}[i]);
        assert_true(sum_of(&texture, 1, outside, (const unsigned[]){SAMPLER_ONE}) ==
                    (i == 2 ? 1 : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_floats_are_exact), cmocka_unit_test(scaled_numbers_as_measured),
        cmocka_unit_test(signed_sums_as_measured),  cmocka_unit_test(srgb_as_measured),
        cmocka_unit_test(borders_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
