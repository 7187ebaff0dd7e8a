/* What library.table says that calls touch, against loops that do what the call does: element by
 * element, over random sizes. What is exact must be the very bytes; a bound must hold them. */
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/library/touch.h"
#include "runtime/hook/session/session.h"
#include "tests/unit/hook/no_collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- What surrounds it ---- */

static int pointer_mode, rank, ranks = 1;
static size_t work_bytes;
static uint64_t table[64]; /* addresses in "device memory" at TABLE */

enum { TABLE = 0x1000, AREA = 0x100000, BYTES = 1 << 16, ROUNDS = 300 };

bool known_contents_read(uint64_t address, uint32_t bytes, void *to)
{
    if (address < TABLE || address + bytes > TABLE + sizeof table)
        return false;
    memcpy(to, (char *)table + (address - TABLE), bytes);
    return true;
}

static csan_context *detector;

csan_context *session_context(void)
{
    return detector;
}

#define NO_HANDLE ((void *)99) /* the library refuses it */

static int answer_mode(void *handle, int *mode)
{
    *mode = pointer_mode;
    return handle == NO_HANDLE;
}
static int answer_work(int plan, size_t *bytes)
{
    (void)plan;
    *bytes = work_bytes;
    return 0;
}
static int answer_rank(void *communicator, int *number)
{
    (void)communicator;
    *number = rank;
    return 0;
}
static int answer_ranks(void *communicator, int *number)
{
    (void)communicator;
    *number = ranks;
    return 0;
}

/* A descriptor of cuBLASLt: the bytes of its attributes by their numbers. */
struct descriptor {
    int64_t values[40];
};
static int answer_attribute(void *of, int number, void *value, size_t bytes, size_t *written)
{
    const struct descriptor *descriptor = of;
    if (number < 0 || number >= 40)
        return 7;
    memcpy(value, &descriptor->values[number], bytes); /* the lowest bytes first */
    *written = bytes;
    return 0;
}

