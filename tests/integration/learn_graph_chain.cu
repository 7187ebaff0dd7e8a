// verdict: race
// options: access=learn:learn_cache_mb=0
// skip: embedded
// expect: , 2 races,
// Two kernels that follow each other in a graph and nowhere else, and write in an order that has no
// simple shape. Both are of a module whose code is as it was by then, for a kernel of it is known;
// and each has what it touched itself, and not what both did.
#include "graph.h"

#include <unistd.h>

__global__ void gray_code(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i ^ i >> 1] = i;
}

__global__ void gray_code_twice(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[2 * (i ^ i >> 1)] = out[2 * (i ^ i >> 1) + 1] = i;
}

static void waits(cudaStream_t s)
{
    CHECK(cudaStreamSynchronize(s));
    usleep(200000); // what a GPU's launch touched is reported some time after it is done
}

int main()
{
    int *p = device_array<int>(2 * N), *q = device_array<int>(2 * N);
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    for (int i = 0; i < 3; i++) {
        launch_increment(s, q);
        waits(s);
    }
    waits(s);
    begin_capture(s);
    gray_code<<<1, BLOCK, 0, s>>>(p, BLOCK);
    gray_code_twice<<<1, BLOCK, 0, s>>>(q, BLOCK);
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
