// verdict: race
// options: implicit_sync=none
// expect: since a copy from pinned memory \(documented\) made the host wait there, which
// implicit_sync=none leaves out Every copy and set is taken as asynchronous: cudaMemcpy from pinned
// memory, too.
#include "implicit.h"

int main()
{
    int *host, *other = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, host, BYTES, cudaMemcpyHostToDevice)); });
}
