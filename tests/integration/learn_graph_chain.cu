// verdict: race
// options: access=learn:learn_cache_mb=0
// skip: embedded
// expect: , 2 races,
// Two kernels that follow each other in a graph and nowhere else, and where they write to is data.
// Both are of a module whose code is as it was by then, for a kernel of it is known; and each has
// what it touched itself, and not what both did.
#include "graph.h"

#include <unistd.h>

__global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = i;
}

__global__ void scatter_twice(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[2 * to[i]] = out[2 * to[i] + 1] = i;
}

static void waits(cudaStream_t s)
{
    CHECK(cudaStreamSynchronize(s));
    usleep(200000); // what a GPU's launch touched is told some time after it is done
}

int main()
{
    int *p = device_array<int>(2 * N), *q = device_array<int>(2 * N), *to = device_array<int>();
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    launch_fill(s, to, 0, BLOCK);
    for (int i = 0; i < 3; i++) {
        launch_increment(s, q);
        waits(s);
    }
    waits(s);
    begin_capture(s);
    scatter<<<1, BLOCK, 0, s>>>(p, to, BLOCK);
    scatter_twice<<<1, BLOCK, 0, s>>>(q, to, BLOCK);
    cudaGraphExec_t exec = instantiate(end_capture(s));
    for (int i = 0; i < 4; i++) {
        CHECK(cudaGraphLaunch(exec, s));
        if (i == 3)
            break;
        waits(s);
    }
    CHECK(cudaMemsetAsync(p + BLOCK, 0, (2 * N - BLOCK) * sizeof *p, t));
    CHECK(cudaMemsetAsync(q + 2 * BLOCK, 0, (2 * N - 2 * BLOCK) * sizeof *q, t));
    CHECK(cudaMemsetAsync(p, 0, BLOCK * sizeof *p, t));
    CHECK(cudaMemsetAsync(q, 0, 2 * BLOCK * sizeof *q, t));
    CHECK(cudaDeviceSynchronize());
    return finish();
}
