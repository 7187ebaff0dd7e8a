// verdict: none
// options: implicit_sync=observed
// cudaMemcpy from pinned memory waits for the legacy stream's earlier work, and so for blocking
// streams': promised.
#include "implicit.h"

int main()
{
    int *host, *other = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, host, BYTES, cudaMemcpyHostToDevice)); });
}
