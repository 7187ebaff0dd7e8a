// verdict: none
// Memory that an operator made and gave back before its launch is not the launch's.
#include "operators.h"

int main()
{
    int *pool = device_array<int>(), *p = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    launch_fill(b, pool);
    Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
    csan_pool_alloc(pool, BYTES, a);
    csan_pool_free(pool, a);
    scatter<<<1, 32, 0, a>>>(p, where);
    return finish();
}
