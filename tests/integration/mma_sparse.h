/* Sparse products by mma.sp: the PTX of one, where its operands and its metadata lie in a warp's
 * registers by the figures of PTX ISA 9.7.14.6, and what must come out. For C and C++:
 * mma_sparse_numbers.cu and test_exec_sparse.c. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sparse_case {
    const char *a, *b, *c; /* types; c is d's too */
    uint32_t k, bits, selector;
};

struct sparse_test {
    struct sparse_case what;
    int a[16][128], b[128][8], c[16][8];                                      /* A with its zeros */
    uint32_t a_words[4 * 32], b_words[4 * 32], c_words[4 * 32], metadata[32]; /* [register][lane] */
    char text[8192];
};

static inline uint32_t sparse_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 12;
}

/* An integer of -3 to 3 in a float of that many bits of mantissa, with that bias. */
static inline uint32_t sparse_float(int value, int mantissa, int bias, uint32_t sign)
{
    const int magnitude = abs(value);
    const int exponent = magnitude > 1, fraction = magnitude == 3;
    const uint32_t bits = (uint32_t)(exponent + bias) << mantissa | (uint32_t)fraction
                                                                        << (mantissa - 1);
    return value ? bits | (value < 0 ? sign : 0) : 0;
}

static inline uint32_t sparse_encode(const char *type, int value)
{
    const float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, 4);
    if (!strcmp(type, "f16"))
        return sparse_float(value, 10, 15, 0x8000);
    if (!strcmp(type, "e4m3"))
        return sparse_float(value, 3, 7, 0x80);
    if (!strcmp(type, "e5m2"))
        return sparse_float(value, 2, 15, 0x80);
    return !strcmp(type, "bf16") ? bits >> 16
           : strchr(type, 'f')   ? bits
           : strchr(type, '4')   ? (uint32_t)value & 15
           : strchr(type, '8')   ? (uint32_t)value & 255
                                 : (uint32_t)value;
}

static inline int sparse_number(const char *type, uint32_t *seed)
{
    const int value = 1 + (int)(sparse_random(seed) % 3);
    return *type != 'u' && sparse_random(seed) % 2 ? -value : value;
}

/* Puts four bits of metadata where row and group have theirs. */
static inline void sparse_say(struct sparse_test *t, uint32_t row, uint32_t group, uint32_t said)
{
    const struct sparse_case *w = &t->what;
    const uint32_t quad = row % 8 * 4, second = row / 8;
    if (w->bits >= 16 && w->k * w->bits == 256) /* one lane of a quad for both rows */
        t->metadata[quad + w->selector] |= said << (second * 16 + group * 4);
    else if (w->bits >= 16) /* two lanes: the first has the lower half of k */
        t->metadata[quad + w->selector * 2 + group / 4] |= said << (second * 16 + group % 4 * 4);
    else if (w->k * w->bits == 256) /* two lanes: one for each row */
        t->metadata[quad + w->selector * 2 + second] |= said << group * 4;
    else /* all lanes */
        t->metadata[quad + group / 8 * 2 + second] |= said << group % 8 * 4;
}

/* Element (row, column) of the half of A that is kept: two lanes' columns a register. */
static inline void sparse_keep(struct sparse_test *t, uint32_t row, uint32_t column, int value)
{
    const uint32_t bits = t->what.bits, each = 32 / bits;
    const uint32_t lane = row % 8 * 4 + column / each % 4;
    const uint32_t r = column / (4 * each) * 2 + row / 8;
    t->a_words[r * 32 + lane] |= sparse_encode(t->what.a, value) << column % each * bits;
}

/* Which of a group are kept, and what they are. */
static inline void sparse_group(struct sparse_test *t, uint32_t row, uint32_t group, uint32_t *seed)
{
    const struct sparse_case *w = &t->what;
    const uint32_t first = sparse_random(seed) % 3;
    const uint32_t second = first + 1 + sparse_random(seed) % (3 - first);
    if (w->bits == 32) {
        const uint32_t which = sparse_random(seed) % 2;
        sparse_say(t, row, group, which ? 0xe : 0x4);
        t->a[row][group * 2 + which] = sparse_number(w->a, seed);
        sparse_keep(t, row, group, t->a[row][group * 2 + which]);
        return;
    }
    sparse_say(t, row, group, second << 2 | first);
    const uint32_t wide = w->bits == 4 ? 2 : 1; /* elements that go together */
    for (uint32_t i = 0; i < 2 * wide; i++) {
        const uint32_t column = group * 4 * wide + (i / wide ? second : first) * wide + i % wide;
        t->a[row][column] = sparse_number(w->a, seed);
        sparse_keep(t, row, group * 2 * wide + i, t->a[row][column]);
    }
}

static inline void sparse_prepare(struct sparse_test *t, const struct sparse_case *what)
{
    uint32_t seed = what->k * 77 + what->bits + what->selector;
    memset(t, 0, sizeof *t);
    t->what = *what;
    const uint32_t bits = what->bits, each = 32 / bits;
    const uint32_t span = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t group = 0; group < what->k / span; group++)
            sparse_group(t, row, group, &seed);
    for (uint32_t k = 0; k < what->k; k++)
        for (uint32_t column = 0; column < 8; column++) {
            t->b[k][column] = sparse_number(what->b, &seed);
            t->b_words[k / (4 * each) * 32 + column * 4 + k / each % 4] |=
                sparse_encode(what->b, t->b[k][column]) << k % each * bits;
        }
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t column = 0; column < 8; column++) {
            const int value = t->c[row][column] = (int)(sparse_random(&seed) % 3) - 1;
            const uint32_t lane = row % 8 * 4 + column / 2;
            if (!strcmp(what->c, "f16"))
                t->c_words[row / 8 * 32 + lane] |= sparse_encode("f16", value) << column % 2 * 16;
            else
                t->c_words[(row / 8 * 2 + column % 2) * 32 + lane] = sparse_encode(what->c, value);
        }
}

