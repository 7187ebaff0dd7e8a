/* LU factors of a matrix whose rows are not exchanged, which LAPACK cannot do: for the batches of
 * cuBLAS and for cuSOLVER. */
#ifndef RUNTIME_DEVICE_LIBRARY_LU_H
#define RUNTIME_DEVICE_LIBRARY_LU_H

#include "runtime/device/library/number.h"

/* Takes `by` times row k off row i, right of column k. */
static inline void lu_row_reduce(int type, void *matrix, int columns, int64_t leading, int i, int k,
                                 double _Complex by)
{
    for (int j = k + 1; j < columns; j++) {
        const int64_t at = i + j * leading;
        number_write(type, matrix, at,
                     number_read(type, matrix, at) -
                         by * number_read(type, matrix, k + j * leading));
    }
}

/* In place: L below the diagonal, which is 1 in L, and U. `type` is an enum number_type, `leading`
 * counts elements from column to column. Returns the number of the first zero on the diagonal, from
 * 1, or 0. */
static inline int lu_factor_plainly(int type, void *matrix, int rows, int columns, int64_t leading)
{
    int zero = 0;
    for (int k = 0; k < rows && k < columns; k++) {
        const double _Complex pivot = number_read(type, matrix, k + k * leading);
        if (pivot == 0 && !zero)
            zero = k + 1;
        for (int i = k + 1; i < rows && pivot != 0; i++) {
            const double _Complex by = number_read(type, matrix, i + k * leading) / pivot;
            number_write(type, matrix, i + k * leading, by);
            lu_row_reduce(type, matrix, columns, leading, i, k, by);
        }
    }
    return zero;
}

#endif
