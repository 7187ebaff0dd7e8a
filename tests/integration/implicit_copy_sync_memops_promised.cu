// verdict: none
// options: implicit_sync=promised
// cudaMemcpy on a device with cudaDeviceSyncMemops waits, as the documentation promises.
#include "implicit.h"

int main()
{
    CHECK(cudaSetDeviceFlags(cudaDeviceSyncMemops));
    int *from = device_array<int>(), *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, from, BYTES, cudaMemcpyDeviceToDevice)); });
}
