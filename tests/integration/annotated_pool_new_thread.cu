// verdict: race
// expect: memory reused while stream
// reject: frees of unknown pool blocks
// A thread that has no CUDA context yet may use the pool: what it does there counts.
#include "program.h"
#include <thread>

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *block = device_array<int>();
    csan_pool_alloc(block, BYTES, a);
    launch_fill(a, block);
    std::thread([&] {
        csan_pool_free(block, nullptr);
        csan_pool_alloc(block, BYTES, nullptr);
    }).join();
    launch_fill(b, block);
    csan_pool_free(block, b);
    return finish();
}
