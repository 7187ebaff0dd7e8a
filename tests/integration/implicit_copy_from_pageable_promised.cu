// verdict: none
// options: implicit_sync=promised
// cudaMemcpy from pageable memory waits, as the documentation promises.
#include "implicit.h"

int main()
{
    static int host[N];
    int *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, host, BYTES, cudaMemcpyHostToDevice)); });
}