void *library_ask(struct library_home *home, enum library_question question)
{
    (void)home;
    switch (question) {
    case LIBRARY_POINTER_MODE:
        return (void *)answer_mode;
    case LIBRARY_LT_LAYOUT:
    case LIBRARY_LT_PRODUCT:
        return (void *)answer_attribute;
    case LIBRARY_WORK_BYTES:
        return (void *)answer_work;
    case LIBRARY_RANK:
        return (void *)answer_rank;
    case LIBRARY_RANKS:
        return (void *)answer_ranks;
    default:
        return NULL;
    }
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

/* ---- A call, and what it should touch ---- */

static const struct library_function *function_named(const char *symbol)
{
    for (unsigned i = 0; i < library_function_count; i++)
        if (strcmp(library_functions[i].symbol, symbol) == 0)
            return &library_functions[i];
    fail_msg("library.table has no %s", symbol);
    return NULL;
}

static struct touch call;
static uint64_t words[32];
static int call_result; /* of those that are noted */

/* `count` arguments, 64 bits each. */
static void call_of(const char *symbol, int count, ...)
{
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        words[i] = va_arg(list, uint64_t);
    va_end(list);
    const struct library_function *function = function_named(symbol);
    assert_int_equal(count, function->operation.argument_count);
    assert_int_equal(function->stack_words, TOUCH_STACK_WORDS(count));
    touch_collect(&call, function, NULL, words, words + TOUCH_REGISTERS);
    if (function->after)
        function->after(&call, 0);
    if (function->notes)
        function->notes(&call, call_result);
}
#define W(value) ((uint64_t)(int64_t)(value))
/* As a 32-bit argument may arrive: the upper half means nothing. */
#define HALF(value)       ((uint64_t)(uint32_t)(int32_t)(value) | 0xdead000000000000u)
#define CALL(symbol, ...) call_of(symbol, (int)(sizeof((uint64_t[]){__VA_ARGS__}) / 8), __VA_ARGS__)

/* Bytes that the reference touched, by the first letter of the argument; each has its own area. */
enum {
    SEEN_READ = 1,
    SEEN_WRITE = 2,
    SAID_EXACT_READ = 4,
    SAID_EXACT_WRITE = 8,
    SAID_READ = 16,
    SAID_WRITE = 32
};
static uint8_t areas[8][BYTES];

static uint64_t area(int number)
{
    return (uint64_t)AREA * (unsigned)(number + 1) + BYTES / 2;
}

static uint8_t *byte_at(uint64_t address)
{
    uint64_t number = address / AREA;
    assert_in_range(number, 1, 8);
    assert_in_range(address % AREA, 0, BYTES - 1);
    return &areas[number - 1][address % AREA];
}

static void see(int kind, uint64_t base, int64_t element, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *byte_at(base + (uint64_t)(element * bytes) + (uint64_t)i) |= (uint8_t)kind;
}
static void reads(uint64_t base, int64_t element, int bytes)
{
    see(SEEN_READ, base, element, bytes);
}
static void writes(uint64_t base, int64_t element, int bytes)
{
    see(SEEN_WRITE, base, element, bytes);
}

static void say(const struct csan_access *access, uint64_t base, uint8_t dim)
{
    if (dim < access->dim_count) {
        for (uint64_t i = 0; i < access->dims[dim].count; i++)
            say(access, base + i * (uint64_t)access->dims[dim].stride, dim + 1);
        return;
    }
    int said = access->kind == CSAN_READ ? SAID_READ : SAID_WRITE;
    if (access->bound == CSAN_EXACT)
        said |= access->kind == CSAN_READ ? SAID_EXACT_READ : SAID_EXACT_WRITE;
    for (uint64_t i = 0; i < access->bytes; i++)
        *byte_at(base + i) |= (uint8_t)said;
}

/* Compares and forgets. A write stands for the read before it. */
static void compare(const char *what)
{
    for (size_t i = 0; i < call.count; i++)
        say(&call.accesses[i], call.accesses[i].base, 0);
    for (int number = 0; number < 8; number++)
        for (int i = 0; i < BYTES; i++) {
            uint8_t byte = areas[number][i];
            bool wrong = (byte & SEEN_WRITE && !(byte & SAID_WRITE)) ||
                         (byte & SEEN_READ && !(byte & (SAID_READ | SAID_WRITE))) ||
                         (byte & SAID_EXACT_WRITE && !(byte & SEEN_WRITE)) ||
                         (byte & SAID_EXACT_READ && !(byte & (SEEN_READ | SEEN_WRITE)));
            if (wrong)
                fail_msg("%s: byte %d of area %d is %#x", what, i - BYTES / 2, number, byte);
        }
    memset(areas, 0, sizeof areas);
    touch_release(&call);
}

static int upto(int limit)
{
    return rand() % limit;
}

/* Operands. */
#define PA     area(0)
#define PB     area(1)
#define PC     area(2)
#define PX     area(3)
#define PY     area(4)
#define PALPHA area(5)
#define PBETA  area(6)

static const float one = 1, none = 0, minus_none = -0.0f;

/* ---- Workspaces of handles ---- */

enum { HANDLES = 3, WORKSPACE_MOST = 64 };

/* One random call of those that decide a handle's workspace; what is left then is in given[]. */
static void workspace_call(int64_t given[HANDLES])
{
    const int handle = upto(HANDLES);
    call_result = upto(4) == 0 ? 1 : 0; /* refused: nothing changes */
    switch (upto(4)) {
    case 0:
        CALL("cublasSetStream_v2", W(handle), PX);
        given[handle] = call_result ? given[handle] : 0;
        break;
    case 1:
        CALL("cublasDestroy_v2", W(handle));
        given[handle] = call_result ? given[handle] : 0;
        break;
    default: {
        const int64_t bytes = upto(WORKSPACE_MOST);
        CALL("cublasSetWorkspace_v2", W(handle), bytes % 5 ? area(handle) : 0, W(bytes));
        given[handle] = call_result ? given[handle] : bytes % 5 ? bytes : 0;
    }
    }
    call_result = 0;
    touch_release(&call);
}

static void workspaces(void **state)
{
    int64_t given[HANDLES] = {0};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        workspace_call(given);
        const int handle = upto(HANDLES);
        CALL("cublasScopy_v2", W(handle), HALF(1), PX, HALF(1), PY, HALF(1));
        size_t bounds = 0;
        for (size_t i = 0; i < call.count; i++) {
            if (call.accesses[i].base != area(handle))
                continue;
            bounds++;
            assert_int_equal(call.accesses[i].kind, CSAN_WRITE);
            assert_int_not_equal(call.accesses[i].bound, CSAN_EXACT);
            assert_int_equal(call.accesses[i].bytes, given[handle]);
            assert_int_equal(call.accesses[i].argument, 0);
        }
        assert_int_equal(bounds, given[handle] > 0);
        touch_release(&call);
    }
    /* Of a call without a handle nothing is said. */
    CALL("cublasSetVector", HALF(1), HALF(4), PX, HALF(1), PY, HALF(1));
    assert_int_equal(call.count, 1);
    touch_release(&call);
    for (int handle = 0; handle < HANDLES; handle++) {
        CALL("cublasDestroy_v2", W(handle));
        touch_release(&call);
    }
}

/* ---- Level 1 ---- */

static int64_t place(int64_t i, int64_t n, int64_t increment)
{
    return increment < 0 ? (i - n + 1) * increment : i * increment;
}

