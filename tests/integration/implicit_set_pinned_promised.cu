// verdict: none
// options: implicit_sync=promised
// cudaMemset of pinned memory waits, as the documentation promises.
#include "implicit.h"

int main()
{
    int *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    return implicit_wait(blocking_stream(), [&] { CHECK(cudaMemset(host, 0, BYTES)); });
}
