// verdict: race
// options: implicit_sync=none
// expect: since a copy with SYNC_MEMOPS \(documented\) made the host wait there, which
// implicit_sync=none leaves out Every copy and set is taken as asynchronous: cudaMemcpy on a device
// with cudaDeviceSyncMemops, too.
#include "implicit.h"

int main()
{
    CHECK(cudaSetDeviceFlags(cudaDeviceSyncMemops));
    int *from = device_array<int>(), *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, from, BYTES, cudaMemcpyDeviceToDevice)); });
}
