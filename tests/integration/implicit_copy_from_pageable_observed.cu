// verdict: none
// options: implicit_sync=observed
// cudaMemcpy from pageable memory waits for the legacy stream's earlier work, and so for blocking
// streams': promised.
#include "implicit.h"

int main()
{
    static int host[N];
    int *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, host, BYTES, cudaMemcpyHostToDevice)); });
}
