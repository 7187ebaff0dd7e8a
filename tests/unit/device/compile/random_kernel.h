/* Random kernels as PTX text: arithmetic of all types, predicates, divergence and loops, accesses
 * of all spaces and patterns, some of them wrong, barriers, atomics, shuffles and votes. One text
 * holds KERNELS of them, which a parameter chooses from, so that one compilation tests them all. */
#ifndef TESTS_UNIT_DEVICE_COMPILE_RANDOM_KERNEL_H
#define TESTS_UNIT_DEVICE_COMPILE_RANDOM_KERNEL_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 24, WORDS = 1024, RESULT_BYTES = 160, LOCAL_BYTES = 64, SHARED_WORDS = 512 };

struct random_kernel {
    uint64_t seed;
    FILE *out;
    unsigned labels, depth, loops, kernel;
};

static inline uint32_t random_next(struct random_kernel *k)
{
    k->seed = k->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(k->seed >> 33);
}
static inline uint32_t random_below(struct random_kernel *k, uint32_t limit)
{
    return random_next(k) % limit;
}

/* I, L, H, F, D, P: a destination of 32, 64 and 16 bits, .f32, .f64, predicate; in lower case a
 * source, which may be a constant. q: a predicate that may be negated. N: a number below 32. */
static const char *const random_templates[] = {"add.s32 I, i, i",
                                               "sub.s32 I, i, i",
                                               "mul.lo.s32 I, i, i",
                                               "mul.hi.u32 I, i, i",
                                               "mul.hi.s32 I, i, i",
                                               "mad.lo.s32 I, i, i, i",
                                               "mad.hi.u32 I, i, i, i",
                                               "div.s32 I, i, i",
                                               "div.u32 I, i, i",
                                               "rem.s32 I, i, i",
                                               "rem.u32 I, i, i",
                                               "min.s32 I, i, i",
                                               "max.u32 I, i, i",
                                               "abs.s32 I, i",
                                               "neg.s32 I, i",
                                               "and.b32 I, i, i",
                                               "or.b32 I, i, i",
                                               "xor.b32 I, i, i",
                                               "not.b32 I, i",
                                               "cnot.b32 I, i",
                                               "shl.b32 I, i, i",
                                               "shr.u32 I, i, i",
                                               "shr.s32 I, i, i",
                                               "shl.b32 I, i, N",
                                               "shr.s32 I, i, N",
                                               "shf.l.wrap.b32 I, i, i, i",
                                               "shf.r.clamp.b32 I, i, i, i",
                                               "bfe.u32 I, i, i, i",
                                               "bfe.s32 I, i, N, N",
                                               "bfi.b32 I, i, i, N, N",
                                               "popc.b32 I, i",
                                               "clz.b32 I, i",
                                               "brev.b32 I, i",
                                               "prmt.b32 I, i, i, i",
                                               "sad.u32 I, i, i, i",
                                               "lop3.b32 I, i, i, i, 0x6a",
                                               "add.sat.s32 I, i, i",
                                               "mul24.lo.s32 I, i, i",
                                               "add.cc.u32 I, i, i",
                                               "addc.u32 I, i, i",
                                               "dp4a.s32.s32 I, i, i, i",
                                               "add.s64 L, l, l",
                                               "sub.s64 L, l, l",
                                               "mul.lo.s64 L, l, l",
                                               "mul.hi.u64 L, l, l",
                                               "mul.wide.s32 L, i, i",
                                               "mul.wide.u32 L, i, i",
                                               "mad.wide.u32 L, i, i, l",
                                               "mad.lo.s64 L, l, l, l",
                                               "div.u64 L, l, l",
                                               "rem.s64 L, l, l",
                                               "and.b64 L, l, l",
                                               "or.b64 L, l, l",
                                               "xor.b64 L, l, l",
                                               "shl.b64 L, l, i",
                                               "shr.u64 L, l, N",
                                               "shr.s64 L, l, i",
                                               "min.s64 L, l, l",
                                               "max.u64 L, l, l",
                                               "neg.s64 L, l",
                                               "not.b64 L, l",
                                               "add.s16 H, h, h",
                                               "mul.lo.u16 H, h, h",
                                               "mul.hi.s16 H, h, h",
                                               "mul.wide.s16 I, h, h",
                                               "shl.b16 H, h, i",
                                               "shr.s16 H, h, N",
                                               "and.b16 H, h, h",
                                               "not.b16 H, h",
                                               "min.u16 H, h, h",
                                               "div.s16 H, h, h",
                                               "mad.lo.u16 H, h, h, h",
                                               "add.f32 F, f, f",
                                               "sub.f32 F, f, f",
                                               "mul.f32 F, f, f",
                                               "fma.rn.f32 F, f, f, f",
                                               "div.rn.f32 F, f, f",
                                               "sqrt.rn.f32 F, f",
                                               "rcp.rn.f32 F, f",
                                               "min.f32 F, f, f",
                                               "max.f32 F, f, f",
                                               "abs.f32 F, f",
                                               "neg.f32 F, f",
                                               "add.ftz.f32 F, f, f",
                                               "mul.ftz.f32 F, f, f",
                                               "fma.rn.ftz.f32 F, f, f, f",
                                               "add.sat.f32 F, f, f",
                                               "fma.rn.ftz.sat.f32 F, f, f, f",
                                               "mul.rz.f32 F, f, f",
                                               "min.NaN.f32 F, f, f",
                                               "ex2.approx.f32 F, f",
                                               "rsqrt.approx.f32 F, f",
                                               "copysign.f32 F, f, f",
                                               "neg.ftz.f32 F, f",
                                               "add.f64 D, d, d",
                                               "sub.f64 D, d, d",
                                               "mul.f64 D, d, d",
                                               "fma.rn.f64 D, d, d, d",
                                               "div.rn.f64 D, d, d",
                                               "min.f64 D, d, d",
                                               "max.f64 D, d, d",
                                               "sqrt.rn.f64 D, d",
                                               "abs.f64 D, d",
                                               "neg.f64 D, d",
                                               "rcp.rn.f64 D, d",
                                               "cvt.u64.u32 L, i",
                                               "cvt.s64.s32 L, i",
                                               "cvt.u32.u64 I, l",
                                               "cvt.u16.u32 H, i",
                                               "cvt.s32.s16 I, h",
                                               "cvt.u32.u16 I, h",
                                               "cvt.rn.f32.s32 F, i",
                                               "cvt.rn.f32.u32 F, i",
                                               "cvt.rn.f32.u64 F, l",
                                               "cvt.rn.f64.s64 D, l",
                                               "cvt.rzi.s32.f32 I, f",
                                               "cvt.rzi.u32.f32 I, f",
                                               "cvt.rni.s32.f32 I, f",
                                               "cvt.f64.f32 D, f",
                                               "cvt.rn.f32.f64 F, d",
                                               "cvt.rzi.s64.f64 L, d",
                                               "cvt.rn.f16.f32 H, f",
                                               "cvt.f32.f16 F, h",
                                               "cvt.s8.s32 I, i",
                                               "cvt.sat.u8.s32 I, i",
                                               "mov.b32 F, i",
                                               "mov.b32 I, f",
                                               "mov.b64 D, l",
                                               "mov.b64 L, {i, i}",
                                               "mov.b64 {I, I}, l",
                                               "mov.b32 I, {h, h}",
                                               "mov.u32 I, i",
                                               "mov.u64 L, l",
                                               "mov.f32 F, f",
                                               "mov.u32 I, %tid.x",
                                               "mov.u32 I, %laneid",
                                               "mov.u32 I, %ctaid.x",
                                               "mov.u32 I, %lanemask_lt",
                                               "setp.eq.s32 P, i, i",
                                               "setp.lt.s32 P, i, i",
                                               "setp.gt.u32 P, i, i",
                                               "setp.ne.s64 P, l, l",
                                               "setp.ge.u16 P, h, h",
                                               "setp.lt.f32 P, f, f",
                                               "setp.neu.f32 P, f, f",
                                               "setp.num.f64 P, d, d",
                                               "setp.leu.ftz.f32 P, f, f",
                                               "setp.lt.and.s32 P, i, i, q",
                                               "setp.gt.or.u32 P, i, i, q",
                                               "setp.le.xor.f32 P, f, f, q",
                                               "setp.lt.s32 P|P, i, i",
                                               "setp.ltu.and.f64 P|P, d, d, p",
                                               "and.pred P, p, p",
                                               "or.pred P, p, p",
                                               "xor.pred P, p, p",
                                               "not.pred P, p",
                                               "mov.pred P, p",
                                               "selp.s32 I, i, i, p",
                                               "selp.b64 L, l, l, p",
                                               "selp.f32 F, f, f, p",
                                               "selp.b16 H, h, h, p",
                                               "selp.f64 D, d, d, p",
                                               "set.lt.u32.s32 I, i, i",
                                               "slct.s32.s32 I, i, i, i",
                                               "testp.finite.f32 P, f",
                                               "activemask.b32 I",
                                               "vote.sync.ballot.b32 I, p, -1",
                                               "@q add.s32 I, i, i",
                                               "@q mov.f32 F, f",
                                               "@q mul.wide.u32 L, i, i"};

