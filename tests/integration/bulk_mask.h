// Bulk copies by a mask of bytes (cp.async.bulk with .cp_mask): of each 16 bytes a kernel writes
// the first eight, while another stream sets FIRST to FIRST + 3 of the first 16.
#pragma once

#include "program.h"

enum { PIECE = 16, PIECES = 4, COPIED = PIECE * PIECES, MASK = 0x00ff };

__global__ void copy_by_mask(unsigned char *to, int mask)
{
    __shared__ alignas(16) unsigned char from[COPIED];
    for (int i = threadIdx.x; i < COPIED; i += blockDim.x)
        from[i] = (unsigned char)(i + 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(
                         __cvta_generic_to_global(to)),
                     "r"((unsigned)__cvta_generic_to_shared(from)), "r"((unsigned)COPIED),
                     "h"((unsigned short)mask)
                     : "memory");
}

static inline int copy_and_set(int first, bool ordered)
{
    unsigned char *to = device_array<unsigned char>(COPIED), got[COPIED];
    cudaStream_t one = nonblocking_stream(), other = nonblocking_stream();
    CHECK(cudaMemset(to, 0xee, COPIED));
    CHECK(cudaDeviceSynchronize());
    copy_by_mask<<<1, 32, 0, one>>>(to, MASK);
    if (ordered) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, one));
        CHECK(cudaStreamWaitEvent(other, event));
    }
    CHECK(cudaMemsetAsync(to + first, 0x77, 4, other));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, to, COPIED, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COPIED; i++) {
        const bool is_set = i >= first && i < first + 4, copied = MASK >> i % PIECE & 1;
        const int wanted = is_set ? 0x77 : copied ? i + 1 : 0xee;
        if (got[i] != wanted && !(is_set && copied && !ordered))
            printf("%d: %d, not %d\n", i, got[i], wanted);
    }
    return finish();
}
