// A graph that has two nodes of one kernel, of which the first fails: which of the two was it?
// clang-format off
#include <cstdio>
#include <cuda_runtime.h>
__global__ void put(int *p, long at) { p[at] = 1; }
__global__ void other(int *p) { p[threadIdx.x] += 1; }
int main()
{
    cudaStream_t s; cudaGraph_t graph; cudaGraphExec_t exec; int *p, *q;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&p, 1024); cudaMalloc(&q, 1024);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    other<<<1, 32, 0, s>>>(p);
    put<<<1, 1, 0, s>>>(q, 1l << 40);
    put<<<1, 1, 0, s>>>(q, 3);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    printf("launch %d\n", (int)cudaGraphLaunch(exec, s));
    printf("wait %d\n", (int)cudaStreamSynchronize(s));
    return 0;
}