static void level_1(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int n = upto(20), incx = upto(9) - 4, incy = upto(9) - 4;
        for (int i = 0; i < n; i++)
            reads(PX, place(i, n, incx), 4), writes(PY, place(i, n, incy), 4);
        CALL("cublasSaxpy_v2", 0, HALF(n), W(&one), PX, HALF(incx), PY, HALF(incy));
        compare("axpy");
        CALL("cublasSaxpy_v2", 0, HALF(n), W(&minus_none), PX, HALF(incx), PY, HALF(incy));
        compare("axpy with a factor of zero");
        for (int i = 0; i < n; i++)
            reads(PX, place(i, n, incx), 16), writes(PY, place(i, n, incy), 16);
        CALL("cublasZcopy_v2_64", 0, W(n), PX, W(incx), PY, W(incy));
        compare("copy");
        for (int i = 0; i < n; i++)
            writes(PX, place(i, n, incx), 8), writes(PY, place(i, n, incy), 8);
        CALL("cublasCswap_v2", 0, HALF(n), PX, HALF(incx), PY, HALF(incy));
        compare("swap");
        for (int i = 0; i < n && incx > 0; i++)
            writes(PX, place(i, n, incx), 2);
        CALL("cublasScalEx", 0, HALF(n), W(&one), HALF(0), PX, HALF(2), HALF(incx), HALF(0));
        compare("scal");
    }
}

static void scalars_of_the_device(void **state)
{
    (void)state;
    pointer_mode = 1;
    for (int i = 0; i < 5; i++)
        reads(PX, i, 8), reads(PY, 2 * i, 8);
    writes(PC, 0, 8);
    CALL("cublasDdot_v2", 0, HALF(5), PX, HALF(1), PY, HALF(2), PC);
    compare("dot");
    for (int i = 0; i < 5; i++)
        reads(PX, i, 8);
    writes(PC, 0, 4);
    CALL("cublasIcamax_v2", 0, HALF(5), PX, HALF(1), PC);
    compare("amax");
    for (int i = 0; i < 5; i++)
        reads(PX, i, 16);
    writes(PC, 0, 8);
    CALL("cublasDznrm2_v2_64", 0, W(5), PX, W(1), PC);
    compare("nrm2");
    /* Whether the operands are looked at hangs on the factor, which the device has. */
    reads(PALPHA, 0, 4);
    CALL("cublasSaxpy_v2", 0, HALF(5), PALPHA, PX, HALF(1), PY, HALF(1));
    assert_int_equal(call.count, 3);
    assert_int_equal(call.accesses[0].bound, CSAN_EXACT);
    assert_int_equal(call.accesses[1].bound, CSAN_BOUND_GUARD);
    assert_int_equal(call.accesses[2].bound, CSAN_BOUND_GUARD);
    compare("axpy");
    pointer_mode = 0;
    CALL("cublasDdot_v2", 0, HALF(5), PX, HALF(1), PY, HALF(2), W(&one));
    assert_int_equal(call.count, 2);
    touch_release(&call);
}

/* ---- Level 2 ---- */

static void level_2(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int m = 1 + upto(12), n = 1 + upto(12), lda = m + upto(4), trans = upto(3);
        int incx = upto(9) - 4, incy = upto(9) - 4, kl = upto(3), ku = upto(3);
        int nx = trans ? m : n, ny = trans ? n : m;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                reads(PA, i + j * lda, 8);
        for (int i = 0; i < nx; i++)
            reads(PX, place(i, nx, incx), 8);
        for (int i = 0; i < ny; i++)
            writes(PY, place(i, ny, incy), 8);
        CALL("cublasDgemv_v2", 0, HALF(trans), HALF(m), HALF(n), W(&(double){1}), PA, HALF(lda), PX,
             HALF(incx), W(&(double){0}), PY, HALF(incy));
        compare("gemv");
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                writes(PA, i + j * lda, 4);
        for (int i = 0; i < m; i++)
            reads(PX, place(i, m, incx), 4);
        for (int i = 0; i < n; i++)
            reads(PY, place(i, n, incy), 4);
        CALL("cublasSger_v2_64", 0, W(m), W(n), W(&one), PX, W(incx), PY, W(incy), PA, W(lda));
        compare("ger");
        lda = kl + ku + 1 + upto(3);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                if (i <= j + kl && j <= i + ku)
                    reads(PA, ku + i - j + j * lda, 4);
        for (int i = 0; i < nx; i++)
            reads(PX, place(i, nx, incx), 4);
        for (int i = 0; i < ny; i++)
            writes(PY, place(i, ny, incy), 4);
        CALL("cublasSgbmv_v2", 0, HALF(trans), HALF(m), HALF(n), HALF(kl), HALF(ku), W(&one), PA,
             HALF(lda), PX, HALF(incx), W(&none), PY, HALF(incy));
        compare("gbmv");
        for (int i = 0; i < n * (n + 1) / 2; i++)
            reads(PA, i, 4);
        for (int i = 0; i < n; i++)
            reads(PX, place(i, n, incx), 4), writes(PY, place(i, n, incy), 4);
        CALL("cublasSspmv_v2", 0, HALF(1), HALF(n), W(&one), PA, PX, HALF(incx), W(&one), PY,
             HALF(incy));
        compare("spmv");
        int upper = upto(2), unit = upto(2);
        lda = n + upto(3);
        for (int j = 0; j < n; j++)
            for (int i = upper ? 0 : j + unit; i < (upper ? j + 1 - unit : n); i++)
                reads(PA, i + j * lda, 4);
        for (int i = 0; i < n; i++)
            writes(PX, place(i, n, incx), 4);
        CALL("cublasStrsv_v2", 0, HALF(upper), HALF(trans), HALF(unit), HALF(n), PA, HALF(lda), PX,
             HALF(incx));
        compare("trsv");
    }
}

