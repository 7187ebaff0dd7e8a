/* The formats of fewer than 8 bits against tables of all their numbers, made from the definition of
 * the formats in PTX ISA 5.2.3: conversions, scales, and products of .kind::f8f6f4. */
#include "tests/unit/device/exec/exec_harness.h"

#include "runtime/device/exec/exec_half.h"

enum { COUNT = 2048 };

static struct harness h;

struct narrow {
    const char *name;
    int exponents, mantissa, bias, step, place; /* place: of a number in a byte of a product */
};
static const struct narrow formats[] = {
    {"e2m1", 2, 1, 1, 4, 2}, {"e2m3", 2, 3, 1, 8, 0}, {"e3m2", 3, 2, 3, 8, 0}};

static int codes(const struct narrow *f)
{
    return 1 << (f->exponents + f->mantissa);
}

/* The number of a code without its sign. */
static double value_of(const struct narrow *f, int code)
{
    const int exponent = code >> f->mantissa, fraction = code & ((1 << f->mantissa) - 1);
    const double part = (double)fraction / (1 << f->mantissa);
    return exponent ? ldexp(1 + part, exponent - f->bias) : ldexp(part, 1 - f->bias);
}

static double signed_value(const struct narrow *f, int code)
{
    const double value = value_of(f, code & (codes(f) - 1));
    return code & codes(f) ? -value : value;
}

/* The nearest number; of two as near, the even code; too large ends at the largest. */
static uint32_t nearest(const struct narrow *f, double value, bool relu)
{
    const double size = fmin(fabs(value), value_of(f, codes(f) - 1));
    int found = 0;
    if (value != value)
        return (uint32_t)codes(f) - 1;
    if (relu && signbit(value))
        return 0;
    for (int code = 1; code < codes(f); code++) {
        const double to = fabs(size - value_of(f, code));
        const double before = fabs(size - value_of(f, found));
        if (to < before || (to == before && code % 2 == 0))
            found = code;
    }
    return (uint32_t)found | (signbit(value) ? (uint32_t)codes(f) : 0);
}

static void open_kernel(const char *registers, const char *body)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_100a\n.address_size 64\n"
             ".visible .entry convert(.param .u64 po, .param .u64 pa, .param .u64 pb)\n{\n"
             ".reg .b64 %%x<3>; .reg .b32 %%t<4>; %s\n"
             "ld.param.u64 %%x0, [po]; ld.param.u64 %%x1, [pa]; ld.param.u64 %%x2, [pb];\n"
             "mov.u32 %%t0, %%tid.x; mov.u32 %%t1, %%ctaid.x; mov.u32 %%t2, %%ntid.x;\n"
             "mad.lo.u32 %%t3, %%t1, %%t2, %%t0;\n"
             "mad.wide.u32 %%x0, %%t3, 4, %%x0; mad.wide.u32 %%x1, %%t3, 4, %%x1;\n"
             "mad.wide.u32 %%x2, %%t3, 4, %%x2;\n%s\nret;\n}\n",
             registers, body);
    harness_open_text(&h, text);
}

static void convert(uint64_t out, uint64_t a, uint64_t b)
{
    harness_run(&h, "convert", COUNT / 128, 128, 0, ARGUMENTS(&out, &a, &b));
}

static float sample(uint32_t i)
{
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN,    6.0f,
                                    7.0f, 7.75f, 28.0f,    30.0f,     0.125f, 1e-30f};
    if (i < sizeof special / sizeof *special)
        return special[i];
    const uint32_t x = i * 2654435761u;
    const float value = ldexpf((float)(x >> 22) / 64.0f, (int)(i % 12) - 7);
    return x & 1 ? value : -value;
}

static void rounds_floats(void **unused)
{
    (void)unused;
    for (int k = 0; k < 6; k++) {
        const struct narrow *f = &formats[k % 3];
        const bool relu = k >= 3, byte = f->step == 4;
        char body[512];
        snprintf(body, sizeof body,
                 "ld.global.f32 %%f0, [%%x1]; ld.global.f32 %%f1, [%%x2];\n"
                 "cvt.rn.satfinite%s.%sx2.f32 %%d, %%f0, %%f1; st.global.%s [%%x0], %%d;",
                 relu ? ".relu" : "", f->name, byte ? "b8" : "b16");
        open_kernel(byte ? ".reg .f32 %f<2>; .reg .b8 %d;" : ".reg .f32 %f<2>; .reg .b16 %d;",
                    body);
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
                             nearest(f, (double)high[i], relu) << f->step |
                                 nearest(f, (double)low[i], relu));
        harness_close(&h);
    }
}

