/* Touch recording and its folding into strided ranges, against sets kept byte by byte. */
#include "runtime/trace/fold.h"
#include "runtime/device/exec/touch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include <cmocka.h>

enum { SPAN = 1 << 16, BASE = 0x7000000 };

struct mirror {
    struct touch *touch;
    uint8_t bytes[TOUCH_KINDS][SPAN];
    uint8_t seen[TOUCH_KINDS][SPAN];
    size_t count;
};

static void record(struct mirror *m, uint32_t kind, uint64_t at, uint64_t bytes)
{
    if (at + bytes > SPAN)
        return;
    touch_record(m->touch, kind, BASE + at, bytes);
    memset(&m->bytes[kind][at], 1, bytes);
}

static void mark(struct mirror *m, const struct device_trace_range *r, uint64_t at)
{
    for (uint64_t k = 0; k < r->bytes; k++) {
        assert_true(at + k - BASE < SPAN);
        uint8_t *seen = &m->seen[r->kind][at + k - BASE];
        assert_int_equal(*seen, 0); /* no two ranges overlap */
        *seen = 1;
    }
}

/* Spread the ranges out again: exactly the bytes recorded, each once. */
static void check(struct mirror *m)
{
    struct device_trace_range *ranges = touch_ranges(m->touch, &m->count);
    memset(m->seen, 0, sizeof m->seen);
    for (size_t i = 0; i < m->count; i++) {
        const struct device_trace_range *r = &ranges[i];
        assert_in_range(r->dims, 0, 2);
        uint64_t rows = r->dims == 2 ? r->count[0] : 1,
                 row_stride = r->dims == 2 ? r->stride[0] : 0;
        uint64_t columns = r->dims ? r->count[r->dims - 1] : 1;
        uint64_t stride = r->dims ? r->stride[r->dims - 1] : 0;
        assert_true(r->bytes > 0 && rows > 0 && columns > 0);
        if (r->dims)
            assert_true(columns > 1 && stride > r->bytes);
        if (r->dims == 2)
            assert_true(rows > 1 && row_stride > (columns - 1) * stride + r->bytes);
        for (uint64_t y = 0; y < rows; y++)
            for (uint64_t x = 0; x < columns; x++)
                mark(m, r, r->address + y * row_stride + x * stride);
    }
    assert_memory_equal(m->seen, m->bytes, sizeof m->seen);
    free(ranges);
}

static struct mirror *open_mirror(void)
{
    struct mirror *m = calloc(1, sizeof *m);
    m->touch = touch_create();
    assert_non_null(m->touch);
    return m;
}

static void close_mirror(struct mirror *m)
{
    touch_destroy(m->touch);
    free(m);
}

static void folds_contiguous_bytes_to_one(void **unused)
{
    (void)unused;
    struct mirror *m = open_mirror();
    for (uint64_t i = 0; i < 5000; i++)
        record(m, DEVICE_TRACE_WRITE, 4000 + 4 * ((i * 7919) % 5000), 4);
    check(m);
    assert_int_equal(m->count, 1);
    close_mirror(m);
}

static void folds_rows_and_planes(void **unused)
{
    (void)unused;
    struct mirror *m = open_mirror();
    for (uint64_t i = 0; i < 1000; i++)
        record(m, DEVICE_TRACE_READ, 100 + 24 * i, 8);
    check(m);
    assert_int_equal(m->count, 1);
    for (uint64_t y = 0; y < 16; y++)
        for (uint64_t x = 0; x < 10; x++)
            record(m, DEVICE_TRACE_ATOMIC, 2048 * y + 16 * x, 4);
    check(m);
    assert_int_equal(m->count, 2);
    /* pairs at a distance */
    for (uint64_t y = 0; y < 50; y++) {
        record(m, DEVICE_TRACE_WRITE, 1000 * y, 4);
        record(m, DEVICE_TRACE_WRITE, 1000 * y + 8, 4);
    }
    check(m);
    assert_int_equal(m->count, 3);
    close_mirror(m);
}

static void keeps_allocations_apart(void **unused)
{
    (void)unused;
    struct mirror *m = open_mirror();
    touch_bound(m->touch, BASE, BASE + 4096);
    touch_bound(m->touch, BASE + 4096, BASE + 8192);
    touch_bound(m->touch, BASE, BASE + 4096);
    record(m, DEVICE_TRACE_READ, 0, 8192); /* adjacent ones too */
    record(m, DEVICE_TRACE_WRITE, 1000, 100);
    record(m, DEVICE_TRACE_WRITE, 5000, 100);
    check(m);
    assert_int_equal(m->count, 4);
    close_mirror(m);
}

