// verdict: race
// options: host=guard:dedup=0:report_limit=0
// expect: host_memcmp.cu:{memcmp}
// expect: host_memcmp.cu:{bcmp}
// expect: host_memcmp.cu:{mempcpy}
// expect: host_memcmp.cu:{bcopy}
// expect: host_memcmp.cu:{bzero}
// expect: host_memcmp.cu:{cleared}
// memcmp and others of memcpy's kind meet what a copy may still write.
#include "host_memory.h"
#include <cstring>
#include <strings.h>

template <typename F> static F *hide(F *function)
{
    asm volatile("" : "+r"(function));
    return function;
}

static char *host, *device, other[256];
static cudaStream_t stream;

static void begin()
{
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(host + 32, device, 64, cudaMemcpyDeviceToHost, stream));
}

int main()
{
    host = (char *)pinned_memory();
    device = (char *)device_array<int>(HOST_N);
    stream = nonblocking_stream();
    CHECK(cudaMemset(device, 0, HOST_BYTES));
    CHECK(cudaDeviceSynchronize());
    int unlike = 0;
    begin();
    unlike |= hide<int(const void *, const void *, size_t)>(memcmp)(host, other, 256); // at: memcmp
    begin();
    unlike |= hide<int(const void *, const void *, size_t)>(bcmp)(host, other, 256); // at: bcmp
    begin();
    hide<void *(void *, const void *, size_t)>(mempcpy)(other, host, 256); // at: mempcpy
    begin();
    hide<void(const void *, void *, size_t)>(bcopy)(host, other, 256); // at: bcopy
    begin();
    hide<void(void *, size_t)>(bzero)(host, 256); // at: bzero
    begin();
    hide<void(void *, size_t)>(explicit_bzero)(host, 256); // at: cleared
    CHECK(cudaStreamSynchronize(stream));
    return unlike ? 102 : finish();
}
