// verdict: race
// options: implicit_sync=promised
// expect: since cuMemFreeHost made the host wait there, but nothing promises it
// Nothing promises that cudaFreeHost waits for the device.
#include "implicit.h"

int main()
{
    int *other;
    CHECK(cudaMallocHost((void **)&other, BYTES));
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaFreeHost(other)); });
}
