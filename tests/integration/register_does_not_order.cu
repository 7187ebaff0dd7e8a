// verdict: race
// expect: since cuMemHostRegister made the host wait there, but nothing promises it
// Registering host memory waits for the device on every GPU seen so far, and nothing promises it.
#include "program.h"

int main()
{
    static char host[8192] __attribute__((aligned(4096)));
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
    launch_increment(b, p);
    return finish();
}
