/* See heap.h. */
#include "runtime/device/memory/heap.h"
#include "runtime/device/memory/arena.h"

#include <stdlib.h>

/* The least address space that serves, and how it is used: a malloc is aligned to 16 bytes; freed
 * blocks wait until so many bytes of others were freed after them. */
enum { UNIT = 16, ZONE = 64, SPANS = 4, NOBODY = 0 };
#define HEAP_HINT  UINT64_C(0x600000000000)
#define HEAP_STEP  (UINT64_C(1) << 37) /* from context to context: device and shadow fit in */
#define HEAP_LEAST (UINT64_C(1) << 30)
#define HEAP_MOST  (UINT64_C(1) << 35)

/* In this process, mapped twice as device memory is. */
static struct arena *heap_of(struct CUctx_st *context)
{
    const uint64_t limit = context->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    uint64_t span = HEAP_LEAST;
    if (context->heap)
        return context->heap;
    while (span < limit * SPANS && span < HEAP_MOST)
        span *= 2;
    struct arena *heap = calloc(1, sizeof *heap);
    if (!heap || !arena_open(heap, HEAP_HINT + context->id % 64 * HEAP_STEP, span, UNIT,
                             limit < span ? limit : span, true)) {
        free(heap);
        return NULL;
    }
    arena_guard(heap, ZONE, span / 2);
    context->heap = heap;
    return heap;
}

static struct CUctx_st *context_of(void *user)
{
    struct CUctx_st *context = ((struct item *)user)->stream->context;
    return context->home ? context->home : context;
}

uint64_t heap_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    struct arena *heap = heap_of(context_of(user));
    const uint64_t address = heap ? arena_allocate(heap, bytes, NOBODY, 0) : 0;
    if (!address || address % (alignment ? alignment : 1) == 0)
        return address;
    arena_free_now(heap, address);
    return 0;
}

bool heap_release(void *user, uint64_t address, uint64_t *bytes)
{
    struct arena *heap = heap_of(context_of(user));
    struct arena_info info;
    if (!heap || !arena_find(heap, address, &info) || info.base != address)
        return false;
    *bytes = info.bytes;
    return arena_free(heap, address);
}

bool heap_find(const struct CUctx_st *context, uint64_t address, struct exec_region *region)
{
    const struct arena *heap = context->home ? context->home->heap : context->heap;
    struct arena_info info;
    if (!heap || !arena_owns(heap, address) || !arena_find(heap, address, &info))
        return false;
    *region = (struct exec_region){info.base, info.base + info.bytes, (int64_t)heap->delta, true};
    return true;
}

bool heap_is_used(const struct CUctx_st *context)
{
    return context->heap != NULL;
}

void heap_forget(struct CUctx_st *context)
{
    if (context->heap)
        arena_close(context->heap);
    free(context->heap);
    context->heap = NULL;
}
