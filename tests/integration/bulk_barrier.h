// The barrier in shared memory that a bulk copy arrives at with its bytes (PTX ISA, "mbarrier"):
// one thread begins it, all of the block wait.
#pragma once

#include <cstdint>

__device__ inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ inline void bulk_barrier_begin(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)));
    asm volatile("fence.proxy.async.shared::cta;");
}

__device__ inline void bulk_barrier_expect(uint64_t *barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void bulk_barrier_wait(uint64_t *barrier)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(barrier))
                     : "memory");
}
