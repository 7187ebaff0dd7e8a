/* What instructions compute from the values of one lane. The compiler of kernels puts this file's
 * text into its code (runtime/device/compile): an expression that calls these functions means the
 * same there. So the file needs nothing but <math.h>, <stdint.h>, <string.h> and <stdbool.h>.
 */
#ifndef RUNTIME_DEVICE_EXEC_ALU_ALU_LANE_H
#define RUNTIME_DEVICE_EXEC_ALU_ALU_LANE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- floats -------------------------------------------------------------------------------- */

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}
static inline double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* One of two words of 32 bits. The compiler of kernels has a form of its own, without a branch,
 * which would keep long loops from becoming vectors. */
#ifndef CHOOSE_BITS
#define CHOOSE_BITS(condition, a, b) ((condition) ? (a) : (b))
#endif

/* An .f32 operation that gives a NaN always gives 0x7fffffff (CUDA C++ Programming Guide, 16.2). */
static inline float half_canonical(float value)
{
    return float_from_bits(CHOOSE_BITS(value == value, float_bits(value), 0x7fffffffu));
}

/* .ftz: a subnormal number becomes a zero of its sign */
static inline float half_flush(float value)
{
    uint32_t bits = float_bits(value);
    return float_from_bits(CHOOSE_BITS((bits & 0x7f800000) != 0, bits, bits & 0x80000000));
}

static inline float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    if (rest >= 0x7c00) /* infinity, NaN */
        return float_from_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest >= 0x400)
        return float_from_bits(sign | ((rest << 13) + 0x38000000));
    float value = (float)rest * 0x1p-24f; /* exact */
    return sign ? -value : value;
}

enum { MODE_PLAIN, MODE_FLUSH, MODE_SATURATE, MODE_BOTH, MODES };

/* .sat: into [0, 1], NaN to +0 */
static inline float saturate_unit(float value)
{
    return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}

static inline float enter_32(float value, int mode)
{
    return mode & MODE_FLUSH ? half_flush(value) : value;
}

static inline float leave_32(float value, int mode)
{
    value = half_canonical(value);
    if (mode & MODE_FLUSH)
        value = half_flush(value);
    return mode & MODE_SATURATE ? saturate_unit(value) : value;
}

/* The NaN of an .f64 operation is the first one among its sources, made quiet; without one it is
 * the processor's, which is negative. Said here because compilers change the order of sources, and
 * compute with constants themselves. */
static inline double leave_64(double value, double a, double b, double c)
{
    const double nan = a != a ? a : b != b ? b : c;
    const uint64_t bits = nan != nan ? double_bits(nan) | 1ull << 51 : 0xfff8000000000000;
    return value != value ? double_from_bits(bits) : value;
}

/* min and max: a NaN gives way to a number unless .NaN; -0 is less than +0 */
static inline float least_32(float a, float b)
{
    float other = b < a ? b : a;
    other = a == b ? float_from_bits(float_bits(a) | float_bits(b)) : other;
    return a != a ? b : other;
}
static inline float most_32(float a, float b)
{
    float other = b > a ? b : a;
    other = a == b ? float_from_bits(float_bits(a) & float_bits(b)) : other;
    return a != a ? b : other;
}
static inline double least_64(double a, double b)
{
    double other = b < a ? b : a;
    other = a == b ? double_from_bits(double_bits(a) | double_bits(b)) : other;
    return a != a ? b : other;
}
static inline double most_64(double a, double b)
{
    double other = b > a ? b : a;
    other = a == b ? double_from_bits(double_bits(a) & double_bits(b)) : other;
    return a != a ? b : other;
}

static inline uint32_t flush_bits(uint32_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* ---- integers ------------------------------------------------------------------------------ */

static inline int32_t saturate_s32(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static inline uint32_t funnel(uint32_t a, uint32_t b, uint32_t n, bool left)
{
    uint64_t both = (uint64_t)b << 32 | a; /* n <= 32 */
    return left ? (uint32_t)(n == 32 ? a : both << n >> 32) : (uint32_t)(n == 32 ? b : both >> n);
}

static inline uint64_t reverse(uint64_t a)
{
    a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
    a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(a);
}

/* The high half of a product. Not every compiler of kernels has a type of 128 bits. */
static inline uint64_t high_u64(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)((unsigned __int128)a * b >> 64);
#else
    const uint64_t low = (a & 0xffffffff) * (b & 0xffffffff);
    const uint64_t first = (a >> 32) * (b & 0xffffffff) + (low >> 32);
    const uint64_t second = (a & 0xffffffff) * (b >> 32) + (first & 0xffffffff);
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
#endif
}
static inline int64_t high_s64(int64_t a, int64_t b)
{
    const uint64_t high = high_u64((uint64_t)a, (uint64_t)b);
    return (int64_t)(high - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0));
}

#endif
