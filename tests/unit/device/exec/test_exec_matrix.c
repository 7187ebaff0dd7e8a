/* Matrix instructions against plain loops. Where mma spreads its matrices over lanes is written
 * down here once more, from the figures of PTX ISA 9.7.14.5. */
#include "tests/unit/device/exec/exec_harness.h"

#include "runtime/device/exec/exec_half.h"

static struct harness h;

/* ---- numbers ------------------------------------------------------------------------------- */

/* Small numbers that all formats have exactly, so that all sums are exact. */
static int number(uint32_t seed, int most)
{
    uint32_t x = seed * 2654435761u;
    x ^= x >> 15;
    return (int)(x * 2246822519u >> 16) % (most + 1) * (seed % 3 == 1 && most > 1 ? -1 : 1);
}

struct format_test {
    const char *name, *reg; /* PTX type of its registers */
    uint32_t bits;
    int most; /* of the numbers that tests use */
    bool sign;
};

static const struct format_test f16 = {"f16", "b32", 16, 7, true},
                                bf16 = {"bf16", "b32", 16, 7, true},
                                tf32 = {"tf32", "b32", 32, 7, true},
                                f32 = {"f32", "f32", 32, 15, true},
                                f64 = {"f64", "f64", 64, 15, true},
                                s32 = {"s32", "b32", 32, 1000, true},
                                s8 = {"s8", "b32", 8, 127, true}, u8 = {"u8", "b32", 8, 255, false},
                                s4 = {"s4", "b32", 4, 7, true}, u4 = {"u4", "b32", 4, 15, false},
                                b1 = {"b1", "b32", 1, 1, false}, e4m3 = {"e4m3", "b32", 8, 7, true},
                                e5m2 = {"e5m2", "b32", 8, 3, true};

static int number_of(const struct format_test *format, uint32_t seed)
{
    int value = number(seed, format->most);
    return format->sign || value >= 0 ? value : -value;
}

static uint64_t encode(const struct format_test *format, int value)
{
    double wide = value;
    uint64_t bits;
    if (format == &f16 || format == &e5m2)
        return half_from_double(wide) >> (16 - format->bits);
    if (format == &bf16)
        return bfloat_from_double(wide);
    if (format == &tf32 || format == &f32)
        return float_bits((float)value);
    memcpy(&bits, &wide, 8);
    if (format == &f64)
        return bits;
    if (format != &e4m3)
        return (uint64_t)value & ((1ull << format->bits) - 1);
    /* sign, exponent with bias 7, three bits */
    int exponent = 0, magnitude = abs(value);
    while (magnitude >> (exponent + 1))
        exponent++;
    return (value < 0) << 7 |
           (value ? (exponent + 7) << 3 | ((magnitude << 3 >> exponent) & 7) : 0);
}

/* ---- mma ----------------------------------------------------------------------------------- */

struct shape {
    uint32_t m, n, k;
    const struct format_test *d, *a, *b, *c;
    const char *after; /* more suffixes */
};

static uint32_t registers(uint32_t elements, const struct format_test *format)
{
    uint32_t bits = format->bits == 64 ? 64 : 32;
    return elements * format->bits / (32 * bits);
}

/* Element i of a lane's fragment of A: "row = groupID for ..., groupID + 8 otherwise". */
static void place_a(const struct shape *s, uint32_t lane, uint32_t i, uint32_t *row,
                    uint32_t *column)
{
    uint32_t group = lane >> 2, in_group = lane % 4;
    *row = group;
    switch (s->a->bits) {
    case 64:
    case 32:
        *row += s->m == 16 && i % 2 ? 8 : 0;
        *column = in_group + (s->m == 16 ? i / 2 * 4 : i * 4);
        break;
    case 16:
        *row += i < 2 || (i >= 4 && i < 6) ? 0 : 8;
        *column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        break;
    case 8:
        *row += s->m == 16 && !(i < 4 || (i >= 8 && i < 12)) ? 8 : 0;
        *column = in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0);
        break;
    case 4:
        *row += s->m == 16 && !(i < 8 || (i >= 16 && i < 24)) ? 8 : 0;
        *column = in_group * 8 + (i & 7) + (i >= 16 ? 32 : 0);
        break;
    default:
        *row += s->m == 16 && !(i < 32 || (i >= 64 && i < 96)) ? 8 : 0;
        *column = in_group * 32 + (i & 31) + (i >= 64 ? 128 : 0);
    }
}

