/* Memory that begins and ends in the detector: births, frees, and declared blocks of pools. A free
 * is checked as an access of all its bytes. See detect_state.h. */
#include "csan/detector/detect_state.h"

#include <stdlib.h>
#include <string.h>

/* Memory of a graph's launch has the bytes that the launch before it left. */
static void birth_initializes(struct detector *detector, const struct entry *entry)
{
    const struct range range = {entry->base, entry->base + entry->bytes};
    const struct site *site = site_table_get(detector->sites, entry->site);
    const bool empty =
        (entry->memory_kind == CSAN_MEMORY_DEVICE || entry->memory_kind == CSAN_MEMORY_STREAM) &&
        site && !site->launched && strncmp(site->name, "cuMemAlloc", strlen("cuMemAlloc")) == 0;
    if (empty)
        initialized_born(&detector->initialized, range);
    else
        initialized_written(&detector->initialized, range);
}

void detector_birth(struct detector *detector, const struct entry *entry)
{
    struct past_access birth = detector_op_access(detector, entry);
    birth.kind = CSAN_ALLOCATE;
    if (entry->memory_kind == CSAN_MEMORY_VARIABLE)
        birth.epoch = epoch_make(ORDER_HOST, 0); /* before everything */
    memory_create(&detector->memory, &detector->order, entry->memory_kind, entry->base,
                  entry->bytes, &birth);
    if (detector->initialized.wanted)
        birth_initializes(detector, entry);
}

/* A free conflicts with every access it is not ordered after; or, where it waits for the device,
 * with what is not `behind` that wait. */
static void check_free(struct detector *detector, struct allocation *allocation,
                       const struct past_access *death, const struct entry *entry,
                       const struct snapshot *behind)
{
    const struct lmad all = {.base = allocation->range.start,
                             .bytes = allocation->range.end - allocation->range.start,
                             .span = allocation->range.end - allocation->range.start};
    struct probe probe;
    probe_begin(&probe, detector, death);
    probe.allocation = allocation;
    probe.pointer = allocation->range.start;
    probe.is_free = true;
    if (entry->host_joined && entry->lane == ORDER_HOST)
        probe.access.knowledge.clock = entry->snapshot->value.clock;
    if (behind)
        probe.access.knowledge.clock = behind->clock;
    else
        probe_check_life(&probe, &all);
    probe.access.lmad = &all;
    shadow_check(&allocation->shadow, &probe.access);
}

/* The wait inside such a free is not for what libraries do. */
static void check_free_that_waits(struct detector *detector, struct allocation *allocation,
                                  const struct past_access *death, const struct entry *entry)
{
    struct snapshot behind = order_snapshot_all_for(&detector->order, entry->lane);
    if (behind.clock)
        check_free(detector, allocation, death, entry, &behind);
    snapshot_release(&behind);
}

void detector_free_begin(struct detector *detector, const struct entry *entry)
{
    struct csan_free *token = entry->free;
    struct allocation *allocation = memory_find(&detector->memory, token->base);
    if (!allocation || allocation->freed || allocation->range.start != token->base)
        return;
    if (detector->initialized.wanted)
        initialized_written(&detector->initialized, allocation->range);
    token->lane = entry->lane;
    token->death = detector_op_access(detector, entry);
    token->death.kind = CSAN_FREE;
    token->death.generation = allocation->generation;
    if (entry->checked || (detector->order.has_requests && !entry->ignored)) {
        if (entry->checked)
            check_free(detector, allocation, &token->death, entry, NULL);
        else
            check_free_that_waits(detector, allocation, &token->death, entry);
        token->conflicts = detector->conflicts; /* reported only if the free succeeds */
        detector->conflicts = (struct conflict_list){.each = token->conflicts.each};
    }
    if (allocation->kind == CSAN_MEMORY_STREAM) {
        token->ghost_generation = allocation->generation;
        memory_bury(&detector->memory, &detector->order, allocation, &token->death,
                    order_snapshot(&detector->order, entry->lane));
        return;
    }
    token->before = order_snapshot_all(&detector->order);
    token->detached = allocation;
    memory_detach(&detector->memory, allocation);
}

/* The ghost may be gone by now: another birth took its place. */
static void revive_ghost(struct detector *detector, const struct csan_free *token)
{
    struct allocation *ghost = memory_find(&detector->memory, token->base);
    if (ghost && ghost->freed && ghost->generation == token->ghost_generation)
        memory_revive(&detector->memory, ghost);
}

/* Memory that was only unregistered is still there; what a context's end took is another matter. */
static void end_allocation(struct detector *detector, const struct csan_free *token)
{
    const struct site *call = site_table_get(detector->sites, token->death.site);
    if (!call || strstr(call->name, "Unregister")) {
        memory_forget_freed(&detector->memory, token->detached, token->detached->range);
        allocation_destroy(token->detached);
    } else {
        memory_end(&detector->memory, token->detached, &token->death);
    }
}

void detector_free_end(struct detector *detector, const struct entry *entry)
{
    struct csan_free *token = entry->free;
    if (entry->failed) {
        if (token->detached)
            memory_attach(&detector->memory, token->detached);
        if (token->ghost_generation)
            revive_ghost(detector, token);
    } else {
        detector_commit(detector, &token->conflicts);
        if (token->detached && entry->waited) {
            if (entry->waited == CSAN_FREE_WAITED)
                order_join(&detector->order, token->lane, &token->before);
            end_allocation(detector, token);
        } else if (token->detached && memory_attach(&detector->memory, token->detached)) {
            memory_bury(&detector->memory, &detector->order, token->detached, &token->death,
                        order_snapshot(&detector->order, token->lane));
        }
    }
    conflict_list_clear(&token->conflicts);
    snapshot_release(&token->before);
    free(token);
}

/* What a pool does with its memory between two owners is its own. */
void detector_pool_alloc(struct detector *detector, const struct entry *entry)
{
    const struct allocation *allocation = memory_pool_alloc(&detector->memory, &detector->order,
                                                            entry->base, entry->bytes, entry->site);
    if (detector->initialized.wanted && allocation)
        initialized_written(&detector->initialized, allocation->range);
}

/* What was held back may be a birth that comes after this, though it was before. */
void detector_doubt(struct detector *detector)
{
    initialized_doubt(&detector->initialized);
    if (detector->out_of_turn)
        detector->initialized.wanted = false;
}

/* By order alone nothing is known of it: a pool's free is no op. */
void detector_pool_free(struct detector *detector, const struct entry *entry)
{
    const struct past_access death = {.epoch = epoch_make(ORDER_HOST, 0),
                                      .site = entry->site,
                                      .argument = CSAN_NO_ARGUMENT,
                                      .kind = CSAN_FREE};
    detector->stats.unknown_frees += !memory_pool_free(&detector->memory, entry->base, &death);
}
