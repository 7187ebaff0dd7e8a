// verdict: none
// options: implicit_sync=observed
// cudaMemcpy on a device with cudaDeviceSyncMemops waits for the legacy stream's earlier work, and
// so for blocking streams': promised.
#include "implicit.h"

int main()
{
    CHECK(cudaSetDeviceFlags(cudaDeviceSyncMemops));
    int *from = device_array<int>(), *other = device_array<int>();
    return implicit_wait(blocking_stream(),
                         [&] { CHECK(cudaMemcpy(other, from, BYTES, cudaMemcpyDeviceToDevice)); });
}
