/* Products by wgmma: the PTX of one, where its operands lie in registers and shared memory by the
 * figures of PTX ISA 9.7.15.5 and .6, and what must come out. Numbers are small integers, so every
 * sum is exact. For C and C++: wgmma_numbers.cu and test_exec_warpgroup.c. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WGMMA_THREADS = 128,
    WGMMA_ROWS = 64,
    WGMMA_DEPTH_MOST = 256,
    WGMMA_IMAGE = 96 * 1024, /* bytes of shared memory: A, then B from the middle on */
    WGMMA_TEXT = 256 * 1024
};

struct wgmma_case {
    const char *d, *a, *b; /* types */
    uint32_t n, k, swizzle;
    int in_registers; /* A */
    int transposed_a, transposed_b;
    int negate_a, negate_b, add; /* add: to what D holds */
    int sparse;                  /* of A, there is half */
    uint32_t selector;           /* of the lanes with its metadata */
};

struct wgmma_test {
    struct wgmma_case what;
    int a[WGMMA_ROWS][WGMMA_DEPTH_MOST], b[256][WGMMA_DEPTH_MOST]; /* [row][k], [column][k] */
    int c[WGMMA_ROWS][256];
    int held[WGMMA_ROWS][WGMMA_DEPTH_MOST]; /* what there is of A */
    uint32_t depth;                         /* of that, along k */
    uint32_t metadata[WGMMA_THREADS];
    uint64_t descriptor_a, descriptor_b; /* with the image at address 0 */
    uint32_t registers_a, registers_d;   /* of a thread */
    uint8_t image[WGMMA_IMAGE];
    uint32_t a_words[WGMMA_THREADS * 4], d_words[WGMMA_THREADS * 128]; /* [register][thread] */
    char text[WGMMA_TEXT];
};

static inline uint32_t wgmma_bits(const char *type)
{
    return !strcmp(type, "b1") ? 1 : strstr(type, "32") ? 32 : strstr(type, "16") ? 16 : 8;
}

static inline uint32_t wgmma_float(int value)
{
    const float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, 4);
    return bits;
}

/* A small integer as a float of `mantissa` bits whose exponent has that bias. */
static inline uint32_t wgmma_small(int value, int mantissa, int bias, uint32_t sign)
{
    int magnitude = abs(value), exponent = 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    const uint32_t fraction = (uint32_t)(magnitude - (1 << exponent)) << mantissa >> exponent;
    return (value < 0 ? sign : 0) |
           (value ? (uint32_t)(exponent + bias) << mantissa | fraction : 0);
}

static inline uint32_t wgmma_encode(const char *type, int value)
{
    if (!strcmp(type, "f16"))
        return wgmma_small(value, 10, 15, 0x8000);
    if (!strcmp(type, "bf16"))
        return wgmma_float(value) >> 16;
    if (!strcmp(type, "tf32") || !strcmp(type, "f32"))
        return wgmma_float(value);
    if (!strcmp(type, "e4m3"))
        return wgmma_small(value, 3, 7, 0x80);
    if (!strcmp(type, "e5m2"))
        return wgmma_small(value, 2, 15, 0x80);
    const uint32_t bits = wgmma_bits(type);
    return bits == 32 ? (uint32_t)value : (uint32_t)value & ((1u << bits) - 1);
}

static inline int wgmma_number(const char *type, uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 12345;
    x ^= x >> 15;
    x = x * 2246822519u >> 16;
    const int most = !strcmp(type, "b1")     ? 1
                     : !strcmp(type, "e5m2") ? 3
                     : strstr(type, "8")     ? 100
                                             : 7;
    const int value = (int)(x % (uint32_t)(most + 1));
    const int unsigned_type = !strcmp(type, "b1") || !strcmp(type, "u8");
    return !strcmp(type, "e4m3") ? value % 8 : x >> 8 & 1 && !unsigned_type ? -value : value;
}

/* ---- shared memory ---- */

