// verdict: none
// libraries: cublas
// A product in a graph: each launch adds to the one before. A result on the host cannot be
// captured.
#include "blas.h"

int main()
{
    enum { SIZE = 8 };
    cudaStream_t stream = nonblocking_stream();
    cublasHandle_t handle = blas_on(stream);
    float host[SIZE * SIZE], *a = device_array<float>(SIZE * SIZE);
    float *c = matrix_zeroed(SIZE, SIZE);
    for (float &x : host)
        x = 1;
    CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, a, SIZE, a, SIZE,
                     &one, c, SIZE));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpyAsync(host, c, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (float x : host)
        if (x != 3 * SIZE)
            printf("wrong: %g\n", (double)x);
    printf(nodes ? "done\n" : "no nodes\n");
    return 0;
}