static inline void random_source(struct random_kernel *k, char class)
{
    static const uint64_t numbers[] = {0,  1,   2,          3,          4,          5,      7,
                                       31, 100, 0x7fffffff, 0x80000000, 0xffffffff, 0x1234, 64};
    const uint64_t number = numbers[random_below(k, sizeof numbers / sizeof *numbers)];
    const bool constant = random_below(k, 4) == 0;
    switch (class) {
    case 'i':
        constant ? fprintf(k->out, "%d", (int)number)
                 : fprintf(k->out, "%%r%u", random_below(k, 8));
        return;
    case 'l':
        constant ? fprintf(k->out, "%lld", (long long)(number << random_below(k, 33)))
                 : fprintf(k->out, "%%l%u", random_below(k, 5));
        return;
    case 'h':
        constant ? fprintf(k->out, "%u", (unsigned)(number & 0x7fff))
                 : fprintf(k->out, "%%h%u", random_below(k, 4));
        return;
    case 'f':
        if (!constant)
            fprintf(k->out, "%%f%u", random_below(k, 6));
        else
            fprintf(k->out, "0f%08x",
                    (uint32_t[]){0x3f800000, 0xbf000000, 0x7f800000, 0x7fc00001, 0x80000000, 1,
                                 0x4b000000, 0xff7fffff}[random_below(k, 8)]);
        return;
    case 'd':
        if (!constant)
            fprintf(k->out, "%%d%u", random_below(k, 4));
        else
            fprintf(k->out, "0d%016llx",
                    (unsigned long long[]){0x3ff0000000000000, 0x7ff8000000001234,
                                           0xfff0000000000000, 0x8000000000000000,
                                           0x7ff0000000000777, 1}[random_below(k, 6)]);
        return;
    case 'q':
        fprintf(k->out, "%s%%p%u", random_below(k, 2) ? "!" : "", random_below(k, 5));
        return;
    default:
        fprintf(k->out, "%%p%u", random_below(k, 5));
    }
}