static void place_b(const struct shape *s, uint32_t lane, uint32_t i, uint32_t *row,
                    uint32_t *column)
{
    uint32_t in_group = lane % 4, packed = s->b->bits >= 32 ? 1 : 32 / s->b->bits;
    *column = lane >> 2;
    *row = in_group * packed + i % packed + i / packed * packed * 4;
}

static void place_c(uint32_t lane, uint32_t i, uint32_t *row, uint32_t *column)
{
    *row = (lane >> 2) + (i < 2 ? 0 : 8);
    *column = lane % 4 * 2 + (i & 1);
}

/* Registers of all lanes: register r of lane l at [r][l]. */
static void put(uint8_t *memory, const struct format_test *format, uint32_t lane, uint32_t i,
                uint64_t bits)
{
    uint32_t packed = format->bits >= 32 ? 1 : 32 / format->bits;
    if (format->bits == 64) {
        ((uint64_t *)(void *)memory)[i * 32 + lane] = bits;
        return;
    }
    uint32_t *word = (uint32_t *)(void *)memory + i / packed * 32 + lane;
    *word |= (uint32_t)bits << (i % packed * format->bits);
}

static uint64_t take(const uint8_t *memory, const struct format_test *format, uint32_t lane,
                     uint32_t i)
{
    uint32_t packed = format->bits >= 32 ? 1 : 32 / format->bits;
    if (format->bits == 64)
        return ((const uint64_t *)(const void *)memory)[i * 32 + lane];
    uint32_t word = ((const uint32_t *)(const void *)memory)[i / packed * 32 + lane];
    return format->bits == 32 ? word
                              : word >> (i % packed * format->bits) & ((1u << format->bits) - 1);
}

static void declare(char *text, char name, const struct format_test *format, uint32_t count)
{
    char line[128];
    snprintf(line, sizeof line, ".reg .%s %%%c<%u>;\n", format->reg, name, count);
    strcat(text, line);
}

/* ld or st of registers name0, name1..., then the list of them */
static void move_registers(char *text, const char *what, char name, const char *base,
                           const struct format_test *format, uint32_t count)
{
    uint32_t bytes = format->bits == 64 ? 8 : 4;
    for (uint32_t r = 0; r < count; r++) {
        char line[160];
        if (*what == 'l')
            snprintf(line, sizeof line, "ld.global.b%u %%%c%u, [%s+%u];\n", bytes * 8, name, r,
                     base, r * 32 * bytes);
        else
            snprintf(line, sizeof line, "st.global.b%u [%s+%u], %%%c%u;\n", bytes * 8, base,
                     r * 32 * bytes, name, r);
        strcat(text, line);
    }
}

static void list(char *text, char name, uint32_t count, const char *end)
{
    for (uint32_t r = 0; r < count; r++) {
        char item[32];
        snprintf(item, sizeof item, "%s%%%c%u", r ? ", " : "{", name, r);
        strcat(text, item);
    }
    strcat(text, end);
}

