// Copies in batches.
#pragma once

#include "program.h"

// Two copies of N integers each.
static inline void copy_two(cudaStream_t stream, int *to0, const int *from0, int *to1,
                            const int *from1,
                            cudaMemcpySrcAccessOrder order = cudaMemcpySrcAccessOrderStream)
{
    void *to[] = {to0, to1};
    const void *from[] = {from0, from1};
    size_t sizes[] = {BYTES, BYTES}, first = 0;
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = order;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
}
