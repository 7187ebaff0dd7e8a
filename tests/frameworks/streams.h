/* Two copies to one buffer on two streams, ordered by an event or not. */
#pragma once

#include <cuda_runtime.h>

inline void streams_run(bool ordered)
{
    static char source[4096];
    char *buffer = nullptr;
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaMalloc(&buffer, sizeof source);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMemsetAsync(buffer, 1, sizeof source, first);
    cudaEventRecord(event, first);
    if (ordered)
        cudaStreamWaitEvent(second, event, 0);
    cudaMemsetAsync(buffer, 2, sizeof source, second);
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(buffer);
}