/* ---- Level 3 ---- */

static void see_product(int m, int n, int k, int ta, int tb, int lda, int ldb, int ldc, int bytes)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int l = 0; l < k; l++) {
                reads(PA, ta ? l + i * lda : i + l * lda, bytes);
                reads(PB, tb ? j + l * ldb : l + j * ldb, bytes);
            }
            writes(PC, i + j * ldc, bytes);
        }
}

static void products(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int m = 1 + upto(9), n = 1 + upto(9), k = upto(9), ta = upto(3), tb = upto(3);
        int lda = (ta ? k : m) + upto(3), ldb = (tb ? n : k) + upto(3), ldc = m + upto(3);
        see_product(m, n, k, ta, tb, lda, ldb, ldc, 4);
        CALL("cublasSgemm_v2", 0, HALF(ta), HALF(tb), HALF(m), HALF(n), HALF(k), W(&one), PA,
             HALF(lda), PB, HALF(ldb), W(&none), PC, HALF(ldc));
        for (size_t i = 0; i < call.count; i++) {
            const char *name = call.function->operation.arguments[call.accesses[i].argument];
            assert_int_equal(call.accesses[i].base, *name == 'A' ? PA : *name == 'B' ? PB : PC);
        }
        compare("gemm");
        see_product(m, n, k, ta, tb, lda, ldb, ldc, 2);
        CALL("cublasGemmEx_64", 0, HALF(ta), HALF(tb), W(m), W(n), W(k), W(&one), PA, HALF(14),
             W(lda), PB, HALF(14), W(ldb), W(&one), PC, HALF(14), W(ldc), HALF(68), HALF(-1));
        compare("GemmEx of bfloat16");
        for (int i = 0; i < m * n; i++)
            writes(PC, i % m + i / m * ldc, 16);
        CALL("cublasZgemm_v2", 0, HALF(ta), HALF(tb), HALF(m), HALF(n), HALF(k),
             W(((double[]){0, -0.0})), PA, HALF(lda), PB, HALF(ldb), W(((double[]){1, 0})), PC,
             HALF(ldc));
        compare("gemm with a factor of zero");
    }
}

static void products_in_batches(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int m = 1 + upto(6), n = 1 + upto(6), k = 1 + upto(6), ta = upto(2), batches = upto(4);
        int lda = (ta ? k : m) + upto(3), ldb = k, ldc = m + upto(3);
        int64_t step_a = upto(2) ? 0 : lda * k * m, step_c = ldc * n + upto(5), step_b = upto(40);
        for (int batch = 0; batch < batches; batch++)
            for (int i = 0; i < m * n * k; i++) {
                int r = i % m, c = i / m % n, l = i / m / n;
                reads(PA, batch * step_a + (ta ? l + r * lda : r + l * lda), 4);
                reads(PB, batch * step_b + l + c * ldb, 4);
                writes(PC, batch * step_c + r + c * ldc, 4);
            }
        CALL("cublasSgemmStridedBatched", 0, HALF(ta), HALF(0), HALF(m), HALF(n), HALF(k), W(&one),
             PA, HALF(lda), W(step_a), PB, HALF(ldb), W(step_b), W(&none), PC, HALF(ldc), W(step_c),
             HALF(batches));
        compare("gemmStridedBatched");
    }
    for (int i = 0; i < 64; i++)
        table[i] = area(i % 3) + (uint64_t)(i / 3) * 256;
    for (int batch = 0; batch < 20; batch++) /* A, B, C of each in turn, more than fit in place */
        see_product(2, 2, 2, 0, 0, 2, 2, 2, 4);
    memset(areas, 0, sizeof areas);
    CALL("cublasSgemmBatched", 0, HALF(0), HALF(0), HALF(2), HALF(2), HALF(2), W(&one), TABLE,
         HALF(2), TABLE + 160, HALF(2), W(&none), TABLE + 320, HALF(2), HALF(20));
    assert_int_equal(call.count, 3 + 60);
    assert_false(call.incomplete);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(call.accesses[1 + i].base, table[i]);
        assert_int_equal(call.accesses[1 + i].kind, CSAN_READ);
        assert_int_equal(call.accesses[1 + i].bytes, 16);
        assert_int_equal(call.accesses[43 + i].base, table[40 + i]);
        assert_int_equal(call.accesses[43 + i].kind, CSAN_WRITE);
    }
    touch_release(&call);
    CALL("cublasSgemmBatched", 0, HALF(0), HALF(0), HALF(2), HALF(2), HALF(2), W(&one), 0x10,
         HALF(2), TABLE, HALF(2), W(&none), TABLE + 8, HALF(2), HALF(1));
    assert_true(call.incomplete);
    assert_int_equal(call.count, 5); /* three arrays, B and C */
    touch_release(&call);
}

