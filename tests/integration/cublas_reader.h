// A product on one stream, a kernel that reads it on another.
#include "blas.h"

__global__ void last_of(double *out, const double *c, int n)
{
    *out = c[n - 1];
}

int main()
{
    enum { SIZE = 48 };
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    double *left = device_array<double>(SIZE * SIZE), *c = device_array<double>(SIZE * SIZE);
    double host[SIZE * SIZE], factor = 1, none = 0, *out = device_array<double>(1), result = 0;
    for (double &x : host)
        x = 2;
    CHECK(cudaMemcpy(left, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    BLAS(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, SIZE, SIZE, SIZE, &factor, left, SIZE, left,
                     SIZE, &none, c, SIZE));
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event));
    }
    last_of<<<1, 1, 0, b>>>(out, c, SIZE * SIZE);
    CHECK(cudaMemcpyAsync(&result, out, sizeof result, cudaMemcpyDeviceToHost, b));
    CHECK(cudaDeviceSynchronize());
    if (ORDERED && result != 4 * SIZE)
        printf("wrong: %g\n", result);
    printf("done\n");
    return 0;
}
