// verdict: race
// A synchronous copy from pageable memory may return while the write to the device is in flight;
// only the legacy stream's order covers it.
#include "program.h"

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice));
    launch_increment(a, p);
    return finish();
}