/* A kernel that loads registers of all lanes, multiplies and stores those of the result. */
static void write_kernel(const struct shape *s, char *text)
{
    uint32_t na = registers(s->m * s->k, s->a), nb = registers(s->k * s->n, s->b),
             nc = registers(s->m * s->n, s->c), nd = registers(s->m * s->n, s->d);
    strcpy(text,
           ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry product(.param .u64 "
           "pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n.reg .b64 %x<5>;\n.reg "
           ".b32 %t;\n.reg .pred %p;\n");
    declare(text, 'a', s->a, na);
    declare(text, 'b', s->b, nb);
    declare(text, 'c', s->c, nc);
    declare(text, 'd', s->d, nd);
    strcat(text, "mov.u32 %t, %tid.x;\n");
    const struct format_test *formats[] = {s->d, s->a, s->b, s->c};
    for (int i = 0; i < 4; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "ld.param.u64 %%x%d, [p%c];\nmad.wide.u32 %%x%d, %%t, %d, %%x%d;\n", i, "dabc"[i],
                 i, formats[i] -> bits == 64 ? 8 : 4, i);
        strcat(text, line);
    }
    /* lanes come apart before and must wait for one another at the mma */
    strcat(text, "setp.lt.u32 %p, %t, 7;\n@%p bra later;\n");
    move_registers(text, "ld", 'a', "%x1", s->a, na);
    strcat(text, "bra together;\nlater:\n");
    move_registers(text, "ld", 'a', "%x1", s->a, na);
    strcat(text, "together:\n");
    move_registers(text, "ld", 'b', "%x2", s->b, nb);
    move_registers(text, "ld", 'c', "%x3", s->c, nc);
    char line[160];
    snprintf(line, sizeof line, "mma.sync.aligned.m%un%uk%u.row.col.%s.%s.%s.%s%s ", s->m, s->n,
             s->k, s->d->name, s->a->name, s->b->name, s->c->name, s->after);
    strcat(text, line);
    list(text, 'd', nd, "}, ");
    list(text, 'a', na, "}, ");
    list(text, 'b', nb, "}, ");
    list(text, 'c', nc, "};\n");
    move_registers(text, "st", 'd', "%x0", s->d, nd);
    strcat(text, "ret;\n}\n");
}

/* ---- what the product should be -------------------------------------------------------------- */

struct matrices {
    int a[32 * 256], b[256 * 32], c[32 * 32], d[32 * 32];
};

static void fill(struct matrices *x, uint32_t m, uint32_t n, uint32_t k,
                 const struct format_test *a, const struct format_test *b,
                 const struct format_test *c)
{
    for (uint32_t i = 0; i < m * k; i++)
        x->a[i] = number_of(a, i + 17);
    for (uint32_t i = 0; i < k * n; i++)
        x->b[i] = number_of(b, i + 7001);
    for (uint32_t i = 0; i < m * n; i++)
        x->c[i] = number_of(c, i + 90001);
}

static void multiply(struct matrices *x, uint32_t m, uint32_t n, uint32_t k, const char *after)
{
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            int64_t sum = x->c[row * n + column];
            for (uint32_t i = 0; i < k; i++) {
                int a = x->a[row * k + i], b = x->b[i * n + column];
                sum += strstr(after, "xor") ? a != b : a * b;
            }
            x->d[row * n + column] = (int)sum;
        }
}

static void check_shape(const struct shape *s)
{
    static struct matrices x;
    static char text[16384];
    write_kernel(s, text);
    harness_open_text(&h, text);
    uint64_t a = harness_allocate(&h, 16384), b = harness_allocate(&h, 16384),
             c = harness_allocate(&h, 16384), d = harness_allocate(&h, 16384);
    fill(&x, s->m, s->n, s->k, s->a, s->b, s->c);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t row, column;
        for (uint32_t i = 0; i < s->m * s->k / 32; i++) {
            place_a(s, lane, i, &row, &column);
            put(harness_host(&h, a), s->a, lane, i, encode(s->a, x.a[row * s->k + column]));
        }
        for (uint32_t i = 0; i < s->k * s->n / 32; i++) {
            place_b(s, lane, i, &row, &column);
            put(harness_host(&h, b), s->b, lane, i, encode(s->b, x.b[row * s->n + column]));
        }
        for (uint32_t i = 0; i < s->m * s->n / 32; i++) {
            place_c(lane, i, &row, &column);
            put(harness_host(&h, c), s->c, lane, i, encode(s->c, x.c[row * s->n + column]));
        }
    }
    harness_run(&h, "product", 1, 32, 0, ARGUMENTS(&d, &a, &b, &c));
    multiply(&x, s->m, s->n, s->k, s->after);
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < s->m * s->n / 32; i++) {
            uint32_t row, column;
            place_c(lane, i, &row, &column);
            uint64_t got = take(harness_host(&h, d), s->d, lane, i),
                     expected = encode(s->d, x.d[row * s->n + column]);
            if (got != expected)
                fail_msg("m%un%uk%u %s %s: (%u, %u) is %llx, should be %llx", s->m, s->n, s->k,
                         s->d->name, s->a->name, row, column, (unsigned long long)got,
                         (unsigned long long)expected);
        }
    harness_close(&h);
}

