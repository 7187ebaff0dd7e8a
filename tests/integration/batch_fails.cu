// verdict: none
// cuda: 13
// A batch whose attributes are wrong copies nothing, and the program sees the driver's error.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    void *to[] = {p};
    const void *from[] = {q};
    size_t sizes[] = {BYTES}, first = 0;
    cudaMemcpyAttributes attributes = {};
    if (cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, a) !=
        cudaErrorInvalidValue)
        return 102;
    if (cudaGetLastError() != cudaErrorInvalidValue)
        return 103;
    launch_fill(b, p);
    return finish();
}
