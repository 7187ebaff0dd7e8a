// verdict: race
// expect: host_huge_pages.cu:{access}
// options: host=guard
// Huge pages: the kernel's own are guarded by parts. Those that the program asked for cannot be,
// where the machine has any: they are used as without csan.
#include "host_memory.h"
#include <sys/mman.h>

static const size_t HUGE = 2 << 20;

static void *map(int flags)
{
    void *p =
        mmap(nullptr, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

int main()
{
    int *device = device_array<int>(HOST_N);
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    char *plain = (char *)map(0);
    plain += HUGE - (size_t)plain % HUGE;
    madvise(plain, HUGE, MADV_HUGEPAGE);
    memset(plain, 1, HUGE);
    CHECK(cudaHostRegister(plain, HUGE, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(plain + 4096, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    store((int *)plain, 5);
    load((int *)(plain + 8192)); // at: access
    store((int *)(plain + 4096 + HOST_BYTES), 6);
    char *huge = (char *)map(MAP_HUGETLB);
    if (huge) {
        CHECK(cudaHostRegister(huge, HUGE, cudaHostRegisterDefault));
        CHECK(cudaMemcpyAsync(huge, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
        store((int *)(huge + HOST_BYTES), 7);
        CHECK(cudaStreamSynchronize(stream));
        if (load((int *)huge) != 1 || load((int *)(huge + HOST_BYTES)) != 7)
            return 102;
        CHECK(cudaHostUnregister(huge));
    }
    CHECK(cudaStreamSynchronize(stream));
    if (load((int *)plain) != 5 || load((int *)(plain + 4096)) != 1)
        return 103;
    return finish();
}
