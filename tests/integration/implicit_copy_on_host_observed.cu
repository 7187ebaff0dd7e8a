// verdict: none
// options: implicit_sync=observed
// cudaMemcpy from host to host waits for the legacy stream's earlier work, and so for blocking
// streams': promised.
#include "implicit.h"

int main()
{
    static int host[N], other[N];
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(host, other, BYTES, cudaMemcpyHostToHost)); });
}
