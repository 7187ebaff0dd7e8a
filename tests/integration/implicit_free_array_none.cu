// verdict: race
// options: implicit_sync=none
// expect: since cuArrayDestroy made the host wait there, but nothing promises it
// Nothing promises that cudaFreeArray waits for the device.
#include "implicit.h"

int main()
{
    cudaArray_t other;
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&other, &words, 16, 16));
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaFreeArray(other)); });
}
