// verdict: none
// A synchronous copy to the host waits for the legacy stream, and for itself.
#include "program.h"

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemcpy(host, p, BYTES, cudaMemcpyDeviceToHost));
    csan_host_reads(host, BYTES);
    launch_increment(b, p);
    return finish();
}
