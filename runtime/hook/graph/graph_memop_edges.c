/* See graph_memop_edges.h. */
#include "runtime/hook/graph/graph_memop_edges.h"
#include "csan/base/array.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/state/stream_memop.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_YET = 0xffffffffu, MASK_BYTES_MAX = 64 << 20 };

struct edge {
    uint32_t from, to; /* entries */
};

struct search {
    const struct graph_topology *shape;
    uint32_t *entries;   /* those with memory operations, in the shape's order */
    size_t count, words; /* of a mask */
    uint64_t *before;    /* a mask of them for each entry of the shape: which come before it */
    struct edge *edges;
    size_t edge_count, edge_capacity;
    bool failed;
};

static const struct graph_node_work *memops_of(const struct graph_topology_entry *entry)
{
    return entry->work && entry->work->memops && !entry->disabled ? entry->work : NULL;
}

static bool has_wait(const struct graph_node_work *work)
{
    for (size_t i = 0; i < work->memop_count; i++)
        if (work->memops[i].is_wait)
            return true;
    return false;
}

static bool any_wait(const struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct graph_node_work *work = memops_of(&shape->entries[i]);
        if (work && has_wait(work))
            return true;
    }
    return false;
}

/* ---- What comes before what, by the graph's own edges ---- */

static uint64_t *mask_of(const struct search *search, uint32_t entry)
{
    return &search->before[entry * search->words];
}

static bool comes_before(const struct search *search, size_t memop, uint32_t entry)
{
    return mask_of(search, entry)[memop / 64] >> memop % 64 & 1;
}

static bool search_begin(struct search *search, const struct graph_topology *shape)
{
    search->shape = shape;
    search->entries = calloc(shape->count + 1, sizeof *search->entries);
    if (!search->entries)
        return false;
    for (uint32_t i = 0; i < shape->count; i++)
        if (memops_of(&shape->entries[i]))
            search->entries[search->count++] = i;
    search->words = search->count / 64 + 1;
    if (shape->count * search->words > MASK_BYTES_MAX / sizeof(uint64_t))
        return false;
    search->before = calloc(shape->count * search->words + 1, sizeof *search->before);
    return search->before != NULL;
}

static void find_before(struct search *search)
{
    size_t next =
        0; /* the first memory operation that is not before entry i in the shape's order */
    uint32_t *number = calloc(search->shape->count + 1, sizeof *number);
    search->failed |= !number;
    for (uint32_t i = 0; number && i < search->shape->count; i++) {
        const struct graph_topology_entry *entry = &search->shape->entries[i];
        number[i] = next < search->count && search->entries[next] == i ? (uint32_t)next++ : NOT_YET;
        for (size_t k = 0; k < entry->dependency_count; k++) {
            const uint32_t d = entry->dependencies[k];
            for (size_t w = 0; w < search->words; w++)
                mask_of(search, i)[w] |= mask_of(search, d)[w];
            if (number[d] != NOT_YET)
                mask_of(search, i)[number[d] / 64] |= UINT64_C(1) << number[d] % 64;
        }
    }
    free(number);
}

/* ---- Which write a wait comes after ---- */

