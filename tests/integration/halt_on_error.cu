// verdict: race
// options: halt_on_error=1
// halts: yes
// The program ends at its first race.
#include "program.h"

int main()
{
    int *host;
    CHECK(cudaMallocHost((void **)&host, 2 * BYTES));
    memset(host, 0, 2 * BYTES);
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    CHECK(cudaMemcpyAsync(p, host + N, BYTES, cudaMemcpyHostToDevice, b));
    return finish();
}