static void products_by_the_book(void **unused)
{
    (void)unused;
    static const struct shape shapes[] = {{16, 8, 8, &f32, &f16, &f16, &f32, ""},
                                          {16, 8, 8, &f16, &f16, &f16, &f16, ""},
                                          {16, 8, 16, &f32, &f16, &f16, &f32, ""},
                                          {16, 8, 16, &f16, &f16, &f16, &f16, ""},
                                          {16, 8, 8, &f32, &bf16, &bf16, &f32, ""},
                                          {16, 8, 16, &f32, &bf16, &bf16, &f32, ""},
                                          {16, 8, 4, &f32, &tf32, &tf32, &f32, ""},
                                          {16, 8, 8, &f32, &tf32, &tf32, &f32, ""},
                                          {8, 8, 4, &f64, &f64, &f64, &f64, ""},
                                          {16, 8, 4, &f64, &f64, &f64, &f64, ""},
                                          {16, 8, 8, &f64, &f64, &f64, &f64, ""},
                                          {16, 8, 16, &f64, &f64, &f64, &f64, ""},
                                          {8, 8, 16, &s32, &s8, &s8, &s32, ""},
                                          {16, 8, 16, &s32, &s8, &u8, &s32, ""},
                                          {16, 8, 32, &s32, &u8, &s8, &s32, ""},
                                          {16, 8, 32, &s32, &u8, &u8, &s32, ""},
                                          {8, 8, 32, &s32, &s4, &u4, &s32, ""},
                                          {16, 8, 32, &s32, &s4, &s4, &s32, ""},
                                          {16, 8, 64, &s32, &u4, &s4, &s32, ""},
                                          {8, 8, 128, &s32, &b1, &b1, &s32, ".xor.popc"},
                                          {16, 8, 128, &s32, &b1, &b1, &s32, ".and.popc"},
                                          {16, 8, 256, &s32, &b1, &b1, &s32, ".xor.popc"},
                                          {16, 8, 32, &f32, &e4m3, &e4m3, &f32, ""},
                                          {16, 8, 32, &f32, &e4m3, &e5m2, &f32, ""}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_shape(&shapes[i]);
}

/* Integers wrap; with .satfinite they stop. */
static void sums_of_integers_end(void **unused)
{
    (void)unused;
    for (int saturates = 0; saturates < 2; saturates++) {
        char text[16384];
        struct shape s = {16, 8, 16, &s32, &s8, &s8, &s32, saturates ? ".satfinite" : ""};
        if (saturates) /* mma.sync.aligned.shape.row.col.satfinite.s32... as the grammar has it */
            s.after = "";
        write_kernel(&s, text);
        if (saturates) {
            char *place = strstr(text, ".row.col") + strlen(".row.col");
            memmove(place + 10, place, strlen(place) + 1);
            memcpy(place, ".satfinite", 10);
        }
        harness_open_text(&h, text);
        uint64_t a = harness_allocate(&h, 4096), b = harness_allocate(&h, 4096),
                 c = harness_allocate(&h, 4096), d = harness_allocate(&h, 4096);
        memset(harness_host(&h, a), 1, 4096);
        memset(harness_host(&h, b), 1, 4096);
        for (int i = 0; i < 128; i++)
            ((uint32_t *)harness_host(&h, c))[i] = 0x7ffffff8u;
        harness_run(&h, "product", 1, 32, 0, ARGUMENTS(&d, &a, &b, &c));
        for (int i = 0; i < 128; i++)
            assert_int_equal(((uint32_t *)harness_host(&h, d))[i],
                             saturates ? 0x7fffffffu : 0x80000008u);
        harness_close(&h);
    }
}

/* ---- wmma ---------------------------------------------------------------------------------- */

struct wmma {
    const char *kernel;
    struct shape shape;
    uint32_t more; /* elements between the lines of a and b */
};

static void put_element(uint8_t *memory, const struct format_test *format, uint64_t at, int value)
{
    uint64_t bits = encode(format, value);
    memcpy(memory + at * format->bits / 8, &bits, format->bits / 8);
}

static void check_wmma(const struct wmma *test)
{
    static struct matrices x;
    const struct shape *s = &test->shape;
    uint32_t line = s->k + test->more;
    uint64_t a = harness_allocate(&h, 8192), b = harness_allocate(&h, 8192),
             c = harness_allocate(&h, 8192), d = harness_allocate(&h, 8192);
    fill(&x, s->m, s->n, s->k, s->a, s->b, s->c);
    for (uint32_t row = 0; row < s->m; row++)
        for (uint32_t k = 0; k < s->k; k++)
            put_element(harness_host(&h, a), s->a, row * line + k, x.a[row * s->k + k]);
    for (uint32_t column = 0; column < s->n; column++)
        for (uint32_t k = 0; k < s->k; k++)
            put_element(harness_host(&h, b), s->b, column * line + k, x.b[k * s->n + column]);
    for (uint32_t i = 0; i < s->m * s->n; i++)
        put_element(harness_host(&h, c), s->c, i, x.c[i]);
    h.touches = true;
    harness_run(&h, test->kernel, 1, 32, 0, ARGUMENTS(&d, &a, &b, &c));
    h.touches = false;
    multiply(&x, s->m, s->n, s->k, "");
    for (uint32_t i = 0; i < s->m * s->n; i++) {
        uint64_t expected = encode(s->d, x.d[i]), got = 0;
        memcpy(&got, (uint8_t *)harness_host(&h, d) + i * s->d->bits / 8, s->d->bits / 8);
        if (got != expected)
            fail_msg("%s: element %u is %llx, should be %llx", test->kernel, i,
                     (unsigned long long)got, (unsigned long long)expected);
    }
    /* what was read: the elements, and not what lies between the lines */
    uint64_t bytes = 0, lines = 0;
    for (size_t i = 0; i < h.range_count; i++) {
        const struct device_trace_range *range = &h.ranges[i];
        uint64_t whole = range->bytes * (range->dims ? range->count[0] : 1);
        bytes += whole;
        if (range->address == a) {
            lines = range->count[0];
            assert_int_equal(range->stride[0], line * s->a->bits / 8);
        }
    }
    assert_int_equal(lines, s->m);
    assert_int_equal(bytes, (s->m * s->k * s->a->bits + s->k * s->n * s->b->bits +
                             s->m * s->n * (s->c->bits + s->d->bits)) /
                                8);
}

static void tiles_of_every_format(void **unused)
{
    (void)unused;
    static const struct wmma tests[] = {
        {"wmma_f16", {16, 16, 16, &f32, &f16, &f16, &f32, ""}, 8},
        {"wmma_f16_wide", {8, 32, 16, &f32, &f16, &f16, &f32, ""}, 8},
        {"wmma_f16_high", {32, 8, 16, &f16, &f16, &f16, &f16, ""}, 8},
        {"wmma_bf16", {16, 16, 16, &f32, &bf16, &bf16, &f32, ""}, 8},
        {"wmma_tf32", {16, 16, 8, &f32, &tf32, &tf32, &f32, ""}, 4},
        {"wmma_f64", {8, 8, 4, &f64, &f64, &f64, &f64, ""}, 2},
        {"wmma_s8", {16, 16, 16, &s32, &s8, &s8, &s32, ""}, 16},
        {"wmma_u8", {32, 8, 16, &s32, &u8, &u8, &s32, ""}, 16}};
    harness_open(&h, "matrix");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        check_wmma(&tests[i]);
    harness_close(&h);
}

static void tiles_turned(void **unused)
{
    (void)unused;
    static struct matrices x;
    harness_open(&h, "matrix");
    uint64_t a = harness_allocate(&h, 512), b = harness_allocate(&h, 512),
             d = harness_allocate(&h, 1024);
    fill(&x, 16, 16, 16, &f16, &f16, &f32);
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t column = 0; column < 16; column++) {
            put_element(harness_host(&h, a), &f16, column * 16 + row, x.a[row * 16 + column]);
            put_element(harness_host(&h, b), &f16, row * 16 + column, x.b[row * 16 + column]);
            x.c[row * 16 + column] = 1;
        }
    harness_run(&h, "wmma_turned", 1, 32, 0, ARGUMENTS(&d, &a, &b));
    multiply(&x, 16, 16, 16, "");
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t column = 0; column < 16; column++)
            assert_true(((float *)harness_host(&h, d))[column * 16 + row] ==
                        2.0f * (float)x.d[row * 16 + column]);
    harness_close(&h);
}

