// verdict: race
// The legacy stream, and so a synchronous copy, does not wait for a non-blocking stream.
#include "program.h"

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemcpy(host, p, BYTES, cudaMemcpyDeviceToHost));
    return finish();
}
