// verdict: none
// options: implicit_sync=promised
// cudaMemcpy from pinned memory waits, as the documentation promises.
#include "implicit.h"

int main()
{
    int *host, *other = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, host, BYTES, cudaMemcpyHostToDevice)); });
}
