// verdict: none
// options: implicit_sync=observed
// cudaFreeHost was seen to wait for the device, and that is order by default.
#include "implicit.h"

int main()
{
    int *other;
    CHECK(cudaMallocHost((void **)&other, BYTES));
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaFreeHost(other)); });
}
