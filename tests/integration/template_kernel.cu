// verdict: race
// expect: axpy<double>\(double\*, double const\*, double, int\)
// A kernel made from a template, named as its author would.
#include "program.h"

template <typename T> __global__ void axpy(T *y, const T *x, T factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += factor * x[i];
}

int main()
{
    double *x = device_array<double>(), *y = device_array<double>();
    CHECK(cudaMemset(x, 0, N * sizeof(double)));
    CHECK(cudaMemset(y, 0, N * sizeof(double)));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    axpy<double><<<GRID, BLOCK, 0, a>>>(y, x, 2.0, N);
    axpy<double><<<GRID, BLOCK, 0, b>>>(y, x, 3.0, N);
    CHECK(cudaGetLastError());
    return finish();
}
