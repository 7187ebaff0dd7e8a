/* LMADs against brute force: every question answered byte by byte on small random patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/shadow/lmad.h"
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
                                 .dim_count = (uint8_t)random_below(5),
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

static void the_hull_ends_with_the_last_byte(void **state)
{
    (void)state;
    static unsigned char touched[BYTES];
    for (int round = 0; round < 20000; round++) {
        struct csan_dim dims[CSAN_MAX_DIMS];
        const struct csan_access access = random_access(dims);
        uint64_t start = 0, end = 0;
        if (!paint(&access, touched))
            continue;
        const unsigned char *first = memchr(touched, 1, BYTES), *last = memrchr(touched, 1, BYTES);
        assert_int_equal(lmad_hull(&access, &start, &end), first != NULL);
        if (first) {
            assert_int_equal(start, first - touched);
            assert_int_equal(end, last - touched + 1);
        }
    }
}

static void intersect_is_exact(void **state)
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
        enum lmad_overlap overlap = lmad_intersect(&lmad_a, &lmad_b, &start, &end);
        assert_int_not_equal(overlap, LMAD_UNDECIDED);
        assert_int_equal(overlap == LMAD_OVERLAP, common);
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
    assert_int_equal(lmad_intersect(&a, &b, &start, &end), LMAD_DISJOINT);
    assert_int_equal(lmad_intersect(&a, &c, &start, &end), LMAD_OVERLAP);
    assert_int_equal(start, 0x10000 + 4092);
    assert_int_equal(end, 0x10000 + 4096);
}

/* A pattern written as {base, bytes, stride, count, stride, count, ...}. */
static struct lmad pattern(const uint64_t *text, size_t numbers)
{
    struct csan_dim dims[CSAN_MAX_DIMS];
    struct csan_access access = {.base = 0x10000 + text[0], .bytes = text[1], .dims = dims};
    for (size_t i = 2; i + 1 < numbers && text[i]; i += 2)
        dims[access.dim_count++] = (struct csan_dim){(int64_t)text[i], text[i + 1]};
    struct lmad lmad;
    assert_true(lmad_from_access(&lmad, &access));
    return lmad;
}

/* What kernels and copies touch, at sizes no brute force reaches: decided, and rightly. The first
 * common run follows from the numbers. */
static void shapes_of_kernels_are_decided(void **state)
{
    (void)state;
    enum { NUMBERS = 8 };
    static const struct {
        const char *name;
        uint64_t a[NUMBERS], b[NUMBERS];
        bool meet;
        uint64_t start, bytes;
    } cases[] = {
        {"fields of one array of structures",
         {0, 4, 12, 1 << 24},
         {4, 8, 12, 1 << 24},
         false,
         0,
         0},
        {"fields of two sizes of structure, never on the same bytes",
         {0, 4, 12, 1 << 24},
         {4, 4, 24, 1 << 23},
         false,
         0,
         0},
        {"two strides with a common divisor too small to matter",
         {0, 4, 12, 1 << 24},
         {4, 4, 16, 1 << 23},
         true,
         36,
         4},
        {"two strides that meet only beyond the end",
         {0, 1, 1000003, 1000000},
         {500001, 1, 1000000, 166667},
         false,
         0,
         0},
        {"grid-stride pieces of two grids",
         {0, 4096, 16384, 100000},
         {4096, 4096, 20480, 100000},
         true,
         65536,
         4096},
        {"tile rows against one field of all elements, pitch no multiple of it",
         {4, 4, 4100, 1000, 8, 100},
         {0, 4, 8, 1 << 24},
         true,
         4104,
         4},
        {"all rows, merged, against a box of every plane but the row",
         {0, 64, 4096, 1024 * 100000},
         {64, 64, 4096ull * 1024, 100000, 4096, 7},
         false,
         0,
         0},
        {"the same, one byte too wide",
         {0, 65, 4096, 1024 * 100000},
         {64, 64, 4096ull * 1024, 100000, 4096, 7},
         true,
         64,
         1},
        {"a box against the rest of the rows only",
         {4096 * 3, 64, 4096ull * 1000, 100000, 4096, 2},
         {0, 64, 4096, 2},
         false,
         0,
         0},
        {"boxes beside one another in the middle dimension",
         {0, 64, 1 << 24, 200, 1 << 12, 16},
         {16 << 12, 64, 1 << 24, 200, 1 << 12, 16},
         false,
         0,
         0},
        {"boxes that share one row",
         {0, 64, 1 << 24, 200, 1 << 12, 17},
         {16 << 12, 64, 1 << 24, 200, 1 << 12, 16},
         true,
         16 << 12,
         64},
        {"rows of a tile with overlapping windows",
         {0, 4, 4096, 100000, 8, 5, 16, 100},
         {2000, 4, 4096, 100000},
         false,
         0,
         0},
        {"a transposed order of dimensions",
         {0, 4, 16, 64, 4096, 100000},
         {8, 4, 4096, 100000, 16, 64},
         false,
         0,
         0},
        {"a pitched copy against a tile of another pitch",
         {0, 64, 4096, 4000},
         {64, 64, 8192, 2000, 256, 8},
         false,
         0,
         0},
        {"a copy of everything", {0, 1ull << 40}, {12345, 4, 4096, 1 << 20, 64, 8}, true, 12345, 4},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int swap = 0; swap < 2; swap++) {
            struct lmad a = pattern(swap ? cases[i].b : cases[i].a, NUMBERS);
            struct lmad b = pattern(swap ? cases[i].a : cases[i].b, NUMBERS);
            uint64_t start, end;
            enum lmad_overlap overlap = lmad_intersect(&a, &b, &start, &end);
            if (overlap != (cases[i].meet ? LMAD_OVERLAP : LMAD_DISJOINT))
                fail_msg("%s (swapped: %d): answer %d", cases[i].name, swap, overlap);
            if (cases[i].meet &&
                (start != 0x10000 + cases[i].start || end != start + cases[i].bytes))
                fail_msg("%s (swapped: %d): meet at %lu, %lu bytes", cases[i].name, swap,
                         start - 0x10000, end - start);
        }
}