/* Which 16 bytes of a row of the swizzle's pattern others are exchanged with. */
static inline uint32_t wgmma_turn(uint32_t swizzle, uint32_t row)
{
    return swizzle == 128 ? row % 8 : swizzle == 64 ? row / 2 % 4 : swizzle == 32 ? row / 4 % 2 : 0;
}

/* The distances that the layouts below have: of A, and of B with its `lines`, and their depth. */
static inline uint64_t wgmma_descriptor(const struct wgmma_case *w, int transposed, uint32_t lines,
                                        uint32_t depth, uint32_t start)
{
    const uint64_t kinds[] = {0, 3, 2, 1}; /* by swizzle / 32: none, 32, 64, 128 */
    const uint64_t kind = kinds[w->swizzle == 128 ? 3 : w->swizzle / 32];
    uint64_t leading, stride;
    if (transposed && w->swizzle)
        leading = depth * w->swizzle, stride = 8 * w->swizzle;
    else if (transposed)
        leading = 128, stride = depth * 16;
    else if (w->swizzle)
        leading = w->sparse && w->swizzle == 32 ? lines * 32 : 16, stride = 8 * w->swizzle;
    else
        leading = lines * 16, stride = 128;
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | kind << 62;
}

/* Where the bytes along k begin in a row of the pattern: behind others, if there is room. */
static inline uint32_t wgmma_ahead(const struct wgmma_case *w, uint32_t depth, uint32_t bits)
{
    return depth * bits / 8 + 32 <= w->swizzle ? 32 : 0;
}

/* Bytes from the image's part to where (line, k) lies. */
static inline uint32_t wgmma_place(const struct wgmma_case *w, int transposed, uint32_t lines,
                                   uint32_t depth, uint32_t line, uint32_t k, uint32_t bits)
{
    const uint32_t s = w->swizzle;
    if (transposed && s) { /* rows of k, each with s / 2 lines; then the next lines */
        const uint32_t beside = s / 2, chunk = line % beside / 8;
        return line / beside * depth * s + k * s + (chunk ^ wgmma_turn(s, k)) * 16 + line % 8 * 2;
    }
    if (transposed) /* 8 lines by 8 of k */
        return line / 8 * depth * 16 + k / 8 * 128 + k % 8 * 16 + line % 8 * 2;
    const uint32_t byte = k * bits / 8;
    if (s) { /* rows of lines; what does not fit into them lies behind all lines */
        const uint32_t at = byte + wgmma_ahead(w, depth, bits);
        return at / s * lines * s + line * s + (at % s / 16 ^ wgmma_turn(s, line)) * 16 + at % 16;
    }
    return byte / 16 * lines * 16 + line * 16 +
           byte % 16; /* 16 bytes of all lines, then the next */
}

static inline void wgmma_put(struct wgmma_test *t, uint32_t place, uint32_t k, uint32_t bits,
                             uint32_t value)
{
    if (bits >= 8)
        memcpy(t->image + place, &value, bits / 8);
    else
        t->image[place] |= (uint8_t)(value << k % 8);
}

static inline void wgmma_fill_shared(struct wgmma_test *t)
{
    const struct wgmma_case *w = &t->what;
    const uint32_t bits_a = wgmma_bits(w->a), bits_b = wgmma_bits(w->b), half = WGMMA_IMAGE / 2;
    memset(t->image, 0, sizeof t->image);
    for (uint32_t k = 0; k < t->depth && !w->in_registers; k++)
        for (uint32_t row = 0; row < WGMMA_ROWS; row++)
            wgmma_put(t, wgmma_place(w, w->transposed_a, WGMMA_ROWS, t->depth, row, k, bits_a), k,
                      bits_a, wgmma_encode(w->a, t->held[row][k]));
    for (uint32_t k = 0; k < w->k; k++)
        for (uint32_t column = 0; column < w->n; column++)
            wgmma_put(t, half + wgmma_place(w, w->transposed_b, w->n, w->k, column, k, bits_b), k,
                      bits_b, wgmma_encode(w->b, t->b[column][k]));
    t->descriptor_a = wgmma_descriptor(w, w->transposed_a, WGMMA_ROWS, t->depth,
                                       w->transposed_a ? 0 : wgmma_ahead(w, t->depth, bits_a));
    t->descriptor_b = wgmma_descriptor(w, w->transposed_b, w->n, w->k,
                                       half + (w->transposed_b ? 0 : wgmma_ahead(w, w->k, bits_b)));
}