enum { GROUPS = 3, EACH = 3, APART = 2048 }; /* of a kind of matrix, in bytes */

/* Matrices of groups, one APART from the other in the area of their kind; some factors are 0. */
static void products_in_groups(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const bool wide = round % 2;
        int m[GROUPS], n[GROUPS], k[GROUPS], lda[GROUPS], ldb[GROUPS], ldc[GROUPS], sizes[GROUPS];
        int ta[GROUPS], tb[GROUPS], product = 0;
        int64_t long_m[GROUPS], long_n[GROUPS], long_k[GROUPS], long_a[GROUPS], long_b[GROUPS],
            long_c[GROUPS], long_sizes[GROUPS];
        float factors[GROUPS];
        for (int g = 0; g < GROUPS; g++) {
            m[g] = 1 + upto(9), n[g] = 1 + upto(9), k[g] = upto(9);
            ta[g] = upto(3), tb[g] = upto(3), sizes[g] = upto(EACH + 1);
            lda[g] = (ta[g] ? k[g] : m[g]) + upto(3), ldb[g] = (tb[g] ? n[g] : k[g]) + upto(3);
            ldc[g] = m[g] + upto(3);
            factors[g] = upto(4) ? 2 : -0.0f;
            long_m[g] = m[g], long_n[g] = n[g], long_k[g] = k[g], long_sizes[g] = sizes[g];
            long_a[g] = lda[g], long_b[g] = ldb[g], long_c[g] = ldc[g];
            for (int i = 0; i < sizes[g]; i++, product++) {
                const int64_t at = (int64_t)product * APART / 4;
                table[product] = PA + (uint64_t)product * APART;
                table[16 + product] = PB + (uint64_t)product * APART;
                table[32 + product] = PC + (uint64_t)product * APART;
                for (int r = 0; r < m[g]; r++)
                    for (int c = 0; c < n[g]; c++) {
                        for (int l = 0; factors[g] != 0 && l < k[g]; l++) {
                            reads(PA, at + (ta[g] ? l + r * lda[g] : r + l * lda[g]), 4);
                            reads(PB, at + (tb[g] ? c + l * ldb[g] : l + c * ldb[g]), 4);
                        }
                        writes(PC, at + r + c * ldc[g], 4);
                    }
            }
        }
        if (wide)
            CALL("cublasSgemmGroupedBatched_64", 0, W(ta), W(tb), W(long_m), W(long_n), W(long_k),
                 W(factors), TABLE, W(long_a), TABLE + 128, W(long_b), W(factors), TABLE + 256,
                 W(long_c), W(GROUPS), W(long_sizes));
        else
            CALL("cublasGemmGroupedBatchedEx", 0, W(ta), W(tb), W(m), W(n), W(k), W(factors), TABLE,
                 HALF(0), W(lda), TABLE + 128, HALF(0), W(ldb), W(factors), TABLE + 256, HALF(0),
                 W(ldc), HALF(GROUPS), W(sizes), HALF(68));
        size_t kept = 0;
        for (size_t i = 0; i < call.count; i++)
            if (call.accesses[i].base >= AREA)
                call.accesses[kept++] = call.accesses[i];
            else
                assert_int_equal(call.accesses[i].bytes, product * 8);
        assert_int_equal(call.count - kept, product ? 3 : 0);
        assert_false(call.incomplete);
        call.count = kept;
        compare("grouped");
    }
}

