// verdict: none
// options: implicit_sync=observed
// cudaFree of other memory was seen to wait for the device, and that is order by default.
#include "implicit.h"

int main()
{
    int *other = device_array<int>();
    return implicit_wait(nonblocking_stream(), [&] { CHECK(cudaFree(other)); });
}
