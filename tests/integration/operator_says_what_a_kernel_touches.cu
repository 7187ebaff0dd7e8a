// verdict: race
// expect: Overlap: 2048 bytes, 2048 to 4095 of the 4096
// expect: Race 1 is certain
// For an unknown kernel, csan uses the operator's declaration.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    launch_fill(nonblocking_stream(), p);
    Operator running(in_place, 2, access_to(p + N / 2, CSAN_WRITE, 0, BYTES / 2),
                     access_to(where, CSAN_READ, 1));
    scatter<<<1, 32, 0, nonblocking_stream()>>>(p, where);
    return finish();
}
