/* Products with scales of blocks (mma.block_scale): the PTX of one, where its operands and scales
 * lie in a warp's registers by PTX ISA 9.7.14.3, .5 and .6, and what must come out. All numbers
 * have few bits, so every sum is exact. For C and C++: mma_scaled_numbers.cu and
 * test_exec_scaled.c. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SCALED_LANES = 32, SCALED_ROWS = 16, SCALED_COLUMNS = 8, SCALED_DEPTH = 128 };

struct scaled_case {
    const char *kind, *a, *b, *scale; /* types */
    uint32_t parts;                   /* scales of a row, or column */
    uint32_t byte[2], thread[2];      /* where they are: of A and of B */
    int sparse, said;                 /* said: .scale_vec is written */
};

struct scaled_test {
    struct scaled_case what;
    uint32_t k;
    double a[SCALED_ROWS][SCALED_DEPTH], b[SCALED_DEPTH][SCALED_COLUMNS]; /* scaled */
    float c[SCALED_ROWS][SCALED_COLUMNS];
    uint32_t a_words[4 * SCALED_LANES], b_words[4 * SCALED_LANES]; /* [register][lane] */
    uint32_t c_words[4 * SCALED_LANES], scales[2 * SCALED_LANES], metadata[SCALED_LANES];
    char text[8192];
};

static inline uint32_t scaled_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 12;
}

/* The number of a code without its sign, by the definition of the formats (PTX ISA 5.2.3). */
static inline double scaled_value(const char *type, uint32_t code)
{
    const int e5 = !strcmp(type, "e5m2"), e4 = !!strstr(type, "e4m3"), e3 = !strcmp(type, "e3m2");
    const int mantissa = e5 || e3 ? 2 : e4 || !strcmp(type, "e2m3") ? 3 : 1;
    const int bias = e5 ? 15 : e4 ? 7 : e3 ? 3 : 1;
    const int exponent = (int)(code >> mantissa);
    const double fraction = (double)(code & ((1u << mantissa) - 1)) / (1 << mantissa);
    return exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
}

/* The code of a number that the format has, and where a product wants it. */
static inline uint32_t scaled_encode(const char *type, double value, int packed)
{
    const int six = !strcmp(type, "e2m3") || !strcmp(type, "e3m2"), four = !strcmp(type, "e2m1");
    const uint32_t sign = four ? 8 : six ? 0x20 : 0x80;
    uint32_t code = 0;
    while (scaled_value(type, code) != fabs(value))
        code++;
    code |= value < 0 ? sign : 0;
    return four && !packed ? code << 2 : code;
}

static inline double scaled_number(uint32_t *seed)
{
    static const double numbers[] = {0.5, 1, 1.5, 2, 3};
    const double value = numbers[scaled_random(seed) % 5];
    return scaled_random(seed) % 2 ? -value : value;
}

static inline int scaled_packs(const struct scaled_test *t)
{
    return strcmp(t->what.kind, "mxf8f6f4") != 0;
}

/* A scale: its code, and what it stands for. */
static inline uint32_t scaled_scale(const char *type, uint32_t *seed, double *value)
{
    static const double numbers[] = {0.5, 1, 1.5, 2, 3};
    if (!strcmp(type, "ue8m0")) {
        const uint32_t code = 125 + scaled_random(seed) % 5;
        *value = ldexp(1, (int)code - 127);
        return code;
    }
    *value = numbers[scaled_random(seed) % 5];
    return scaled_encode("e4m3", *value, 0);
}

/* Every other lane, and every other byte, has a scale that must not be taken. */
static inline void scaled_fill_scales(struct scaled_test *t, uint32_t *seed)
{
    const struct scaled_case *w = &t->what;
    const uint32_t span = t->k / w->parts;
    memset(t->scales, 0x3f, sizeof t->scales);
    for (uint32_t line = 0; line < SCALED_ROWS + SCALED_COLUMNS; line++)
        for (uint32_t part = 0; part < w->parts; part++) {
            const uint32_t b = line >= SCALED_ROWS, column = line - SCALED_ROWS;
            const uint32_t lane =
                b ? column * 4 + w->thread[1] : line % 8 * 4 + w->thread[0] * 2 + line / 8;
            const uint32_t shift = (w->byte[b] + part) * 8;
            double value;
            const uint32_t code = scaled_scale(w->scale, seed, &value);
            uint32_t *word = &t->scales[b * SCALED_LANES + lane];
            *word = (*word & ~(0xffu << shift)) | code << shift;
            for (uint32_t i = part * span; i < (part + 1) * span; i++)
                if (b)
                    t->b[i][column] *= value;
                else
                    t->a[line][i] *= value;
        }
}