static void level_3(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int m = upto(9), n = upto(9), k = upto(9), right = upto(2), lower = upto(2),
            trans = upto(2);
        int order = right ? n : m, lda = order + upto(3), ldb = m + upto(3), ldc = m + upto(3);
        for (int j = 0; j < order && m && n; j++)
            for (int i = lower ? j : 0; i < (lower ? order : j + 1); i++)
                reads(PA, i + j * lda, 4);
        for (int i = 0; i < m * n; i++)
            reads(PB, i % m + i / m * ldb, 4), writes(PC, i % m + i / m * ldc, 4);
        if (m && n) {
            CALL("cublasSsymm_v2", 0, HALF(right), HALF(lower), HALF(m), HALF(n), W(&one), PA,
                 HALF(lda), PB, HALF(ldb), W(&one), PC, HALF(ldc));
            compare("symm");
        }
        for (int i = 0; i < m * n; i++)
            writes(PB, i % m + i / m * ldb, 8);
        for (int i = 0; i < order && m && n; i++)
            reads(PA, i + i * lda, 8);
        if (m && n) {
            CALL("cublasCtrsm_v2", 0, HALF(right), HALF(lower), HALF(0), HALF(0), HALF(m), HALF(n),
                 W(((float[]){0, 1})), PA, HALF(lda), PB, HALF(ldb));
            compare("trsm");
        }
        memset(areas, 0, sizeof areas);
        lda = (trans ? k : n) + upto(3);
        ldc = n + upto(3);
        for (int i = 0; i < n; i++)
            for (int l = 0; l < k; l++)
                reads(PA, trans ? l + i * lda : i + l * lda, 8);
        for (int j = 0; j < n; j++)
            for (int i = lower ? j : 0; i < (lower ? n : j + 1); i++)
                writes(PC, i + j * ldc, 8);
        CALL("cublasDsyrk_v2", 0, HALF(lower), HALF(trans), HALF(n), HALF(k), W(&(double){1}), PA,
             HALF(lda), W(&(double){1}), PC, HALF(ldc));
        compare("syrk");
        lda = (trans ? n : m) + 1;
        for (int i = 0; i < m * n; i++) {
            int r = i % m, c = i / m;
            reads(PA, trans ? c + r * lda : r + c * lda, 4);
            writes(PC, r + c * (m + 2), 4);
        }
        CALL("cublasSgeam", 0, HALF(trans), HALF(0), HALF(m), HALF(n), W(&one), PA, HALF(lda),
             W(&none), PB, HALF(m), PC, HALF(m + 2));
        compare("geam");
    }
}

/* ---- cuBLASLt ---- */

static struct descriptor layout_of(int type, bool by_rows, int rows, int columns, int leading,
                                   int batches, int step)
{
    return (struct descriptor){{type, by_rows, rows, columns, leading, batches, step}};
}

static void see_matrix(int kind, uint64_t base, const struct descriptor *of, int bytes)
{
    const int64_t *value = of->values;
    for (int batch = 0; batch < value[5]; batch++)
        for (int i = 0; i < value[2]; i++)
            for (int j = 0; j < value[3]; j++)
                see(kind, base, batch * value[6] + (value[1] ? j + i * value[4] : i + j * value[4]),
                    bytes);
}

static void products_by_descriptors(void **state)
{
    (void)state;
    struct descriptor product = {.values = {[7] = 1, [26] = -1}};
    for (int round = 0; round < ROUNDS; round++) {
        int m = 1 + upto(6), n = 1 + upto(6), k = 1 + upto(6), batches = 1 + upto(3);
        bool rows = upto(2), bias = upto(2);
        struct descriptor a = layout_of(0, rows, m, k, (rows ? k : m) + upto(2), batches, 60);
        struct descriptor b = layout_of(0, false, k, n, k + upto(2), batches, upto(2) * 50);
        struct descriptor d = layout_of(0, rows, m, n, (rows ? n : m) + upto(2), batches, 70);
        see_matrix(SEEN_READ, PA, &a, 4);
        see_matrix(SEEN_READ, PB, &b, 4);
        see_matrix(SEEN_WRITE, PY, &d, 4);
        product.values[7] = bias ? 4 : 1;
        product.values[8] = (int64_t)PX;
        for (int i = 0; bias && i < m; i++)
            reads(PX, i, 4);
        CALL("cublasLtMatmul", 0, W(&product), W(&one), PA, W(&a), PB, W(&b), W(&none), PC, W(&d),
             PY, W(&d), 0, PALPHA, W(128), 0);
        assert_false(call.incomplete);
        assert_int_equal(call.accesses[call.count - 1].base, PALPHA); /* the workspace */
        assert_int_equal(call.accesses[call.count - 1].bound, CSAN_BOUND_SHAPE);
        compare("a product by descriptors");
    }
    struct descriptor a = layout_of(0, false, 2, 2, 2, 1, 0), tiled = a;
    tiled.values[1] = 2; /* CUBLASLT_ORDER_COL32 */
    product.values[7] = 1;
    product.values[2] = 3; /* alpha is a vector on the device, beta is zero */
    CALL("cublasLtMatmul", 0, W(&product), PALPHA, PA, W(&tiled), PB, W(&a), 0, PC, W(&a), PY,
         W(&a), 0, 0, 0, 0);
    assert_true(call.incomplete);
    assert_int_equal(call.count, 3); /* alpha, B, the result */
    assert_int_equal(call.accesses[0].bytes, 8);
    assert_int_equal(call.accesses[1].base, PB);
    assert_int_equal(call.accesses[1].bound, CSAN_BOUND_GUARD);
    assert_int_equal(call.accesses[2].base, PY);
    assert_int_equal(call.accesses[2].bound, CSAN_EXACT);
    touch_release(&call);
}

