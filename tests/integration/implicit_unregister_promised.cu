// verdict: race
// options: implicit_sync=promised
// expect: since cuMemHostUnregister made the host wait there, but nothing promises it
// Nothing promises that cudaHostUnregister waits for the device.
#include "implicit.h"

int main()
{
    static int other[N];
    CHECK(cudaHostRegister(other, BYTES, cudaHostRegisterDefault));
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaHostUnregister(other)); });
}