static inline void random_destination(struct random_kernel *k, char class)
{
    static const char names[] = "rlhfdp", classes[] = "ILHFDP";
    static const uint8_t counts[] = {8, 5, 4, 6, 4, 5};
    const size_t at = (size_t)(strchr(classes, class) - classes);
    fprintf(k->out, "%%%c%u", names[at], random_below(k, counts[at]));
}

/* Letters that stand alone are operands. */
static inline void random_fill(struct random_kernel *k, const char *text)
{
    for (const char *at = text; *at; at++) {
        const bool alone = (at == text || !strchr("abcdefghijklmnopqrstuvwxyz0123456789._%-"
                                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                                  at[-1])) &&
                           (!at[1] || strchr(" ,;|}]+", at[1]));
        if (alone && strchr("ILHFDP", *at))
            random_destination(k, *at);
        else if (alone && strchr("ilhfdpq", *at))
            random_source(k, *at);
        else if (alone && *at == 'N')
            fprintf(k->out, "%u", random_below(k, 32));
        else
            fputc(*at == '@' ? '@' : *at, k->out);
        if (*at == '@') { /* a guard is a predicate without a space before it */
            random_source(k, 'q');
            at++;
        }
    }
    fprintf(k->out, ";\n");
}

/* An address in %a or %s that is right, unless `wrong`: row by lane, one place, or anywhere. */
static inline void random_address(struct random_kernel *k, bool global, uint32_t bytes)
{
    const uint32_t words = global ? WORDS : SHARED_WORDS;
    const bool wrong = random_below(k, 90) == 0;
    switch (random_below(k, 4)) {
    case 0:
        fprintf(k->out, "mov.u32 %%t0, %u;\n", random_below(k, words * 4 / bytes) * bytes);
        break;
    case 1:
        fprintf(k->out, "and.b32 %%t0, %%r%u, %u;\nmul.lo.u32 %%t0, %%t0, %u;\n",
                random_below(k, 8), words * 4 / bytes - 1, bytes);
        break;
    default: /* 64 threads and 16 bytes fit anywhere */
        fprintf(k->out, "mul.lo.u32 %%t0, %%me, %u;\n", bytes);
    }
    if (wrong)
        fprintf(k->out, "add.u32 %%t0, %%t0, %u;\n",
                (uint32_t[]){1, words * 4, 0x40000000, 2}[random_below(k, 4)]);
    if (global)
        fprintf(k->out, "cvt.u64.u32 %%a, %%t0;\nadd.s64 %%a, %%a, %s;\n",
                random_below(k, 2) ? "%in" : "%io");
    else
        fprintf(k->out, "mov.u32 %%s, memory;\nadd.u32 %%s, %%s, %%t0;\n");
}

