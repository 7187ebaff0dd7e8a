/* What a report says of an operator's indices, and which copies' values are known for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/text.h"
#include "runtime/hook/operator/index_range.h"
#include "runtime/hook/state/copied_values.h"

#include <string.h>

static const char *const names[] = {"self" CSAN_ARGUMENT_RETURNED, "dim", "index", "num_weights"};
static const struct csan_operator what = {
    .name = "test::op", .arguments = names, .argument_count = 4};

static struct csan_indices some(void)
{
    return (struct csan_indices){.base = 0x1000,
                                 .count = 6,
                                 .high = 10,
                                 .element_bytes = 8,
                                 .dim_count = 2,
                                 .argument = 2,
                                 .of = 0,
                                 .dimension = 1,
                                 .sizes = {2, 3}};
}

static void expect(const struct csan_indices *indices, size_t count, const char *words)
{
    struct text text = {0};
    index_range_add(&text, index_range_note(&what, indices, count));
    assert_string_equal(text.data ? text.data : "", words);
    text_free(&text);
}

static void ranges(void **state)
{
    (void)state;
    struct csan_indices indices[2] = {some(), some()};
    expect(indices, 1, "index (int64[2, 3]) must be in [0, 10), dimension 1 of self.");
    indices[0].low = -10;
    indices[1].low = INT64_MIN;
    indices[1].dim_count = 0;
    indices[1].element_bytes = 4;
    indices[1].dimension = CSAN_INDICES_OF_ALL;
    expect(indices, 2,
           "index (int64[2, 3]) must be in [-10, 10), dimension 1 of self. "
           "index (int32[]) must be below 10, the elements of self.");
    indices[0] = some();
    indices[0].has_ignored = 1;
    indices[0].ignored = -100;
    indices[0].of = 3;
    indices[0].dimension = CSAN_INDICES_OF_NUMBER;
    indices[0].dim_count = 7;
    expect(indices, 1, "index (int64[2, 3, 0, 0, ...]) must be in [0, 10) or -100, num_weights.");
    expect(indices, 0, "");
}

static void values(void **state)
{
    (void)state;
    const int64_t copied[] = {0, 9, -1, 3, 4, 10};
    struct csan_indices indices = some();
    copied_values_note(0x1000, sizeof copied, copied);
    assert_false(copied_values_any()); /* nobody wants them yet */
    copied_values_want();
    copied_values_note(0x1000, sizeof copied, copied);
    expect(&indices, 1,
           "index (int64[2, 3]) must be in [0, 10), dimension 1 of self; index[0, 2] was copied to "
           "the device as -1, and 1 more is out of range.");
    indices.low = -10;
    expect(&indices, 1,
           "index (int64[2, 3]) must be in [-10, 10), dimension 1 of self; index[1, 2] was copied "
           "to the device as 10.");
    indices.has_ignored = 1;
    indices.ignored = 10;
    expect(&indices, 1, "index (int64[2, 3]) must be in [-10, 10) or 10, dimension 1 of self.");
    indices = some();
    indices.base += 16; /* a view of the last four */
    indices.count = 4;
    indices.dim_count = 1;
    indices.sizes[0] = 4;
    expect(&indices, 1,
           "index (int64[4]) must be in [0, 10), dimension 1 of self; index[0] was copied to the "
           "device as -1, and 1 more is out of range.");
    indices.count = 5; /* beyond what was copied */
    expect(&indices, 1, "index (int64[4]) must be in [0, 10), dimension 1 of self.");
    indices = some();
    indices.dim_count = 6;
    expect(&indices, 1,
           "index (int64[2, 3, 0, 0, ...]) must be in [0, 10), dimension 1 of self; element 2 of "
           "index was copied to the device as -1, and 1 more is out of range.");
    indices = some();
    indices.base = 0; /* not one behind the other */
    expect(&indices, 1, "index (int64[2, 3]) must be in [0, 10), dimension 1 of self.");
}

static void halves(void **state)
{
    (void)state;
    const int32_t copied[] = {0, 12, -1};
    struct csan_indices indices = some();
    copied_values_want();
    copied_values_note(0x2000, sizeof copied, copied);
    indices.base = 0x2000;
    indices.count = 3;
    indices.element_bytes = 4;
    indices.dim_count = 1;
    indices.sizes[0] = 3;
    expect(&indices, 1,
           "index (int32[3]) must be in [0, 10), dimension 1 of self; index[1] was copied to the "
           "device as 12, and 1 more is out of range.");
}

static void what_goes(void **state)
{
    (void)state;
    static uint8_t bytes[COPIED_BYTES_MOST + 1] = {7};
    uint8_t read[8];
    copied_values_want();
    copied_values_forget_all();
    assert_false(copied_values_any());
    copied_values_note(0x1000, sizeof bytes, bytes);
    assert_false(copied_values_any()); /* too large */
    copied_values_note(0x1000, COPIED_BYTES_MOST, bytes);
    assert_true(copied_values_read(0x1000, 8, read));
    assert_int_equal(read[0], 7);
    copied_values_forget(0x1000 + COPIED_BYTES_MOST, 8);
    copied_values_forget(0x0ff8, 8);
    assert_true(copied_values_read(0x1000, 8, read));
    copied_values_forget(0x1000 + COPIED_BYTES_MOST - 1, 8);
    assert_false(copied_values_read(0x1000, 8, read));
    for (uint64_t i = 0; i < 100; i++)
        copied_values_note(0x10000 * (i + 1), 8, bytes);
    assert_false(copied_values_read(0x10000, 8, read)); /* the oldest went */
    assert_true(copied_values_read(0x10000 * 100, 8, read));
    copied_values_note(0x10000 * 100 + 4, 8, bytes + 8); /* another on top of it */
    assert_false(copied_values_read(0x10000 * 100, 8, read));
    copied_values_note(UINT64_MAX - 4, 8, bytes);
    assert_false(copied_values_read(UINT64_MAX - 4, 8, read));
    copied_values_forget_all();
    assert_false(copied_values_any());
}

static void what_is_old(void **state)
{
    (void)state;
    const struct csan_indices indices = some();
    struct text text = {0};
    const uint64_t first = index_range_note(&what, &indices, 1);
    for (int i = 0; i < 5000; i++)
        index_range_note(&what, &indices, 1);
    index_range_add(&text, first);
    index_range_add(&text, 0);
    index_range_add(&text, first + 100000);
    assert_int_equal(text.length, 0);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),    cmocka_unit_test(values),      cmocka_unit_test(halves),
        cmocka_unit_test(what_goes), cmocka_unit_test(what_is_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