/* Element (row, column) of what there is of A. */
static inline void scaled_keep(struct scaled_test *t, uint32_t row, uint32_t column, double value)
{
    const uint32_t bits = scaled_packs(t) ? 4 : 8, each = 32 / bits;
    const uint32_t lane = row % 8 * 4 + column / each % 4;
    const uint32_t r = column / (4 * each) * 2 + row / 8;
    t->a_words[r * SCALED_LANES + lane] |= scaled_encode(t->what.a, value, scaled_packs(t))
                                           << column % each * bits;
}

/* Of a group of four elements, or four pairs, two are there. */
static inline void scaled_fill_sparse(struct scaled_test *t, uint32_t *seed)
{
    const uint32_t wide = scaled_packs(t) ? 2 : 1, span = 4 * wide;
    for (uint32_t row = 0; row < SCALED_ROWS; row++)
        for (uint32_t group = 0; group < t->k / span; group++) {
            const uint32_t first = scaled_random(seed) % 3;
            const uint32_t second = first + 1 + scaled_random(seed) % (3 - first);
            t->metadata[row % 8 * 4 + group / 8 * 2 + row / 8] |= (second << 2 | first)
                                                                  << group % 8 * 4;
            for (uint32_t i = 0; i < 2 * wide; i++) {
                const uint32_t place = (i / wide ? second : first) * wide + i % wide;
                const double value = t->a[row][group * span + place] = scaled_number(seed);
                scaled_keep(t, row, group * 2 * wide + i, value);
            }
        }
}

static inline void scaled_fill_dense(struct scaled_test *t, uint32_t *seed)
{
    for (uint32_t row = 0; row < SCALED_ROWS; row++)
        for (uint32_t i = 0; i < t->k; i++) {
            t->a[row][i] = scaled_number(seed);
            scaled_keep(t, row, i, t->a[row][i]);
        }
}

static inline void scaled_prepare(struct scaled_test *t, const struct scaled_case *what)
{
    memset(t, 0, sizeof *t);
    t->what = *what;
    t->k = (scaled_packs(t) ? 64 : 32) * (what->sparse ? 2u : 1u);
    const uint32_t bits = scaled_packs(t) ? 4 : 8, each = 32 / bits;
    uint32_t seed = t->k * 77 + what->parts * 5 + what->byte[0] + what->thread[1];
    if (what->sparse)
        scaled_fill_sparse(t, &seed);
    else
        scaled_fill_dense(t, &seed);
    for (uint32_t i = 0; i < t->k; i++)
        for (uint32_t column = 0; column < SCALED_COLUMNS; column++) {
            t->b[i][column] = scaled_number(&seed);
            t->b_words[i / (4 * each) * SCALED_LANES + column * 4 + i / each % 4] |=
                scaled_encode(what->b, t->b[i][column], scaled_packs(t)) << i % each * bits;
        }
    for (uint32_t row = 0; row < SCALED_ROWS; row++)
        for (uint32_t column = 0; column < SCALED_COLUMNS; column++) {
            t->c[row][column] = (float)((int)(scaled_random(&seed) % 9) - 4);
            memcpy(
                &t->c_words[(row / 8 * 2 + column % 2) * SCALED_LANES + row % 8 * 4 + column / 2],
                &t->c[row][column], 4);
        }
    scaled_fill_scales(t, &seed);
}

/* How many elements of D are not what they should be. */
static inline uint32_t scaled_wrong(const struct scaled_test *t, const float *d)
{
    uint32_t wrong = 0;
    for (uint32_t row = 0; row < SCALED_ROWS; row++)
        for (uint32_t column = 0; column < SCALED_COLUMNS; column++) {
            double sum = (double)t->c[row][column];
            for (uint32_t i = 0; i < t->k; i++)
                sum += t->a[row][i] * t->b[i][column];
            wrong += d[(row / 8 * 2 + column % 2) * SCALED_LANES + row % 8 * 4 + column / 2] !=
                     (float)sum;
        }
    return wrong;
}

static inline void scaled_load(char *text, char name, uint32_t count, int from)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), "ld.global.b32 %%%c%u, [%%x%d+%u];\n", name, r, from,
                r * SCALED_LANES * 4);
}

