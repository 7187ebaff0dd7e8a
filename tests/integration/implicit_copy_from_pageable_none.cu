// verdict: race
// options: implicit_sync=none
// expect: since a copy from pageable memory \(documented\) made the host wait there, which
// implicit_sync=none leaves out Every copy and set is taken as asynchronous: cudaMemcpy from
// pageable memory, too.
#include "implicit.h"

int main()
{
    static int host[N];
    int *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, host, BYTES, cudaMemcpyHostToDevice)); });
}
