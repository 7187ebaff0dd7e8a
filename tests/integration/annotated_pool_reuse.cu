// verdict: race
// expect: memory reused while stream
// A pool of the program's own gives a block to a second stream while the first still uses it.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *block = device_array<int>();
    csan_pool_alloc(block, BYTES, a);
    launch_fill(a, block);
    csan_pool_free(block, a);
    csan_pool_alloc(block, BYTES, b);
    launch_fill(b, block);
    csan_pool_free(block, b);
    return finish();
}
