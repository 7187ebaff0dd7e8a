/* Operators from summaries: what a kernel's code does not read of its parameters is no part of its
 * launches' keys, however few parameters there are. */
#include "tests/unit/hook/hook_operators.h"
#include "tests/unit/hook/tracer/fake_cubin.h"

#include <sys/mman.h>

/* Among the program's constants, where images lie that nvcc embeds; tests fill it. */
static const uint8_t image[FAKE_CUBIN_BYTES] __attribute__((aligned(4096))) = {1};

static const struct instruction pointers[] = {
    FAKE_LDC64(FAKE_PARAMS_AT), FAKE_LDC64(FAKE_PARAMS_AT + 8), {0x794d, 0x3800000} /* EXIT */};
static const struct instruction pointers_and_byte[] = {
    FAKE_LDC64(FAKE_PARAMS_AT),
    FAKE_LDC64(FAKE_PARAMS_AT + 8),
    {UINT64_C(0xff007b82) | (uint64_t)(FAKE_PARAMS_AT + 16) << 38, 0},
    {0x794d, 0x3800000}};

/* Of three parameters of eight bytes. */
static CUfunction kernel_of(const struct instruction *code, uint32_t count)
{
    static int number;
    char name[32];
    CUmodule module;
    CUfunction f;
    snprintf(name, sizeof name, "coded%d", ++number);
    uint8_t *const bytes = (uint8_t *)(uintptr_t)image;
    const struct fake_function function = {name, 1, 24, code, count};
    assert_int_equal(mprotect(bytes, sizeof image, PROT_READ | PROT_WRITE), 0);
    fake_cubin(bytes, &function, 1);
    fake_set_architecture(90);
    OK(cuModuleLoadData(&module, bytes));
    OK(cuModuleGetFunction(&f, module, name));
    fake_set_parameters(3);
    return f;
}

#define KERNEL(code) kernel_of(code, sizeof(code) / sizeof *(code))

/* A member that is empty, and passed by value, has a byte that nobody sets. */
static void a_number_that_is_not_read(void **state)
{
    (void)state;
    CUfunction f = KERNEL(pointers);
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    launch(f, from, to, 64 | 0x4b, s);
    launch(f, from, to, 1000, s);
    assert_false(source.asked);
}

static void the_rest_of_a_word_that_is_read_in_part(void **state)
{
    (void)state;
    CUfunction f = KERNEL(pointers_and_byte);
    CUdeviceptr from = device(BYTES), to = device(BYTES);
    CUstream s = non_blocking();
    copies_until_rest(f, from, to, 64, s);
    launch(f, from, to, 64 | UINT64_C(0x12345600), s);
    assert_false(source.asked);
    launch(f, from, to, 65, s);
    assert_true(source.asked);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_number_that_is_not_read, setup),
        cmocka_unit_test_setup(the_rest_of_a_word_that_is_read_in_part, setup),
    };
    return operators_main(argc, argv, "access=auto:", tests, sizeof tests / sizeof *tests);
}
