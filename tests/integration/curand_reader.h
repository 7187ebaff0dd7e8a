// Random numbers of one stream, read on another.
#include "program.h"

#include <curand.h>

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *out = device_array<int>(), *in = device_array<int>();
    curandGenerator_t generator;
    if (curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS ||
        curandSetStream(generator, a) != CURAND_STATUS_SUCCESS)
        return 101;
    CHECK(cudaDeviceSynchronize());
    if (curandGenerate(generator, (unsigned *)in, N) != CURAND_STATUS_SUCCESS)
        return 102;
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event));
    }
    copy<<<GRID, BLOCK, 0, b>>>(out, in, N);
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
