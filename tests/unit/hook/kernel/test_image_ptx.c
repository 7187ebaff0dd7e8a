/* The kernels of an image's PTX, asked for one by one. */
#include "tests/unit/ptx/test_ptx.h"

#include "runtime/hook/kernel/image.h"
#include "runtime/ptx/fatbin.h"

static struct image *image_of(const char *text)
{
    struct image *image = image_of_text(text, strlen(text));
    assert_non_null(image);
    return image;
}

static void assert_has(struct image *image, const char *name)
{
    const struct ptx_function *function = image_function(image, name);
    assert_non_null(function);
    assert_string_equal(function->name, name);
    assert_ptr_equal(image_function(image, name), function);
}

#define KERNEL(name) ".visible .entry " name "(.param .u64 p) { ret; }\n"

static void each_kernel_is_found(void **state)
{
    (void)state;
    struct image *image =
        image_of(HEAD ".global .u32 g;\n.func helper() { ret; }\n" KERNEL("a") KERNEL(
            "b") ".entry c() { .reg .b32 %r<2>; ld.global.u32 %r1, [g]; call helper; ret; }");
    const struct ptx_function *b = image_function(image, "b");
    assert_has(image, "c");
    assert_has(image, "a");
    assert_has(image, "b");
    assert_string_equal(b->name, "b"); /* as it was given out first */
    assert_int_equal(b->param_count, 1);
    assert_null(image_function(image, "helper"));
    assert_null(image_function(image, "d"));
    assert_string_equal(image_problem(image), "");
    image_release(image);
}

/* Which text is read, by the architecture that it is for; 0: it is not what the device runs. */
static uint32_t text_read(const char *file, uint32_t device)
{
    size_t bytes;
    char *data = data_read(file, &bytes);
    struct image *image = image_of_data(data, NULL);
    image_set_device(image, device);
    const struct ptx_function *function = image_function(image, "_Z5firstPii");
    assert_non_null(function);
    const uint32_t target = function->module->target;
    const bool foreign = image_is_foreign(image);
    image_release(image);
    free(data);
    return foreign ? 0 : target;
}

static void the_text_that_the_device_runs_is_read(void **state)
{
    (void)state;
    assert_int_equal(text_read("fatbin.several.fatbin", 0), 100);
    assert_int_equal(text_read("fatbin.several.fatbin", 90), 90);
    assert_int_equal(text_read("fatbin.several.fatbin", 86), 75);
    assert_int_equal(text_read("fatbin.several.fatbin", 103), 100);
    assert_int_equal(text_read("fatbin.library.fatbin", 90), 90);
    assert_int_equal(text_read("fatbin.library.fatbin", 75), 0);
    assert_int_equal(text_read("fatbin.library.fatbin", 86), 0);
    assert_int_equal(text_read("fatbin.lines.cubin", 90), 90);
}

/* It would keep all others from being known, were they read together. */
static void what_cannot_be_read_hides_no_other(void **state)
{
    (void)state;
    struct image *image = image_of(HEAD KERNEL("a") ".entry b() { [ }\n" KERNEL("c")
                                       KERNEL("d") ".entry e() { [ }\n");
    assert_has(image, "a");
    assert_null(image_function(image, "e"));
    assert_non_null(strstr(image_problem(image), "PTX line 8: "));
    assert_null(image_function(image, "b"));
    assert_non_null(strstr(image_problem(image), "PTX line 5: "));
    assert_has(image, "c");
    assert_has(image, "d");
    assert_has(image, "a");
    assert_null(image_function(image, "b"));
    image_release(image);
}

static void kernels_that_name_others_are_read_with_them(void **state)
{
    (void)state;
    struct image *image =
        image_of(HEAD KERNEL("child") ".entry parent() { .reg .b64 %rd<2>; mov.u64 %rd1, child; "
                                      "ret; }\n" KERNEL("other"));
    assert_has(image, "other");
    const struct ptx_function *other = image_function(image, "other");
    assert_has(image, "parent");
    assert_has(image, "child");
    assert_string_equal(image_problem(image), "");
    assert_string_equal(other->name, "other"); /* which is still there */
    image_release(image);
}

/* Declarations are in what is read of each. */
static void a_declaration_is_no_kernel(void **state)
{
    (void)state;
    struct image *image = image_of(
        HEAD ".visible .entry child(.param .u64 p);\n.extern .entry other();\n" KERNEL("a")
            KERNEL("b") ".visible .entry child(.param .u64 p) { st.global.u32 [1], 2; ret; }\n");
    assert_has(image, "a");
    assert_has(image, "child");
    assert_int_equal(image_function(image, "child")->instruction_count, 2);
    assert_null(image_function(image, "other"));
    image_release(image);
}

/* It may be a function whose address another kernel takes. */
static void kernels_that_call_what_others_know_are_read_with_them(void **state)
{
    (void)state;
    struct image *image = image_of(
        HEAD
        ".global .u64 slot;\n.func f() { ret; }\n"
        ".entry takes() { .reg .b64 %rd<2>; mov.u64 %rd1, f; st.global.u64 [slot], %rd1; ret; }\n"
        ".entry calls() { .reg .b64 %rd<2>; ld.global.u64 %rd1, [slot];\n"
        "P: .callprototype ()_ (); call %rd1, (), P; ret; }\n" KERNEL("other"));
    assert_has(image, "other");
    const struct ptx_function *calls = image_function(image, "calls");
    assert_non_null(calls);
    assert_ptr_equal(calls->module, image_function(image, "takes")->module);
    image_release(image);
}

