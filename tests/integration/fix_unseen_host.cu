// verdict: race
// output: -
// explore: 67
// Beside the race the host reads what a copy may not have brought yet, and csan does not see it:
// with the race gone the program still does not end the same each time.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    host[0] = 0;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    fill<<<GRID, BLOCK, 0, c>>>(q, 7, N);
    CHECK(cudaMemcpyAsync(host, q, BYTES, cudaMemcpyDeviceToHost, c));
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    increment<<<GRID, BLOCK, 0, b>>>(p, N);
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaStreamSynchronize(b));
    printf("%d\n", *(volatile int *)host);
    return finish();
}