static void widens_every_code(void **unused)
{
    (void)unused;
    for (int k = 0; k < 6; k++) {
        const struct narrow *f = &formats[k % 3];
        const bool relu = k >= 3, byte = f->step == 4;
        char body[512];
        snprintf(body, sizeof body,
                 "ld.global.%s %%a, [%%x1];\n"
                 "cvt.rn%s.f16x2.%sx2 %%d, %%a; st.global.b32 [%%x0], %%d;",
                 byte ? "b8" : "b16", relu ? ".relu" : "", f->name);
        open_kernel(byte ? ".reg .b32 %d; .reg .b8 %a;" : ".reg .b32 %d; .reg .b16 %a;", body);
        uint64_t out = harness_allocate(&h, COUNT * 4), a = harness_allocate(&h, COUNT * 4);
        const uint32_t all = 2 * (uint32_t)codes(f);
        uint32_t *pairs = harness_host(&h, a);
        for (uint32_t i = 0; i < COUNT; i++)
            pairs[i] = i % all | i * 7 % all << f->step;
        convert(out, a, a);
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t each[] = {i % all, i * 7 % all};
            for (int j = 0; j < 2; j++) {
                const double value = signed_value(f, (int)each[j]);
                const uint16_t wanted = relu && signbit(value) ? 0 : half_from_double(value);
                assert_int_equal(((uint16_t *)harness_host(&h, out))[2 * i + (uint32_t)j], wanted);
            }
        }
        harness_close(&h);
    }
}

/* Powers of two: down, or up to the next. */
static void scales_are_powers_of_two(void **unused)
{
    (void)unused;
    for (int up = 0; up < 2; up++) {
        char body[512];
        snprintf(body, sizeof body,
                 "ld.global.f32 %%f0, [%%x1]; ld.global.f32 %%f1, [%%x2];\n"
                 "cvt.%s.satfinite.ue8m0x2.f32 %%s, %%f0, %%f1;\n"
                 "cvt.rn.bf16x2.ue8m0x2 %%d, %%s; st.global.b32 [%%x0], %%d;",
                 up ? "rp" : "rz");
        open_kernel(".reg .f32 %f<2>; .reg .b16 %s; .reg .b32 %d;", body);
        uint64_t out = harness_allocate(&h, COUNT * 4), a = harness_allocate(&h, COUNT * 4);
        float *in = harness_host(&h, a);
        for (uint32_t i = 0; i < COUNT; i++)
            in[i] = i % 2 ? ldexpf(1, (int)(i / 2) % 250 - 125)
                          : -ldexpf(1.25f, (int)(i / 2) % 250 - 125);
        in[0] = NAN;
        in[2] = INFINITY;
        in[4] = 0;
        convert(out, a, a);
        for (uint32_t i = 0; i < COUNT; i++) {
            const int power = (int)(i / 2) % 250 - 125;
            uint32_t wanted = bfloat_from_double(ldexp(1, i % 2 ? power : power + up));
            wanted = i == 0   ? 0x7fff
                     : i == 2 ? bfloat_from_double(ldexp(1, 127))
                     : i == 4 ? bfloat_from_double(ldexp(1, -127))
                              : wanted;
            assert_int_equal(((uint32_t *)harness_host(&h, out))[i], wanted << 16 | wanted);
        }
        harness_close(&h);
    }
}

/* Every number of one format times every number of another: A's row i holds a number in its first
 * column, B's column j one in its first row. */
static void check_products(const struct narrow *fa, const struct narrow *fb, int first)
{
    char body[1024];
    snprintf(body, sizeof body,
             "mov.b32 %%z, 0; ld.global.b32 %%a0, [%%x1]; ld.global.b32 %%a1, [%%x1+128];\n"
             "ld.global.b32 %%b0, [%%x2]; mov.f32 %%c, 0f00000000;\n"
             "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.%s.%s.f32 {%%d0, %%d1, %%d2, "
             "%%d3}, {%%a0, %%a1, %%z, %%z}, {%%b0, %%z}, {%%c, %%c, %%c, %%c};\n"
             "st.global.f32 [%%x0], %%d0; st.global.f32 [%%x0+128], %%d1;\n"
             "st.global.f32 [%%x0+256], %%d2; st.global.f32 [%%x0+384], %%d3;",
             fa->name, fb->name);
    open_kernel(".reg .b32 %z, %a<2>, %b<1>; .reg .f32 %c, %d<4>;", body);
    uint64_t out = harness_allocate(&h, 512), a = harness_allocate(&h, 256),
             b = harness_allocate(&h, 128);
    uint32_t *ra = harness_host(&h, a), *rb = harness_host(&h, b);
    for (int row = 0; row < 16; row++)
        ra[row / 8 * 32 + row % 8 * 4] = (uint32_t)((first + row) % (2 * codes(fa))) << fa->place;
    for (int column = 0; column < 8; column++)
        rb[column * 4] = (uint32_t)((first * 3 + column) % (2 * codes(fb))) << fb->place;
    harness_run(&h, "convert", 1, 32, 0, ARGUMENTS(&out, &a, &b));
    const float *d = harness_host(&h, out);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            const double wanted = signed_value(fa, (first + row) % (2 * codes(fa))) *
                                  signed_value(fb, (first * 3 + column) % (2 * codes(fb)));
            const float got = d[(row / 8 * 2 + column % 2) * 32 + row % 8 * 4 + column / 2];
            assert_true((double)got == wanted);
        }
    harness_close(&h);
}

static void products_of_narrow_numbers(void **unused)
{
    (void)unused;
    for (int k = 0; k < 9; k++)
        for (int first = 0; first < 64; first += 8)
            check_products(&formats[k / 3], &formats[k % 3], first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_floats), cmocka_unit_test(widens_every_code),
        cmocka_unit_test(scales_are_powers_of_two), cmocka_unit_test(products_of_narrow_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
