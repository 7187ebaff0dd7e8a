// verdict: none
// options: implicit_sync=observed
// cudaFreeArray was seen to wait for the device, and that is order by default.
#include "implicit.h"

int main()
{
    cudaArray_t other;
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&other, &words, 16, 16));
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaFreeArray(other)); });
}