/* ---- cuFFT ---- */

static void transforms(void **state)
{
    (void)state;
    int plan = 7;
    for (int round = 0; round < ROUNDS; round++) {
        int sizes[3], in[3], out[3], rank_ = 1 + upto(3), batches = 1 + upto(3);
        int istride = 1 + upto(2), ostride = 1 + upto(2), basic = upto(2);
        int kind = upto(3); /* C2C, R2C, C2R */
        static const int types[] = {0x29, 0x2a, 0x2c};
        int64_t idist = 1, odist = 1;
        for (int i = 0; i < rank_; i++) {
            bool last = i == rank_ - 1;
            sizes[i] = 1 + upto(4);
            int half = last ? sizes[i] / 2 + 1 : sizes[i];
            in[i] = (kind == 2 ? half : sizes[i]) + (basic ? 0 : upto(2));
            out[i] = (kind == 1 ? half : sizes[i]) + (basic ? 0 : upto(2));
            idist *= in[i], odist *= out[i];
        }
        if (basic)
            istride = ostride = 1;
        else
            idist = idist * istride + upto(3), odist = odist * ostride + upto(3);
        int in_bytes = kind == 1 ? 4 : 8, out_bytes = kind == 2 ? 4 : 8;
        for (int b = 0; b < batches; b++)
            for (int x = 0; x < 64; x++) {
                int64_t from = 0, to = 0, index[3] = {x / 16, x / 4 % 4, x % 4};
                bool in_input = true, in_output = true;
                for (int i = 0; i < rank_; i++) {
                    int64_t at = index[3 - rank_ + i];
                    int half = i == rank_ - 1 ? sizes[i] / 2 + 1 : sizes[i];
                    in_input &= at < (kind == 2 ? half : sizes[i]);
                    in_output &= at < (kind == 1 ? half : sizes[i]);
                    from = from * in[i] + at;
                    to = to * out[i] + at;
                }
                for (int i = 0; i < 3 - rank_; i++)
                    in_input &= index[i] == 0, in_output &= index[i] == 0;
                if (in_input)
                    reads(PX, b * idist + from * istride, in_bytes);
                if (in_output)
                    writes(PY, b * odist + to * ostride, out_bytes);
            }
        CALL("cufftMakePlanMany", HALF(plan), HALF(rank_), W(sizes), basic ? 0 : W(in),
             HALF(basic ? 99 : istride), HALF(idist), basic ? 0 : W(out), HALF(ostride),
             HALF(odist), HALF(types[kind]), HALF(batches), 0);
        touch_release(&call);
        if (kind == 0)
            CALL("cufftExecC2C", HALF(plan), PX, PY, HALF(1));
        else
            CALL(kind == 1 ? "cufftExecR2C" : "cufftExecC2R", HALF(plan), PX, PY);
        compare("a transform");
    }
    CALL("cufftDestroy", HALF(plan));
    CALL("cufftExecR2C", HALF(plan), PX, PY);
    assert_true(call.incomplete);
    assert_int_equal(call.count, 0);
    touch_release(&call);
}

/* The rows of the real side lie in those of the complex one. */
static void transforms_in_place(void **state)
{
    (void)state;
    int plan = -1;
    CALL("cufftPlan2d", W(&plan), HALF(3), HALF(5), HALF(0x2c));
    plan = 12;
    CALL("cufftPlan2d", W(&plan), HALF(3), HALF(5), HALF(0x2c));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 6; j++) {
            see(SEEN_READ, PX, 6 * i + j, 4);
            if (j < 5)
                writes(PX, 6 * i + j, 4);
        }
    CALL("cufftExecC2R", HALF(plan), PX, PX);
    assert_int_equal(call.count, 2);
    compare("complex to real in place");
    work_bytes = 100;
    CALL("cufftSetWorkArea", HALF(plan), PB);
    CALL("cufftExecC2R", HALF(plan), PX, PX);
    assert_int_equal(call.count, 3);
    assert_int_equal(call.accesses[2].base, PB);
    assert_int_equal(call.accesses[2].bytes, 100);
    assert_int_equal(call.accesses[2].bound, CSAN_BOUND_SHAPE);
    touch_release(&call);
}

/* ---- NCCL ---- */

