/* What library.table says that calls of cuSPARSE and cuRAND touch, against loops over random
 * matrices: an exact range must be the very bytes, a bound must hold them. */
#include "runtime/hook/library/touch.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/known_contents.h"
#include "tests/unit/hook/no_collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 300, AREA = 0x100000, BYTES = 1 << 14, AREAS = 8 };
enum { CSR = 1, CSC = 2, COO = 3, BSR = 5 };
enum { BY_COLUMNS = 1, BY_ROWS = 2 };

/* ---- What surrounds it ---- */

static csan_context *detector;

csan_context *session_context(void)
{
    return detector;
}
bool known_contents_read(uint64_t address, uint32_t bytes, void *to)
{
    (void)address, (void)bytes, (void)to;
    return false;
}
void collective_group_start(struct touch *call, int result);
void collective_group_start(struct touch *call, int result)
{
    (void)call, (void)result;
}
void collective_group_end(struct touch *call, int result);
void collective_group_end(struct touch *call, int result)
{
    (void)call, (void)result;
}

/* ---- Descriptors, and a library that answers ---- */

struct sparse {
    int format, batches, outer_type, inner_type, type;
    int64_t rows, columns, entries;
    uint64_t outer, inner, values;
};
struct dense {
    int64_t rows, columns, leading, step;
    int type, order, batches;
    uint64_t values;
};
static int pointer_mode;
static size_t buffer_bytes;
static uint64_t size_asked[4]; /* the first arguments of the question for the buffer's size */

static int answer_mode(void *handle, int *mode)
{
    (void)handle;
    *mode = pointer_mode;
    return 0;
}
static int answer_format(const struct sparse *of, int *format)
{
    *format = of->format;
    return 0;
}
static int answer_batches(const struct sparse *of, int *batches)
{
    *batches = of->batches;
    return 0;
}
static int answer_compressed(const struct sparse *of, int64_t *rows, int64_t *columns,
                             int64_t *entries, uint64_t *outer, uint64_t *inner, uint64_t *values,
                             int *outer_type, int *inner_type, int *base, int *type)
{
    *rows = of->rows, *columns = of->columns, *entries = of->entries;
    *outer = of->outer, *inner = of->inner, *values = of->values;
    *outer_type = of->outer_type, *inner_type = of->inner_type, *base = 0, *type = of->type;
    return 0;
}
static int answer_coordinates(const struct sparse *of, int64_t *rows, int64_t *columns,
                              int64_t *entries, uint64_t *outer, uint64_t *inner, uint64_t *values,
                              int *index_type, int *base, int *type)
{
    int inner_type;
    return answer_compressed(of, rows, columns, entries, outer, inner, values, index_type,
                             &inner_type, base, type);
}
static int answer_vector(const struct dense *of, int64_t *size, uint64_t *values, int *type)
{
    *size = of->rows, *values = of->values, *type = of->type;
    return 0;
}
static int answer_matrix(const struct dense *of, int64_t *rows, int64_t *columns, int64_t *leading,
                         uint64_t *values, int *type, int *order)
{
    *rows = of->rows, *columns = of->columns, *leading = of->leading;
    *values = of->values, *type = of->type, *order = of->order;
    return 0;
}
static int answer_dense_batches(const struct dense *of, int *batches, int64_t *step)
{
    *batches = of->batches, *step = of->step;
    return 0;
}
static int answer_bytes(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                        uint64_t g, uint64_t h, uint64_t i, uint64_t j)
{
    (void)e, (void)f, (void)g, (void)h, (void)i;
    size_asked[0] = a, size_asked[1] = b, size_asked[2] = c, size_asked[3] = d;
    *(size_t *)(uintptr_t)j = buffer_bytes;
    return 0;
}
static int refuse_bytes(void)
{
    return 3;
}

void *library_ask(struct library_home *home, enum library_question question)
{
    (void)home;
    switch (question) {
    case LIBRARY_SPARSE_POINTER_MODE:
        return (void *)answer_mode;
    case LIBRARY_SPARSE_FORMAT:
        return (void *)answer_format;
    case LIBRARY_SPARSE_BATCHES:
        return (void *)answer_batches;
    case LIBRARY_SPARSE_CSR:
    case LIBRARY_SPARSE_CSC:
        return (void *)answer_compressed;
    case LIBRARY_SPARSE_COO:
        return (void *)answer_coordinates;
    case LIBRARY_DENSE_VECTOR:
        return (void *)answer_vector;
    case LIBRARY_DENSE_MATRIX:
        return (void *)answer_matrix;
    case LIBRARY_DENSE_BATCHES:
        return (void *)answer_dense_batches;
    case LIBRARY_SPMV_BYTES:
        return (void *)answer_bytes;
    case LIBRARY_CSR2CSC_BYTES:
        return (void *)refuse_bytes;
    default:
        return NULL;
    }
}