/* Two progressions in general: random large strides against a walk over one of them. */
static void progressions_intersect_as_a_walk_says(void **state)
{
    (void)state;
    int met = 0, apart = 0;
    for (int round = 0; round < 20000; round++) {
        struct csan_dim dims[2];
        struct csan_access access[2];
        struct lmad lmad[2];
        for (int i = 0; i < 2; i++) {
            dims[i] = (struct csan_dim){(int64_t)(2 + random_below(1 << (4 + random_below(20)))),
                                        2 + random_below(400)};
            access[i] = (struct csan_access){.base = 1 + random_below(1 << 24),
                                             .bytes = 1 + random_below((uint64_t)dims[i].stride),
                                             .dims = &dims[i],
                                             .dim_count = 1};
            if (random_below(2))
                access[i].bytes = 1 + access[i].bytes / 64;
            assert_true(lmad_from_access(&lmad[i], &access[i]));
        }
        bool common = false;
        uint64_t first = 0;
        for (uint64_t j = 0; j < dims[1].count && !common; j++) {
            uint64_t start = access[1].base + j * (uint64_t)dims[1].stride, run, end;
            common = lmad_next_run(&lmad[0], start, &run, &end) && run < start + access[1].bytes;
            first = run;
        }
        uint64_t start, end;
        assert_int_equal(lmad_intersect(&lmad[0], &lmad[1], &start, &end),
                         common ? LMAD_OVERLAP : LMAD_DISJOINT);
        if (common)
            assert_int_equal(start, first);
        met += common;
        apart += !common;
    }
    assert_true(met > 1000 && apart > 1000);
}

/* A later launch of more rows covers an earlier one of fewer, and a whole matrix its tiles. */
static void covers_sees_the_usual(void **state)
{
    (void)state;
    enum { NUMBERS = 8 };
    static const struct {
        uint64_t outer[NUMBERS], inner[NUMBERS];
        bool covers;
    } cases[] = {
        {{0, 64, 4096, 100}, {4096 * 10, 64, 4096, 50}, true},
        {{0, 64, 4096, 100}, {4096 * 60, 64, 4096, 50}, false},
        {{0, 64, 4096, 100}, {4096 * 10 + 16, 16, 4096, 50}, true},
        {{0, 64, 4096, 100}, {4096 * 10 + 16, 64, 4096, 50}, false},
        {{0, 64, 4096, 100}, {4096 * 10, 64}, true},
        {{0, 64, 1 << 20, 100, 4096, 16}, {5 << 20, 64, 4096, 8}, true},
        {{0, 64, 1 << 20, 100, 4096, 16}, {5 << 20, 64, 4096, 17}, false},
        {{0, 64, 4096, 100}, {0, 64, 4096, 100}, true},
        {{0, 4096, 8192, 100}, {8192, 4, 8192, 4, 16, 100}, true},
        {{0, 4, 16, 1000000}, {32, 4, 64, 250000 - 1}, false}, /* true, and not seen: too many */
        {{0, 4, 16, 1000}, {32, 4, 64, 20}, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lmad outer = pattern(cases[i].outer, NUMBERS);
        struct lmad inner = pattern(cases[i].inner, NUMBERS);
        if (lmad_covers(&outer, &inner) != cases[i].covers)
            fail_msg("case %zu", i);
    }
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
        cmocka_unit_test(the_hull_ends_with_the_last_byte),
        cmocka_unit_test(intersect_is_exact),
        cmocka_unit_test(covers_never_lies),
        cmocka_unit_test(tiles_of_a_large_matrix),
        cmocka_unit_test(shapes_of_kernels_are_decided),
        cmocka_unit_test(progressions_intersect_as_a_walk_says),
        cmocka_unit_test(covers_sees_the_usual),
        cmocka_unit_test(nothing_and_wrapping_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
