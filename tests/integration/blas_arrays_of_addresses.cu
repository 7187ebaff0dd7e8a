// verdict: race
// library: cublas
// expect: cublasSgemmBatched
// expect: writing to argument\(s\) Carray
// expect: Overlap: 1024 bytes
// Matrices behind an array of addresses that the host copied to the device: known in later calls
// too, since what the first one writes is known.
#include "blas.h"

int main()
{
    enum { N = 16, BATCHES = 3 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *addresses[3 * BATCHES], **arrays = device_array<float *>(3 * BATCHES);
    for (float *&address : addresses)
        address = matrix_zeroed(N, N);
    CHECK(cudaMemcpy(arrays, addresses, sizeof addresses, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize()); // from pageable memory the copy may still be under way
    for (int i = 0; i < 3; i++) {
        CHECK(cudaDeviceSynchronize());
        BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, arrays, N,
                                arrays + BATCHES, N, &zero, arrays + 2 * BATCHES, N, BATCHES));
    }
    CHECK(cudaMemsetAsync(addresses[3 * BATCHES - 1], 0, N * N * sizeof(float), b));
    return finish();
}
