// verdict: race
// library: cublas
// output: 0 before\ndone
// expect: demo::like\(Tensor self\)
// expect: writing to the output
// reject: cublasSgemm
// A framework's operator works by cuBLAS: it names the product, whose bytes are cuBLAS's.
#include "blas.h"
#include "operators.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *pool = matrix_zeroed(32, 64);
    {
        Operator running(functional, 1, access_to(A, CSAN_READ, 0));
        csan_pool_alloc(pool, 2 * BYTES, a);
        BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, A, 32, A, 32, &zero,
                         pool, 32));
    }
    CHECK(cudaMemsetAsync(pool + 32 * 32, 0, BYTES, b)); // what cuBLAS does not write
    printf("%zu before\n", csan_race_count());
    launch_fill(b, (int *)pool);
    return finish();
}