static inline void random_access(struct random_kernel *k)
{
    static const struct {
        const char *text;
        uint8_t bytes;
    } loads[] = {{"u32 I", 4},
                 {"f32 F", 4},
                 {"u64 L", 8},
                 {"f64 D", 8},
                 {"u8 I", 1},
                 {"s8 I", 1},
                 {"u16 H", 2},
                 {"s16 I", 2},
                 {"s32 L", 4},
                 {"v2.u32 {I, I}", 8},
                 {"v4.f32 {F, F, F, F}", 16},
                 {"b16 H", 2}},
      stores[] = {{"u32", 4}, {"f32", 4}, {"u64", 8},    {"f64", 8},
                  {"u8", 1},  {"u16", 2}, {"v2.u32", 8}, {"v4.f32", 16}};
    static const char *const values[] = {"i", "f", "l", "d", "i", "h", "{i, i}", "{f, f, f, f}"};
    const bool global = random_below(k, 2), generic = random_below(k, 6) == 0;
    const bool load = random_below(k, 2);
    const uint32_t at = load ? random_below(k, 12) : random_below(k, 8);
    random_address(k, global, load ? loads[at].bytes : stores[at].bytes);
    const char *place = global ? "%a" : "%s", *space = global ? ".global" : ".shared";
    if (generic) {
        if (!global)
            fprintf(k->out, "cvt.u64.u32 %%a, %%s;\ncvta.shared.u64 %%a, %%a;\n");
        place = "%a";
        space = "";
    }
    char line[96];
    if (load) {
        const char *value = strchr(loads[at].text, ' ') + 1;
        snprintf(line, sizeof line, "ld%s.%.*s %s, [%s]", space, (int)(value - loads[at].text - 1),
                 loads[at].text, value, place);
    } else {
        /* vectors of constants are no PTX: registers alone */
        snprintf(line, sizeof line, "st%s.%s [%s], %s", space, stores[at].text, place, values[at]);
    }
    random_fill(k, line);
}

/* Addresses that live on: through branches and loops, where lanes part and meet again. Of every
 * second kernel they are those of 8 bytes. */
