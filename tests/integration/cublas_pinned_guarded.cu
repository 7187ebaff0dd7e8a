// verdict: none
// libraries: cublas cufft
// options: host=guard
// Products and transforms of pinned and managed memory: what the device does there is not the
// host's access, whichever library does it.
#include "blas.h"

#include <cufft.h>

int main()
{
    enum { SIZE = 32 };
    cudaStream_t stream = nonblocking_stream();
    cublasHandle_t handle = blas_on(stream);
    float *pinned, *managed;
    cufftComplex *spectrum;
    cufftHandle plan;
    CHECK(cudaMallocHost((void **)&pinned, SIZE * SIZE * sizeof(float)));
    CHECK(cudaMallocManaged((void **)&managed, SIZE * SIZE * sizeof(float)));
    CHECK(cudaMallocHost((void **)&spectrum, (SIZE / 2 + 1) * sizeof *spectrum));
    for (int i = 0; i < SIZE * SIZE; i++)
        pinned[i] = managed[i] = 1;
    CHECK(cudaDeviceSynchronize());
    if (cufftPlan1d(&plan, SIZE, CUFFT_R2C, 1) != CUFFT_SUCCESS ||
        cufftSetStream(plan, stream) != CUFFT_SUCCESS)
        return 101;
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, pinned, SIZE, pinned,
                     SIZE, &one, managed, SIZE));
    if (cufftExecR2C(plan, managed, spectrum) != CUFFT_SUCCESS)
        return 102;
    CHECK(cudaStreamSynchronize(stream));
    if (managed[0] != SIZE + 1 || spectrum[0].x != SIZE * (SIZE + 1))
        printf("wrong: %g %g\n", (double)managed[0], (double)spectrum[0].x);
    printf("done\n");
    return 0;
}
