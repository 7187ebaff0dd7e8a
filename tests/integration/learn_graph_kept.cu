// verdict: none
// options: access=learn:learn_cache_mb=0
// A graph is made of a kernel that is known by then, and its plain launches go on, some of which
// are looked at again. A GPU keeps in a graph what a launch needs of the kernel's code as it was
// when the graph was made, so that code may not be changed for those.
#include "graph.h"

#include <unistd.h>

__global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] += i;
}

int main()
{
    int *p = device_array<int>(), *to = device_array<int>(), *host;
    static int places[BLOCK];
    cudaStream_t s = nonblocking_stream();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    CHECK(cudaMemsetAsync(p, 0, BYTES, s));
    for (int i = 0; i < BLOCK; i++)
        places[i] = i;
    CHECK(cudaMemcpyAsync(to, places, sizeof places, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
    for (int i = 0; i < 3; i++) {
        scatter<<<1, BLOCK, 0, s>>>(p, to, BLOCK);
        CHECK(cudaStreamSynchronize(s));
        usleep(100000); // what a GPU's launch touched is reported some time after it is done
    }
    for (int i = 0; i < 5; i++)
        CHECK(cudaStreamSynchronize(s)); // its code is as it was by now
    begin_capture(s);
    scatter<<<1, BLOCK, 0, s>>>(p, to, BLOCK);
    cudaGraphExec_t exec = instantiate(end_capture(s));
    for (int i = 0; i < 30; i++) {
        scatter<<<1, BLOCK, 0, s>>>(p, to, BLOCK);
        CHECK(cudaGraphLaunch(exec, s));
        CHECK(cudaStreamSynchronize(s));
        usleep(10000);
    }
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    csan_host_reads(host, BYTES);
    if (host[5] != 63 * 5)
        return 101;
    return finish();
}
