// verdict: race
// Attaching memory to a stream does not wait for what other streams do with it.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaStreamAttachMemAsync(b, p, 0, cudaMemAttachGlobal));
    launch_increment(b, p);
    return finish();
}
