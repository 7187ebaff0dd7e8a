/* Every arithmetic instruction family against C: one kernel per line of the tables below, run over
 * random values and the awkward ones, all combined. In an instruction %h, %w, %d are registers of
 * 16, 32 and 64 bits; 0 is the result, 1 to 3 are a, b and c cut to that width, %p1 is bit 0 of c.
 */
#include "tests/unit/device/exec/exec_harness.h"

#include <fenv.h>
#include <math.h>

typedef struct values {
    uint64_t a, b, c, d;
} values;

#define U16(x) ((uint16_t)(v.x))
#define S16(x) ((int16_t)(v.x))
#define U32(x) ((uint32_t)(v.x))
#define S32(x) ((int32_t)(v.x))
#define U64(x) ((uint64_t)(v.x))
#define S64(x) ((int64_t)(v.x))
#define F32(x) as_float((uint32_t)(v.x))
#define F64(x) as_double(v.x)

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
/* .f32 results: a NaN is 0x7fffffff */
static uint64_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? 0x7fffffff : bits;
}
static uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return value != value ? 0x7ff8000000000000 : bits;
}
static float flush(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}
static float unit(float value)
{
    return value > 0 ? (value < 1 ? value : 1) : 0;
}

/* arithmetic in another rounding mode */
static uint64_t rounded32(int mode, char operation, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, r;
    fesetround(mode);
    r = operation == '+'   ? x + y
        : operation == '*' ? x * y
        : operation == '/' ? x / y
        : operation == 's' ? sqrtf(x)
                           : fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return bits32(r);
}
static uint64_t rounded64(int mode, char operation, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, r;
    fesetround(mode);
    r = operation == '+'   ? x + y
        : operation == '*' ? x * y
        : operation == '/' ? x / y
                           : fma(x, y, z);
    fesetround(FE_TONEAREST);
    return bits64(r);
}

