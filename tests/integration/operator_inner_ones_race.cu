// verdict: race
// expect: demo::add_
// Two operators within one write the same memory on two streams: each is all that it says.
#include "operators.h"

static void scatter_in(cudaStream_t stream, int *p, const int *where)
{
    Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
    scatter<<<1, 32, 0, stream>>>(p, where);
}

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    Operator outer(composite, 1, access_to(p, CSAN_WRITE, 0));
    scatter_in(nonblocking_stream(), p, where);
    scatter_in(nonblocking_stream(), p, where);
    return finish();
}
