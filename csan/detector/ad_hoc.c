/* See ad_hoc.h. */
#include "csan/detector/ad_hoc.h"
#include "csan/shadow/lmad.h"

#include <stdlib.h>
#include <string.h>

/* ---- rings */

static size_t words_kept(const struct ad_hoc *ad_hoc)
{
    return ad_hoc->word_count < AD_HOC_WORDS ? ad_hoc->word_count : AD_HOC_WORDS;
}

static size_t edges_kept(const struct ad_hoc *ad_hoc)
{
    return ad_hoc->edge_count < AD_HOC_EDGES ? ad_hoc->edge_count : AD_HOC_EDGES;
}

static bool rings_make(struct ad_hoc *ad_hoc)
{
    if (!ad_hoc->words)
        ad_hoc->words = calloc(AD_HOC_WORDS, sizeof *ad_hoc->words);
    if (!ad_hoc->edges)
        ad_hoc->edges = calloc(AD_HOC_EDGES, sizeof *ad_hoc->edges);
    return ad_hoc->words && ad_hoc->edges;
}

void ad_hoc_clear(struct ad_hoc *ad_hoc, struct order *order)
{
    for (size_t i = 0; i < words_kept(ad_hoc); i++)
        order_forget(order, &ad_hoc->words[i].snapshot);
    for (size_t i = 0; i < edges_kept(ad_hoc); i++)
        order_forget(order, &ad_hoc->edges[i].released);
    free(ad_hoc->words);
    free(ad_hoc->edges);
    *ad_hoc = (struct ad_hoc){0};
}

/* A lane's later release publishes what its earlier one did. An earlier acquire may still wait,
 * until the host knows that it is over. */
static bool replaces(const struct order *order, const struct ad_hoc_word *word,
                     const struct ad_hoc_word *kept)
{
    return kept->order == word->order && kept->bytes.start == word->bytes.start &&
           kept->bytes.end == word->bytes.end &&
           epoch_lane(kept->snapshot.epoch) == epoch_lane(word->snapshot.epoch) &&
           (word->order == CSAN_RELEASES || order_is_over(order, kept->snapshot.epoch));
}

static struct ad_hoc_word *word_place(struct ad_hoc *ad_hoc, const struct order *order,
                                      const struct ad_hoc_word *word)
{
    for (size_t i = 0; i < words_kept(ad_hoc); i++)
        if (replaces(order, word, &ad_hoc->words[i]))
            return &ad_hoc->words[i];
    return &ad_hoc->words[ad_hoc->word_count++ % AD_HOC_WORDS];
}

static void word_add(struct ad_hoc *ad_hoc, struct order *order, const struct ad_hoc_word *word)
{
    struct ad_hoc_word *place = word_place(ad_hoc, order, word);
    order_forget(order, &place->snapshot);
    *place = *word;
    snapshot_share(place->snapshot);
}

static void edge_add(struct ad_hoc *ad_hoc, struct order *order, struct range bytes,
                     const struct ad_hoc_word *released, const struct ad_hoc_word *acquired)
{
    struct ad_hoc_edge *edge = &ad_hoc->edges[ad_hoc->edge_count++ % AD_HOC_EDGES];
    order_forget(order, &edge->released);
    *edge = (struct ad_hoc_edge){.word = bytes,
                                 .acquired = acquired->snapshot.epoch,
                                 .acquired_op = acquired->op,
                                 .released = snapshot_share(released->snapshot),
                                 .released_op = released->op};
}

/* ---- an op */

static bool common_bytes(struct range a, struct range b, struct range *common)
{
    common->start = a.start > b.start ? a.start : b.start;
    common->end = a.end < b.end ? a.end : b.end;
    return common->start < common->end;
}

/* Edges between the op and an earlier one that it is not ordered after. Whether that one released
 * bytes of the word. */
static bool pair_up(struct ad_hoc *ad_hoc, struct order *order, const struct ad_hoc_word *now,
                    const struct ad_hoc_word *earlier)
{
    struct range common;
    if (!common_bytes(now->bytes, earlier->bytes, &common))
        return false;
    const bool released = earlier->order & CSAN_RELEASES;
    if (order_knows(order, epoch_lane(now->snapshot.epoch), earlier->snapshot.epoch))
        return released;
    if (released && now->order & CSAN_ACQUIRES)
        edge_add(ad_hoc, order, common, earlier, now);
    if (now->order & CSAN_RELEASES && earlier->order & CSAN_ACQUIRES)
        edge_add(ad_hoc, order, common, now, earlier);
    return released;
}