static inline void scaled_list(char *text, char name, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), "%s%%%c%u", r ? ", " : "{", name, r);
    strcat(text, "}, ");
}

/* product(D, A, B, C, scales of A and B, metadata) of one warp. */
static inline const char *scaled_text(struct scaled_test *t)
{
    const struct scaled_case *w = &t->what;
    const uint32_t b = w->sparse ? 4 : 2;
    char *text = t->text, vector[32] = "";
    if (w->said)
        sprintf(vector, ".scale_vec::%uX", w->parts);
    sprintf(text, ".version 8.7\n.target sm_120a\n.address_size 64\n"
                  ".visible .entry product(.param .u64 p0, .param .u64 p1, .param .u64 p2, "
                  ".param .u64 p3, .param .u64 p4, .param .u64 p5)\n{\n"
                  ".reg .b64 %%x<6>; .reg .b32 %%t, %%e0; .reg .b32 %%a<4>; .reg .b32 %%b<4>;\n"
                  ".reg .f32 %%c<4>; .reg .f32 %%d<4>; .reg .b32 %%s<2>;\nmov.u32 %%t, %%tid.x;\n");
    for (int i = 0; i < 6; i++)
        sprintf(text + strlen(text),
                "ld.param.u64 %%x%d, [p%d]; mad.wide.u32 %%x%d, %%t, 4, %%x%d;\n", i, i, i, i);
    scaled_load(text, 'a', 4, 1);
    scaled_load(text, 'b', b, 2);
    scaled_load(text, 'c', 4, 3);
    scaled_load(text, 's', 2, 4);
    scaled_load(text, 'e', 1, 5);
    sprintf(text + strlen(text),
            "mma%s.sync.aligned.m16n8k%u.row.col.kind::%s.block_scale%s.f32.%s.%s.f32.%s ",
            w->sparse ? ".sp::ordered_metadata" : "", t->k, w->kind, vector, w->a, w->b, w->scale);
    scaled_list(text, 'd', 4);
    scaled_list(text, 'a', 4);
    scaled_list(text, 'b', b);
    scaled_list(text, 'c', 4);
    sprintf(text + strlen(text), "%s%%s0, {%u, %u}, %%s1, {%u, %u};\n",
            w->sparse ? "%e0, 0x0, " : "", w->byte[0], w->thread[0], w->byte[1], w->thread[1]);
    for (uint32_t r = 0; r < 4; r++)
        sprintf(text + strlen(text), "st.global.f32 [%%x0+%u], %%d%u;\n", r * SCALED_LANES * 4, r);
    strcat(text, "ret;\n}\n");
    return text;
}

static const struct scaled_case scaled_cases[] = {
    {"mxf8f6f4", "e4m3", "e4m3", "ue8m0", 1, {0, 0}, {0, 0}, 0, 1},
    {"mxf8f6f4", "e5m2", "e2m1", "ue8m0", 1, {1, 3}, {1, 2}, 0, 0},
    {"mxf8f6f4", "e2m3", "e3m2", "ue8m0", 1, {2, 1}, {0, 3}, 0, 1},
    {"mxf8f6f4", "e3m2", "e5m2", "ue8m0", 1, {3, 2}, {1, 1}, 0, 1},
    {"mxf8f6f4", "e2m1", "e4m3", "ue8m0", 1, {0, 3}, {1, 0}, 0, 1},
    {"mxf4", "e2m1", "e2m1", "ue8m0", 2, {0, 2}, {0, 1}, 0, 0},
    {"mxf4", "e2m1", "e2m1", "ue8m0", 2, {2, 0}, {1, 3}, 0, 1},
    {"mxf4nvf4", "e2m1", "e2m1", "ue8m0", 2, {0, 0}, {0, 0}, 0, 1},
    {"mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, {0, 0}, {0, 0}, 0, 1},
    {"mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, {0, 0}, {1, 2}, 0, 1},
    {"mxf8f6f4", "e4m3", "e5m2", "ue8m0", 1, {1, 0}, {0, 2}, 1, 1},
    {"mxf8f6f4", "e2m1", "e2m3", "ue8m0", 1, {3, 3}, {1, 1}, 1, 0},
    {"mxf4", "e2m1", "e2m1", "ue8m0", 2, {2, 2}, {0, 3}, 1, 1},
    {"mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, {0, 0}, {1, 0}, 1, 1},
};
enum { SCALED_CASES = sizeof scaled_cases / sizeof *scaled_cases };
