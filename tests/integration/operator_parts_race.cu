// verdict: race
// expect: demo::add_
// expect: operator_parts_race.cu:{first}
// expect: operator_parts_race.cu:{second}
// What an operator does on two streams meets: csan knows all of both kernels, and takes the
// operator's word of neither.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
    scatter<<<1, 32, 0, a>>>(p, where);
    launch_fill(a, p + N / 2, 1, N / 2); // at: first
    launch_fill(b, p + N / 2, 2, N / 2); // at: second
    return finish();
}
