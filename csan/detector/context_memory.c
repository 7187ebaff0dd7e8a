/* The context's functions for the program's memory (csan.h).
 *
 * csan_memory_find and csan_memory_free_begin answer at once, from the program's view of memory
 * (live_memory.h), even while the queue waits for an access set. */
#include "csan/detector/context_state.h"
#include "csan/detector/host_watch.h"
#include "csan/detector/memory_usage.h"
#include "csan/base/now.h"

#include <stdlib.h>

static bool is_range(uint64_t base, uint64_t bytes)
{
    return bytes && base + bytes > base;
}

/* Nothing of it is benign any more. */
static void memory_is_born(csan_context *context, struct range range)
{
    if (benign_has(&context->canonicalizations.now.benign, range))
        benign_remove(&context_canonicalization_changes(context)->benign, range);
}

int csan_memory_create(csan_context *context, enum csan_memory_kind kind, uint64_t base,
                       uint64_t bytes, csan_lane lane, csan_site site)
{
    if (!is_range(base, bytes))
        return -1;
    struct entry entry = {.kind = ENTRY_BIRTH,
                          .lane = kind == CSAN_MEMORY_STREAM ? lane : CSAN_HOST,
                          .site = site,
                          .base = base,
                          .bytes = bytes,
                          .memory_kind = kind};
    const bool ranges = context_ready_ranges();
    lock_take(context->lock);
    bool known = context_has_lanes(context, &entry);
    if (known) {
        if (__builtin_expect(context->detector.watch != NULL, 0))
            context->detector.watch->freed(context->detector.watch->user,
                                           (struct range){base, base + bytes});
        entry.number = context_next_number(context, ranges);
        live_memory_add(&context->live, &(struct live_memory_entry){.range = {base, base + bytes},
                                                                    .kind = kind,
                                                                    .site = site,
                                                                    .born = now_coarse()});
        memory_is_born(context, (struct range){base, base + bytes});
        context_enter(context, &entry);
    }
    context_leave(context);
    return known ? 0 : -1;
}

csan_free *csan_memory_free_begin(csan_context *context, uint64_t base, csan_lane lane, int checked,
                                  csan_site site)
{
    csan_free *token = calloc(1, sizeof(*token));
    if (!token)
        return NULL;
    const bool ranges = context_ready_ranges();
    lock_take(context->lock);
    struct live_memory_entry removed;
    if (lane >= context->detector.order.count ||
        !live_memory_remove(&context->live, base, &removed)) {
        lock_give(context->lock);
        free(token);
        return NULL;
    }
    if (__builtin_expect(context->detector.watch != NULL, 0))
        context->detector.watch->freed(context->detector.watch->user, removed.range);
    token->base = base;
    token->bytes = removed.range.end - base;
    token->kind = removed.kind;
    token->live = removed;
    token->conflicts.each = context->detector.conflicts.each;
    struct entry entry = {.kind = ENTRY_FREE_BEGIN,
                          .lane = lane,
                          .site = site,
                          .free = token,
                          .checked = checked && !context_ignores(),
                          .ignored = context_ignores(),
                          .number = context_next_number(context, ranges)};
    context_enter(context, &entry);
    context_leave(context);
    context_observe(context, &entry, 1);
    return token;
}

void csan_memory_free_end(csan_context *context, csan_free *token, int failed,
                          enum csan_free_waits waited)
{
    if (!token)
        return;
    struct entry entry = {
        .kind = ENTRY_FREE_END, .free = token, .failed = failed, .waited = (uint8_t)waited};
    lock_take(context->lock);
    if (failed)
        live_memory_add(&context->live, &token->live);
    context_enter(context, &entry);
    bool news = context_has_news(context);
    context_leave(context);
    if (news)
        context_deliver(context);
}

int csan_memory_find(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes,
                     enum csan_memory_kind *kind)
{
    lock_take(context->lock);
    const struct live_memory_entry *found = live_memory_find(&context->live, address);
    if (found && base)
        *base = found->range.start;
    if (found && bytes)
        *bytes = found->range.end - found->range.start;
    if (found && kind)
        *kind = found->kind;
    lock_give(context->lock);
    return found != NULL;
}

void csan_memory_alias(csan_context *context, uint64_t base, uint64_t bytes, uint64_t onto)
{
    lock_take(context->lock);
    alias_add(&context_canonicalization_changes(context)->aliases, base, bytes, onto);
    lock_give(context->lock);
}

