// verdict: none
// Pointers to memory of the host that the device reaches: pinned, managed, and registered.
#include "program.h"

int main()
{
    int *pinned = nullptr, *managed = nullptr, *registered = (int *)malloc(4096);
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaMallocManaged(&managed, BYTES));
    CHECK(cudaHostRegister(registered, 4096, cudaHostRegisterDefault));
    launch_fill(0, pinned);
    launch_fill(0, managed);
    launch_fill(0, registered);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(registered));
    return finish();
}