static void collectives(void **state)
{
    (void)state;
    ranks = 3;
    for (rank = 0; rank < ranks; rank++) {
        int n = 1 + upto(10), root = upto(3);
        bool is_root = rank == root;
        for (int i = 0; i < n; i++)
            reads(PX, i, 2), writes(PY, i, 2);
        CALL("ncclAllReduce", PX, PY, W(n), HALF(9), HALF(0), 1, 2);
        compare("all-reduce");
        for (int i = 0; i < n; i++) {
            if (is_root)
                reads(PX, i, 8);
            writes(PY, i, 8);
        }
        CALL("ncclBroadcast", PX, PY, W(n), HALF(8), HALF(root), 1, 2);
        compare("broadcast");
        for (int i = 0; i < n; i++)
            see(is_root ? SEEN_READ : SEEN_WRITE, PX, i, 4);
        CALL("ncclBroadcast", PX, PX, W(n), HALF(7), HALF(root), 1, 2);
        compare("broadcast in place");
        for (int i = 0; i < n; i++) {
            reads(PX, i, 4);
            if (is_root)
                writes(PY, i, 4);
        }
        CALL("ncclReduce", PX, PY, W(n), HALF(7), HALF(0), HALF(root), 1, 2);
        compare("reduce");
        for (int i = 0; i < 3 * n; i++) {
            writes(PY, i, 4);
            if (i < n)
                reads(PX, i, 4);
        }
        CALL("ncclAllGather", PX, PY, W(n), HALF(2), 1, 2);
        compare("all-gather");
        for (int i = 0; i < 3 * n; i++)
            see(i / n == rank ? SEEN_READ : SEEN_WRITE, PY, i, 4);
        CALL("ncclAllGather", PY + (uint64_t)(rank * n * 4), PY, W(n), HALF(2), 1, 2);
        compare("all-gather in place");
        for (int i = 0; i < 3 * n; i++) {
            reads(PX, i, 1);
            if (i < n)
                writes(PY, i, 1);
        }
        CALL("ncclReduceScatter", PX, PY, W(n), HALF(0), HALF(0), 1, 2);
        compare("reduce-scatter");
        for (int i = 0; i < 3 * n; i++)
            reads(PX, i, 4), writes(PY, i, 4);
        CALL("ncclAlltoAll", PX, PY, W(n), HALF(7), 1, 2);
        compare("all-to-all");
    }
    rank = 0;
    ranks = 1;
}

/* ---- Bad input ---- */

/* The library refuses the call; what csan reads to understand it may be nothing that can be read.
 */
static void handles_that_are_none(void **state)
{
    (void)state;
    struct descriptor layout = layout_of(0, false, 2, 2, 2, 1, 0);
    CALL("cublasSaxpy_v2", (uintptr_t)NO_HANDLE, HALF(4), PALPHA, PX, HALF(1), PY, HALF(1));
    assert_int_equal(call.accesses[0].bound, CSAN_BOUND_GUARD);
    touch_release(&call);
    csan_memory_create(detector, CSAN_MEMORY_DEVICE, PALPHA, 64, CSAN_HOST, 0);
    CALL("cublasSaxpy_v2", 0, HALF(4), PALPHA + 8, PX, HALF(1), PY, HALF(1));
    assert_int_equal(call.accesses[0].bound, CSAN_BOUND_GUARD);
    touch_release(&call);
    CALL("cublasLtMatmul", 0, 0, PALPHA, PA, W(&layout), PB, 0, PBETA, PC, W(&layout), PY,
         W(&layout), 0, 0, 0, 0);
    assert_true(call.incomplete);
    touch_release(&call);
}

static void sizes_that_cannot_be(void **state)
{
    (void)state;
    static const int64_t sizes[] = {-1, 0, INT64_MIN, INT64_MAX, INT64_MAX / 4, 1};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            uint64_t m = (uint64_t)sizes[i], n = (uint64_t)sizes[j];
            CALL("cublasSgemm_v2_64", 0, HALF(0), HALF(0), m, n, n, W(&one), PA, m, PB, n, W(&none),
                 PC, m);
            for (size_t k = 0; k < call.count; k++)
                assert_true(call.accesses[k].base && call.accesses[k].bytes);
            touch_release(&call);
            CALL("cublasSaxpy_v2_64", 0, m, W(&one), PX, n, 0, n);
            touch_release(&call);
        }
    CALL("cublasGemmEx", 0, HALF(0), HALF(0), HALF(2), HALF(2), HALF(2), W(&one), PA, HALF(16),
         HALF(2), PB, HALF(-5), HALF(2), W(&none), PC, HALF(1000), HALF(2), HALF(68), HALF(-1));
    assert_int_equal(call.count, 0); /* none of these types is known */
    touch_release(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workspaces),
        cmocka_unit_test(level_1),
        cmocka_unit_test(scalars_of_the_device),
        cmocka_unit_test(level_2),
        cmocka_unit_test(products),
        cmocka_unit_test(products_in_batches),
        cmocka_unit_test(products_in_groups),
        cmocka_unit_test(level_3),
        cmocka_unit_test(products_by_descriptors),
        cmocka_unit_test(transforms),
        cmocka_unit_test(transforms_in_place),
        cmocka_unit_test(collectives),
        cmocka_unit_test(handles_that_are_none),
        cmocka_unit_test(sizes_that_cannot_be),
    };
    detector = csan_context_create(NULL, NULL, NULL, NULL, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    csan_context_destroy(detector);
    return failed;
}
