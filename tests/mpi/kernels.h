/* Kernels that the MPI tests launch; sizes in elements. */
#ifndef TESTS_MPI_KERNELS_H
#define TESTS_MPI_KERNELS_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

void launch_fill(float *p, int n, float value, cudaStream_t stream);
void launch_copy(float *to, const float *from, int n, cudaStream_t stream);
/* One element of each row. */
void launch_fill_column(float *p, int rows, int pitch, float value, cudaStream_t stream);
/* Jacobi's step on rows 1 to `rows` of a grid with one row more at each side. */
void launch_relax(float *to, const float *from, int rows, int columns, cudaStream_t stream);
/* The largest difference between two arrays. */
void launch_difference(float *out, const float *a, const float *b, int n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
