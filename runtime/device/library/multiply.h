/* A product of matrices of any types. Where the types are those of one routine of OpenBLAS, that
 * does it in place. Else operands are converted to the routine's type, and the result is rounded
 * once. */
#ifndef RUNTIME_DEVICE_LIBRARY_MULTIPLY_H
#define RUNTIME_DEVICE_LIBRARY_MULTIPLY_H

#include "runtime/device/library/number.h"

enum { OPERATION_N = 0, OPERATION_T = 1, OPERATION_C = 2 }; /* cublasOperation_t */

struct operand {
    void *data;
    int type;        /* enum number_type */
    int64_t leading; /* elements from column to column */
    int operation;   /* OPERATION_* */
};

/* The type in which a product of these is computed: integers fit doubles exactly. */
int multiply_type(int a, int b, int c);

/* c = alpha op(a) op(b) + beta c, where op(a) has m rows and k columns. Without data of a and b,
 * alpha counts as 0. With beta 0, c is not read. False: memory is short, or OpenBLAS does not have
 * integers for such sizes. It must be open. Thread-safe. */
bool multiply(int64_t m, int64_t n, int64_t k, double _Complex alpha, const struct operand *a,
              const struct operand *b, double _Complex beta, const struct operand *c);

#endif
