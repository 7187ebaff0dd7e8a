// verdict: race
// options: implicit_sync=none
// expect: since a set of pinned or managed memory \(documented\) made the host wait there, which
// implicit_sync=none leaves out Every copy and set is taken as asynchronous: cudaMemset of pinned
// memory, too.
#include "implicit.h"

int main()
{
    int *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    return implicit_wait(blocking_stream(), [&] { CHECK(cudaMemset(host, 0, BYTES)); });
}