/* ---- A call, and what it should touch ---- */

static struct touch call;
static uint64_t words[32];

static void call_of(const char *symbol, int count, ...)
{
    const struct library_function *function = NULL;
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        words[i] = va_arg(list, uint64_t);
    va_end(list);
    for (unsigned i = 0; i < library_function_count && !function; i++)
        if (strcmp(library_functions[i].symbol, symbol) == 0)
            function = &library_functions[i];
    assert_non_null(function);
    assert_int_equal(function->stack_words, TOUCH_STACK_WORDS(count));
    touch_collect(&call, function, NULL, words, words + TOUCH_REGISTERS);
}
#define W(value)          ((uint64_t)(uintptr_t)(value))
#define HALF(value)       ((uint64_t)(uint32_t)(int32_t)(value) | 0xdead000000000000u)
#define CALL(symbol, ...) call_of(symbol, (int)(sizeof((uint64_t[]){__VA_ARGS__}) / 8), __VA_ARGS__)

enum { READ = 1, WRITE = 2, SAID_READ = 4, SAID_WRITE = 8, EXACT = 16, BOUNDED = 32 };
static uint8_t areas[AREAS][BYTES];

static uint64_t area(int number)
{
    return (uint64_t)AREA * (unsigned)(number + 1);
}
static uint8_t *byte_at(uint64_t address)
{
    assert_in_range(address / AREA, 1, AREAS);
    assert_in_range(address % AREA, 0, BYTES - 1);
    return &areas[address / AREA - 1][address % AREA];
}
/* Element `at` of `bytes` bytes. */
static void see(int kind, uint64_t base, int64_t at, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *byte_at(base + (uint64_t)(at * bytes + i)) |= (uint8_t)kind;
}
static void say(const struct csan_access *access, uint64_t base, uint8_t dim)
{
    if (dim < access->dim_count) {
        for (uint64_t i = 0; i < access->dims[dim].count; i++)
            say(access, base + i * (uint64_t)access->dims[dim].stride, dim + 1);
        return;
    }
    for (uint64_t i = 0; i < access->bytes; i++)
        *byte_at(base + i) |= (uint8_t)((access->kind == CSAN_READ ? SAID_READ : SAID_WRITE) |
                                        (access->bound == CSAN_EXACT ? EXACT : BOUNDED));
}

/* `whole`: the areas whose ranges are exact, as a mask. */
static void compare(const char *what, unsigned whole)
{
    for (size_t i = 0; i < call.count; i++)
        say(&call.accesses[i], call.accesses[i].base, 0);
    for (int number = 0; number < AREAS; number++)
        for (int i = 0; i < BYTES; i++) {
            const uint8_t byte = areas[number][i];
            const bool exact = whole >> number & 1;
            const bool lacks = (byte & WRITE && !(byte & SAID_WRITE)) ||
                               (byte & READ && !(byte & (SAID_READ | SAID_WRITE)));
            const bool more = byte & EXACT && !(byte & (READ | WRITE));
            const bool vague = exact && byte & (READ | WRITE) && !(byte & EXACT);
            if (lacks || more || vague)
                fail_msg("%s: byte %d of area %d is %#x", what, i, number, byte);
        }
    memset(areas, 0, sizeof areas);
    touch_release(&call);
}

/* ---- Random matrices ---- */

enum { OUTER, INNER, VALUES, IN, OUT, BUFFER, FACTOR, OTHER };
enum { FLOAT = 0, DOUBLE = 1 }; /* cudaDataType */

static int upto(int limit)
{
    return rand() % limit;
}
static int index_bytes(int type)
{
    return 1 << type;
}
static int value_bytes(int type)
{
    return type == DOUBLE ? 8 : 4;
}

static struct sparse any_sparse(int format)
{
    return (struct sparse){.format = format,
                           .batches = upto(2),
                           .outer_type = 2 + upto(2),
                           .inner_type = 2 + upto(2),
                           .type = upto(2),
                           .rows = 1 + upto(20),
                           .columns = 1 + upto(20),
                           .entries = upto(60),
                           .outer = area(OUTER),
                           .inner = area(INNER),
                           .values = area(VALUES)};
}

static struct dense any_dense(int64_t rows, int64_t columns, int where)
{
    const int order = 1 + upto(2);
    const int64_t leading = (order == BY_ROWS ? columns : rows) + upto(4);
    return (struct dense){.rows = rows,
                          .columns = columns,
                          .leading = leading,
                          .type = upto(2),
                          .order = order,
                          .batches = 1,
                          .values = area(where)};
}

