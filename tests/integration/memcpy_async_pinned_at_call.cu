// verdict: none
// As memcpy_async_pageable_at_call, with a pinned buffer: it is read in the stream's order.
#include "program.h"

static void fill_buffer(void *buffer)
{
    csan_host_writes(buffer, BYTES);
    memset(buffer, 1, BYTES);
}

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaLaunchHostFunc(a, fill_buffer, host));
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    return finish();
}
