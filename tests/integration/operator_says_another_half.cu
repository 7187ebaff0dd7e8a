// verdict: none
// For an unknown kernel, csan uses the operator's declaration: it writes the other half.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    launch_fill(nonblocking_stream(), p + N / 2, 1, N / 2);
    Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0, BYTES / 2),
                     access_to(where, CSAN_READ, 1));
    scatter<<<1, 32, 0, nonblocking_stream()>>>(p, where);
    return finish();
}