/* ---- a sparse A ---- */

/* Four bits of a group's metadata, where its row and the selector have theirs. */
static inline void wgmma_say(struct wgmma_test *t, uint32_t row, uint32_t group, uint32_t said)
{
    const uint32_t quad = row / 16 * 32 + row % 8 * 4, second = row % 16 / 8;
    if (wgmma_bits(t->what.a) >= 16) /* two lanes: the first has the lower half of k */
        t->metadata[quad + t->what.selector * 2 + group / 4] |= said
                                                                << (second * 16 + group % 4 * 4);
    else /* all lanes: two rows, and two halves of k */
        t->metadata[quad + group / 8 * 2 + second] |= said << group % 8 * 4;
}

/* Of a row's groups along k, keeps one of two elements, or two of four. */
static inline void wgmma_thin_out(struct wgmma_test *t)
{
    const int wide = wgmma_bits(t->what.a) == 32;
    const uint32_t span = wide ? 2 : 4;
    memset(t->metadata, 0, sizeof t->metadata);
    t->depth = t->what.k / 2;
    for (uint32_t row = 0; row < WGMMA_ROWS; row++)
        for (uint32_t group = 0; group < t->what.k / span; group++) {
            const uint32_t first = (row * 7 + group * 5) % (wide ? 2 : 3);
            const uint32_t second = first + 1 + (row / 3 + group) % (wide ? 1 : 3 - first);
            int *all = t->a[row] + group * span, *held = t->held[row] + group * span / 2;
            wgmma_say(t, row, group, wide ? (first ? 0xe : 0x4) : second << 2 | first);
            held[0] = all[first];
            if (!wide)
                held[1] = all[second];
            for (uint32_t i = 0; i < span; i++)
                if (i != first && (wide || i != second))
                    all[i] = 0;
        }
}

/* ---- registers ---- */

static inline void wgmma_fill_registers(struct wgmma_test *t)
{
    const struct wgmma_case *w = &t->what;
    const uint32_t bits_a = wgmma_bits(w->a), each = 32 / bits_a, bits_d = wgmma_bits(w->d);
    memset(t->a_words, 0, sizeof t->a_words);
    memset(t->d_words, 0, sizeof t->d_words);
    for (uint32_t thread = 0; thread < WGMMA_THREADS; thread++) {
        const uint32_t first = thread / 32 * 16 + thread % 32 / 4, place = thread % 4;
        for (uint32_t r = 0; r < t->registers_a; r++)
            for (uint32_t j = 0; j < each; j++)
                t->a_words[r * WGMMA_THREADS + thread] |=
                    wgmma_encode(w->a, t->held[first + r % 2 * 8][(place + r / 2 * 4) * each + j])
                    << j * bits_a;
        for (uint32_t e = 0; e < w->n / 2; e++) {
            const uint32_t bits =
                wgmma_encode(w->d, t->c[first + e / 2 % 2 * 8][e / 4 * 8 + place * 2 + e % 2]);
            t->d_words[e * bits_d / 32 * WGMMA_THREADS + thread] |=
                bits << (bits_d == 16 ? e % 2 * 16 : 0);
        }
    }
}

static inline void wgmma_prepare(struct wgmma_test *t, const struct wgmma_case *what)
{
    t->what = *what;
    for (uint32_t k = 0; k < what->k; k++) {
        for (uint32_t row = 0; row < WGMMA_ROWS; row++)
            t->a[row][k] = wgmma_number(what->a, row * 977 + k);
        for (uint32_t column = 0; column < what->n; column++)
            t->b[column][k] = wgmma_number(what->b, column * 1013 + k + 50000);
    }
    for (uint32_t row = 0; row < WGMMA_ROWS; row++)
        for (uint32_t column = 0; column < what->n; column++)
            t->c[row][column] = (int)((row * 31 + column * 7) % 64) - 20;
    t->depth = what->k;
    if (what->sparse)
        wgmma_thin_out(t);
    else
        memcpy(t->held, t->a, sizeof t->held);
    t->registers_a = what->in_registers ? 4 : 0;
    t->registers_d = what->n / 2 * wgmma_bits(what->d) / 32;
    wgmma_fill_shared(t);
    wgmma_fill_registers(t);
}