static void a_pragma_may_stand_before_the_body(void **state)
{
    (void)state;
    struct image *image =
        image_of(HEAD ".entry a()\n.pragma \"nounroll\";\n{ ret; }\n" KERNEL("b"));
    assert_has(image, "a");
    assert_string_equal(image_problem(image), "");
    image_release(image);
}

/* What stands outside of kernels is not read again and again. */
static void what_is_read_for_kernels_is_no_more_than_all(void **state)
{
    (void)state;
    enum { FUNCTIONS = 100, KERNELS = 10, ROOM = 10000 };
    char text[ROOM], *end = stpcpy(text, HEAD), name[16];
    for (int i = 0; i < FUNCTIONS; i++)
        end += sprintf(end, ".func f%d() { ret; }\n", i);
    for (int i = 0; i < KERNELS; i++)
        end += sprintf(end, ".entry k%d() { ret; }\n", i);
    struct image *image = image_of(text);
    const struct ptx_function *first = image_function(image, "k0"),
                              *second = image_function(image, "k1");
    assert_int_equal(first->module->function_count, FUNCTIONS + 1);
    for (int i = 1; i < KERNELS; i++) {
        sprintf(name, "k%d", i);
        assert_has(image, name);
        assert_ptr_equal(image_function(image, name)->module, second->module);
    }
    assert_int_equal(second->module->function_count, FUNCTIONS + KERNELS);
    assert_string_equal(first->name, "k0"); /* which is still there */
    image_release(image);
}

static void a_name_within_another_is_none(void **state)
{
    (void)state;
    struct image *image = image_of(HEAD KERNEL("kernel_of") KERNEL("b"));
    assert_null(image_function(image, "kernel"));
    assert_null(image_function(image, "ernel_of"));
    const struct ptx_function *b = image_function(image, "b");
    assert_int_equal(b->module->function_count, 1); /* it was not read as a whole for that */
    image_release(image);
}

/* The newest is read, the others are let go of. */
static void of_several_architectures_one_is_kept(void **state)
{
    (void)state;
    struct image *image = image_of_file(PTX_DATA "fatbin.several.fatbin");
    assert_non_null(image);
    assert_has(image, "_Z5firstPii");
    assert_int_equal(image_function(image, "_Z5firstPii")->module->target, 100);
    assert_true(image_mentions(image, "_Z6secondPff"));
    assert_false(image_mentions(image, "third"));
    assert_null(image_function(image, "third"));
    assert_has(image, "_Z6secondPff");
    image_release(image);
}

static void units_are_read_together(void **state)
{
    (void)state;
    size_t bytes;
    char *a = data_read("unit_a.relfatbin", &bytes), *b = data_read("unit_b.relfatbin", &bytes);
    const void *list[] = {a, b, NULL};
    const struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 2, NULL, list};
    struct image *image = image_of_data(&wrapper, NULL);
    assert_non_null(image);
    assert_has(image, "_Z6from_aPi");
    const struct ptx_function *other =
        ptx_module_function(image_function(image, "_Z6from_aPi")->module, "_Z5otheri");
    assert_non_null(other);
    assert_false(other->is_prototype);
    image_release(image);
    free(a);
    free(b);
}

static void why_nothing_can_be_read_is_said(void **state)
{
    (void)state;
    struct image *image = image_of(HEAD KERNEL("a") ".entry b() { {");
    assert_null(image_function(image, "a"));
    assert_true(*image_problem(image));
    image_release(image);
}

static void variables_are_distinguished(struct image *image)
{
    assert_int_equal(image_variable(image, "taps"), IMAGE_VARIABLE_CONSTANT);
    assert_int_equal(image_variable(image, "sum"), IMAGE_VARIABLE_DEVICE);
    assert_int_equal(image_variable(image, "shared"), IMAGE_VARIABLE_MANAGED);
    assert_int_equal(image_variable(image, "tap"), IMAGE_VARIABLE_UNKNOWN);
    assert_int_equal(image_variable(image, "last"), IMAGE_VARIABLE_DEVICE);
    assert_int_equal(image_variable(image, "a"), IMAGE_VARIABLE_UNKNOWN);
}

/* Before and after the text was read. */
static void variables_have_their_kinds(void **state)
{
    (void)state;
    struct image *image =
        image_of(HEAD ".visible .const .align 4 .b8 taps[64];\n"
                      ".global .align 8 .u64 sum[1] = {taps};\n"
                      ".visible .global .attribute(.managed) .align 4 .u32 shared;\n" KERNEL(
                          "a") ".global .align 4 .u32 last;\n" KERNEL("b"));
    variables_are_distinguished(image);
    assert_has(image, "a");
    variables_are_distinguished(image);
    assert_null(image_function(image, "taps")); /* read as a whole */
    variables_are_distinguished(image);
    image_release(image);
    assert_int_equal(image_variable(NULL, "taps"), IMAGE_VARIABLE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_is_found),
        cmocka_unit_test(the_text_that_the_device_runs_is_read),
        cmocka_unit_test(variables_have_their_kinds),
        cmocka_unit_test(what_cannot_be_read_hides_no_other),
        cmocka_unit_test(kernels_that_name_others_are_read_with_them),
        cmocka_unit_test(a_declaration_is_no_kernel),
        cmocka_unit_test(kernels_that_call_what_others_know_are_read_with_them),
        cmocka_unit_test(a_pragma_may_stand_before_the_body),
        cmocka_unit_test(what_is_read_for_kernels_is_no_more_than_all),
        cmocka_unit_test(a_name_within_another_is_none),
        cmocka_unit_test(of_several_architectures_one_is_kept),
        cmocka_unit_test(units_are_read_together),
        cmocka_unit_test(why_nothing_can_be_read_is_said),
    };
    return cmocka_run_group_tests_name("image_ptx", tests, NULL, NULL);
}
