// verdict: race
// options: implicit_sync=promised
// expect: since cuMemFree made the host wait there, but nothing promises it
// Nothing promises that cudaFree of other memory waits for the device.
#include "implicit.h"

int main()
{
    int *other = device_array<int>();
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaFree(other)); });
}