static uint64_t random_below(uint64_t limit)
{
    return ((uint64_t)rand() << 16 ^ (uint64_t)rand()) % limit;
}

static void folds_any_set_exactly(void **unused)
{
    (void)unused;
    srand(1);
    for (int round = 0; round < 150; round++) {
        struct mirror *m = open_mirror();
        if (round % 3 == 0)
            touch_bound(m->touch, BASE + 512 * random_below(64), BASE + 32768 + random_below(999));
        int pieces = 1 + (int)random_below(8);
        for (int piece = 0; piece < pieces; piece++) {
            uint32_t kind = (uint32_t)random_below(TOUCH_KINDS);
            uint64_t at = random_below(SPAN), bytes = 1 + random_below(20);
            uint64_t stride = 1 + random_below(64), rows = 1 + random_below(6);
            uint64_t pitch = random_below(5000), count = 1 + random_below(40);
            for (uint64_t y = 0; y < rows; y++)
                for (uint64_t x = 0; x < count; x++)
                    record(m, kind, at + y * pitch + x * stride, bytes);
        }
        for (uint64_t i = 0; i < random_below(300); i++)
            record(m, 0, random_below(SPAN), 1 + random_below(9));
        assert_false(touch_failed(m->touch));
        check(m);
        close_mirror(m);
    }
}

/* Cutting afterwards is as good as knowing the bounds before. */
static void cuts_what_was_folded(void **unused)
{
    (void)unused;
    srand(2);
    for (int round = 0; round < 150; round++) {
        struct bounds bounds = {0};
        struct touch *plain = touch_create(), *bounded = touch_create();
        for (int i = 0; i < round % 4; i++) {
            uint64_t base = BASE + 256 * random_below(128), limit = base + 1 + random_below(9999);
            bounds_add(&bounds, base, limit);
            touch_bound(bounded, base, limit);
        }
        for (uint64_t pieces = random_below(8); pieces; pieces--) {
            uint32_t kind = (uint32_t)random_below(TOUCH_KINDS);
            uint64_t at = BASE + random_below(SPAN), bytes = 1 + random_below(2000);
            uint64_t stride = 1 + random_below(3000);
            for (uint64_t count = 1 + random_below(40); count; count--, at += stride) {
                touch_record(plain, kind, at, bytes);
                touch_record(bounded, kind, at, bytes);
            }
        }
        size_t count, cut_count, expected_count;
        struct device_trace_range *ranges = touch_ranges(plain, &count);
        struct device_trace_range *cut = fold_bounded(ranges, count, &bounds, &cut_count);
        struct device_trace_range *expected = touch_ranges(bounded, &expected_count);
        assert_int_equal(cut_count, expected_count);
        if (cut_count)
            assert_memory_equal(cut, expected, cut_count * sizeof *cut);
        free(ranges);
        free(cut);
        free(expected);
        bounds_clear(&bounds);
        touch_destroy(plain);
        touch_destroy(bounded);
    }
}

/* No address lies behind it. */
static void the_last_byte_of_all_is_one(void **unused)
{
    (void)unused;
    struct folding folding;
    size_t count;
    fold_begin(&folding, NULL);
    alarm(20);
    fold_run(&folding, DEVICE_TRACE_WRITE, UINT64_MAX - 3, 4);
    struct device_trace_range *ranges = fold_end(&folding, &count);
    alarm(0);
    assert_int_equal(count, 1);
    assert_int_equal(ranges[0].address, UINT64_MAX - 3);
    assert_int_equal(ranges[0].bytes, 4);
    free(ranges);
}

static void an_empty_set_has_no_ranges(void **unused)
{
    (void)unused;
    struct mirror *m = open_mirror();
    record(m, DEVICE_TRACE_READ, 0, 0);
    check(m);
    assert_int_equal(m->count, 0);
    close_mirror(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_contiguous_bytes_to_one),
        cmocka_unit_test(folds_rows_and_planes),
        cmocka_unit_test(keeps_allocations_apart),
        cmocka_unit_test(folds_any_set_exactly),
        cmocka_unit_test(cuts_what_was_folded),
        cmocka_unit_test(the_last_byte_of_all_is_one),
        cmocka_unit_test(an_empty_set_has_no_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