static inline void random_walk(struct random_kernel *k)
{
    static const uint32_t steps[] = {4, 4, 8, 64, 128, 0};
    const bool global = random_below(k, 2);
    const unsigned own = k->kernel, wide = own % 2;
    char line[64];
    switch (random_below(k, 7)) {
    case 0:
        if (global)
            fprintf(k->out, "mul.wide.u32 %%w%u, %%me, %u;\nadd.s64 %%w%u, %%w%u, %%io;\n", own,
                    4u << wide, own, own);
        else
            fprintf(k->out, "shl.b32 %%v%u, %%me, %u;\nadd.u32 %%v%u, %%v%u, memory;\n", own,
                    2 + wide, own, own);
        return;
    case 1:
    case 2:
        if (random_below(k, 8) == 0)
            fprintf(k->out, "@%s%%p%u ", random_below(k, 2) ? "!" : "", random_below(k, 5));
        fprintf(k->out, global ? "add.s64 %%w%u, %%w%u, %u;\n" : "add.u32 %%v%u, %%v%u, %u;\n", own,
                own, steps[random_below(k, 6)] << wide);
        return;
    case 3:
        snprintf(line, sizeof line,
                 global ? (wide ? "st.global.u64 [%%w%u], l" : "st.global.u32 [%%w%u], i")
                        : (wide ? "st.shared.u64 [%%v%u], l" : "st.shared.u32 [%%v%u], i"),
                 own);
        break;
    case 4:
        snprintf(line, sizeof line,
                 wide ? "ld.shared.u64 L, [memory+%u]" : "ld.shared.f32 F, [memory+%u]",
                 random_below(k, 100) ? random_below(k, SHARED_WORDS / 2) * 8 : SHARED_WORDS * 4);
        break;
    default:
        snprintf(line, sizeof line,
                 global ? (wide ? "ld.global.f64 D, [%%w%u]" : "ld.global.f32 F, [%%w%u]")
                        : (wide ? "ld.shared.b64 L, [%%v%u]" : "ld.shared.u32 I, [%%v%u]"),
                 own);
    }
    random_fill(k, line);
}

static inline void random_local(struct random_kernel *k)
{
    fprintf(k->out,
            "and.b32 %%t0, %%r%u, %u;\nmov.u64 %%a, own;\ncvt.u64.u32 %%b, %%t0;\n"
            "add.s64 %%a, %%a, %%b;\n",
            random_below(k, 8), (LOCAL_BYTES - 4) & ~3u);
    random_fill(k, random_below(k, 2) ? "st.local.u32 [%a], i" : "ld.local.u32 I, [%a]");
}

static inline void random_collective(struct random_kernel *k)
{
    static const char *const texts[] = {"shfl.sync.idx.b32 I, i, i, 31, %t0",
                                        "shfl.sync.bfly.b32 I, i, N, 31, %t0",
                                        "shfl.sync.up.b32 I|P, i, N, 0, %t0",
                                        "vote.sync.ballot.b32 I, p, %t0",
                                        "vote.sync.any.pred P, p, %t0",
                                        "redux.sync.add.s32 I, i, %t0",
                                        "match.any.sync.b32 I, i, %t0",
                                        "shfl.sync.down.b32 I, i, N, 31, -1",
                                        "bar.warp.sync %t0"};
    fprintf(k->out, "activemask.b32 %%t0;\n");
    random_fill(k, texts[random_below(k, sizeof texts / sizeof *texts)]);
}

static inline void random_atomic(struct random_kernel *k)
{
    const bool global = random_below(k, 2);
    random_address(k, global, 4);
    random_fill(k, global ? (random_below(k, 2) ? "atom.global.add.u32 I, [%a], i"
                                                : "red.global.max.s32 [%a], i")
                          : (random_below(k, 2) ? "atom.shared.cas.b32 I, [%s], i, i"
                                                : "atom.shared.exch.b32 I, [%s], i"));
}

static inline void random_statements(struct random_kernel *k, uint32_t count);

static inline void random_branch(struct random_kernel *k)
{
    const unsigned label = k->labels++;
    fprintf(k->out, "@%s%%p%u bra L%u;\n", random_below(k, 2) ? "!" : "", random_below(k, 5),
            label);
    random_statements(k, 1 + random_below(k, 5));
    if (random_below(k, 2)) {
        const unsigned end = k->labels++;
        fprintf(k->out, "bra L%u;\nL%u:\n", end, label);
        random_statements(k, 1 + random_below(k, 4));
        fprintf(k->out, "L%u:\n", end);
    } else {
        fprintf(k->out, "L%u:\n", label);
    }
}

/* Each lane its own number of rounds. */
static inline void random_loop(struct random_kernel *k)
{
    const unsigned label = k->labels++, counter = k->loops++;
    fprintf(k->out, "and.b32 %%c%u, %%r%u, 7;\nL%u:\n", counter, random_below(k, 8), label);
    random_statements(k, 1 + random_below(k, 6));
    fprintf(k->out, "sub.s32 %%c%u, %%c%u, 1;\nsetp.ge.s32 %%pc, %%c%u, 0;\n@%%pc bra L%u;\n",
            counter, counter, counter, label);
}

