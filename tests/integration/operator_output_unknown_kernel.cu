// verdict: race
// expect: writing to the output
// An unknown kernel is taken to write the memory that its operator made.
#include "operators.h"

int main()
{
    int *pool = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    {
        Operator running(functional, 1, access_to(where, CSAN_READ, 0));
        csan_pool_alloc(pool, BYTES, a);
        scatter<<<1, 32, 0, a>>>(pool, where);
    }
    launch_fill(b, pool);
    return finish();
}
