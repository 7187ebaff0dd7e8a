// verdict: race
// expect: a copy from pageable memory may read its source at the call
// expect: let the source of cudaMemcpy(ToSymbol)?Async .*memcpy_async_pageable_at_call.cu:{copy}.* be pinned
// memory reject: 2 races A host function in stream order fills a buffer, and a copy behind it in
// the same stream reads it. The buffer is pageable: the driver may stage its bytes at the call,
// before the function ran. The function runs after the call here, or the host would be seen to be
// ordered after it (host_order=observed).
#include "program.h"
#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<bool> enqueued;

// A driver may wait for the stream within the call: then the function gives up waiting for its end.
static void wait_until_enqueued()
{
    for (int i = 0; i < 1000 && !enqueued; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

static void fill_buffer(void *buffer)
{
    wait_until_enqueued();
    csan_host_writes(buffer, BYTES);
    memset(buffer, 1, BYTES);
}

int main()
{
    static int host[N];
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaLaunchHostFunc(a, fill_buffer, host));
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a)); // at: copy
    enqueued = true;
    return finish();
}