static int32_t saturate(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}
static float least(float a, float b)
{
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static float most(float a, float b)
{
    return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b;
}
static double least64(double a, double b)
{
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static uint64_t field(uint64_t a, unsigned position, unsigned length, unsigned bits, int sign)
{
    uint64_t result = 0;
    position &= 255, length &= 255;
    unsigned top = position + length - 1 > bits - 1 ? bits - 1 : position + length - 1;
    int fill = sign && length && (a >> top & 1);
    for (unsigned k = 0; k < bits; k++) {
        int bit = k < length && position + k < bits ? (int)(a >> (position + k) & 1) : fill;
        result |= (uint64_t)bit << k;
    }
    return result;
}
static uint64_t inserted(uint64_t a, uint64_t b, unsigned position, unsigned length, unsigned bits)
{
    position &= 255, length &= 255;
    for (unsigned k = 0; k < length && position + k < bits; k++)
        b = (b & ~(1ull << (position + k))) | (a >> k & 1) << (position + k);
    return b;
}
static uint64_t reversed(uint64_t a, unsigned bits)
{
    uint64_t result = 0;
    for (unsigned k = 0; k < bits; k++)
        result |= (a >> k & 1) << (bits - 1 - k);
    return result;
}
static uint32_t highest(uint64_t a, int bits, int sign)
{
    if (sign && (a >> (bits - 1) & 1))
        a = ~a;
    for (int k = bits - 1; k >= 0; k--)
        if (a >> k & 1)
            return (uint32_t)k;
    return 0xffffffff;
}
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector)
{
    uint8_t bytes[8], result[4];
    memcpy(bytes, &a, 4);
    memcpy(bytes + 4, &b, 4);
    for (int k = 0; k < 4; k++) {
        uint32_t s = selector >> 4 * k;
        result[k] = bytes[s & 7];
        if (s & 8)
            result[k] = result[k] & 0x80 ? 0xff : 0;
    }
    uint32_t word;
    memcpy(&word, result, 4);
    return word;
}
static uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (int k = 0; k < 32; k++)
        result |= (table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k;
    return result;
}
/* float to integer: to nearest even, or towards something, then clamped */
static uint64_t to_integer(double value, int mode, int bits, int sign, int from_double)
{
    if (value != value)
        return from_double || bits == 64 ? 1ull << (bits - 1) : 0;
    value = mode == FE_TOWARDZERO ? trunc(value)
            : mode == FE_DOWNWARD ? floor(value)
            : mode == FE_UPWARD   ? ceil(value)
                                  : nearbyint(value);
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (sign) {
        double limit = ldexp(1, bits - 1);
        if (value >= limit)
            return mask >> 1;
        return value < -limit ? 1ull << (bits - 1) : (uint64_t)(int64_t)value & mask;
    }
    return value >= ldexp(1, bits) ? mask : value <= 0 ? 0 : (uint64_t)value;
}
static uint64_t clamped(int64_t value, int64_t least_value, int64_t most_value)
{
    return (uint64_t)(value < least_value ? least_value : value > most_value ? most_value : value);
}

/* ---- f16 and bf16, slowly: the nearest of all 65536 values ------------------------------------
 */

static double half_value(uint16_t bits, int bfloat)
{
    int mantissa = bfloat ? 7 : 10, bias = bfloat ? 127 : 15;
    int exponent = (bits & 0x7fff) >> mantissa, top = bfloat ? 255 : 31;
    double fraction = bits & ((1 << mantissa) - 1);
    double value = exponent == top ? (fraction != 0 ? NAN : INFINITY)
                   : exponent      ? ldexp(fraction + (1 << mantissa), exponent - bias - mantissa)
                                   : ldexp(fraction, 1 - bias - mantissa);
    return bits & 0x8000 ? -value : value;
}
/* long double holds every exact result here, or more than enough of it */
static uint16_t half_nearest(long double value, int bfloat)
{
    if (value != value)
        return 0x7fff;
    uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = bfloat ? 0x7f80 : 0x7c00;
    long double magnitude = fabsl(value);
    uint16_t low = 0, high = infinity;
    while (low < high) { /* the first whose value is not below */
        uint16_t middle = (uint16_t)((low + high) / 2);
        if ((long double)half_value(middle, bfloat) < magnitude)
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    if (low == 0 || (long double)half_value(low, bfloat) == magnitude)
        return sign | low;
    long double above = low == infinity ? (long double)ldexp(1, bfloat ? 128 : 16)
                                        : (long double)half_value(low, bfloat);
    long double below = (long double)half_value((uint16_t)(low - 1), bfloat);
    long double up = above - magnitude, down = magnitude - below;
    return sign | (uint16_t)(up < down || (up == down && !(low & 1)) ? low : low - 1);
}
#define H(x)    half_value(U16(x), 0)
#define B(x)    half_value(U16(x), 1)
#define LONG(x) ((long double)(x))
static uint64_t pair_sum(uint32_t a, uint32_t b, int bfloat)
{
    uint32_t low = half_nearest(
        LONG(half_value((uint16_t)a, bfloat)) + LONG(half_value((uint16_t)b, bfloat)), bfloat);
    uint32_t high = half_nearest(LONG(half_value((uint16_t)(a >> 16), bfloat)) +
                                     LONG(half_value((uint16_t)(b >> 16), bfloat)),
                                 bfloat);
    return low | high << 16;
}

/* .relu */
static uint16_t positive(uint16_t bits)
{
    return bits == 0x7fff || !(bits & 0x8000) ? bits : 0;
}

/* half of a sum in a byte, rounded away from zero */
static uint32_t average(int a, int b)
{
    int sum = a + b;
    return (uint8_t)(sum >= 0 ? (sum + 1) / 2 : -((1 - sum) / 2));
}

/* ---- the table: name, instruction, result register, what it should be --------------------------
 */

#define INTEGER_TYPE(X, t, r, T, bits)                                                             \
    X(add_##t, "add." #t " %" r "0, %" r "1, %" r "2;", r, T(a) + T(b))                            \
    X(sub_##t, "sub." #t " %" r "0, %" r "1, %" r "2;", r, T(a) - T(b))                            \
    X(mul_lo_##t, "mul.lo." #t " %" r "0, %" r "1, %" r "2;", r, U64(a) * U64(b))                  \
    X(mad_lo_##t, "mad.lo." #t " %" r "0, %" r "1, %" r "2, %" r "3;", r,                          \
      U64(a) * U64(b) + U64(c))                                                                    \
    X(mul_hi_##t, "mul.hi." #t " %" r "0, %" r "1, %" r "2;", r,                                   \
      (uint64_t)((__int128)T(a) * T(b) >> bits))                                                   \
    X(mad_hi_##t, "mad.hi." #t " %" r "0, %" r "1, %" r "2, %" r "3;", r,                          \
      (uint64_t)((__int128)T(a) * T(b) >> bits) + U64(c))                                          \
    X(min_##t, "min." #t " %" r "0, %" r "1, %" r "2;", r, T(a) < T(b) ? T(a) : T(b))              \
    X(max_##t, "max." #t " %" r "0, %" r "1, %" r "2;", r, T(a) > T(b) ? T(a) : T(b))              \
    X(sad_##t, "sad." #t " %" r "0, %" r "1, %" r "2, %" r "3;", r,                                \
      U64(c) + (uint64_t)(T(a) < T(b) ? (__int128)T(b) - T(a) : (__int128)T(a) - T(b)))            \
    X(div_##t, "div." #t " %" r "0, %" r "1, %" r "2;", r,                                         \
      T(b) == 0 ? ~0ull : (uint64_t)((__int128)T(a) / T(b)))                                       \
    X(rem_##t, "rem." #t " %" r "0, %" r "1, %" r "2;", r,                                         \
      T(b) == 0 ? U64(a) : (uint64_t)((__int128)T(a) % T(b)))                                      \
    X(shr_##t, "shr." #t " %" r "0, %" r "1, %w2;", r,                                             \
      (uint64_t)((__int128)T(a) >> (U32(b) > bits ? bits : U32(b))))                               \
    X(setp_eq_##t, "setp.eq." #t " %p0, %" r "1, %" r "2;", "p", T(a) == T(b))                     \
    X(setp_ne_##t, "setp.ne." #t " %p0, %" r "1, %" r "2;", "p", T(a) != T(b))                     \
    X(setp_lt_##t, "setp.lt." #t " %p0, %" r "1, %" r "2;", "p", T(a) < T(b))                      \
    X(setp_le_##t, "setp.le." #t " %p0, %" r "1, %" r "2;", "p", T(a) <= T(b))                     \
    X(setp_gt_##t, "setp.gt." #t " %p0, %" r "1, %" r "2;", "p", T(a) > T(b))                      \
    X(setp_ge_##t, "setp.ge." #t " %p0, %" r "1, %" r "2;", "p", T(a) >= T(b))                     \
    X(setp_and_##t, "setp.lt.and." #t " %p0, %" r "1, %" r "2, %p1;", "p",                         \
      T(a) < T(b) && (U64(c) & 1))                                                                 \
    X(setp_or_##t, "setp.lt.or." #t " %p0, %" r "1, %" r "2, !%p1;", "p",                          \
      T(a) < T(b) || !(U64(c) & 1))                                                                \
    X(setp_xor_##t, "setp.lt.xor." #t " %p2|%p0, %" r "1, %" r "2, %p1;", "p",                     \
      (T(a) >= T(b)) ^ (U64(c) & 1))

#define SIGNED_TYPE(X, t, r, T)                                                                    \
    X(neg_##t, "neg." #t " %" r "0, %" r "1;", r, 0 - U64(a))                                      \
    X(abs_##t, "abs." #t " %" r "0, %" r "1;", r, T(a) < 0 ? 0 - (uint64_t)T(a) : (uint64_t)T(a))

#define BITS_TYPE(X, t, r, T, bits)                                                                \
    X(and_##t, "and." #t " %" r "0, %" r "1, %" r "2;", r, U64(a) & U64(b))                        \
    X(or_##t, "or." #t " %" r "0, %" r "1, %" r "2;", r, U64(a) | U64(b))                          \
    X(xor_##t, "xor." #t " %" r "0, %" r "1, %" r "2;", r, U64(a) ^ U64(b))                        \
    X(not_##t, "not." #t " %" r "0, %" r "1;", r, ~U64(a))                                         \
    X(cnot_##t, "cnot." #t " %" r "0, %" r "1;", r, T(a) == 0)                                     \
    X(shl_##t, "shl." #t " %" r "0, %" r "1, %w2;", r, U32(b) < bits ? U64(a) << U32(b) : 0)       \
    X(selp_##t, "selp." #t " %" r "0, %" r "1, %" r "2, %p1;", r, U64(c) & 1 ? U64(a) : U64(b))    \
    X(slct_##t, "slct." #t ".s32 %" r "0, %" r "1, %" r "2, %w3;", r, S32(c) >= 0 ? U64(a) : U64(b))

#define INTEGERS(X)                                                                                \
    INTEGER_TYPE(X, u16, "h", U16, 16)                                                             \
    INTEGER_TYPE(X, s16, "h", S16, 16)                                                             \
    INTEGER_TYPE(X, u32, "w", U32, 32)                                                             \
    INTEGER_TYPE(X, s32, "w", S32, 32)                                                             \
    INTEGER_TYPE(X, u64, "d", U64, 64)                                                             \
    INTEGER_TYPE(X, s64, "d", S64, 64)                                                             \
    SIGNED_TYPE(X, s16, "h", S16)                                                                  \
    SIGNED_TYPE(X, s32, "w", S32)                                                                  \
    SIGNED_TYPE(X, s64, "d", S64)                                                                  \
    BITS_TYPE(X, b16, "h", U16, 16)                                                                \
    BITS_TYPE(X, b32, "w", U32, 32)                                                                \
    BITS_TYPE(X, b64, "d", U64, 64)                                                                \
    X(add_immediate, "add.s32 %w0, %w1, -7;", "w", U32(a) - 7)                                     \
    X(add_sat, "add.sat.s32 %w0, %w1, %w2;", "w", saturate((int64_t)S32(a) + S32(b)))              \
    X(sub_sat, "sub.sat.s32 %w0, %w1, %w2;", "w", saturate((int64_t)S32(a) - S32(b)))              \
    X(mad_hi_sat, "mad.hi.sat.s32 %w0, %w1, %w2, %w3;", "w",                                       \
      saturate(((int64_t)S32(a) * S32(b) >> 32) + S32(c)))                                         \
    X(mul_wide_u16, "mul.wide.u16 %w0, %h1, %h2;", "w", (uint32_t)U16(a) * U16(b))                 \
    X(mul_wide_s16, "mul.wide.s16 %w0, %h1, %h2;", "w", S16(a) * S16(b))                           \
    X(mul_wide_u32, "mul.wide.u32 %d0, %w1, %w2;", "d", (uint64_t)U32(a) * U32(b))                 \
    X(mul_wide_s32, "mul.wide.s32 %d0, %w1, %w2;", "d", (int64_t)S32(a) * S32(b))                  \
    X(mad_wide_u32, "mad.wide.u32 %d0, %w1, %w2, %d3;", "d", (uint64_t)U32(a) * U32(b) + U64(c))   \
    X(mad_wide_s32, "mad.wide.s32 %d0, %w1, %w2, %d3;", "d",                                       \
      (uint64_t)((int64_t)S32(a) * S32(b)) + U64(c))                                               \
    X(mul24_lo, "mul24.lo.u32 %w0, %w1, %w2;", "w", (U64(a) & 0xffffff) * (U64(b) & 0xffffff))     \
    X(mul24_hi, "mul24.hi.u32 %w0, %w1, %w2;", "w",                                                \
      (U64(a) & 0xffffff) * (U64(b) & 0xffffff) >> 16)                                             \
    X(mad24_s, "mad24.lo.s32 %w0, %w1, %w2, %w3;", "w",                                            \
      (uint64_t)((int64_t)((int32_t)(U32(a) << 8) >> 8) * ((int32_t)(U32(b) << 8) >> 8)) + U64(c)) \
    X(add_cc, "add.cc.u32 %w0, %w1, %w2; addc.u32 %w0, %w3, 0;", "w",                              \
      U32(c) + (((uint64_t)U32(a) + U32(b)) >> 32))                                                \
    X(add_cc_64, "add.cc.u64 %d0, %d1, %d2; addc.u64 %d0, %d3, %d1;", "d",                         \
      U64(c) + U64(a) + (uint64_t)(((unsigned __int128)U64(a) + U64(b)) >> 64))                    \
    X(sub_cc, "sub.cc.u32 %w0, %w1, %w2; subc.cc.u32 %w0, %w3, %w1; subc.u32 %w0, 0, 0;", "w",     \
      0 - (uint32_t)((uint64_t)U32(c) < (uint64_t)U32(a) + (U32(a) < U32(b))))                     \
    X(mad_cc, "mad.lo.cc.u32 %w0, %w1, %w2, %w3; madc.hi.u32 %w0, %w1, %w2, %w3;", "w",            \
      ((uint64_t)U32(a) * U32(b) >> 32) + U32(c) +                                                 \
          (((uint64_t)(uint32_t)(U32(a) * U32(b)) + U32(c)) >> 32))                                \
    X(dp4a, "dp4a.s32.u32 %w0, %w1, %w2, %w3;", "w",                                               \
      U32(c) + (uint32_t)((int8_t)U32(a) * (int)(uint8_t)U32(b) +                                  \
                          (int8_t)(U32(a) >> 8) * (int)(uint8_t)(U32(b) >> 8) +                    \
                          (int8_t)(U32(a) >> 16) * (int)(uint8_t)(U32(b) >> 16) +                  \
                          (int8_t)(U32(a) >> 24) * (int)(uint8_t)(U32(b) >> 24)))                  \
    X(dp2a, "dp2a.hi.s32.s32 %w0, %w1, %w2, %w3;", "w",                                            \
      U32(c) + (uint32_t)((int16_t)U32(a) * (int8_t)(U32(b) >> 16) +                               \
                          (int16_t)(U32(a) >> 16) * (int8_t)(U32(b) >> 24)))                       \
    X(bfe_u32, "bfe.u32 %w0, %w1, %w2, %w3;", "w", field(U32(a), U32(b), U32(c), 32, 0))           \
    X(bfe_s32, "bfe.s32 %w0, %w1, %w2, %w3;", "w", field(U32(a), U32(b), U32(c), 32, 1))           \
    X(bfe_u64, "bfe.u64 %d0, %d1, %w2, %w3;", "d", field(U64(a), U32(b), U32(c), 64, 0))           \
    X(bfe_s64, "bfe.s64 %d0, %d1, %w2, %w3;", "d", field(U64(a), U32(b), U32(c), 64, 1))           \
    X(bfi_b32, "bfi.b32 %w0, %w1, %w2, %w3, %w4;", "w",                                            \
      inserted(U32(a), U32(b), U32(c), U32(d), 32))                                                \
    X(bfi_b64, "bfi.b64 %d0, %d1, %d2, %w3, %w4;", "d",                                            \
      inserted(U64(a), U64(b), U32(c), U32(d), 64))                                                \
    X(bfind_u32, "bfind.u32 %w0, %w1;", "w", highest(U32(a), 32, 0))                               \
    X(bfind_s32, "bfind.s32 %w0, %w1;", "w", highest((uint64_t)(int64_t)S32(a), 32, 1))            \
    X(bfind_s64, "bfind.s64 %w0, %d1;", "w", highest(U64(a), 64, 1))                               \
    X(bfind_shift, "bfind.shiftamt.u32 %w0, %w1;", "w",                                            \
      U32(a) ? 31 - highest(U32(a), 32, 0) : 0xffffffff)                                           \
    X(brev_b32, "brev.b32 %w0, %w1;", "w", reversed(U32(a), 32))                                   \
    X(brev_b64, "brev.b64 %d0, %d1;", "d", reversed(U64(a), 64))                                   \
    X(clz_b32, "clz.b32 %w0, %w1;", "w", U32(a) ? 31 - highest(U32(a), 32, 0) : 32)                \
    X(clz_b64, "clz.b64 %w0, %d1;", "w", U64(a) ? 63 - highest(U64(a), 64, 0) : 64)                \
    X(popc_b32, "popc.b32 %w0, %w1;", "w", (uint64_t)__builtin_popcount(U32(a)))                   \
    X(popc_b64, "popc.b64 %w0, %d1;", "w", (uint64_t)__builtin_popcountll(U64(a)))                 \
    X(prmt, "prmt.b32 %w0, %w1, %w2, %w3;", "w", permuted(U32(a), U32(b), U32(c)))                 \
    X(prmt_rc8, "prmt.b32.rc8 %w0, %w1, %w2, %w3;", "w",                                           \
      0x01010101u * (uint8_t)(U32(a) >> 8 * (U32(c) & 3)))                                         \
    X(prmt_f4e, "prmt.b32.f4e %w0, %w1, %w2, %w3;", "w",                                           \
      ((uint64_t)U32(b) << 32 | U32(a)) >> 8 * (U32(c) & 3))                                       \
    X(lop3, "lop3.b32 %w0, %w1, %w2, %w3, 0x96;", "w", logic3(U32(a), U32(b), U32(c), 0x96))       \
    X(lop3_2, "lop3.b32 %w0, %w1, %w2, %w3, 0x1b;", "w", logic3(U32(a), U32(b), U32(c), 0x1b))     \
    X(shf_l_wrap, "shf.l.wrap.b32 %w0, %w1, %w2, %w3;", "w",                                       \
      ((uint64_t)U32(b) << 32 | U32(a)) << (U32(c) & 31) >> 32)                                    \
    X(shf_r_wrap, "shf.r.wrap.b32 %w0, %w1, %w2, %w3;", "w",                                       \
      ((uint64_t)U32(b) << 32 | U32(a)) >> (U32(c) & 31))                                          \
    X(shf_l_clamp, "shf.l.clamp.b32 %w0, %w1, %w2, %w3;", "w",                                     \
      U32(c) >= 32 ? U32(a) : ((uint64_t)U32(b) << 32 | U32(a)) << U32(c) >> 32)                   \
    X(shf_r_clamp, "shf.r.clamp.b32 %w0, %w1, %w2, %w3;", "w",                                     \
      U32(c) >= 32 ? U32(b) : ((uint64_t)U32(b) << 32 | U32(a)) >> U32(c))                         \
    X(bmsk_clamp, "bmsk.clamp.b32 %w0, %w1, %w2;", "w",                                            \
      U32(a) > 31 ? 0 : field(~0ull, 0, U32(b) > 32 ? 32 : U32(b), 64, 0) << U32(a))               \
    X(bmsk_wrap, "bmsk.wrap.b32 %w0, %w1, %w2;", "w",                                              \
      field(~0ull, 0, U32(b) & 31, 64, 0) << (U32(a) & 31))                                        \
    X(szext_s32, "szext.clamp.s32 %w0, %w1, %w2;", "w",                                            \
      U32(b) > 31 ? U32(a) : field(U32(a), 0, U32(b), 32, 1))                                      \
    X(szext_u32, "szext.wrap.u32 %w0, %w1, %w2;", "w", field(U32(a), 0, U32(b) & 31, 32, 0))       \
    X(setp_lo, "setp.lo.u32 %p0, %w1, %w2;", "p", U32(a) < U32(b))                                 \
    X(setp_hs, "setp.hs.u64 %p0, %d1, %d2;", "p", U64(a) >= U64(b))                                \
    X(set_u32, "set.gt.u32.s32 %w0, %w1, %w2;", "w", S32(a) > S32(b) ? 0xffffffff : 0)             \
    X(set_f32, "set.gt.f32.s32 %w0, %w1, %w2;", "w", S32(a) > S32(b) ? 0x3f800000 : 0)             \
    X(and_pred, "setp.lt.s32 %p0, %w1, %w2; and.pred %p0, %p0, %p1;", "p",                         \
      S32(a) < S32(b) && (U64(c) & 1))                                                             \
    X(xor_pred, "setp.lt.s32 %p0, %w1, %w2; xor.pred %p0, %p0, %p1;", "p",                         \
      (S32(a) < S32(b)) ^ (U64(c) & 1))                                                            \
    X(not_pred, "not.pred %p0, %p1;", "p", !(U64(c) & 1))                                          \
    X(guarded, "mov.u32 %w0, %w1; @%p1 add.u32 %w0, %w0, %w2; @!%p1 xor.b32 %w0, %w0, %w2;", "w",  \
      U64(c) & 1 ? U32(a) + U32(b) : U32(a) ^ U32(b))                                              \
    X(pack, "mov.b64 %d0, {%w1, %w2};", "d", (uint64_t)U32(b) << 32 | U32(a))                      \
    X(unpack, "mov.b64 {%w0, %w4}, %d1; xor.b32 %w0, %w0, %w4;", "w",                              \
      (uint32_t)U64(a) ^ (uint32_t)(U64(a) >> 32))                                                 \
    X(unpack_sink, "mov.b64 {_, %w0}, %d1;", "w", U64(a) >> 32)                                    \
    X(pack16, "mov.b32 %w0, {%h2, %h1};", "w", (uint32_t)U16(a) << 16 | U16(b))                    \
    X(pack4, "mov.b64 %d0, {%h1, %h2, %h3, %h1};", "d",                                            \
      U16(a) | (uint64_t)U16(b) << 16 | (uint64_t)U16(c) << 32 | (uint64_t)U16(a) << 48)           \
    X(vabsdiff4, "vabsdiff4.u32.u32.u32 %w0, %w1, %w2, %w3;", "w",                                 \
      (uint64_t)abs((int)(U32(a) & 255) - (int)(U32(b) & 255)) |                                   \
          (uint64_t)abs((int)(U32(a) >> 8 & 255) - (int)(U32(b) >> 8 & 255)) << 8 |                \
          (uint64_t)abs((int)(U32(a) >> 16 & 255) - (int)(U32(b) >> 16 & 255)) << 16 |             \
          (uint64_t)abs((int)(U32(a) >> 24) - (int)(U32(b) >> 24)) << 24)

#define FLOATS(X)                                                                                  \
    X(add_f32, "add.f32 %w0, %w1, %w2;", "w", bits32(F32(a) + F32(b)))                             \
    X(add_ftz, "add.ftz.f32 %w0, %w1, %w2;", "w", bits32(flush(flush(F32(a)) + flush(F32(b)))))    \
    X(add_sat_f32, "add.sat.f32 %w0, %w1, %w2;", "w", bits32(unit(F32(a) + F32(b))))               \
    X(add_rz, "add.rz.f32 %w0, %w1, %w2;", "w", rounded32(FE_TOWARDZERO, '+', F32(a), F32(b), 0))  \
    X(add_rm, "add.rm.f32 %w0, %w1, %w2;", "w", rounded32(FE_DOWNWARD, '+', F32(a), F32(b), 0))    \
    X(mul_rp, "mul.rp.f32 %w0, %w1, %w2;", "w", rounded32(FE_UPWARD, '*', F32(a), F32(b), 0))      \
    X(div_rz, "div.rz.f32 %w0, %w1, %w2;", "w", rounded32(FE_TOWARDZERO, '/', F32(a), F32(b), 0))  \
    X(sqrt_rp, "sqrt.rp.f32 %w0, %w1;", "w", rounded32(FE_UPWARD, 's', F32(a), 0, 0))              \
    X(fma_rm, "fma.rm.f32 %w0, %w1, %w2, %w3;", "w",                                               \
      rounded32(FE_DOWNWARD, 'f', F32(a), F32(b), F32(c)))                                         \
    X(sub_f32, "sub.rn.f32 %w0, %w1, %w2;", "w", bits32(F32(a) - F32(b)))                          \
    X(mul_f32, "mul.f32 %w0, %w1, %w2;", "w", bits32(F32(a) * F32(b)))                             \
    X(fma_f32, "fma.rn.f32 %w0, %w1, %w2, %w3;", "w", bits32(fmaf(F32(a), F32(b), F32(c))))        \
    X(fma_ftz, "fma.rn.ftz.f32 %w0, %w1, %w2, %w3;", "w",                                          \
      bits32(flush(fmaf(flush(F32(a)), flush(F32(b)), flush(F32(c))))))                            \
    X(mad_f32, "mad.rn.f32 %w0, %w1, %w2, %w3;", "w", bits32(fmaf(F32(a), F32(b), F32(c))))        \
    X(div_f32, "div.rn.f32 %w0, %w1, %w2;", "w", bits32(F32(a) / F32(b)))                          \
    X(rcp_f32, "rcp.rn.f32 %w0, %w1;", "w", bits32(1.0f / F32(a)))                                 \
    X(sqrt_f32, "sqrt.rn.f32 %w0, %w1;", "w", bits32(sqrtf(F32(a))))                               \
    X(abs_f32, "abs.f32 %w0, %w1;", "w", U32(a) & 0x7fffffff)                                      \
    X(neg_f32, "neg.f32 %w0, %w1;", "w", U32(a) ^ 0x80000000)                                      \
    X(min_f32, "min.f32 %w0, %w1, %w2;", "w", bits32(least(F32(a), F32(b))))                       \
    X(max_f32, "max.f32 %w0, %w1, %w2;", "w", bits32(most(F32(a), F32(b))))                        \
    X(min_nan, "min.NaN.f32 %w0, %w1, %w2;", "w",                                                  \
      bits32(F32(a) != F32(a) || F32(b) != F32(b) ? NAN : least(F32(a), F32(b))))                  \
    X(copysign, "copysign.f32 %w0, %w1, %w2;", "w", (U32(a) & 1u << 31) | (U32(b) & 0x7fffffff))   \
    X(setp_lt_f32, "setp.lt.f32 %p0, %w1, %w2;", "p", F32(a) < F32(b))                             \
    X(setp_ne_f32, "setp.ne.f32 %p0, %w1, %w2;", "p", F32(a) < F32(b) || F32(a) > F32(b))          \
    X(setp_neu_f32, "setp.neu.f32 %p0, %w1, %w2;", "p", F32(a) != F32(b))                          \
    X(setp_equ_f32, "setp.equ.f32 %p0, %w1, %w2;", "p", !(F32(a) < F32(b) || F32(a) > F32(b)))     \
    X(setp_leu_f32, "setp.leu.f32 %p0, %w1, %w2;", "p", !(F32(a) > F32(b)))                        \
    X(setp_num_f32, "setp.num.f32 %p0, %w1, %w2;", "p", F32(a) == F32(a) && F32(b) == F32(b))      \
    X(setp_nan_f64, "setp.nan.f64 %p0, %d1, %d2;", "p", F64(a) != F64(a) || F64(b) != F64(b))      \
    X(setp_ftz, "setp.eq.ftz.f32 %p0, %w1, %w2;", "p", flush(F32(a)) == flush(F32(b)))             \
    X(testp_finite, "testp.finite.f32 %p0, %w1;", "p", isfinite(F32(a)) != 0)                      \
    X(testp_subnormal, "testp.subnormal.f32 %p0, %w1;", "p", fpclassify(F32(a)) == FP_SUBNORMAL)   \
    X(testp_nan, "testp.notanumber.f64 %p0, %d1;", "p", isnan(F64(a)) != 0)                        \
    X(slct_f32, "slct.b32.f32 %w0, %w1, %w2, %w3;", "w", F32(c) >= 0 ? U32(a) : U32(b))            \
    X(add_f64, "add.f64 %d0, %d1, %d2;", "d", bits64(F64(a) + F64(b)))                             \
    X(sub_f64, "sub.f64 %d0, %d1, %d2;", "d", bits64(F64(a) - F64(b)))                             \
    X(mul_rz_f64, "mul.rz.f64 %d0, %d1, %d2;", "d",                                                \
      rounded64(FE_TOWARDZERO, '*', F64(a), F64(b), 0))                                            \
    X(mul_f64, "mul.f64 %d0, %d1, %d2;", "d", bits64(F64(a) * F64(b)))                             \
    X(div_f64, "div.rn.f64 %d0, %d1, %d2;", "d", bits64(F64(a) / F64(b)))                          \
    X(sqrt_f64, "sqrt.rn.f64 %d0, %d1;", "d", bits64(sqrt(F64(a))))                                \
    X(fma_f64, "fma.rn.f64 %d0, %d1, %d2, %d3;", "d", bits64(fma(F64(a), F64(b), F64(c))))         \
    X(fma_rp_f64, "fma.rp.f64 %d0, %d1, %d2, %d3;", "d",                                           \
      rounded64(FE_UPWARD, 'f', F64(a), F64(b), F64(c)))                                           \
    X(min_f64, "min.f64 %d0, %d1, %d2;", "d", bits64(least64(F64(a), F64(b))))                     \
    X(abs_f64, "abs.f64 %d0, %d1;", "d", bits64(fabs(F64(a))))                                     \
    X(neg_f64, "neg.f64 %d0, %d1;", "d", bits64(-F64(a)))

#define HALVES(X)                                                                                  \
    X(add_f16, "add.f16 %h0, %h1, %h2;", "h", half_nearest(LONG(H(a)) + LONG(H(b)), 0))            \
    X(sub_f16, "sub.f16 %h0, %h1, %h2;", "h", half_nearest(LONG(H(a)) - LONG(H(b)), 0))            \
    X(mul_f16, "mul.f16 %h0, %h1, %h2;", "h", half_nearest(LONG(H(a)) * LONG(H(b)), 0))            \
    X(fma_f16, "fma.rn.f16 %h0, %h1, %h2, %h3;", "h",                                              \
      half_nearest(LONG(H(a)) * LONG(H(b)) + LONG(H(c)), 0))                                       \
    X(add_bf16, "add.bf16 %h0, %h1, %h2;", "h", half_nearest(LONG(B(a)) + LONG(B(b)), 1))          \
    X(mul_bf16, "mul.bf16 %h0, %h1, %h2;", "h", half_nearest(LONG(B(a)) * LONG(B(b)), 1))          \
    X(add_f16x2, "add.f16x2 %w0, %w1, %w2;", "w", pair_sum(U32(a), U32(b), 0))                     \
    X(add_bf16x2, "add.bf16x2 %w0, %w1, %w2;", "w", pair_sum(U32(a), U32(b), 1))                   \
    X(neg_f16, "neg.f16 %h0, %h1;", "h", U16(a) ^ 0x8000)                                          \
    X(abs_bf16, "abs.bf16 %h0, %h1;", "h", U16(a) & 0x7fff)                                        \
    X(setp_f16, "setp.lt.f16 %p0, %h1, %h2;", "p", H(a) < H(b))                                    \
    X(setp_f16x2, "setp.lt.f16x2 %p2|%p0, %w1, %w2;", "p",                                         \
      half_value((uint16_t)(U32(a) >> 16), 0) < half_value((uint16_t)(U32(b) >> 16), 0))           \
    X(cvt_f32_f16, "cvt.f32.f16 %w0, %h1;", "w", bits32((float)H(a)))                              \
    X(cvt_f64_f16, "cvt.f64.f16 %d0, %h1;", "d", bits64(H(a)))                                     \
    X(cvt_f16_f32, "cvt.rn.f16.f32 %h0, %w1;", "h", half_nearest(LONG(F32(a)), 0))                 \
    X(cvt_f16_f64, "cvt.rn.f16.f64 %h0, %d1;", "h", half_nearest(LONG(F64(a)), 0))                 \
    X(cvt_bf16_f32, "cvt.rn.bf16.f32 %h0, %w1;", "h", half_nearest(LONG(F32(a)), 1))               \
    X(min_f16, "min.f16 %h0, %h1, %h2;", "h", half_nearest(LONG(least64(H(a), H(b))), 0))          \
    X(max_bf16, "max.bf16 %h0, %h1, %h2;", "h", half_nearest(-LONG(least64(-B(a), -B(b))), 1))     \
    X(fma_relu, "fma.rn.relu.f16 %h0, %h1, %h2, %h3;", "h",                                        \
      positive(half_nearest(LONG(H(a)) * LONG(H(b)) + LONG(H(c)), 0)))                             \
    X(cvt_relu, "cvt.rn.relu.f16.f32 %h0, %w1;", "h", positive(half_nearest(LONG(F32(a)), 0)))     \
    X(add_u16x2, "add.u16x2 %w0, %w1, %w2;", "w",                                                  \
      (uint16_t)(U32(a) + U32(b)) | ((U32(a) >> 16) + (U32(b) >> 16)) << 16)                       \
    X(min_s16x2, "min.s16x2 %w0, %w1, %w2;", "w",                                                  \
      (uint16_t)(S16(a) < S16(b) ? S16(a) : S16(b)) |                                              \
          (uint32_t)(S32(a) >> 16 < S32(b) >> 16 ? S32(a) >> 16 : S32(b) >> 16) << 16)             \
    X(vavrg4, "vavrg4.s32.s32.s32 %w0, %w1, %w2, %w3;", "w",                                       \
      average((int8_t)U32(a), (int8_t)U32(b)) |                                                    \
          average((int8_t)(U32(a) >> 8), (int8_t)(U32(b) >> 8)) << 8 |                             \
          average((int8_t)(U32(a) >> 16), (int8_t)(U32(b) >> 16)) << 16 |                          \
          average((int8_t)(U32(a) >> 24), (int8_t)(U32(b) >> 24)) << 24)                           \
    X(vset2, "vset2.u32.u32.lt %w0, %w1, %w2, %w3;", "w",                                          \
      (U16(a) < U16(b)) | (uint32_t)(U32(a) >> 16 < U32(b) >> 16) << 16)                           \
    X(vadd4_sum, "vadd4.u32.u32.u32.add %w0, %w1, %w2, %w3;", "w",                                 \
      U32(c) + (U32(a) & 255) + (U32(a) >> 8 & 255) + (U32(a) >> 16 & 255) + (U32(a) >> 24) +      \
          (U32(b) & 255) + (U32(b) >> 8 & 255) + (U32(b) >> 16 & 255) + (U32(b) >> 24))            \
    X(cvt_f32_bf16, "cvt.f32.bf16 %w0, %h1;", "w", bits32((float)B(a)))                            \
    X(cvt_f16x2, "cvt.rn.f16x2.f32 %w0, %w1, %w2;", "w",                                           \
      (uint32_t)half_nearest(LONG(F32(a)), 0) << 16 | half_nearest(LONG(F32(b)), 0))               \
    X(cvt_f16_s32, "cvt.rn.f16.s32 %h0, %w1;", "h", half_nearest(LONG(S32(a)), 0))                 \
    X(cvt_s32_f16, "cvt.rzi.s32.f16 %w0, %h1;", "w", to_integer(H(a), FE_TOWARDZERO, 32, 1, 0))

#define CONVERSIONS(X)                                                                             \
    X(cvt_s32_s8, "cvt.s32.s8 %w0, %w1;", "w", (uint64_t)(int8_t)U32(a))                           \
    X(cvt_u32_u8, "cvt.u32.u8 %w0, %h1;", "w", (uint8_t)U32(a))                                    \
    X(cvt_s64_s16, "cvt.s64.s16 %d0, %h1;", "d", (uint64_t)S16(a))                                 \
    X(cvt_s64_s32, "cvt.s64.s32 %d0, %w1;", "d", (uint64_t)S32(a))                                 \
    X(cvt_u64_u32, "cvt.u64.u32 %d0, %w1;", "d", U32(a))                                           \
    X(cvt_u16_u64, "cvt.u16.u64 %h0, %d1;", "h", U64(a))                                           \
    X(cvt_s8_s32, "cvt.s8.s32 %w0, %w1;", "w", (uint64_t)(int8_t)U32(a))                           \
    X(cvt_u8_u32, "cvt.u8.u32 %h0, %w1;", "h", (uint8_t)U32(a))                                    \
    X(cvt_sat_s8, "cvt.sat.s8.s32 %w0, %w1;", "w", clamped(S32(a), -128, 127))                     \
    X(cvt_sat_u8, "cvt.sat.u8.s32 %w0, %w1;", "w", clamped(S32(a), 0, 255))                        \
    X(cvt_sat_u32, "cvt.sat.u32.s64 %w0, %d1;", "w", clamped(S64(a), 0, 0xffffffff))               \
    X(cvt_sat_s32, "cvt.sat.s32.u32 %w0, %w1;", "w", clamped(U32(a), 0, INT32_MAX))                \
    X(cvt_f32_s32, "cvt.rn.f32.s32 %w0, %w1;", "w", bits32((float)S32(a)))                         \
    X(cvt_f32_u32, "cvt.rn.f32.u32 %w0, %w1;", "w", bits32((float)U32(a)))                         \
    X(cvt_f32_s64, "cvt.rn.f32.s64 %w0, %d1;", "w", bits32((float)S64(a)))                         \
    X(cvt_f32_u64, "cvt.rn.f32.u64 %w0, %d1;", "w", bits32((float)U64(a)))                         \
    X(cvt_rz_f32_u64, "cvt.rz.f32.u64 %w0, %d1;", "w",                                             \
      bits32(LONG((float)U64(a)) > LONG(U64(a)) ? nextafterf((float)U64(a), 0) : (float)U64(a)))   \
    X(cvt_rp_f32_s32, "cvt.rp.f32.s32 %w0, %w1;", "w",                                             \
      bits32((double)(float)S32(a) < (double)S32(a) ? nextafterf((float)S32(a), INFINITY)          \
                                                    : (float)S32(a)))                              \
    X(cvt_f64_s64, "cvt.rn.f64.s64 %d0, %d1;", "d", bits64((double)S64(a)))                        \
    X(cvt_f64_u64, "cvt.rn.f64.u64 %d0, %d1;", "d", bits64((double)U64(a)))                        \
    X(cvt_rz_f64_u64, "cvt.rz.f64.u64 %d0, %d1;", "d",                                             \
      bits64(LONG((double)U64(a)) > LONG(U64(a)) ? nextafter((double)U64(a), 0) : (double)U64(a))) \
    X(cvt_f32_u8, "cvt.rn.f32.u8 %w0, %h1;", "w", bits32((float)(uint8_t)U32(a)))                  \
    X(cvt_s32_rzi, "cvt.rzi.s32.f32 %w0, %w1;", "w", to_integer(F32(a), FE_TOWARDZERO, 32, 1, 0))  \
    X(cvt_u32_rzi, "cvt.rzi.u32.f32 %w0, %w1;", "w", to_integer(F32(a), FE_TOWARDZERO, 32, 0, 0))  \
    X(cvt_s32_rni, "cvt.rni.s32.f32 %w0, %w1;", "w", to_integer(F32(a), FE_TONEAREST, 32, 1, 0))   \
    X(cvt_s32_rmi, "cvt.rmi.s32.f32 %w0, %w1;", "w", to_integer(F32(a), FE_DOWNWARD, 32, 1, 0))    \
    X(cvt_s64_f32, "cvt.rpi.s64.f32 %d0, %w1;", "d", to_integer(F32(a), FE_UPWARD, 64, 1, 0))      \
    X(cvt_u64_f64, "cvt.rzi.u64.f64 %d0, %d1;", "d", to_integer(F64(a), FE_TOWARDZERO, 64, 0, 1))  \
    X(cvt_s32_f64, "cvt.rzi.s32.f64 %w0, %d1;", "w", to_integer(F64(a), FE_TOWARDZERO, 32, 1, 1))  \
    X(cvt_u8_f32, "cvt.rzi.u8.f32 %w0, %w1;", "w", to_integer(F32(a), FE_TOWARDZERO, 8, 0, 0))     \
    X(cvt_f64_f32, "cvt.f64.f32 %d0, %w1;", "d", bits64((double)F32(a)))                           \
    X(cvt_f32_f64, "cvt.rn.f32.f64 %w0, %d1;", "w", bits32((float)F64(a)))                         \
    X(cvt_ftz_f32_f64, "cvt.rn.ftz.f32.f64 %w0, %d1;", "w", bits32(flush((float)F64(a))))          \
    X(cvt_rni_f32, "cvt.rni.f32.f32 %w0, %w1;", "w", bits32(nearbyintf(F32(a))))                   \
    X(cvt_rmi_f64, "cvt.rmi.f64.f64 %d0, %d1;", "d", bits64(floor(F64(a))))                        \
    X(cvt_rzi_ftz, "cvt.rzi.ftz.f32.f32 %w0, %w1;", "w", bits32(truncf(flush(F32(a)))))            \
    X(cvt_sat_f32, "cvt.sat.f32.f32 %w0, %w1;", "w", bits32(unit(F32(a))))

/* Two .f32 in 64 bits, minima and maxima of three, and integers that are packed. */
#define LOW(x)  as_float((uint32_t)(v.x))
#define HIGH(x) as_float((uint32_t)(v.x >> 32))
#define PAIR(of, ...)                                                                              \
    (of(LOW(a), LOW(b), LOW(c)) & 0xffffffff) | of(HIGH(a), HIGH(b), HIGH(c)) << 32

static uint64_t fused(float a, float b, float c)
{
    return bits32(fmaf(a, b, c));
}
static uint64_t added_flushed(float a, float b, float c)
{
    (void)c;
    return bits32(flush(flush(a) + flush(b)));
}
static uint64_t subtracted(float a, float b, float c)
{
    (void)c;
    return bits32(a - b);
}
static uint64_t multiplied_down(float a, float b, float c)
{
    return rounded32(FE_DOWNWARD, '*', a, b, c);
}
static uint64_t packed_bits(int64_t a, int64_t b, uint32_t c, unsigned bits, int64_t low,
                            int64_t top)
{
    const uint64_t mask = (1u << bits) - 1;
    return (uint32_t)(bits == 16 ? 0 : c << 2 * bits) | (clamped(a, low, top) & mask) << bits |
           (clamped(b, low, top) & mask);
}

#define PAIRS(X)                                                                                   \
    X(fma_f32x2, "fma.rn.f32x2 %d0, %d1, %d2, %d3;", "d", PAIR(fused))                             \
    X(add_f32x2, "add.rn.ftz.f32x2 %d0, %d1, %d2;", "d", PAIR(added_flushed))                      \
    X(sub_f32x2, "sub.rn.f32x2 %d0, %d1, %d2;", "d", PAIR(subtracted))                             \
    X(mul_f32x2, "mul.rm.f32x2 %d0, %d1, %d2;", "d", PAIR(multiplied_down))                        \
    X(min_of_three, "min.f32 %w0, %w1, %w2, %w3;", "w",                                            \
      bits32(least(least(F32(a), F32(b)), F32(c))))                                                \
    X(max_of_three, "max.NaN.f32 %w0, %w1, %w2, %w3;", "w",                                        \
      bits32(F32(a) != F32(a) || F32(b) != F32(b) || F32(c) != F32(c)                              \
                 ? NAN                                                                             \
                 : most(most(F32(a), F32(b)), F32(c))))                                            \
    X(pack_u8, "cvt.pack.sat.u8.s32.b32 %w0, %w1, %w2, %w3;", "w",                                 \
      packed_bits(S32(a), S32(b), U32(c), 8, 0, 255))                                              \
    X(pack_s4, "cvt.pack.sat.s4.s32.b32 %w0, %w1, %w2, %w3;", "w",                                 \
      packed_bits(S32(a), S32(b), U32(c), 4, -8, 7))                                               \
    X(pack_s16, "cvt.pack.sat.s16.s32 %w0, %w1, %w2;", "w",                                        \
      packed_bits(S32(a), S32(b), U32(c), 16, INT16_MIN, INT16_MAX))

#define ALL(X) INTEGERS(X) FLOATS(X) HALVES(X) CONVERSIONS(X) PAIRS(X)

#define FUNCTION(name, text, result, expression)                                                   \
    static uint64_t expect_##name(values v)                                                        \
    {                                                                                              \
        (void)v;                                                                                   \
        return (uint64_t)(expression);                                                             \
    }
ALL(FUNCTION)

static const struct instruction {
    const char *name, *text, *result;
    uint64_t (*expect)(values v);
} instructions[] = {
#define ROW(name, text, result, expression) {#name, text, result, expect_##name},
    ALL(ROW)};
enum { COUNT = sizeof instructions / sizeof *instructions, THREADS = 2048 };

/* ---- inputs -------------------------------------------------------------------------------- */

static const uint64_t awkward[] = {0,
                                   1,
                                   2,
                                   3,
                                   5,
                                   7,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x3f800000,
                                   0xbf800000,
                                   0x3f000000,
                                   0x40200000,
                                   0x7f800000,
                                   0xff800000,
                                   0x7fc00000,
                                   0x7f7fffff,
                                   0x00800000,
                                   0x007fffff,
                                   0x80000001,
                                   0x4f000000,
                                   0x4f800000,
                                   0xcf000000,
                                   0x5f000000,
                                   0x3c00,
                                   0xbc00,
                                   0x7bff,
                                   0x7c00,
                                   0x7e00,
                                   0x0001,
                                   0x03ff,
                                   0x0400,
                                   0x3555,
                                   0x3ff0000000000000,
                                   0xbfe0000000000000,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000,
                                   0x0010000000000000,
                                   0x000fffffffffffff,
                                   0x41e0000000000000,
                                   0x43e0000000000000,
                                   0x3810000000000000,
                                   0x36a0000000000000,
                                   0x47efffffffffffff,
                                   0x477fefffffffffff,
                                   0x477fffffffffffff,
                                   0x477fe00000000000,
                                   0x477ff00000000000,
                                   0x477ff000,
                                   0x477fefff,
                                   0x33000000,
                                   0x33000001,
                                   0x38800000,
                                   0x387fffff,
                                   0x3f8fffff,
                                   0x3f80ffff,
                                   0x3f808000,
                                   0x3f818000,
                                   0xc0490fdb,
                                   0x42c80000};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
static double random_double(void)
{
    return ldexp((double)(random_bits() >> 11), (int)(random_bits() % 90) - 90);
}

/* Random bits, small integers, floats of nearby sizes in either width, and the awkward ones. */
static uint64_t random_value(void)
{
    double real = random_bits() & 1 ? random_double() : -random_double();
    float narrow = (float)real;
    uint32_t narrow_bits;
    uint64_t wide_bits;
    memcpy(&narrow_bits, &narrow, 4);
    memcpy(&wide_bits, &real, 8);
    switch (random_bits() % 6) {
    case 0:
        return random_bits();
    case 1:
        return random_bits() % 70;
    case 2:
        return narrow_bits;
    case 3:
        return wide_bits;
    case 4:
        return 0x3800 + random_bits() % 0x900;
    default:
        return awkward[random_bits() % AWKWARD];
    }
}

/* ---- running ------------------------------------------------------------------------------- */

static const char *const head = ".version 8.0\n.target sm_90\n.address_size 64\n";
static const char *const prologue =
    ".visible .entry %s(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b16 %%h<5>; .reg .b32 %%w<5>; .reg .b64 %%d<5>; .reg .pred %%p<3>;\n"
    ".reg .b32 %%t<4>; .reg .b64 %%a<6>;\n"
    "mov.u32 %%t0, %%tid.x; mov.u32 %%t1, %%ctaid.x; mov.u32 %%t2, %%ntid.x;\n"
    "mad.lo.s32 %%t0, %%t1, %%t2, %%t0;\n"
    "ld.param.u64 %%a0, [out]; ld.param.u64 %%a1, [in];\n"
    "cvta.to.global.u64 %%a0, %%a0; cvta.to.global.u64 %%a1, %%a1;\n"
    "mul.wide.u32 %%a2, %%t0, 32; add.s64 %%a1, %%a1, %%a2;\n"
    "mul.wide.u32 %%a2, %%t0, 8; add.s64 %%a0, %%a0, %%a2;\n"
    "ld.global.v2.b64 {%%d1, %%d2}, [%%a1]; ld.global.v2.b64 {%%d3, %%d4}, [%%a1+16];\n"
    "ld.global.b32 %%w1, [%%a1]; ld.global.b32 %%w2, [%%a1+8]; ld.global.b32 %%w3, [%%a1+16];\n"
    "ld.global.b32 %%w4, [%%a1+24]; ld.global.b16 %%h1, [%%a1]; ld.global.b16 %%h2, [%%a1+8];\n"
    "ld.global.b16 %%h3, [%%a1+16]; ld.global.b16 %%h4, [%%a1+24];\n"
    "and.b32 %%t3, %%w3, 1; setp.eq.u32 %%p1, %%t3, 1;\n";

static const char *epilogue(const char *result)
{
    switch (result[0]) {
    case 'h':
        return "st.global.b16 [%a0], %h0; ret;\n}\n";
    case 'w':
        return "st.global.b32 [%a0], %w0; ret;\n}\n";
    case 'd':
        return "st.global.b64 [%a0], %d0; ret;\n}\n";
    default:
        return "selp.u32 %w0, 1, 0, %p0; st.global.b32 [%a0], %w0; ret;\n}\n";
    }
}

static uint64_t mask_of(const char *result)
{
    return result[0] == 'h' ? 0xffff : result[0] == 'd' ? ~0ull : 0xffffffff;
}

static char *module_text(void)
{
    size_t bytes = 0;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &bytes);
    fputs(head, stream);
    for (size_t i = 0; i < COUNT; i++) {
        fprintf(stream, prologue, instructions[i].name);
        fprintf(stream, "%s\n%s", instructions[i].text, epilogue(instructions[i].result));
    }
    fclose(stream);
    return text;
}

/* Both quiet: which NaN an .f64 or .f64-valued operation gives is not said. */
static bool same(const struct instruction *i, uint64_t got, uint64_t expected)
{
    if (got == expected)
        return true;
    bool wide = i->result[0] == 'd' && strstr(i->text, "f64");
    return wide && isnan(as_double(got)) && isnan(as_double(expected));
}

static void computes_what_c_computes(void **unused)
{
    struct harness h;
    (void)unused;
    char *text = module_text();
    harness_open_text(&h, text);
    free(text);
    uint64_t in = harness_allocate(&h, THREADS * sizeof(values)),
             out = harness_allocate(&h, THREADS * 8);
    values *inputs = harness_host(&h, in);
    uint64_t *results = harness_host(&h, out);
    int wrong = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const struct instruction *instruction = &instructions[i];
        for (size_t t = 0; t < THREADS; t++)
            inputs[t] = (values){t < AWKWARD ? awkward[t] : random_value(), random_value(),
                                 random_value(), random_value()};
        memset(results, 0, THREADS * 8);
        /* the last block is not whole: its warp runs with a part of its lanes */
        harness_run(&h, instruction->name, 16, 127, 0, ARGUMENTS(&out, &in));
        uint64_t mask = mask_of(instruction->result);
        for (size_t t = 0; t < 16 * 127; t++) {
            uint64_t expected = instruction->expect(inputs[t]) & mask;
            if (same(instruction, results[t], expected))
                continue;
            print_error("%s: a %llx b %llx c %llx d %llx: %llx, expected %llx\n", instruction->text,
                        (unsigned long long)inputs[t].a, (unsigned long long)inputs[t].b,
                        (unsigned long long)inputs[t].c, (unsigned long long)inputs[t].d,
                        (unsigned long long)results[t], (unsigned long long)expected);
            wrong++;
            break;
        }
    }
    assert_int_equal(wrong, 0);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(computes_what_c_computes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
