// verdict: race
// expect: annotation_benign_over.cu:{first}
// expect: annotation_benign_over.cu:{second}
// A block that a pool gives out again is checked again: what its last owner did not mind was his.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    csan_pool_alloc(p, BYTES, a);
    csan_benign_range(p, BYTES);
    launch_fill(a, p);
    launch_fill(b, p);
    csan_pool_free(p, a);
    CHECK(cudaDeviceSynchronize());
    csan_pool_alloc(p, BYTES, a);
    launch_fill(a, p); // at: first
    launch_fill(b, p); // at: second
    return finish();
}
