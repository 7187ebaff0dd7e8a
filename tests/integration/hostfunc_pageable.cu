// verdict: race
// options: host_order=threads
// expect: may read its source at the call
// expect: or let the host wait for the host function's call \(.*hostfunc_pageable.cu:{function}\) before the call
// A host function fills pageable memory, and a copy behind it in the stream reads it: the driver
// may take the bytes at the call, before the function ran.
#include "program.h"

static void write_all(void *data)
{
    int *host = (int *)data;
    csan_host_writes(host, BYTES);
    for (int i = 0; i < N; i++)
        host[i] = 3;
}

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    CHECK(cudaLaunchHostFunc(s, write_all, host)); // at: function
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
    return finish();
}