/* How many elements of D, as the threads left it, are not what they should be. */
static inline uint32_t wgmma_wrong(const struct wgmma_test *t, const uint32_t *d_words)
{
    const struct wgmma_case *w = &t->what;
    const uint32_t bits_d = wgmma_bits(w->d);
    uint32_t wrong = 0;
    for (uint32_t thread = 0; thread < WGMMA_THREADS; thread++)
        for (uint32_t e = 0; e < w->n / 2; e++) {
            const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8;
            const uint32_t column = e / 4 * 8 + thread % 4 * 2 + e % 2;
            int sum = 0;
            for (uint32_t k = 0; k < w->k; k++)
                sum += t->a[row][k] * t->b[column][k];
            sum = (w->negate_a != w->negate_b ? -sum : sum) + (w->add ? t->c[row][column] : 0);
            uint32_t got = d_words[e * bits_d / 32 * WGMMA_THREADS + thread];
            if (bits_d == 16)
                got = got >> e % 2 * 16 & 0xffff;
            wrong += got != wgmma_encode(w->d, sum);
        }
    return wrong;
}

/* ---- the kernel: product(D, image, A's registers, descriptors, metadata) ---- */

static inline void wgmma_list(char *text, char name, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), "%s%%%c%u", r ? ", " : "{", name, r);
    strcat(text, "}, ");
}

static inline void wgmma_load(char *text, char name, const char *from, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), "ld.global.b32 %%%c%u, [%%%s+%u];\n", name, r, from,
                r * (uint32_t)WGMMA_THREADS * 4);
}

static inline void wgmma_store(char *text, char name, const char *to, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        sprintf(text + strlen(text), "st.global.b32 [%%%s+%u], %%%c%u;\n", to,
                r * (uint32_t)WGMMA_THREADS * 4, name, r);
}

static inline void wgmma_modes(const struct wgmma_case *w, char *text)
{
    const uint32_t bits = wgmma_bits(w->a);
    if (strcmp(w->d, "s32"))
        sprintf(text + strlen(text), ", %d, %d", w->negate_a ? -1 : 1, w->negate_b ? -1 : 1);
    if (bits == 16 && !w->in_registers)
        sprintf(text + strlen(text), ", %d", w->transposed_a);
    if (bits == 16)
        sprintf(text + strlen(text), ", %d", w->transposed_b);
    strcat(text, ";\n");
}

/* The product is over for all four warps: the first one uses the operands' memory again. */
static inline void wgmma_overwrite(char *text)
{
    sprintf(text + strlen(text),
            "setp.ge.u32 %%p, %%t0, 32;\n@%%p bra over;\n"
            "mad.lo.u32 %%t3, %%t0, 4, %%t1; mov.u32 %%t2, 0;\n"
            "overwrite:\nst.shared.b32 [%%t3], 0x3f8f8f8f;\n"
            "add.u32 %%t3, %%t3, 128; add.u32 %%t2, %%t2, 128;\n"
            "setp.lt.u32 %%p, %%t2, %u;\n@%%p bra overwrite;\nover:\n",
            (unsigned)WGMMA_IMAGE);
}