/* What a warp does between two barriers: now and then some threads alone, or it leaves. */
static inline void random_phase(struct random_kernel *k)
{
    const unsigned label = k->labels++;
    const bool some = random_below(k, 2);
    if (some)
        fprintf(k->out, "setp.lt.u32 %%pc, %%me, %u;\n@!%%pc bra L%u;\n", random_below(k, 80),
                label);
    for (uint32_t i = random_below(k, 4); i > 0; i--)
        if (random_below(k, 3))
            random_walk(k);
        else
            random_fill(k, random_templates[random_below(k, sizeof random_templates /
                                                                sizeof *random_templates)]);
    if (random_below(k, 40) == 0)
        fprintf(k->out, "@%%p%u exit;\n", random_below(k, 5));
    if (some)
        fprintf(k->out, "L%u:\n", label);
}

/* One barrier for all; or one for each of two parts of the block, with the same number or not. */
static inline void random_barrier(struct random_kernel *k)
{
    const unsigned other = k->labels++, end = k->labels++;
    const uint32_t number = random_below(k, 8) ? 0 : 3;
    if (random_below(k, 8)) {
        fprintf(k->out,
                random_below(k, 12) ? "bar.sync %u;\n" : "bar.red.popc.u32 %%r1, %u, %%p2;\n",
                number);
        return;
    }
    fprintf(k->out,
            "setp.lt.u32 %%pc, %%me, %u;\n@%%pc bra L%u;\nbar.sync %u;\nbra L%u;\n"
            "L%u:\nbar.sync %u;\nL%u:\n",
            random_below(k, 3) * 32, other, number, end, other,
            random_below(k, 30) ? number : number + 1, end);
}

/* Warps that go from barrier to barrier together, for some rounds. */
static inline void random_phases(struct random_kernel *k)
{
    const unsigned label = k->labels++, counter = k->loops++;
    fprintf(k->out, "mov.u32 %%c%u, %u;\nL%u:\n", counter, random_below(k, 5), label);
    for (uint32_t i = 1 + random_below(k, 3); i > 0; i--) {
        random_phase(k);
        random_barrier(k);
    }
    fprintf(k->out, "sub.s32 %%c%u, %%c%u, 1;\nsetp.ge.s32 %%pc, %%c%u, 0;\n@%%pc bra L%u;\n",
            counter, counter, counter, label);
}

static inline void random_statement(struct random_kernel *k)
{
    const uint32_t die = random_below(k, 100);
    const bool inner = k->depth >= 3;
    if (k->depth == 0 && k->loops < 20 && random_below(k, 12) == 0)
        random_phases(k);
    else if (die < 54)
        random_fill(
            k,
            random_templates[random_below(k, sizeof random_templates / sizeof *random_templates)]);
    else if (die < 64)
        random_walk(k);
    else if (die < 76)
        random_access(k);
    else if (die < 79)
        random_local(k);
    else if (die < 82)
        random_atomic(k);
    else if (die < 85)
        random_collective(k);
    else if (die < 88 && k->depth == 0)
        fprintf(k->out, random_below(k, 4) ? "bar.sync 0;\n" : "bar.red.popc.u32 %%r1, 1, %%p2;\n");
    else if (die < 95 && !inner)
        random_branch(k);
    else if (die < 98 && !inner && k->loops < 20)
        random_loop(k);
    else if (die == 98 && random_below(k, 8) == 0)
        fprintf(k->out, "@%s%%p%u %s;\n", random_below(k, 2) ? "!" : "", random_below(k, 5),
                random_below(k, 2) ? "exit" : "trap");
    else
        fprintf(k->out, "xor.b32 %%r%u, %%r%u, %%r%u;\n", random_below(k, 8), random_below(k, 8),
                random_below(k, 8));
}

static inline void random_statements(struct random_kernel *k, uint32_t count)
{
    k->depth++;
    for (uint32_t i = 0; i < count; i++)
        random_statement(k);
    k->depth--;
}

