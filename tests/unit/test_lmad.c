/* LMADs against brute force: every question answered byte by byte on small random patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/lmad.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, ORIGIN = 1000 };

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* Paint the bytes an access touches, straight from its definition. */
static bool paint(const struct csan_access *access, unsigned char *touched)
{
    memset(touched, 0, BYTES);
    uint64_t total = 1;
    for (int i = 0; i < access->dim_count; i++)
        total *= access->dims[i].count;
    for (uint64_t point = 0; point < total; point++) {
        uint64_t rest = point;
        int64_t address = (int64_t)access->base;
        for (int i = 0; i < access->dim_count; i++) {
            address += access->dims[i].stride * (int64_t)(rest % access->dims[i].count);
            rest /= access->dims[i].count;
        }
        for (uint64_t b = 0; b < access->bytes; b++) {
            if (address + (int64_t)b < 0 || address + (int64_t)b >= BYTES)
                return false;
            touched[address + (int64_t)b] = 1;
        }
    }
    return true;
}

static struct csan_access random_access(struct csan_dim *dims)
{
    static const int64_t strides[] = {1, 2, 3, 4, 8, 12, 16, 24, 32, 60, 64, 128, 200, 256, 512, 0};
    struct csan_access access = {.base = ORIGIN + random_below(300),
                                 .bytes = 1 + random_below(random_below(2) ? 8 : 40),
                                 .dims = dims,
                                 .dim_count = (uint8_t)random_below(4),
                                 .kind = CSAN_READ};
    for (int i = 0; i < access.dim_count; i++) {
        int64_t stride = strides[random_below(16)];
        dims[i] = (struct csan_dim){random_below(4) ? stride : -stride, 1 + random_below(6)};
    }
    return access;
}

static void check_next_run(const struct lmad *lmad, const unsigned char *touched)
{
    for (uint64_t from = 0; from < BYTES; from += 1 + random_below(97)) {
        uint64_t expected = from, start, end;
        while (expected < BYTES && !touched[expected])
            expected++;
        bool found = lmad_next_run(lmad, from, &start, &end);
        assert_int_equal(found, expected < BYTES);
        if (!found)
            continue;
        assert_int_equal(start, expected);
        assert_true(end > start);
        for (uint64_t b = start; b < end; b++)
            assert_true(touched[b]);
    }
}

static void next_run_is_exact(void **state)
{
    (void)state;
    unsigned char touched[BYTES];
    for (int round = 0; round < 20000; round++) {
        struct csan_dim dims[4];
        struct csan_access access = random_access(dims);
        struct lmad lmad;
        if (!paint(&access, touched))
            continue;
        assert_true(lmad_from_access(&lmad, &access));
        check_next_run(&lmad, touched);
    }
}

static void meet_is_exact(void **state)
{
    (void)state;
    static unsigned char touched_a[BYTES], touched_b[BYTES];
    int met = 0, apart = 0;
    for (int round = 0; round < 60000; round++) {
        struct csan_dim dims_a[4], dims_b[4];
        struct csan_access a = random_access(dims_a), b = random_access(dims_b);
        struct lmad lmad_a, lmad_b;
        if (!paint(&a, touched_a) || !paint(&b, touched_b))
            continue;
        assert_true(lmad_from_access(&lmad_a, &a) && lmad_from_access(&lmad_b, &b));
        bool common = false;
        for (int i = 0; i < BYTES && !common; i++)
            common = touched_a[i] && touched_b[i];
        uint64_t start, end;
        enum lmad_meeting meeting = lmad_meet(&lmad_a, &lmad_b, &start, &end);
        assert_int_not_equal(meeting, LMAD_UNDECIDED);
        assert_int_equal(meeting == LMAD_MEET, common);
        if (!common) {
            apart++;
            continue;
        }
        met++;
        assert_true(start < end);
        for (uint64_t i = start; i < end; i++)
            assert_true(touched_a[i] && touched_b[i]);
    }
    assert_true(met > 1000 && apart > 1000);
}

static void covers_never_lies(void **state)
{
    (void)state;
    unsigned char touched_a[BYTES], touched_b[BYTES];
    int covered = 0;
    for (int round = 0; round < 20000; round++) {
        struct csan_dim dims_a[4], dims_b[4];
        struct csan_access a = random_access(dims_a), b = random_access(dims_b);
        if (random_below(3) == 0) { /* the same, maybe moved a little */
            b = a;
            b.base += random_below(2) * 4;
        }
        struct lmad lmad_a, lmad_b;
        if (!paint(&a, touched_a) || !paint(&b, touched_b))
            continue;
        assert_true(lmad_from_access(&lmad_a, &a) && lmad_from_access(&lmad_b, &b));
        if (!lmad_covers(&lmad_a, &lmad_b))
            continue;
        covered++;
        for (int i = 0; i < BYTES; i++)
            assert_true(touched_a[i] || !touched_b[i]);
    }
    assert_true(covered > 100);
}

/* Column blocks of one matrix of a million rows: decided at once, and rightly. */
static void tiles_of_a_large_matrix(void **state)
{
    (void)state;
    struct csan_dim rows = {8192, 1000000};
    struct csan_access left = {.base = 0x10000, .bytes = 4096, .dims = &rows, .dim_count = 1};
    struct csan_access right = left, overlapping = left;
    right.base += 4096;
    overlapping.base += 4092;
    struct lmad a, b, c;
    assert_true(lmad_from_access(&a, &left) && lmad_from_access(&b, &right) &&
                lmad_from_access(&c, &overlapping));
    uint64_t start, end;
    assert_int_equal(lmad_meet(&a, &b, &start, &end), LMAD_APART);
    assert_int_equal(lmad_meet(&a, &c, &start, &end), LMAD_MEET);
    assert_int_equal(start, 0x10000 + 4092);
    assert_int_equal(end, 0x10000 + 4096);
}

static void nothing_and_wrapping_are_refused(void **state)
{
    (void)state;
    struct csan_dim none = {16, 0}, far = {INT64_MAX, 4}, down = {-4096, 4};
    struct lmad lmad;
    struct csan_access access = {.base = 64, .bytes = 4, .dims = &none, .dim_count = 1};
    assert_false(lmad_from_access(&lmad, &access));
    access.dims = &far;
    assert_false(lmad_from_access(&lmad, &access));
    access.dims = &down;
    assert_false(lmad_from_access(&lmad, &access));
    access = (struct csan_access){.base = UINT64_MAX - 2, .bytes = 8};
    assert_false(lmad_from_access(&lmad, &access));
    access = (struct csan_access){.base = 64, .bytes = 0};
    assert_false(lmad_from_access(&lmad, &access));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_run_is_exact),
        cmocka_unit_test(meet_is_exact),
        cmocka_unit_test(covers_never_lies),
        cmocka_unit_test(tiles_of_a_large_matrix),
        cmocka_unit_test(nothing_and_wrapping_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