void csan_memory_unalias(csan_context *context, uint64_t base, uint64_t bytes)
{
    lock_take(context->lock);
    if (is_range(base, bytes) &&
        alias_has(&context->canonicalizations.now.aliases, (struct range){base, base + bytes}))
        alias_remove(&context_canonicalization_changes(context)->aliases, base, bytes);
    lock_give(context->lock);
}

bool context_has_device_memory(csan_context *context, struct range range)
{
    lock_take(context->lock);
    const bool found = live_memory_has_device_memory(&context->live, range) ||
                       freed_has_device_memory(&context->detector.memory.freed, range);
    lock_give(context->lock);
    return found;
}

int csan_memory_owner(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    struct range owner = {0, 0};
    if (!live_memory_may_have(&context->live, address))
        return 0;
    lock_take(context->lock);
    bool found = live_memory_owner(&context->live, address, &owner);
    lock_give(context->lock);
    if (found) {
        *base = owner.start;
        *bytes = owner.end - owner.start;
    }
    return found;
}

size_t context_memory_usage(csan_context *context, bool (*wanted)(void *user, uint64_t base),
                            void *user, struct memory_usage **holdings)
{
    lock_take(context->lock);
    const size_t count = memory_usage_gather(&context->live, wanted, user, holdings);
    lock_give(context->lock);
    return count;
}

struct range context_span(csan_context *context)
{
    return live_memory_span(&context->live);
}

void context_pointees(csan_context *context, const uint64_t *pointers, size_t count,
                      struct range *owners)
{
    enum { MOST = 64 };
    uint64_t asked[MOST];
    struct range found[MOST];
    uint32_t place[MOST];
    size_t may = 0;
    for (size_t i = 0; i < count; i++) {
        owners[i] = (struct range){0, 0};
        if (live_memory_may_point(&context->live, pointers[i])) {
            place[may] = (uint32_t)i;
            asked[may++] = pointers[i];
        }
        if (!may || (may < MOST && i + 1 < count))
            continue;
        lock_take(context->lock);
        for (size_t k = 0; k < may; k++)
            __builtin_prefetch(memory_cache_slot(&context->detector.memory, asked[k]));
        live_memory_pointees(&context->live, asked, may, found);
        for (size_t k = 0; k < may; k++)
            memory_prefetch(&context->detector.memory, asked[k]);
        lock_give(context->lock);
        for (size_t k = 0; k < may; k++)
            owners[place[k]] = found[k];
        may = 0;
    }
}

void context_prefetch(csan_context *context, const uint64_t *addresses, size_t count)
{
    const struct memory *memory = &context->detector.memory;
    lock_take(context->lock);
    for (size_t i = 0; i < count; i++) {
        const struct allocation *found = memory_recall(memory, addresses[i]);
        if (found)
            allocation_prefetch_hints(found, addresses[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct allocation *found = memory_recall(memory, addresses[i]);
        if (found)
            allocation_prefetch_elements(found, addresses[i]);
    }
    lock_give(context->lock);
}

void csan_memory_benign(csan_context *context, uint64_t base, uint64_t bytes)
{
    struct csan_access access = {.base = base, .bytes = bytes};
    struct csan_access *room = NULL;
    const struct csan_access *parts = &access;
    size_t count = 1;
    if (!is_range(base, bytes))
        return;
    lock_take(context->lock);
    struct canonicalization *canonicalization = context_canonicalization_changes(context);
    parts = alias_canonicalize(&canonicalization->aliases, parts, &count, &room);
    for (size_t i = 0; i < count; i++)
        benign_add(&canonicalization->benign,
                   (struct range){parts[i].base, parts[i].base + parts[i].bytes});
    lock_give(context->lock);
    free(room);
}

int csan_memory_pool_alloc(csan_context *context, uint64_t base, uint64_t bytes, csan_lane lane,
                           csan_site site)
{
    if (!is_range(base, bytes))
        return -1;
    const struct range block = {base, base + bytes};
    lock_take(context->lock);
    memory_is_born(context, block);
    live_memory_add_block(&context->live, block, site);
    context_submit_locked(
        context,
        &(struct entry){
            .kind = ENTRY_POOL_ALLOC, .lane = lane, .site = site, .base = base, .bytes = bytes});
    return 0;
}

int csan_memory_pool_free(csan_context *context, uint64_t base, csan_lane lane, csan_site site)
{
    lock_take(context->lock);
    live_memory_remove_block(&context->live, base);
    context_submit_locked(
        context,
        &(struct entry){.kind = ENTRY_POOL_FREE, .lane = lane, .site = site, .base = base});
    return 0;
}
