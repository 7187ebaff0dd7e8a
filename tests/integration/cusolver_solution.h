// A system is factored on one stream and solved on another one, by another handle.
#include "program.h"

#include <cusolverDn.h>

static cusolverDnHandle_t handle_on(cudaStream_t stream)
{
    cusolverDnHandle_t handle;
    if (cusolverDnCreate(&handle) || cusolverDnSetStream(handle, stream))
        exit(101);
    return handle;
}

int main()
{
    const double matrix[] = {4, 1, 1, 3}, right[] = {1, 2};
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cusolverDnHandle_t factors = handle_on(a), solves = handle_on(b);
    double *A = device_array<double>(4), *B = device_array<double>(2), solution[2];
    int *pivots = device_array<int>(2), *infos = device_array<int>(2), size = 0;
    CHECK(cudaMemcpy(A, matrix, sizeof matrix, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, right, sizeof right, cudaMemcpyHostToDevice));
    if (cusolverDnDgetrf_bufferSize(factors, 2, 2, A, 2, &size))
        return 102;
    double *work = device_array<double>(size ? size : 1);
    CHECK(cudaDeviceSynchronize());
    if (cusolverDnDgetrf(factors, 2, 2, A, 2, work, pivots, infos))
        return 103;
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event));
    }
    if (cusolverDnDgetrs(solves, CUBLAS_OP_N, 2, 1, A, 2, pivots, B, 2, infos + 1))
        return 104;
    CHECK(cudaMemcpyAsync(solution, B, sizeof solution, cudaMemcpyDeviceToHost, b));
    CHECK(cudaDeviceSynchronize());
    if (ORDERED && (solution[0] * 11 - 1 > 1e-9 || solution[1] * 11 - 7 > 1e-9))
        printf("wrong: %g %g\n", solution[0], solution[1]);
    printf("done\n");
    return 0;
}
