// A pool that hands out parts of one allocation, and gives a block that was taken back to whoever
// asks next.
#pragma once
#include "program.h"

#include <csan/stream_ordered_pool.h>
#include <vector>

class part_pool
{
  public:
    part_pool()
    {
        CHECK(cudaMalloc(&all, 8 * BYTES));
    }
    void *allocate(size_t bytes, cudaStream_t)
    {
        if (free_blocks.empty()) {
            void *block = all + used;
            used += bytes;
            return block;
        }
        void *block = free_blocks.back();
        free_blocks.pop_back();
        return block;
    }
    void deallocate(void *block, size_t, cudaStream_t)
    {
        free_blocks.push_back(block);
    }

  private:
    char *all = nullptr;
    size_t used = 0;
    std::vector<void *> free_blocks;
};

// The same without streams, as Umpire's allocators have it.
class plain_pool
{
  public:
    void *allocate(size_t bytes)
    {
        return parts.allocate(bytes, nullptr);
    }
    void deallocate(void *block)
    {
        parts.deallocate(block, 0, nullptr);
    }

  private:
    part_pool parts;
};

// Two streams use a block of such a pool; `waits`: the host waits for the first before it gives the
// block back.
static void hand_over_plain(bool waits)
{
    plain_pool pool;
    csan::stream_ordered_pool<plain_pool> checked(pool);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *block = (int *)checked.allocate(BYTES);
    launch_fill(a, block);
    if (waits)
        CHECK(cudaStreamSynchronize(a));
    checked.deallocate(block);
    block = (int *)checked.allocate(BYTES);
    launch_fill(b, block);
    checked.deallocate(block);
}

// Two streams use a block, one after the other; `waits`: whether the second waits for the first.
static void hand_over(bool waits)
{
    part_pool pool;
    csan::stream_ordered_pool<part_pool> checked(pool);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    int *block = (int *)checked.allocate(BYTES, a);
    launch_fill(a, block);
    CHECK(cudaEventRecord(e, a));
    checked.deallocate(block, BYTES, a);
    if (waits)
        CHECK(cudaStreamWaitEvent(b, e, 0));
    block = (int *)checked.allocate(BYTES, b);
    launch_fill(b, block);
    checked.deallocate(block, BYTES, b);
}
