// verdict: none
// As memcpy_pageable_to_device, with a blocking stream.
#include "program.h"

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream();
    CHECK(cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice));
    launch_increment(a, p);
    return finish();
}
