// verdict: none
// The heap has as many bytes as cudaLimitMallocHeapSize says, which a kernel's first malloc
// settles. What does not fit is a null pointer; what is freed can be allocated again.
#include "device_heap.h"

__global__ void fill_heap(int *counts, int bytes)
{
    void *blocks[64];
    int count = 0;
    while (count < 64 && (blocks[count] = malloc(bytes)))
        count++;
    counts[0] = count;
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    void *again = malloc(bytes);
    counts[1] = again != nullptr;
    free(again);
    free(nullptr);
}

int main()
{
    int *counts = device_array<int>(2), host[2];
    size_t limit = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    if (limit < 4 << 20)
        printf("limit %zu\n", limit);
    fill_heap<<<1, 1>>>(counts, 1 << 20);
    CHECK(cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost));
    if (host[0] < 2 || host[0] >= 64 || !host[1])
        printf("%d blocks, again %d\n", host[0], host[1]);
    if (cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) != cudaErrorInvalidValue)
        printf("the limit could be changed\n");
    (void)cudaGetLastError();
    return finish();
}
