// verdict: none
// options: implicit_sync=observed
// cudaHostUnregister was seen to wait for the device, and that is order by default.
#include "implicit.h"

int main()
{
    static int other[N];
    CHECK(cudaHostRegister(other, BYTES, cudaHostRegisterDefault));
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaHostUnregister(other)); });
}
