// verdict: none
// options: host=guard
// content: none
// Sixteen bytes at once, behind the copy.
#include "host_memory.h"
#include <emmintrin.h>

static int kept[4] __attribute__((aligned(16)));

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    __m128i four = _mm_load_si128((const __m128i *)&host[64]);
    _mm_store_si128((__m128i *)kept, four);
    return finish();
}