static void see_offsets(int kind, const struct sparse *of)
{
    const int64_t count = of->format == CSR ? of->rows + 1 : of->columns + 1;
    for (int64_t i = 0; of->format != COO && i < count; i++)
        see(kind, of->outer, i, index_bytes(of->outer_type));
}

static void see_entries(int kind, const struct sparse *of)
{
    const int inner = of->format == COO ? of->outer_type : of->inner_type;
    for (int64_t i = 0; i < of->entries; i++) {
        if (of->format == COO)
            see(kind, of->outer, i, index_bytes(of->outer_type));
        see(kind, of->inner, i, index_bytes(inner));
        see(kind, of->values, i, value_bytes(of->type));
    }
}

static void see_dense(int kind, const struct dense *of)
{
    for (int b = 0; b < of->batches; b++)
        for (int64_t i = 0; i < of->rows; i++)
            for (int64_t j = 0; j < of->columns; j++)
                see(kind, of->values,
                    b * of->step +
                        (of->order == BY_ROWS ? i * of->leading + j : j * of->leading + i),
                    value_bytes(of->type));
}

static const unsigned entries_exact = 1u << INNER | 1u << VALUES;
static const float one = 1, none = 0;

/* ---- Products ---- */

static void products_with_a_vector(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct sparse a = any_sparse(CSR + round % 3);
        const struct dense x = any_dense(a.columns, 1, IN), y = any_dense(a.rows, 1, OUT);
        buffer_bytes = (size_t)upto(100);
        see_offsets(READ, &a);
        see_entries(READ, &a);
        for (int64_t i = 0; i < x.rows; i += 1 + upto(3)) /* what the indices name */
            see(READ, x.values, i, value_bytes(x.type));
        for (int64_t i = 0; i < y.rows; i++)
            see(WRITE, y.values, i, value_bytes(y.type));
        CALL("cusparseSpMV", 7, HALF(0), W(&one), W(&a), W(&x), W(&none), W(&y), HALF(FLOAT),
             HALF(0), area(BUFFER));
        assert_int_equal(size_asked[0], 7);
        assert_int_equal(size_asked[3], W(&a));
        assert_false(call.incomplete);
        for (size_t i = 0; i < call.count; i++)
            if (call.accesses[i].base == area(BUFFER)) {
                assert_int_equal(call.accesses[i].bytes, buffer_bytes);
                assert_int_equal(call.accesses[i].bound, CSAN_BOUND_SHAPE);
            }
        compare("SpMV", entries_exact | 1u << OUT);
        CALL("cusparseSpMV", 7, HALF(0), W(&none), W(&a), W(&x), W(&none), W(&y), HALF(FLOAT),
             HALF(0), 0);
        see_dense(WRITE, &(struct dense){y.rows, 1, y.rows, 0, y.type, BY_COLUMNS, 1, y.values});
        compare("SpMV with a factor of zero", 1u << OUT);
    }
}

static void products_with_a_matrix(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct sparse a = any_sparse(CSR + round % 3);
        const int64_t columns = 1 + upto(6);
        struct dense b = any_dense(a.columns, columns, IN), c = any_dense(a.rows, columns, OUT);
        b.batches = c.batches = 1 + upto(2);
        b.step = c.step = 300;
        see_offsets(READ, &a);
        see_entries(READ, &a);
        see_dense(READ, &b);
        see_dense(WRITE, &c);
        CALL("cusparseSpMM", 0, HALF(0), HALF(0), W(&one), W(&a), W(&b), W(&none), W(&c),
             HALF(FLOAT), HALF(0), 0);
        assert_false(call.incomplete);
        compare("SpMM", entries_exact | 1u << OUT);
    }
}

static void factors_on_the_device(void **state)
{
    (void)state;
    const struct sparse a = any_sparse(CSR);
    const struct dense x = any_dense(a.columns, 1, IN), y = any_dense(a.rows, 1, OUT);
    pointer_mode = 1;
    CALL("cusparseSpMV", 0, HALF(0), area(FACTOR), W(&a), W(&x), area(FACTOR) + 8, W(&y),
         HALF(DOUBLE), HALF(0), 0);
    assert_int_equal(call.accesses[0].base, area(FACTOR));
    assert_int_equal(call.accesses[0].bytes, 8);
    assert_int_equal(call.accesses[0].bound, CSAN_EXACT);
    for (size_t i = 0; i < call.count; i++)
        if (call.accesses[i].base == a.values)
            assert_int_equal(call.accesses[i].bound, CSAN_BOUND_GUARD);
    touch_release(&call);
    pointer_mode = 0;
}

/* ---- Conversions ---- */

