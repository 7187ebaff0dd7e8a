// verdict: none
// A host node comes after the copy that it waits for, and before the nodes behind it, in each
// launch.
#include "graph.h"

static void CUDART_CB add_one(void *data)
{
    int *host = (int *)data;
    csan_host_reads(host, BYTES);
    csan_host_writes(host, BYTES);
    for (int i = 0; i < N; i++)
        host[i]++;
}

int main()
{
    int *p = device_array<int>(), *host;
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    begin_capture(a);
    launch_fill(a, p, 5);
    CHECK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaLaunchHostFunc(a, add_one, host));
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    cudaGraphExec_t exec = instantiate(end_capture(a));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaStreamSynchronize(a));
    csan_host_reads(host, BYTES);
    if (host[N - 1] != 5 + N)
        return 1;
    return finish();
}
