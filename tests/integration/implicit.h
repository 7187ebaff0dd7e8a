// A call of the host between two accesses of two streams: they race unless the host waited in the
// call, and that counts as order (option implicit_sync; docs/guide/implicit-waits.md).
#pragma once

#include "program.h"

// A in the first stream, then the call on other memory, then B in a stream of its own.
template <typename Call> static int implicit_wait(cudaStream_t first, Call call)
{
    int *p = device_array<int>();
    cudaStream_t second = nonblocking_stream();
    launch_fill(first, p);
    call();
    launch_increment(second, p);
    return finish();
}
