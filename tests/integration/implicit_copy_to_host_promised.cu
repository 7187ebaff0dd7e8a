// verdict: none
// options: implicit_sync=promised
// cudaMemcpy to the host waits, as the documentation promises.
#include "implicit.h"

int main()
{
    static int host[N];
    int *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(host, other, BYTES, cudaMemcpyDeviceToHost)); });
}
