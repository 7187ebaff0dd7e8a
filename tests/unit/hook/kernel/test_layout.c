/* Layouts of parameters: by PTX, by the driver, by neither; and parameters passed both ways. */
#include "runtime/hook/kernel/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The driver: a char, a pointer and a pair of ints. */
static int reported;
static CUresult at_end = CUDA_ERROR_INVALID_VALUE;

static CUresult ask(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    static const struct layout_parameter places[] = {{0, 1}, {8, 8}, {16, 8}};
    (void)function;
    if (index >= sizeof places / sizeof *places)
        return at_end;
    *offset = places[index].offset;
    *bytes = places[index].bytes;
    return CUDA_SUCCESS;
}

void *driver_function_cached(void **slot, const char *symbol)
{
    if (reported && strcmp(symbol, "cuFuncGetParamInfo") == 0)
        *slot = (void *)ask;
    return *slot;
}

static const uint8_t wanted[24] = {'c', 0, 0, 0, 0, 0,  0, 0, 1, 2, 3,
                                   4,   5, 6, 7, 8, 10, 0, 0, 0, 20};
static const char letter = 'c';
static const uint8_t pointer[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const int pair[2] = {10, 20};

static void an_old_driver_says_nothing(void **state)
{
    (void)state;
    struct layout layout;
    layout_symbols_find();
    assert_false(layout_find(&layout, NULL, NULL));
}

static void the_driver_says_where_they_lie(void **state)
{
    (void)state;
    struct layout layout;
    uint8_t bytes[24];
    reported = 1;
    layout_symbols_find();
    assert_true(layout_find(&layout, NULL, NULL));
    assert_int_equal(layout.bytes, 24);
    assert_int_equal(layout.count, 3);
    memset(bytes, 0xff, sizeof bytes);
    void *parameters[] = {(void *)&letter, (void *)pointer, (void *)pair};
    assert_true(layout_copy(&layout, parameters, NULL, bytes));
    assert_memory_equal(bytes, wanted, sizeof bytes);
    layout_release(&layout);
}

/* Asked by the other kind of handle, a driver may have another error behind the last one. */
static void any_error_is_the_end(void **state)
{
    (void)state;
    struct layout layout;
    at_end = CUDA_ERROR_INVALID_HANDLE;
    assert_true(layout_find(&layout, NULL, NULL));
    assert_int_equal(layout.count, 3);
    layout_release(&layout);
    at_end = CUDA_ERROR_INVALID_VALUE;
}

/* ---- Words ---- */

static uint64_t looked_for;

static bool is_there(const void *words, size_t bytes)
{
    uint64_t word;
    for (size_t at = 0; at + sizeof word <= bytes; at += sizeof word) {
        memcpy(&word, (const char *)words + at, sizeof word);
        if (word == looked_for)
            return true;
    }
    return false;
}

enum { PARAMETERS = 12, PARAMETER_MOST = 40 };

/* Parameters of any size and alignment, with bytes between them. */
static void random_layout(struct layout *layout, struct layout_parameter *parameters)
{
    *layout = (struct layout){.count = 1 + (uint32_t)rand() % PARAMETERS, .parameters = parameters};
    for (uint32_t i = 0; i < layout->count; i++) {
        const uint32_t align = 1u << rand() % 4;
        const uint32_t offset = (layout->bytes + align - 1) / align * align;
        parameters[i] = (struct layout_parameter){offset, 1 + (uint32_t)rand() % PARAMETER_MOST};
        layout->bytes = offset + parameters[i].bytes;
    }
}

/* As one finds them in a copy. */
static void words_are_those_of_a_copy(void **state)
{
    (void)state;
    struct layout layout;
    struct layout_parameter places[PARAMETERS];
    uint8_t passed[PARAMETERS][PARAMETER_MOST + 1], copy[PARAMETERS * (PARAMETER_MOST + 8)];
    void *parameters[PARAMETERS];
    int found = 0;
    srand(7);
    for (int turn = 0; turn < 20000; turn++) {
        random_layout(&layout, places);
        for (uint32_t i = 0; i < layout.count; i++) {
            parameters[i] = passed[i] + rand() % 2;
            for (int k = 0; k <= PARAMETER_MOST; k++)
                passed[i][k] = (uint8_t)(rand() % 2);
        }
        memset(copy, 0xff, sizeof copy);
        assert_true(layout_copy(&layout, parameters, NULL, copy));
        for (int k = 0; k < 8; k++) {
            if (k % 2 && layout.bytes >= 8)
                memcpy(&looked_for, copy + (uint32_t)rand() % (layout.bytes / 8) * 8, 8);
            else
                looked_for = (uint64_t)rand() % 2 | (uint64_t)(rand() % 2) << 56;
            const bool wanted_word = is_there(copy, layout.bytes);
            assert_int_equal(layout_any_word(&layout, parameters, NULL, is_there), wanted_word);
            found += wanted_word;
        }
    }
    assert_true(found > 1000);
    looked_for = UINT64_MAX;
    parameters[layout.count - 1] = NULL; /* who knows */
    assert_true(layout_any_word(&layout, parameters, NULL, is_there));
    assert_true(layout_any_word(&layout, NULL, NULL, is_there));
}

static void a_buffer_may_be_too_short(void **state)
{
    (void)state;
    struct layout layout;
    uint8_t bytes[24];
    size_t size = sizeof wanted;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)wanted, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, CU_LAUNCH_PARAM_END};
    assert_true(layout_find(&layout, NULL, NULL));
    assert_true(layout_copy(&layout, NULL, extra, bytes));
    assert_memory_equal(bytes, wanted, sizeof bytes);
    size = 20;
    assert_false(layout_copy(&layout, NULL, extra, bytes));
    assert_false(layout_copy(&layout, NULL, NULL, bytes));
    layout_release(&layout);
}

static void ptx_goes_before_the_driver(void **state)
{
    (void)state;
    struct ptx_param params[2] = {{.offset = 0, .size = 4}, {.offset = 16, .size = 64}};
    struct ptx_function ptx = {.params = params, .param_count = 2};
    struct layout layout;
    assert_true(layout_find(&layout, NULL, &ptx));
    assert_int_equal(layout.bytes, 80);
    assert_int_equal(layout.parameters[1].offset, 16);
    layout_release(&layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_driver_says_nothing),
        cmocka_unit_test(the_driver_says_where_they_lie),
        cmocka_unit_test(any_error_is_the_end),
        cmocka_unit_test(a_buffer_may_be_too_short),
        cmocka_unit_test(words_are_those_of_a_copy),
        cmocka_unit_test(ptx_goes_before_the_driver),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