static inline const char *wgmma_text(struct wgmma_test *t)
{
    const struct wgmma_case *w = &t->what;
    char *text = t->text;
    sprintf(
        text,
        ".version 8.4\n.target sm_90a\n.address_size 64\n"
        ".extern .shared .align 1024 .b8 image[];\n"
        ".visible .entry product(.param .u64 pd, .param .u64 pi, .param .u64 pa, "
        ".param .u64 da, .param .u64 db, .param .u64 pe)\n.reqntid 128\n{\n"
        ".reg .b64 %%x<8>; .reg .b32 %%t<5>; .reg .b32 %%e; .reg .pred %%p, %%q; .reg .b32 "
        "%%a<5>;\n"
        ".reg .%s %%d<129>;\n"
        "mov.u32 %%t0, %%tid.x; mov.u32 %%t1, image; mov.u32 %%t2, 0;\n"
        "ld.param.u64 %%x0, [pd]; ld.param.u64 %%x1, [pi]; ld.param.u64 %%x2, [pa];\n"
        "mad.wide.u32 %%x0, %%t0, 4, %%x0; mad.wide.u32 %%x1, %%t0, 4, %%x1;\n"
        "mad.wide.u32 %%x2, %%t0, 4, %%x2; mad.lo.u32 %%t3, %%t0, 4, %%t1;\n"
        "again:\nld.global.b32 %%t4, [%%x1]; st.shared.b32 [%%t3], %%t4;\n"
        "add.u64 %%x1, %%x1, %d; add.u32 %%t3, %%t3, %d; add.u32 %%t2, %%t2, %d;\n"
        "setp.lt.u32 %%p, %%t2, %u;\n@%%p bra again;\n"
        "fence.proxy.async;\nbar.sync 0;\n"
        "ld.param.u64 %%x6, [pe]; mad.wide.u32 %%x6, %%t0, 4, %%x6; ld.global.b32 %%e, [%%x6];\n"
        "ld.param.u64 %%x3, [da]; ld.param.u64 %%x4, [db];\n"
        "cvt.u64.u32 %%x5, %%t1; shr.u64 %%x5, %%x5, 4;\n"
        "add.u64 %%x3, %%x3, %%x5; add.u64 %%x4, %%x4, %%x5;\n"
        "setp.eq.u32 %%q, 1, %d;\n",
        strcmp(w->d, "f32") ? "b32" : "f32", WGMMA_THREADS * 4, WGMMA_THREADS * 4,
        WGMMA_THREADS * 4, (unsigned)WGMMA_IMAGE, w->add);
    wgmma_load(text, 'a', "x2", t->registers_a);
    wgmma_load(text, 'd', "x0", t->registers_d);
    sprintf(text + strlen(text),
            "wgmma.fence.sync.aligned;\nwgmma.mma_async%s.sync.aligned.m64n%uk%u.%s.%s.%s%s ",
            w->sparse ? ".sp" : "", w->n, w->k, w->d, w->a, w->b,
            strcmp(w->a, "b1") ? "" : ".and.popc");
    wgmma_list(text, 'd', t->registers_d);
    if (w->in_registers)
        wgmma_list(text, 'a', t->registers_a);
    else
        strcat(text, "%x3, ");
    strcat(text, "%x4, ");
    if (w->sparse)
        sprintf(text + strlen(text), "%%e, %u, ", w->selector);
    strcat(text, "%q");
    wgmma_modes(w, text);
    strcat(text, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    wgmma_overwrite(text);
    wgmma_store(text, 'd', "x0", t->registers_d);
    strcat(text, "ret;\n}\n");
    return text;
}

static const struct wgmma_case wgmma_cases[] = {
    /* swizzles, both ways round */
    {"f32", "f16", "f16", 64, 16, 0, 0, 0, 0, 0, 0, 1},
    {"f32", "f16", "f16", 64, 16, 32, 0, 0, 0, 0, 0, 1},
    {"f32", "f16", "f16", 128, 16, 64, 0, 0, 0, 0, 0, 1},
    {"f32", "f16", "f16", 256, 16, 128, 0, 0, 0, 0, 0, 1},
    {"f32", "f16", "f16", 64, 16, 0, 0, 1, 1, 0, 0, 1},
    {"f32", "f16", "f16", 64, 16, 32, 0, 1, 1, 0, 0, 1},
    {"f32", "bf16", "bf16", 128, 16, 64, 0, 1, 1, 0, 0, 1},
    {"f32", "bf16", "bf16", 128, 16, 128, 0, 1, 1, 0, 0, 1},
    {"f32", "f16", "f16", 64, 16, 128, 0, 0, 1, 0, 0, 1},
    /* A in registers; scales; what D held does not count */
    {"f32", "f16", "f16", 8, 16, 0, 1, 0, 0, 0, 0, 1},
    {"f32", "bf16", "bf16", 64, 16, 128, 1, 0, 1, 1, 0, 0},
    {"f16", "f16", "f16", 96, 16, 128, 0, 0, 0, 0, 1, 1},
    {"f16", "f16", "f16", 24, 16, 64, 1, 0, 0, 1, 1, 0},
    /* other types */
    {"f32", "tf32", "tf32", 64, 8, 128, 0, 0, 0, 0, 0, 1},
    {"f32", "tf32", "tf32", 40, 8, 32, 1, 0, 0, 1, 0, 1},
    {"f32", "e4m3", "e4m3", 64, 32, 128, 0, 0, 0, 0, 0, 1},
    {"f32", "e5m2", "e4m3", 16, 32, 64, 1, 0, 0, 0, 0, 1},
    {"f16", "e4m3", "e5m2", 32, 32, 0, 0, 0, 0, 0, 1, 0},
    {"s32", "s8", "s8", 64, 32, 128, 0, 0, 0, 0, 0, 1},
    {"s32", "u8", "s8", 96, 32, 32, 1, 0, 0, 0, 0, 0},
    {"s32", "s8", "u8", 32, 32, 0, 0, 0, 0, 0, 0, 1},
    {"s32", "b1", "b1", 64, 256, 128, 0, 0, 0, 0, 0, 1},
    {"s32", "b1", "b1", 16, 256, 0, 1, 0, 0, 0, 0, 0},
    /* sparse ones: of each type, with each selector, in each layout */
    {"f32", "f16", "f16", 64, 32, 0, 0, 0, 0, 0, 0, 1, 1, 0},
    {"f32", "f16", "f16", 128, 32, 128, 0, 0, 0, 0, 0, 1, 1, 1},
    {"f32", "f16", "f16", 64, 32, 64, 0, 0, 0, 0, 1, 1, 1, 0},
    {"f16", "f16", "f16", 24, 32, 64, 1, 0, 0, 1, 0, 0, 1, 1},
    {"f32", "f16", "f16", 64, 32, 0, 0, 1, 1, 0, 0, 1, 1, 1},
    {"f32", "bf16", "bf16", 128, 32, 128, 0, 1, 1, 0, 0, 1, 1, 0},
    {"f32", "bf16", "bf16", 64, 32, 32, 1, 0, 1, 0, 0, 1, 1, 1},
    {"f32", "tf32", "tf32", 64, 16, 128, 0, 0, 0, 0, 0, 1, 1, 0},
    {"f32", "tf32", "tf32", 40, 16, 64, 1, 0, 0, 1, 0, 1, 1, 1},
    {"f32", "e4m3", "e5m2", 64, 64, 128, 0, 0, 0, 0, 0, 1, 1, 0},
    {"f16", "e5m2", "e4m3", 32, 64, 0, 0, 0, 0, 0, 1, 0, 1, 0},
    {"s32", "s8", "s8", 64, 64, 64, 0, 0, 0, 0, 0, 1, 1, 0},
    {"s32", "u8", "s8", 96, 64, 128, 1, 0, 0, 0, 0, 0, 1, 0},
    /* B has twice the bytes along k that a row of its pattern has */
    {"f32", "f16", "f16", 64, 32, 32, 0, 0, 0, 0, 0, 1, 1, 0},
    {"f32", "bf16", "bf16", 24, 32, 32, 1, 0, 0, 0, 0, 0, 1, 1},
    {"s32", "s8", "s8", 48, 64, 32, 0, 0, 0, 0, 0, 1, 1, 0},
};
enum { WGMMA_CASES = sizeof wgmma_cases / sizeof *wgmma_cases };
