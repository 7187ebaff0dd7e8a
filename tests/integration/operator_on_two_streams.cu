// verdict: none
// An operator that shares its arguments out among two streams: which stream takes which part, it
// does not say, and that it touches them is no sign that two of its own parts do the same.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
    scatter<<<1, 32, 0, nonblocking_stream()>>>(p, where);
    scatter<<<1, 32, 0, nonblocking_stream()>>>(p + N / 2, where);
    return finish();
}
