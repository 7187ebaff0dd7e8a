// verdict: race
// expect: nothing orders the two accesses
// reject: may read its source at the call
// reject: 2 races
// The host writes over the source of a copy that nobody waited for: that races with a read in the
// stream's order, too, so the report says no more than that.
#include "program.h"

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    csan_host_writes(host, BYTES);
    return finish();
}
