/* Numbers of every cudaDataType. See number.h. */
#include "runtime/device/library/number.h"
#include "runtime/device/exec/exec_half.h"

static const struct {
    uint8_t part;
    bool complex, integer;
} types[NUMBER_TYPES] = {
    [NUMBER_32F] = {4, 0, 0},  [NUMBER_64F] = {8, 0, 0},  [NUMBER_16F] = {2, 0, 0},
    [NUMBER_8I] = {1, 0, 1},   [NUMBER_C32F] = {4, 1, 0}, [NUMBER_C64F] = {8, 1, 0},
    [NUMBER_C16F] = {2, 1, 0}, [NUMBER_C8I] = {1, 1, 1},  [NUMBER_8U] = {1, 0, 1},
    [NUMBER_32I] = {4, 0, 1},  [NUMBER_16BF] = {2, 0, 0}, [NUMBER_C16BF] = {2, 1, 0},
    [NUMBER_64I] = {8, 0, 1},
};

static bool is_known(int type)
{
    return type >= 0 && type < NUMBER_TYPES;
}

size_t number_bytes(int type)
{
    return is_known(type) ? (size_t)types[type].part << types[type].complex : 0;
}

bool number_is_complex(int type)
{
    return is_known(type) && types[type].complex;
}

bool number_is_integer(int type)
{
    return is_known(type) && types[type].integer;
}

int number_of_letter(char letter)
{
    switch (letter) {
    case 'S':
        return NUMBER_32F;
    case 'D':
        return NUMBER_64F;
    case 'C':
        return NUMBER_C32F;
    case 'Z':
        return NUMBER_C64F;
    case 'H':
        return NUMBER_16F;
    default:
        return -1;
    }
}

/* The type of one part of a complex number. */
static int part_of(int type)
{
    switch (type) {
    case NUMBER_C32F:
        return NUMBER_32F;
    case NUMBER_C64F:
        return NUMBER_64F;
    case NUMBER_C16F:
        return NUMBER_16F;
    case NUMBER_C8I:
        return NUMBER_8I;
    case NUMBER_C16BF:
        return NUMBER_16BF;
    default:
        return type;
    }
}

static double read_real(int type, const void *array, int64_t i)
{
    switch (type) {
    case NUMBER_32F:
        return ((const float *)array)[i];
    case NUMBER_64F:
        return ((const double *)array)[i];
    case NUMBER_16F:
        return half_to_float(((const uint16_t *)array)[i]);
    case NUMBER_16BF:
        return bfloat_to_float(((const uint16_t *)array)[i]);
    case NUMBER_8I:
        return ((const int8_t *)array)[i];
    case NUMBER_8U:
        return ((const uint8_t *)array)[i];
    case NUMBER_32I:
        return ((const int32_t *)array)[i];
    case NUMBER_64I:
        return (double)((const int64_t *)array)[i];
    default:
        return 0;
    }
}

static double clamped(double value, double low, double high)
{
    value = nearbyint(value);
    return value < low ? low : value > high ? high : value;
}

static void write_real(int type, void *array, int64_t i, double value)
{
    switch (type) {
    case NUMBER_32F:
        ((float *)array)[i] = (float)value;
        break;
    case NUMBER_64F:
        ((double *)array)[i] = value;
        break;
    case NUMBER_16F:
        ((uint16_t *)array)[i] = half_from_double(value);
        break;
    case NUMBER_16BF:
        ((uint16_t *)array)[i] = bfloat_from_double(value);
        break;
    case NUMBER_8I:
        ((int8_t *)array)[i] = (int8_t)clamped(value, INT8_MIN, INT8_MAX);
        break;
    case NUMBER_8U:
        ((uint8_t *)array)[i] = (uint8_t)clamped(value, 0, UINT8_MAX);
        break;
    case NUMBER_32I:
        ((int32_t *)array)[i] = (int32_t)clamped(value, INT32_MIN, INT32_MAX);
        break;
    case NUMBER_64I:
        ((int64_t *)array)[i] = (int64_t)value;
        break;
    default:
        break;
    }
}

double _Complex number_read(int type, const void *array, int64_t i)
{
    if (!number_is_complex(type))
        return read_real(type, array, i);
    const int part = part_of(type);
    return CMPLX(read_real(part, array, 2 * i), read_real(part, array, 2 * i + 1));
}

void number_write(int type, void *array, int64_t i, double _Complex value)
{
    const int part = part_of(type);
    if (!number_is_complex(type)) {
        write_real(type, array, i, creal(value));
        return;
    }
    write_real(part, array, 2 * i, creal(value));
    write_real(part, array, 2 * i + 1, cimag(value));
}