/* ---- 8 x 8 --------------------------------------------------------------------------------- */

static uint32_t pair(const uint16_t *matrix, uint32_t lane, bool transposed)
{
    uint32_t row = lane / 4, column = lane % 4 * 2;
    if (transposed)
        return matrix[column * 8 + row] | (uint32_t)matrix[(column + 1) * 8 + row] << 16;
    return matrix[row * 8 + column] | (uint32_t)matrix[row * 8 + column + 1] << 16;
}

static void eight_by_eight_by_the_book(void **unused)
{
    (void)unused;
    harness_open(&h, "matrix");
    uint64_t in = harness_allocate(&h, 512), out = harness_allocate(&h, 10 * 128);
    uint16_t *matrices = harness_host(&h, in);
    for (uint32_t i = 0; i < 256; i++)
        matrices[i] = (uint16_t)(i * 257 + 1);
    harness_run(&h, "eight_by_eight", 1, 32, 0, ARGUMENTS(&out, &in));
    const uint32_t *values = harness_host(&h, out);
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(values[k * 32 + lane], pair(matrices + 64 * k, lane, false));
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(values[(4 + k) * 32 + lane], pair(matrices + 64 * k, lane, true));
        assert_int_equal(values[6 * 32 + lane], pair(matrices + 64, lane, false));
        assert_int_equal(values[7 * 32 + lane], pair(matrices + 192, lane, true));
        for (uint32_t k = 0; k < 2; k++) /* stored transposed: two elements a row of the memory */
            assert_int_equal(values[(8 + k) * 32 + lane],
                             pair(matrices + 64 * (2 + k), lane, true));
    }
    harness_close(&h);
}