static void conversions_of_dense_matrices(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct sparse a = any_sparse(CSR + round % 3);
        const struct dense d = any_dense(a.rows, a.columns, IN);
        see_offsets(READ, &a);
        see_entries(READ, &a);
        see_dense(WRITE, &d);
        CALL("cusparseSparseToDense", 0, W(&a), W(&d), HALF(0), 0);
        compare("sparse to dense", entries_exact | 1u << IN);
        see_dense(READ, &d);
        see_offsets(WRITE, &a);
        CALL("cusparseDenseToSparse_analysis", 0, W(&d), W(&a), HALF(0), 0);
        compare("analysis", 1u << IN);
        see_dense(READ, &d);
        see_offsets(WRITE, &a);
        see_entries(WRITE, &a);
        CALL("cusparseDenseToSparse_convert", 0, W(&d), W(&a), HALF(0), 0);
        compare("dense to sparse", entries_exact | 1u << IN);
    }
}

static void conversions_of_indices(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int m = 1 + upto(20), n = 1 + upto(20), entries = upto(50), numeric = upto(2);
        for (int i = 0; i < entries; i++)
            see(READ, area(INNER), i, 4);
        for (int i = 0; i <= m; i++)
            see(WRITE, area(OUTER), i, 4);
        CALL("cusparseXcoo2csr", 0, area(INNER), HALF(entries), HALF(m), area(OUTER), HALF(0));
        compare("coo2csr", ~0u);
        for (int i = 0; i < entries; i++)
            see(WRITE, area(INNER), i, 4);
        for (int i = 0; i <= m; i++)
            see(READ, area(OUTER), i, 4);
        CALL("cusparseXcsr2coo", 0, area(OUTER), HALF(entries), HALF(m), area(INNER), HALF(0));
        compare("csr2coo", ~0u);
        for (int i = 0; i < entries; i++) {
            see(READ, area(INNER), i, 4), see(WRITE, area(OTHER), i, 4);
            if (numeric)
                see(READ, area(VALUES), i, 8), see(WRITE, area(OUT), i, 8);
        }
        for (int i = 0; i <= m; i++)
            see(READ, area(OUTER), i, 4);
        for (int i = 0; i <= n; i++)
            see(WRITE, area(IN), i, 4);
        CALL("cusparseCsr2cscEx2", 0, HALF(m), HALF(n), HALF(entries), area(VALUES), area(OUTER),
             area(INNER), area(OUT), area(IN), area(OTHER), HALF(DOUBLE), HALF(numeric), HALF(0),
             HALF(0), 0);
        assert_false(call.incomplete);
        compare("csr2csc", ~0u);
    }
}

static void what_is_not_known_is_said(void **state)
{
    (void)state;
    struct sparse a = any_sparse(BSR);
    const struct dense d = any_dense(a.rows, a.columns, IN);
    CALL("cusparseSparseToDense", 0, W(&a), W(&d), HALF(0), 0);
    assert_true(call.incomplete);
    touch_release(&call);
    a.format = CSR;
    a.batches = 3;
    CALL("cusparseSparseToDense", 0, W(&a), W(&d), HALF(0), 0);
    assert_true(call.incomplete);
    touch_release(&call);
    CALL("cusparseSparseToDense", 0, 0, 0, HALF(0), 0);
    assert_true(call.incomplete);
    touch_release(&call);
    CALL("cusparseCsr2cscEx2", 0, HALF(1), HALF(1), HALF(1), area(VALUES), area(OUTER), area(INNER),
         area(OUT), area(IN), area(OTHER), HALF(DOUBLE), HALF(1), HALF(0), HALF(0), area(BUFFER));
    assert_true(call.incomplete); /* the library does not say how large the buffer is */
    touch_release(&call);
}

/* ---- Random numbers ---- */

static void random_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *symbol;
        int bytes;
    } functions[] = {{"curandGenerate", 4},
                     {"curandGenerateUniform", 4},
                     {"curandGenerateUniformDouble", 8},
                     {"curandGenerateLongLong", 8},
                     {"curandGenerateNormal", 4}, /* its other numbers are in other registers */
                     {"curandGenerateNormalDouble", 8},
                     {"curandGenerateLogNormal", 4},
                     {"curandGenerateLogNormalDouble", 8},
                     {"curandGeneratePoisson", 4}};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int n = 0; n < 50; n += 7) {
            for (int i = 0; i < n; i++)
                see(WRITE, area(OUT), i, functions[f].bytes);
            CALL(functions[f].symbol, 0, area(OUT), W(n));
            compare(functions[f].symbol, ~0u);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_with_a_vector), cmocka_unit_test(products_with_a_matrix),
        cmocka_unit_test(factors_on_the_device),  cmocka_unit_test(conversions_of_dense_matrices),
        cmocka_unit_test(conversions_of_indices), cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(random_numbers),
    };
    detector = csan_context_create(NULL, NULL, NULL, NULL, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    csan_context_destroy(detector);
    return failed;
}
