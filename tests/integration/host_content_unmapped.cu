// verdict: none
// options: host=content
// Registered memory is unregistered and unmapped while a copy from it is pending: csan does not
// read what is not there any more.
#include "host_memory.h"

#include <sys/mman.h>

static void *mapped()
{
    void *p = mmap(nullptr, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, HOST_BYTES);
    CHECK(cudaHostRegister(p, HOST_BYTES, cudaHostRegisterDefault));
    return p;
}

int main()
{
    int *device = device_array<int>(HOST_N);
    cudaStream_t stream = nonblocking_stream();
    for (int turn = 0; turn < 3; turn++) {
        void *p = mapped();
        CHECK(cudaMemcpyAsync(device, p, HOST_BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaHostUnregister(p));
        munmap(p, HOST_BYTES);
    }
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
