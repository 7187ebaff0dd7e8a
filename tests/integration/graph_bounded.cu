// verdict: possible
// expect: graph_bounded.cu:{scatter}
// What a node touches is bounded where it depends on data: inside a graph too a race with it is a
// possible one. Nobody traces the launches of a graph, so only PTX is known.
#include "graph.h"

__global__ void scatter(int *out, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i] & (N - 1)] = i;
}

int main()
{
    int *p = device_array<int>(), *index = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    stream_follows(b, a);
    scatter<<<GRID, BLOCK, 0, a>>>(p, index, N); // at: scatter
    launch_fill(b, p);
    stream_follows(a, b);
    instantiate(end_capture(a));
    return finish();
}
