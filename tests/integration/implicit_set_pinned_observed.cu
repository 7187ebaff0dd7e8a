// verdict: none
// options: implicit_sync=observed
// cudaMemset of pinned memory waits for the legacy stream's earlier work, and so for blocking
// streams': promised.
#include "implicit.h"

int main()
{
    int *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    return implicit_wait(blocking_stream(), [&] { CHECK(cudaMemset(host, 0, BYTES)); });
}
