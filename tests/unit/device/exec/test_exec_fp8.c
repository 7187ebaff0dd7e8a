/* The 8-bit floating-point formats against a table of all their numbers, made from the definition
 * of the formats in PTX ISA 5.2.3. */
#include "tests/unit/device/exec/exec_harness.h"

#include "runtime/device/exec/exec_half.h"

enum { COUNT = 4096 };

static struct harness h;

struct eight {
    const char *name;
    int mantissa, bias, largest; /* bits, exponent's bias, code of the largest number */
};
static const struct eight formats[] = {{"e4m3x2", 3, 7, 0x7e}, {"e5m2x2", 2, 15, 0x7b}};

/* The number of a code without sign that stands for one. */
static double value_of(const struct eight *format, int code)
{
    int exponent = code >> format->mantissa, fraction = code & ((1 << format->mantissa) - 1);
    double unit = ldexp(1.0, -format->mantissa);
    if (exponent == 0)
        return ldexp(fraction * unit, 1 - format->bias);
    return ldexp(1 + fraction * unit, exponent - format->bias);
}

/* The nearest number's code; of two as near, the even one; too large ends at the largest. */
static uint32_t nearest(const struct eight *format, double value, bool relu)
{
    uint32_t sign = signbit(value) ? 0x80 : 0;
    double magnitude = fabs(value), best = INFINITY;
    int found = 0;
    if (value != value)
        return 0x7f;
    if (relu && sign)
        return 0;
    for (int code = 0; code <= format->largest; code++) {
        double distance = fabs(magnitude - value_of(format, code));
        if (distance < best || (distance == best && code % 2 == 0)) {
            best = distance;
            found = code;
        }
    }
    return sign |
           (uint32_t)(magnitude > value_of(format, format->largest) ? format->largest : found);
}

static void open_conversion(const char *conversion, const char *in_bits, const char *out_bits)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version 8.7\n.target sm_90\n.address_size 64\n"
             ".visible .entry convert(.param .u64 po, .param .u64 pa, .param .u64 pb)\n{\n"
             ".reg .b64 %%x<3>; .reg .b32 %%t<4>; .reg .b%s %%a<2>; .reg .b%s %%d;\n"
             "ld.param.u64 %%x0, [po]; ld.param.u64 %%x1, [pa]; ld.param.u64 %%x2, [pb];\n"
             "mov.u32 %%t0, %%tid.x; mov.u32 %%t1, %%ctaid.x; mov.u32 %%t2, %%ntid.x;\n"
             "mad.lo.u32 %%t3, %%t1, %%t2, %%t0;\n"
             "mad.wide.u32 %%x0, %%t3, 4, %%x0; mad.wide.u32 %%x1, %%t3, 4, %%x1;\n"
             "mad.wide.u32 %%x2, %%t3, 4, %%x2;\n"
             "ld.global.b%s %%a0, [%%x1]; ld.global.b%s %%a1, [%%x2];\n"
             "%s\nst.global.b%s [%%x0], %%d; ret;\n}\n",
             in_bits, out_bits, in_bits, in_bits, conversion, out_bits);
    harness_open_text(&h, text);
}

static void convert(uint64_t out, uint64_t a, uint64_t b)
{
    harness_run(&h, "convert", COUNT / 128, 128, 0, ARGUMENTS(&out, &a, &b));
}

/* Numbers near the ends and between the numbers of the formats, and some that are none. */
static float sample(uint32_t i)
{
    static const float special[] = {0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,    448.0f,
                                    464.0f, 465.0f, 57344.0f, 61440.0f,  1e-20f, -1e30f};
    if (i < sizeof special / sizeof *special)
        return special[i];
    uint32_t x = i * 2654435761u;
    float value = ldexpf((float)(x >> 20) / 256.0f, (int)(i % 40) - 24);
    return x & 1 ? value : -value;
}

static void rounds_floats(void **unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++) {
        const struct eight *format = &formats[k % 2];
        bool relu = k >= 2;
        char conversion[128];
        snprintf(conversion, sizeof conversion, "cvt.rn.satfinite%s.%s.f32 %%d, %%a0, %%a1;",
                 relu ? ".relu" : "", format->name);
        open_conversion(conversion, "32", "16");
        uint64_t out = harness_allocate(&h, COUNT * 4), a = harness_allocate(&h, COUNT * 4),
                 b = harness_allocate(&h, COUNT * 4);
        float *high = harness_host(&h, a), *low = harness_host(&h, b);
        for (uint32_t i = 0; i < COUNT; i++) {
            high[i] = sample(i);
            low[i] = sample(COUNT - i);
        }
        convert(out, a, b);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(((uint32_t *)harness_host(&h, out))[i],
                             nearest(format, (double)high[i], relu) << 8 |
                                 nearest(format, (double)low[i], relu));
        harness_close(&h);
    }
}

static void rounds_halves(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        char conversion[128];
        snprintf(conversion, sizeof conversion, "cvt.rn.satfinite.%s.f16x2 %%d, %%a0;",
                 formats[k].name);
        open_conversion(conversion, "32", "16");
        uint64_t out = harness_allocate(&h, COUNT * 4), a = harness_allocate(&h, COUNT * 4);
        uint32_t *pairs = harness_host(&h, a);
        for (uint32_t i = 0; i < COUNT; i++) /* all halves but one in eight */
            pairs[i] = i * 8 | (0xffff - i * 8) << 16;
        convert(out, a, a);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(
                ((uint32_t *)harness_host(&h, out))[i],
                nearest(&formats[k], (double)half_to_float((uint16_t)(pairs[i] >> 16)), false)
                        << 8 |
                    nearest(&formats[k], (double)half_to_float((uint16_t)pairs[i]), false));
        harness_close(&h);
    }
}

static uint32_t half_of(const struct eight *format, uint32_t code)
{
    int magnitude = code & 0x7f;
    bool infinite = format->mantissa == 2 && magnitude == 0x7c;
    if (magnitude > format->largest && !infinite)
        return 0x7fff;
    uint32_t bits = infinite ? 0x7c00 : half_from_double(value_of(format, magnitude));
    return bits | (code & 0x80) << 8;
}

static void widens_every_code(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        char conversion[128];
        snprintf(conversion, sizeof conversion, "cvt.rn.f16x2.%s %%d, %%a0;", formats[k].name);
        open_conversion(conversion, "16", "32");
        uint64_t out = harness_allocate(&h, COUNT * 4), a = harness_allocate(&h, COUNT * 4);
        uint32_t *codes = harness_host(&h, a);
        for (uint32_t i = 0; i < COUNT; i++)
            codes[i] = (i & 0xff) | (i * 7 & 0xff) << 8;
        convert(out, a, a);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(((uint32_t *)harness_host(&h, out))[i],
                             half_of(&formats[k], codes[i] >> 8) << 16 |
                                 half_of(&formats[k], codes[i] & 0xff));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_floats),
                                       cmocka_unit_test(rounds_halves),
                                       cmocka_unit_test(widens_every_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
