// verdict: race
// expect: since cuMemcpyHtoD made the host wait there, but nothing promises it
// reject: 2 races
// A copy from pageable memory promises that its source was read. Up to 64 KiB it was seen to be
// done, too; a longer one is not, and a kernel beside it overtakes it.
#include "program.h"

int main()
{
    static int host[N];
    static_assert(sizeof host <= 64 << 10, "a copy that is staged whole");
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice));
    launch_increment(a, p);
    return finish();
}
