// verdict: race
// options: implicit_sync=none
// expect: since a copy from host to host \(documented\) made the host wait there, which
// implicit_sync=none leaves out Every copy and set is taken as asynchronous: cudaMemcpy from host
// to host, too.
#include "implicit.h"

int main()
{
    static int host[N], other[N];
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(host, other, BYTES, cudaMemcpyHostToHost)); });
}
