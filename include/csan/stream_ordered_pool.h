/* A pool allocator of a program, with its blocks declared to csan. C++11; header only.
 *
 *     my_pool pool(...);
 *     csan::stream_ordered_pool<my_pool> checked(pool);
 *     void *block = checked.allocate(bytes, stream);
 *     checked.deallocate(block, bytes, stream);
 *
 * `Pool` has allocate(bytes, stream), which returns a pointer, and deallocate(pointer, bytes,
 * stream), as RMM's and other stream-ordered pools have; or allocate(bytes) and
 * deallocate(pointer), as Umpire's allocators have. csan sees a pool's whole allocations only,
 * and so no reuse of a block within one; declared blocks are memory of their own, and work of a
 * former owner that is not ordered with the next owner's is reported (csan_pool_alloc,
 * csan_pool_free).
 *
 * As thread-safe as the pool. Where csan is absent or off it passes calls on. The pool stays the
 * caller's. An exception of the pool passes through, and declares nothing.
 */
#ifndef CSAN_STREAM_ORDERED_POOL_H
#define CSAN_STREAM_ORDERED_POOL_H

#include <csan/csan.h>

#include <cstddef>

namespace csan
{

template <class Pool> class stream_ordered_pool
{
  public:
    explicit stream_ordered_pool(Pool &pool) : pool_(pool) {}

    /* `bytes` as the pool takes them; `stream` is anything that converts to a CUDA stream's handle.
     */
    template <class Stream> void *allocate(std::size_t bytes, Stream stream)
    {
        void *block = pool_.allocate(bytes, stream);
        if (block && bytes)
            csan_pool_alloc(block, bytes, static_cast<csan_stream>(stream));
        return block;
    }

    /* Declared before the pool takes the block back: another thread may get it at once. */
    template <class Stream> void deallocate(void *block, std::size_t bytes, Stream stream)
    {
        if (block && bytes)
            csan_pool_free(block, static_cast<csan_stream>(stream));
        pool_.deallocate(block, bytes, stream);
    }

    /* The same of a pool without streams. */
    void *allocate(std::size_t bytes)
    {
        void *block = pool_.allocate(bytes);
        if (block && bytes)
            csan_pool_alloc(block, bytes, nullptr);
        return block;
    }
    void deallocate(void *block)
    {
        if (block)
            csan_pool_free(block, nullptr);
        pool_.deallocate(block);
    }

    Pool &pool()
    {
        return pool_;
    }

  private:
    Pool &pool_;
};

} // namespace csan

#endif
