/* redux.sync against plain loops: integers, and the minima and maxima of floats with their .abs and
 * .NaN (PTX ISA, "redux.sync"), over random lanes. */
#include "tests/unit/device/exec/exec_harness.h"

#include <math.h>

enum { ROUNDS = 200 };

static struct harness h;

struct form {
    const char *name;
    bool most, absolute, nan;
};
static const struct form forms[] = {
    {"min.f32", false, false, false},    {"max.f32", true, false, false},
    {"min.abs.f32", false, true, false}, {"max.abs.f32", true, true, false},
    {"min.NaN.f32", false, false, true}, {"max.abs.NaN.f32", true, true, true},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void open_kernel(const char *operation)
{
    char text[1024];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_100a\n.address_size 64\n"
             ".visible .entry k(.param .u64 po, .param .u64 pa, .param .u32 pm)\n{\n"
             ".reg .b64 %%x<2>; .reg .b32 %%t<5>; .reg .pred %%p;\n"
             "ld.param.u64 %%x0, [po]; ld.param.u64 %%x1, [pa]; ld.param.u32 %%t1, [pm];\n"
             "mov.u32 %%t0, %%laneid; mad.wide.u32 %%x0, %%t0, 4, %%x0;\n"
             "mad.wide.u32 %%x1, %%t0, 4, %%x1; ld.global.b32 %%t2, [%%x1];\n"
             "shr.u32 %%t3, %%t1, %%t0; and.b32 %%t3, %%t3, 1; setp.eq.u32 %%p, %%t3, 0;\n"
             "@%%p bra OUT;\nredux.sync.%s %%t4, %%t2, %%t1;\nst.global.b32 [%%x0], %%t4;\n"
             "OUT:\nret;\n}\n",
             operation);
    harness_open_text(&h, text);
}

static void run(uint32_t mask, const uint32_t *in, uint32_t *result)
{
    uint64_t out = harness_allocate(&h, 128), a = harness_allocate(&h, 128);
    memset(harness_host(&h, out), 0xee, 128);
    memcpy(harness_host(&h, a), in, 128);
    harness_run(&h, "k", 1, 32, 0, ARGUMENTS(&out, &a, &mask));
    memcpy(result, harness_host(&h, out), 128);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? 0x7fffffff : bits;
}

static float draw(void)
{
    static const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-40f, -1e-40f};
    const int which = rand() % 12;
    return which < 7 ? special[which] : (float)(rand() % 201 - 100) / 8;
}

/* By order: -0 comes before +0. */
static uint32_t expected_of(const struct form *form, uint32_t mask, const float *in)
{
    bool any = false, nan = false;
    float best = 0;
    for (int l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            continue;
        const float value = form->absolute ? fabsf(in[l]) : in[l];
        nan |= value != value;
        if (value != value)
            continue;
        const bool before = value < best || (value == best && signbit(value) && !signbit(best));
        const bool after = value > best || (value == best && !signbit(value) && signbit(best));
        if (!any || (form->most ? after : before))
            best = value;
        any = true;
    }
    return !any || (nan && form->nan) ? 0x7fffffff : bits_of(best);
}

static void floats_by_the_book(void **unused)
{
    (void)unused;
    srand(7);
    for (int f = 0; f < FORMS; f++) {
        for (int round = 0; round < ROUNDS / FORMS; round++) {
            float in[32];
            uint32_t got[32];
            const uint32_t mask = round % 4 ? (uint32_t)rand() * 2654435761u | 1 : 0xffffffff;
            const bool nothing = round % 8 == 7; /* but NaNs */
            for (int l = 0; l < 32; l++)
                in[l] = nothing ? NAN : draw();
            open_kernel(forms[f].name);
            run(mask, (const uint32_t *)(const void *)in, got);
            const uint32_t expected = expected_of(&forms[f], mask, in);
            for (int l = 0; l < 32; l++)
                if (got[l] != (mask >> l & 1 ? expected : 0xeeeeeeee))
                    fail_msg("%s: lane %d has %08x, not %08x", forms[f].name, l, got[l], expected);
            harness_close(&h);
        }
    }
}

static void integers_by_the_book(void **unused)
{
    (void)unused;
    static const char *const names[] = {"add.u32", "min.s32", "max.u32",
                                        "and.b32", "or.b32",  "xor.b32"};
    srand(8);
    for (int f = 0; f < 6; f++) {
        uint32_t in[32], got[32];
        const uint32_t mask = (uint32_t)rand() | 1u;
        for (int l = 0; l < 32; l++)
            in[l] = (uint32_t)rand() * 2654435761u;
        uint32_t expected = in[0];
        for (int l = 1; l < 32; l++) {
            const uint32_t x = in[l];
            if (!(mask >> l & 1))
                continue;
            expected = f == 0   ? expected + x
                       : f == 1 ? ((int32_t)x < (int32_t)expected ? x : expected)
                       : f == 2 ? (x > expected ? x : expected)
                       : f == 3 ? (expected & x)
                       : f == 4 ? (expected | x)
                                : expected ^ x;
        }
        open_kernel(names[f]);
        run(mask, in, got);
        for (int l = 0; l < 32; l++)
            assert_int_equal(got[l], mask >> l & 1 ? expected : 0xeeeeeeee);
        harness_close(&h);
    }
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    static const char *const others[] = {"add.f32", "and.f32", "min.f64"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char message[512];
        open_kernel(others[i]);
        assert_false(exec_prepare(h.image, harness_kernel(&h, "k"), message, sizeof message));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats_by_the_book),
                                       cmocka_unit_test(integers_by_the_book),
                                       cmocka_unit_test(other_forms_are_refused)};
    return harness_run_tests(tests);
}
