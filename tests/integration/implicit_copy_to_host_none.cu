// verdict: race
// options: implicit_sync=none
// expect: since a copy to the host \(documented\) made the host wait there, which
// implicit_sync=none leaves out Every copy and set is taken as asynchronous: cudaMemcpy to the
// host, too.
#include "implicit.h"

int main()
{
    static int host[N];
    int *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(host, other, BYTES, cudaMemcpyDeviceToHost)); });
}
