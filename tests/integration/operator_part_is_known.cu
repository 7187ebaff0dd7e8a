// verdict: none
// An operator works on two streams, and of what it does on the second csan knows all: a kernel that
// writes half of its argument, then another operator within it that does. The operator's statement,
// made of the first stream, is of the same work.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    {
        Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
        scatter<<<1, 32, 0, a>>>(p, where);
        launch_fill(b, p + N / 2, 1, N / 2);
        Operator inner(in_place, 2, access_to(p + N / 2, CSAN_WRITE, 0, BYTES / 2),
                       access_to(where, CSAN_READ, 1));
        scatter<<<1, 32, 0, b>>>(p + N / 2, where);
    }
    return finish();
}