/* An op that only looks at the word needs another one that writes it. */
static void word_op(struct ad_hoc *ad_hoc, struct order *order, const struct ad_hoc_word *word)
{
    bool released = word->order != CSAN_ACQUIRES;
    for (size_t i = 0; i < words_kept(ad_hoc); i++)
        released |= pair_up(ad_hoc, order, word, &ad_hoc->words[i]);
    if (!released) {
        ad_hoc->waiting_op = word->op;
        ad_hoc->waits_for = word->bytes;
    }
}

/* The bytes from the first to the last. */
static bool hull_of(const struct csan_access *access, struct range *hull)
{
    if (access->bytes != CSAN_TO_END)
        return lmad_hull(access, &hull->start, &hull->end);
    *hull = (struct range){access->base, UINT64_MAX};
    return true;
}

/* The op's words; how many. */
static size_t words_of(const struct csan_access *accesses, size_t count,
                       const struct ad_hoc_word *like, struct ad_hoc_word *words)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct range hull;
        if (!accesses[i].order || !hull_of(&accesses[i], &hull))
            continue;
        if (found < AD_HOC_WORDS_OF_OP) {
            words[found] = *like;
            words[found].bytes = hull;
            words[found++].order = accesses[i].order;
            continue;
        }
        struct ad_hoc_word *last = &words[found - 1];
        last->bytes.start = hull.start < last->bytes.start ? hull.start : last->bytes.start;
        last->bytes.end = hull.end > last->bytes.end ? hull.end : last->bytes.end;
        last->order |= accesses[i].order;
    }
    return found;
}

void ad_hoc_op(struct ad_hoc *ad_hoc, struct order *order, epoch_t epoch, uint64_t op,
               const struct csan_access *accesses, size_t count)
{
    const struct ad_hoc_word like = {.snapshot = order_snapshot(order, epoch_lane(epoch)),
                                     .op = op};
    struct ad_hoc_word words[AD_HOC_WORDS_OF_OP];
    ad_hoc->waiting_op = 0;
    const size_t found = rings_make(ad_hoc) ? words_of(accesses, count, &like, words) : 0;
    for (size_t i = 0; i < found; i++)
        word_op(ad_hoc, order, &words[i]);
    for (size_t i = 0; i < found; i++) /* its own words do not pair with each other */
        word_add(ad_hoc, order, &words[i]);
    order_forget(order, &like.snapshot);
}

/* ---- a race */

/* Whether the current op, by what its lane knows and by edges, may know the earlier access. */
static const struct ad_hoc_edge *reaches(const struct ad_hoc *ad_hoc, const struct order *order,
                                         uint32_t lane, epoch_t earlier)
{
    bool reached[AD_HOC_EDGES] = {0};
    const struct ad_hoc_edge *queue[AD_HOC_EDGES];
    size_t found = 0, next = 0;
    const size_t kept = edges_kept(ad_hoc);
    for (size_t i = 0; i < kept; i++)
        if ((reached[i] = order_knows(order, lane, ad_hoc->edges[i].acquired)))
            queue[found++] = &ad_hoc->edges[i];
    for (; next < found; next++) {
        const struct snapshot *known = &queue[next]->released;
        if (snapshot_knows(known, earlier))
            return queue[next];
        for (size_t i = 0; i < kept; i++)
            if (!reached[i] && (reached[i] = snapshot_knows(known, ad_hoc->edges[i].acquired)))
                queue[found++] = &ad_hoc->edges[i];
    }
    return NULL;
}

/* The earlier one was enqueued before, and may have waited for the current op. What came behind the
 * acquire on other lanes is not looked up: all that was enqueued since then counts. */
static const struct ad_hoc_edge *waited_for(const struct ad_hoc *ad_hoc,
                                            const struct past_access *current,
                                            const struct past_access *earlier)
{
    for (size_t i = 0; i < edges_kept(ad_hoc); i++)
        if (ad_hoc->edges[i].released_op == current->op &&
            earlier->op >= ad_hoc->edges[i].acquired_op)
            return &ad_hoc->edges[i];
    return NULL;
}

bool ad_hoc_may_order(const struct ad_hoc *ad_hoc, const struct order *order,
                      const struct past_access *current, const struct past_access *earlier,
                      struct range *word)
{
    if (!ad_hoc->word_count)
        return false;
    if (ad_hoc->waiting_op && ad_hoc->waiting_op == current->op) {
        *word = ad_hoc->waits_for;
        return true;
    }
    const struct ad_hoc_edge *edge =
        reaches(ad_hoc, order, epoch_lane(current->epoch), earlier->epoch);
    if (!edge)
        edge = waited_for(ad_hoc, current, earlier);
    if (edge)
        *word = edge->word;
    return edge != NULL;
}