/* A write that the wait can see, and that makes order. */
static bool releases(const struct graph_node_work *work, const struct memop *wait)
{
    for (size_t i = 0; i < work->memop_count; i++) {
        const struct memop *write = &work->memops[i];
        const bool fenced =
            write->is_semaphore || !(write->flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
        if (fenced && memop_satisfies(write, wait))
            return true;
    }
    return false;
}

/* The node itself wrote it before. */
static bool is_satisfied_within(const struct graph_node_work *work, size_t wait)
{
    for (size_t i = 0; i < wait; i++)
        if (memop_satisfies(&work->memops[i], &work->memops[wait]))
            return true;
    return false;
}

static void edge_add(struct search *search, uint32_t from, uint32_t to)
{
    if (!array_room(&search->edges, search->edge_count, &search->edge_capacity, 16, SIZE_MAX,
                    sizeof *search->edges)) {
        search->failed = true;
        return;
    }
    search->edges[search->edge_count++] = (struct edge){from, to};
}

/* Of the writes that satisfy it the first ones, or all, if nothing distinguishes them. */
static void add_edges_of(struct search *search, size_t waiting, const struct memop *wait)
{
    const uint32_t entry = search->entries[waiting];
    const bool all = wait->is_semaphore && !wait->value;
    uint64_t *able = calloc(search->words, sizeof *able);
    search->failed |= !able;
    for (size_t m = 0; able && m < search->count; m++)
        if (m != waiting && !comes_before(search, waiting, search->entries[m]) &&
            releases(search->shape->entries[search->entries[m]].work, wait))
            able[m / 64] |= UINT64_C(1) << m % 64;
    for (size_t m = 0; able && m < search->count; m++) {
        bool first = able[m / 64] >> m % 64 & 1;
        for (size_t w = 0; first && !all && w < search->words; w++)
            first = !(able[w] & mask_of(search, search->entries[m])[w]);
        if (first)
            edge_add(search, search->entries[m], entry);
    }
    free(able);
}

static void find_edges(struct search *search)
{
    for (size_t m = 0; m < search->count && !search->failed; m++) {
        const struct graph_node_work *work = search->shape->entries[search->entries[m]].work;
        for (size_t i = 0; i < work->memop_count; i++)
            if (work->memops[i].is_wait && !is_satisfied_within(work, i))
                add_edges_of(search, m, &work->memops[i]);
    }
}

/* ---- The copy ---- */

/* The first edge to entry `i`, or where it would be: edges are in the order of what they go to. */
static size_t first_edge(const struct search *search, uint32_t i)
{
    size_t low = 0, high = search->edge_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (search->edges[middle].to < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts entry `i` behind the others, if all that it waits for is there; `strict`: by the new edges,
 * too. */
static bool place(const struct search *search, uint32_t i, bool strict, uint32_t *places,
                  struct graph_topology *ordered)
{
    const struct graph_topology_entry *entry = &search->shape->entries[i];
    const size_t first = first_edge(search, i), end = first_edge(search, i + 1);
    size_t added = 0;
    for (size_t k = 0; k < entry->dependency_count; k++)
        if (places[entry->dependencies[k]] == NOT_YET)
            return false;
    for (size_t e = first; e < end; e++)
        if (places[search->edges[e].from] != NOT_YET)
            added++;
        else if (strict)
            return false;
    struct graph_topology_entry *copy = &ordered->entries[ordered->count];
    *copy = *entry;
    copy->dependencies = calloc(entry->dependency_count + added + 1, sizeof(uint32_t));
    if (!copy->dependencies)
        return false;
    for (size_t k = 0; k < entry->dependency_count; k++)
        copy->dependencies[k] = places[entry->dependencies[k]];
    for (size_t e = first; e < end; e++)
        if (places[search->edges[e].from] != NOT_YET)
            copy->dependencies[copy->dependency_count++] = places[search->edges[e].from];
    places[i] = (uint32_t)ordered->count++;
    return true;
}

/* Waits for each other, which would never end, lose the edges of one wait. */
static bool place_all(const struct search *search, struct graph_topology *ordered)
{
    const size_t count = search->shape->count;
    uint32_t *places = malloc((count + 1) * sizeof *places);
    size_t before = 0;
    ordered->entries = calloc(count + 1, sizeof *ordered->entries);
    bool going = places && ordered->entries;
    for (size_t i = 0; going && i < count; i++)
        places[i] = NOT_YET;
    while (going && ordered->count < count) {
        before = ordered->count;
        for (uint32_t i = 0; i < count; i++)
            if (places[i] == NOT_YET)
                place(search, i, true, places, ordered);
        for (uint32_t i = 0; i < count && ordered->count == before; i++)
            if (places[i] == NOT_YET)
                place(search, i, false, places, ordered);
        going = ordered->count > before;
    }
    free(places);
    return going;
}

enum graph_memop_edges graph_memop_edges_add(const struct graph_topology *shape,
                                             struct graph_topology *ordered)
{
    enum graph_memop_edges result = GRAPH_MEMOP_EDGES_NONE;
    struct search search = {0};
    *ordered = (struct graph_topology){0};
    if (!any_wait(shape))
        return result;
    if (!search_begin(&search, shape)) {
        result = GRAPH_MEMOP_EDGES_TOO_MANY;
    } else {
        find_before(&search);
        find_edges(&search);
        if (search.failed)
            result = GRAPH_MEMOP_EDGES_TOO_MANY;
        else if (search.edge_count)
            result =
                place_all(&search, ordered) ? GRAPH_MEMOP_EDGES_ADDED : GRAPH_MEMOP_EDGES_TOO_MANY;
    }
    if (result != GRAPH_MEMOP_EDGES_ADDED)
        graph_memop_edges_free(ordered);
    free(search.entries);
    free(search.before);
    free(search.edges);
    return result;
}

void graph_memop_edges_free(struct graph_topology *ordered)
{
    for (size_t i = 0; i < ordered->count; i++)
        free(ordered->entries[i].dependencies);
    free(ordered->entries);
    *ordered = (struct graph_topology){0};
}