/* Registers begin with what memory holds, and end there. */
static inline void random_begin(struct random_kernel *k)
{
    fprintf(
        k->out,
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry random(.param .u64 in, .param .u64 io, .param .u64 results,"
        " .param .u32 which)\n{\n"
        ".reg .b32 %%r<8>, %%c<24>, %%t<4>, %%me, %%s, %%which, %%n, %%v<24>;\n.reg .b64 %%l<5>, "
        "%%in, %%io,"
        " %%results, %%a, %%b, %%w<24>;\n.reg .b16 %%h<4>;\n.reg .f32 %%f<6>;\n.reg .f64 %%d<4>;\n"
        ".reg .pred %%p<5>, %%pc;\n.shared .align 16 .b8 memory[%d];\n"
        ".local .align 8 .b8 own[%d];\n"
        "ld.param.u64 %%in, [in];\nld.param.u64 %%io, [io];\nld.param.u64 %%results, [results];\n"
        "ld.param.u32 %%which, [which];\nmov.u32 %%me, %%tid.x;\n"
        "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%ntid.x;\nmad.lo.u32 %%n, %%t0, %%t1, %%me;\n"
        "mul.wide.u32 %%a, %%n, 4;\nadd.s64 %%a, %%a, %%in;\n",
        SHARED_WORDS * 4, LOCAL_BYTES);
    for (int i = 0; i < KERNELS; i++)
        fprintf(k->out,
                "mul.wide.u32 %%w%d, %%me, %d;\nadd.s64 %%w%d, %%w%d, %%io;\n"
                "shl.b32 %%v%d, %%me, %d;\nadd.u32 %%v%d, %%v%d, memory;\n",
                i, 4 << i % 2, i, i, i, 2 + i % 2, i, i);
    for (int i = 0; i < 8; i++)
        fprintf(k->out, "ld.global.u32 %%r%d, [%%a+%d];\n", i, i * 256);
    for (int i = 0; i < 5; i++)
        fprintf(k->out, "mul.wide.s32 %%l%d, %%r%d, %%r%d;\nsetp.lt.s32 %%p%d, %%r%d, %%r%d;\n", i,
                i, i + 1, i, i, i + 2);
    for (int i = 0; i < 6; i++)
        fprintf(k->out, "ld.global.f32 %%f%d, [%%a+%d];\n", i, 2048 + i * 128);
    for (int i = 0; i < 4; i++)
        fprintf(k->out, "cvt.f64.f32 %%d%d, %%f%d;\ncvt.u16.u32 %%h%d, %%r%d;\n", i, i, i, i);
}

static inline void random_end(struct random_kernel *k)
{
    fprintf(k->out, "mul.wide.u32 %%a, %%n, %d;\nadd.s64 %%a, %%a, %%results;\n", RESULT_BYTES);
    for (int i = 0; i < 8; i++)
        fprintf(k->out, "st.global.u32 [%%a+%d], %%r%d;\n", i * 4, i);
    for (int i = 0; i < 5; i++)
        fprintf(k->out,
                "st.global.u64 [%%a+%d], %%l%d;\nselp.u32 %%t0, 1, 0, %%p%d;\n"
                "st.global.u8 [%%a+%d], %%t0;\n",
                32 + i * 8, i, i, 144 + i);
    for (int i = 0; i < 6; i++)
        fprintf(k->out, "st.global.f32 [%%a+%d], %%f%d;\n", 72 + i * 4, i);
    for (int i = 0; i < 4; i++)
        fprintf(k->out, "st.global.f64 [%%a+%d], %%d%d;\nst.global.u16 [%%a+%d], %%h%d;\n",
                96 + i * 8, i, 128 + i * 2, i);
    fprintf(k->out, "ret;\n");
}

/* malloc'd. */
static inline char *random_text(uint64_t seed)
{
    char *text = NULL;
    size_t bytes;
    struct random_kernel k = {.seed = seed * 2654435761u + 1, .out = open_memstream(&text, &bytes)};
    random_begin(&k);
    for (unsigned i = 0; i < KERNELS; i++)
        fprintf(k.out, "setp.eq.u32 %%pc, %%which, %u;\n@%%pc bra K%u;\n", i, i);
    fprintf(k.out, "ret;\n");
    for (unsigned i = 0; i < KERNELS; i++) {
        fprintf(k.out, "K%u:\n", i);
        k.depth = k.loops = 0;
        k.kernel = i;
        for (uint32_t n = 6 + random_below(&k, 20); n > 0; n--)
            random_statement(&k);
        random_end(&k);
    }
    fprintf(k.out, "}\n");
    fclose(k.out);
    return text;
}

#endif
