// verdict: race
// options: host=off
// output: -
// explore: 67
// Beside the race the host reads what copies may not have brought yet. With host=off csan does not
// see it: with the race gone the program still does not end the same each time. There are several
// copies, so that one is late in nearly every schedule.
#include "program.h"

int main()
{
    const int copies = 6;
    int *p = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, copies * BYTES));
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    for (int i = 0; i < copies; i++) {
        int *q = device_array<int>();
        cudaStream_t c = nonblocking_stream();
        host[i * N] = 0;
        fill<<<GRID, BLOCK, 0, c>>>(q, 7, N);
        CHECK(cudaMemcpyAsync(host + i * N, q, BYTES, cudaMemcpyDeviceToHost, c));
    }
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    increment<<<GRID, BLOCK, 0, b>>>(p, N);
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaStreamSynchronize(b));
    for (int i = 0; i < copies; i++)
        printf("%d\n", ((volatile int *)host)[i * N]);
    return finish();
}
