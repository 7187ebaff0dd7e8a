/* The 16-bit floating-point formats: f16 (1+5+10 bits) and bf16 (1+8+7 bits), the 8-bit e4m3, and
 * rounding of a double to them or to f32 in any rounding mode (PTX ISA 5.2.3, 9.7.4). */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_HALF_H
#define RUNTIME_DEVICE_EXEC_EXEC_HALF_H

#include "runtime/device/exec/alu/alu_lane.h"
#include "runtime/ptx/ir.h"

#include <math.h>
#include <string.h>

enum { HALF_NAN = 0x7fff };

static inline float bfloat_to_float(uint16_t bits)
{
    return float_from_bits((uint32_t)bits << 16);
}

/* No infinity; NaN is all ones. */
static inline double e4m3_to_double(uint32_t bits)
{
    int exponent = (int)(bits >> 3 & 15), mantissa = (int)(bits & 7);
    double value = (bits & 0x7f) == 0x7f ? (double)NAN
                   : exponent            ? ldexp(8 + mantissa, exponent - 10)
                                         : ldexp(mantissa, -9);
    return bits & 0x80 ? -value : value;
}

struct format {
    int mantissa;        /* bits, without the hidden one */
    int lowest, highest; /* exponents of normal numbers */
    uint32_t sign, infinity;
};
static const struct format __attribute__((unused)) format_f16 = {10, -14, 15, 0x8000, 0x7c00};
static const struct format __attribute__((unused)) format_bf16 = {7, -126, 127, 0x8000, 0x7f80};
static const struct format __attribute__((unused))
format_f32 = {23, -126, 127, 0x80000000, 0x7f800000};

/* Whether a remainder of `rest` units below a last place of 2 * half units rounds away from zero.
 */
static inline bool rounds_up(uint64_t whole, uint64_t rest, uint64_t half, bool negative,
                             uint8_t rounding)
{
    switch (rounding) {
    case PTX_ROUND_RZ:
    case PTX_ROUND_RZI:
        return false;
    case PTX_ROUND_RM:
    case PTX_ROUND_RMI:
        return negative && rest;
    case PTX_ROUND_RP:
    case PTX_ROUND_RPI:
        return !negative && rest;
    case PTX_ROUND_RNA:
        return rest >= half;
    default:
        return rest > half || (rest == half && (whole & 1));
    }
}

/* The result of an overflow: infinity, or the largest number if rounding turns away from infinity.
 */
static inline uint32_t format_overflow(const struct format *format, bool negative, uint8_t rounding)
{
    bool stops = rounding == PTX_ROUND_RZ || (rounding == PTX_ROUND_RM && !negative) ||
                 (rounding == PTX_ROUND_RP && negative);
    return format->infinity - stops;
}

/* `value` rounded to the format; a NaN gives all ones below the sign. */
static inline uint32_t format_encode(const struct format *format, double value, uint8_t rounding)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    bool negative = bits >> 63;
    uint32_t sign = negative ? format->sign : 0;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = bits & 0xfffffffffffffull;
    if (exponent == 1024)
        return mantissa ? format->sign - 1 : sign | format->infinity;
    if (exponent == -1023) /* a double's subnormal is far below anything here */
        exponent = -1022;
    else
        mantissa |= 1ull << 52;
    if (exponent > format->highest)
        return sign | format_overflow(format, negative, rounding);
    int shift = 52 - format->mantissa;
    if (exponent < format->lowest)
        shift += format->lowest - exponent;
    uint64_t whole = shift < 64 ? mantissa >> shift : 0;
    uint64_t rest = shift < 64 ? mantissa & ((1ull << shift) - 1) : mantissa != 0;
    uint64_t half = shift < 64 ? 1ull << (shift - 1) : UINT64_MAX;
    whole += rounds_up(whole, rest, half, negative, rounding);
    /* A carry out of the mantissa raises the exponent by itself. */
    uint64_t encoded = exponent < format->lowest
                           ? whole
                           : whole + ((uint64_t)(exponent - format->lowest) << format->mantissa);
    if (encoded >= format->infinity)
        return sign | format_overflow(format, negative, rounding);
    return sign | (uint32_t)encoded;
}

static inline uint16_t format_round(const struct format *format, double value, uint8_t rounding)
{
    return (uint16_t)format_encode(format, value, rounding);
}

static inline uint16_t half_from_double(double value)
{
    return format_round(&format_f16, value, PTX_ROUND_RN);
}
static inline uint16_t half_from_float(float value)
{
    return half_from_double((double)value);
}
static inline uint16_t bfloat_from_double(double value)
{
    return format_round(&format_bf16, value, PTX_ROUND_RN);
}

/* a * b + c of halves in double, where a * b is exact. What the sum rounds off goes into the last
 * bit, so that rounding again to fewer bits is correct. */
static inline double half_fma(double a, double b, double c)
{
    double product = a * b, sum = product + c;
    double back = sum - product, error = (product - (sum - back)) + (c - back);
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    if (error == 0 || error != error || (bits & 1))
        return sum;
    /* sum is even and inexact: step to the odd neighbour on the error's side */
    bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    memcpy(&sum, &bits, 8);
    return sum;
}

#endif
