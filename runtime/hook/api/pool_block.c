/* See pool_block.h. */
#include "runtime/hook/api/pool_block.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/operator/pool_query.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/copied_values.h"

#include <csan/detector.h>

/* A deferred piece: a pool block that was allocated, or with bytes 0 freed. */
struct block {
    struct deferred_piece piece;
    uint64_t base, bytes;
    csan_site site;
    struct operators *owner; /* of a deferred operator that runs; or NULL */
};

static void block_belongs(const struct block *block)
{
    if (block->bytes)
        operator_memory_made(block->base, block->bytes);
    else
        operator_memory_gone(block->base);
}

static void block_declare(const struct deferred_piece *piece)
{
    const struct block *block = (const struct block *)piece;
    if (block->owner) {
        struct operators *before = operator_act_for(block->owner);
        block_belongs(block);
        operator_act_for(before);
    }
    if (block->bytes)
        csan_memory_pool_alloc(session_context(), block->base, block->bytes, CSAN_HOST,
                               block->site);
    else
        csan_memory_pool_free(session_context(), block->base, CSAN_HOST, 0);
}

/* Within an operator that was not deferred, the next call flushes deferred work. */
static void block_defer(uint64_t base, uint64_t bytes, csan_site site)
{
    struct block declared = {{.work = block_declare}, base, bytes, site, operator_deferred_owner()};
    const bool at_once = !declared.owner && operator_deferred_or_other();
    if (at_once)
        block_belongs(&declared);
    struct block *block = at_once ? NULL : (struct block *)deferred_begin(sizeof *block);
    if (!block) {
        deferred_flush();
        block_declare(&declared.piece);
        return;
    }
    declared.piece.bytes = block->piece.bytes;
    *block = declared;
    deferred_end(&block->piece);
}

void pool_block_alloc(uint64_t base, uint64_t bytes, const char *call)
{
    if (!guard_enter_without_flush())
        return;
    deferred_prefetch();
    csan_site site = callsite_of_memory(call);
    copied_values_forget(base, bytes);
    pool_query_blocks_are_declared();
    block_defer(base, bytes, site);
    operator_summary_stir();
    guard_leave();
}

void pool_block_free(uint64_t base)
{
    if (!guard_enter_without_flush())
        return;
    block_defer(base, 0, 0);
    operator_summary_stir();
    guard_leave();
}

bool pool_block_owner_has(uint64_t base, uint64_t bytes)
{
    uint64_t start = 0, length = 0;
    if (!guard_enter())
        return false;
    const bool known = csan_memory_owner(session_context(), base, &start, &length);
    guard_leave();
    return known && start == base && length == bytes;
}

bool pool_block_is_allocated(uint64_t base, uint64_t bytes)
{
    uint64_t start = 0, length = 0;
    if (!guard_enter())
        return false;
    const bool known = csan_memory_find(session_context(), base, &start, &length, NULL);
    guard_leave();
    return known && bytes <= length && base - start <= length - bytes;
}
