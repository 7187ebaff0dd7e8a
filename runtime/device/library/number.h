/* Numbers of every cudaDataType (library_types.h), by way of complex doubles. */
#ifndef RUNTIME_DEVICE_LIBRARY_NUMBER_H
#define RUNTIME_DEVICE_LIBRARY_NUMBER_H

#include <complex.h>
#undef complex
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_type {
    NUMBER_32F = 0,
    NUMBER_64F = 1,
    NUMBER_16F = 2,
    NUMBER_8I = 3,
    NUMBER_C32F = 4,
    NUMBER_C64F = 5,
    NUMBER_C16F = 6,
    NUMBER_C8I = 7,
    NUMBER_8U = 8,
    NUMBER_32I = 10,
    NUMBER_16BF = 14,
    NUMBER_C16BF = 15,
    NUMBER_64I = 24,
    NUMBER_TYPES = 32
};

/* Bytes of an element; 0: csan's libraries do not compute with this type. */
size_t number_bytes(int type);
bool number_is_complex(int type);
bool number_is_integer(int type);
/* NUMBER_32F for S and so on, 16F for H; -1: no such letter. */
int number_of_letter(char letter);

/* The i-th element. Writing rounds to nearest even; a real type takes the real part. */
double _Complex number_read(int type, const void *array, int64_t i);
void number_write(int type, void *array, int64_t i, double _Complex value);

#endif
