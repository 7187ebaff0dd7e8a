// verdict: none
// options: implicit_sync=promised
// cudaMemcpy from host to host waits, as the documentation promises.
#include "implicit.h"

int main()
{
    static int host[N], other[N];
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(host, other, BYTES, cudaMemcpyHostToHost)); });
}
