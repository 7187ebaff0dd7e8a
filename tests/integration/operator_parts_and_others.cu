// verdict: race
// expect: operator_parts_and_others.cu:{first}
// expect: operator_parts_and_others.cu:{other}
// The parts of an operator race with what comes after it, on whichever stream, all the same.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    {
        Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
        scatter<<<1, 32, 0, a>>>(p, where); // at: first
        launch_fill(b, q);
    }
    launch_fill(b, p); // at: other
    return finish();
}