/* ---- other forms --------------------------------------------------------------------------- */

/* Registers enough for the elements, but no shape of mma's: "m8n8k4" to "m16n8k256". */
static void other_shapes_are_refused(void **unused)
{
    static const char *const forms[] = {
        "mma.sync.aligned.m4n8k16.row.col.f32.f16.f16.f32 {%f0}, {%r0}, {%r0, %r1}, {%f0}",
        "mma.sync.aligned.m2n16k32.row.col.f32.f16.f16.f32 {%f0}, {%r0}, "
        "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%f0}",
        "mma.sync.aligned.m16n32k256.row.col.s32.b1.b1.s32.and.popc {%r0, %r1, %r2, %r3, %r4, %r5, "
        "%r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, {%r0, %r1, %r2, %r3}, {%r0, %r1, "
        "%r2, %r3, %r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, "
        "%r11, %r12, %r13, %r14, %r15}",
        "mma.sync.aligned.m24n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3, %f4, %f5}, "
        "{%r0, %r1, %r2, %r3, %r4, %r5}, {%r0, %r1}, {%f0, %f1, %f2, %f3, %f4, %f5}"};
    (void)unused;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .f32 %%f<8>;\n.reg .b32 %%r<16>;\n%s;\nret;\n}\n",
                 forms[i]);
        harness_open_text(&h, text);
        assert_int_equal(harness_launch(&h, "k", 1, 32, 0, ARGUMENTS(NULL)), EXEC_FAULT);
        assert_non_null(strstr(h.message, "is not supported"));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_shapes_are_refused),
                                       cmocka_unit_test(products_by_the_book),
                                       cmocka_unit_test(sums_of_integers_end),
                                       cmocka_unit_test(tiles_of_every_format),
                                       cmocka_unit_test(tiles_turned),
                                       cmocka_unit_test(eight_by_eight_by_the_book)};
    return harness_run_tests(tests);
}
