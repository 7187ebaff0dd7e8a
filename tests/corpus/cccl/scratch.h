// How CUB's device-wide algorithms are called: once for the size of their scratch memory, once to
// work.
#pragma once

#include "../corpus.h"

template <typename Call> static void with_scratch(Call call)
{
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    array<char> scratch(bytes);
    CHECK(call(scratch.data, bytes));
    CHECK(cudaDeviceSynchronize());
}