static inline int sparse_half(uint32_t bits)
{
    const int exponent = (int)(bits >> 10 & 31) - 15, fraction = (int)(bits & 1023) | 1024;
    const int value = !(bits & 0x7fff) ? 0 : fraction >> (10 - exponent);
    return bits & 0x8000 ? -value : value;
}

/* How many elements of D are not what they should be. */
static inline uint32_t sparse_wrong(const struct sparse_test *t, const uint32_t *d_words)
{
    uint32_t wrong = 0;
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t column = 0; column < 8; column++) {
            int sum = t->c[row][column];
            for (uint32_t k = 0; k < t->what.k; k++)
                sum += t->a[row][k] * t->b[k][column];
            const uint32_t lane = row % 8 * 4 + column / 2;
            if (!strcmp(t->what.c, "f16"))
                wrong +=
                    sparse_half(d_words[row / 8 * 32 + lane] >> column % 2 * 16 & 0xffff) != sum;
            else
                wrong += d_words[(row / 8 * 2 + column % 2) * 32 + lane] !=
                         sparse_encode(t->what.c, sum);
        }
    return wrong;
}

static inline void sparse_registers(char *text, char name, uint32_t count, const char *format)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), format, name, r, r * 128);
}

static inline void sparse_list(char *text, char name, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), "%s%%%c%u", r ? ", " : "{", name, r);
    strcat(text, "}, ");
}

/* product(D, A, B, C, metadata) of one warp. */
static inline const char *sparse_text(struct sparse_test *t)
{
    const struct sparse_case *w = &t->what;
    const uint32_t a = 16 * w->k / 2 * w->bits / 1024, b = w->k * 8 * w->bits / 1024;
    const uint32_t c = !strcmp(w->c, "f16") ? 2 : 4;
    const char *type = !strcmp(w->c, "f32") ? "f32" : "b32";
    char *text = t->text;
    sprintf(text,
            ".version 8.5\n.target sm_90\n.address_size 64\n"
            ".visible .entry product(.param .u64 pd, .param .u64 pa, .param .u64 pb, "
            ".param .u64 pc, .param .u64 pe)\n{\n"
            ".reg .b64 %%x<5>; .reg .b32 %%t, %%e; .reg .b32 %%a<4>; .reg .b32 %%b<4>;\n"
            ".reg .%s %%c<4>; .reg .%s %%d<4>;\nmov.u32 %%t, %%tid.x;\n",
            type, type);
    for (int i = 0; i < 5; i++)
        sprintf(text + strlen(text),
                "ld.param.u64 %%x%d, [p%c]; mad.wide.u32 %%x%d, %%t, 4, %%x%d;\n", i, "dabce"[i], i,
                i);
    sparse_registers(text, 'a', a, "ld.global.b32 %%%c%u, [%%x1+%u];\n");
    sparse_registers(text, 'b', b, "ld.global.b32 %%%c%u, [%%x2+%u];\n");
    sparse_registers(text, 'c', c, "ld.global.b32 %%%c%u, [%%x3+%u];\n");
    sprintf(text + strlen(text),
            "ld.global.b32 %%e, [%%x4];\n"
            "mma.sp::ordered_metadata.sync.aligned.m16n8k%u.row.col.%s.%s.%s.%s ",
            w->k, w->c, w->a, w->b, w->c);
    sparse_list(text, 'd', c);
    sparse_list(text, 'a', a);
    sparse_list(text, 'b', b);
    sparse_list(text, 'c', c);
    sprintf(text + strlen(text), "%%e, 0x%x;\n", w->selector);
    for (uint32_t r = 0; r < c; r++)
        sprintf(text + strlen(text), "st.global.b32 [%%x0+%u], %%d%u;\n", r * 128, r);
    strcat(text, "ret;\n}\n");
    return text;
}

static const struct sparse_case sparse_cases[] = {
    {"f16", "f16", "f32", 16, 16, 0},   {"f16", "f16", "f32", 16, 16, 3},
    {"f16", "f16", "f16", 16, 16, 1},   {"f16", "f16", "f32", 32, 16, 0},
    {"f16", "f16", "f16", 32, 16, 1},   {"bf16", "bf16", "f32", 16, 16, 2},
    {"bf16", "bf16", "f32", 32, 16, 1}, {"tf32", "tf32", "f32", 8, 32, 0},
    {"tf32", "tf32", "f32", 8, 32, 3},  {"tf32", "tf32", "f32", 16, 32, 1},
    {"s8", "u8", "s32", 32, 8, 0},      {"u8", "s8", "s32", 32, 8, 1},
    {"s8", "s8", "s32", 64, 8, 0},      {"s4", "u4", "s32", 64, 4, 1},
    {"u4", "s4", "s32", 128, 4, 0},     {"e4m3", "e5m2", "f32", 64, 8, 0},
    {"e5m2", "e5m2", "f32", 64, 8, 0},
};
enum { SPARSE_CASES = sizeof sparse_cases / sizeof *sparse_cases };
