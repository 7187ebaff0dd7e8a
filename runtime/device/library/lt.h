/* csan's own cuBLASLt: descriptors (lt.c) and the products that they describe (lt_run.c). */
#ifndef RUNTIME_DEVICE_LIBRARY_LT_H
#define RUNTIME_DEVICE_LIBRARY_LT_H

#include "runtime/device/library/blas.h"
#include "runtime/device/library/multiply.h"

/* cublasLtMatrixLayoutOpaque_t: 64 bytes. */
struct lt_layout {
    uint32_t type;
    int32_t order; /* LT_COLUMNS, LT_ROWS */
    uint64_t rows, columns;
    int64_t leading, step, plane;
    int32_t batches, batch_mode;
};
enum { LT_COLUMNS = 0, LT_ROWS = 1 };

/* cublasLtMatmulDescOpaque_t: at least 184 bytes. */
struct lt_product {
    int32_t compute_type, scale_type, pointer_mode, operations[3], fill_mode;
    uint32_t epilogue;
    int32_t bias_type, auxiliary_type, sm_count, scale_modes[4];
    int8_t fast_accumulation;
    uint64_t bias, auxiliary, scales[4], largest;
    int64_t bias_step, auxiliary_leading, auxiliary_step, alpha_step;
};
enum { LT_HOST, LT_DEVICE, LT_VECTOR, LT_VECTOR_BETA_ZERO, LT_VECTOR_BETA_HOST };
/* Bits of cublasLtEpilogue_t. */
enum {
    LT_DEFAULT = 1,
    LT_RELU = 2,
    LT_BIAS = 4,
    LT_RELU_GRADIENT = 8,
    LT_BIAS_GRADIENT = 16, /* sums of the result's rows */
    LT_GELU = 32,
    LT_GELU_GRADIENT = 64,
    LT_AUXILIARY = 128,  /* what an activation leaves for its gradient */
    LT_GRADIENT_A = 256, /* sums of A's rows */
    LT_GRADIENT_B = 512  /* sums of B's columns */
};

/* cublasLtMatrixTransformDescOpaque_t: 64 bytes. */
struct lt_transform {
    int32_t scale_type, pointer_mode, operations[2];
};

/* BLAS_SUCCESS, or the status that a product with these gets, and a line says why. */
int lt_check(const struct lt_product *product, const struct lt_layout *a, const struct lt_layout *b,
             const struct lt_layout *c, const struct lt_layout *d);

#endif
