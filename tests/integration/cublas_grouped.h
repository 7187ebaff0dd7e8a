// Grouped products: two groups of matrices with sizes of their own. Another stream reads the last
// product, behind an event (ORDERED) or at once.
#pragma once

#include "numbers.h"

#include "blas.h"

enum { GROUPS = 2, PRODUCTS = 5, MATRIX_MOST = 40 * 40 };

static const int group_m[] = {24, 33}, group_n[] = {16, 40}, group_k[] = {20, 12};
static const int group_size[] = {2, 3};
static const cublasOperation_t group_a[] = {CUBLAS_OP_N, CUBLAS_OP_T};
static const cublasOperation_t group_b[] = {CUBLAS_OP_T, CUBLAS_OP_N};
// Leading dimensions, with elements between columns that nobody touches.
static const int group_lda[] = {26, 14}, group_ldb[] = {16, 13}, group_ldc[] = {24, 34};

// All matrices of one kind, and where each lies, on the device.
template <typename T> struct Matrices {
    Both<T> values;
    T **addresses;
    Matrices() : values(PRODUCTS * MATRIX_MOST), addresses(device_array<T *>(PRODUCTS))
    {
        T *each[PRODUCTS];
        for (int i = 0; i < PRODUCTS; i++)
            each[i] = values.device + i * MATRIX_MOST;
        CHECK(cudaMemcpy(addresses, each, sizeof each, cudaMemcpyHostToDevice));
    }
};

// What product `i` of group `g` should be: column by column, without gaps between columns.
template <typename T, typename Factor>
static void grouped_reference(const Matrices<T> &a, const Matrices<T> &b, const Matrices<T> &c,
                              const Factor *alpha, const Factor *beta, std::vector<double> &wanted)
{
    for (int g = 0, product = 0; g < GROUPS; g++)
        for (int i = 0; i < group_size[g]; i++, product++) {
            const T *x = a.values.host.data() + product * MATRIX_MOST;
            const T *y = b.values.host.data() + product * MATRIX_MOST;
            const T *z = c.values.host.data() + product * MATRIX_MOST;
            for (int column = 0; column < group_n[g]; column++)
                for (int row = 0; row < group_m[g]; row++) {
                    double sum = 0;
                    for (int k = 0; k < group_k[g]; k++)
                        sum += (double)x[g ? k + row * group_lda[g] : row + k * group_lda[g]] *
                               (double)y[g ? k + column * group_ldb[g] : column + k * group_ldb[g]];
                    wanted.push_back((double)alpha[g] * sum +
                                     (double)beta[g] * (double)z[row + column * group_ldc[g]]);
                }
        }
}

template <typename T> static std::vector<double> grouped_result(const Matrices<T> &c)
{
    std::vector<double> result;
    const std::vector<T> all = c.values.get();
    for (int g = 0, product = 0; g < GROUPS; g++)
        for (int i = 0; i < group_size[g]; i++, product++)
            for (int column = 0; column < group_n[g]; column++)
                for (int row = 0; row < group_m[g]; row++)
                    result.push_back(
                        (double)all[product * MATRIX_MOST + row + column * group_ldc[g]]);
    return result;
}
