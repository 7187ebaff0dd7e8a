// verdict: race
// library: cublas
// expect: cublasSgemm
// expect: writing to argument\(s\) C
// A product in a graph, and another stream.
#include "blas.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cublasHandle_t handle = blas_on(a);
    float *A = matrix_zeroed(32, 32), *C = matrix_zeroed(32, 32);
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, A, 32, A, 32, &zero, C,
                     32));
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, A, 32, A, 32, &zero, C,
                     32));
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    launch_fill(b, (int *)C);
    return finish();
}
