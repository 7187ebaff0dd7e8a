/* Access sets for each launch: the cache of sets, and what replaces ranges that are not known. See
 * access_set.h. */
#include "runtime/access/access_set.h"
#include "csan/base/hash.h"
#include "runtime/access/direction.h"
#include "runtime/access/launch_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the parameters that some set so far depends on. */
struct use {
    uint32_t param, offset, bytes; /* offset within the parameter */
};

struct entry {
    uint64_t hash;
    uint8_t *key;
    struct access_set *set;
    uint64_t version; /* of memory, for sets that were read from it */
    uint64_t used;    /* when last */
};

enum { BUCKETS = 64, WAYS = 4, KEY_MAX = 2048 };

/* What every launch reads comes first. */
struct access_kernel {
    const struct ptx_function *function;
    struct use *uses;
    uint32_t use_count, key_bytes;
    struct entry *entries;      /* BUCKETS * WAYS */
    const struct entry *newest; /* of them, found last; or NULL */
    uint64_t clock;
    struct access_statistics statistics;
    struct value_graph *graph; /* made at the first launch; NULL before, or when memory is short */
    struct access_set *whole;  /* by direction only: where there is no graph, or no budget left */
    bool *unresolved;          /* what `directions` stands for */
    const struct access_directions *directions;
    const struct ptx_instruction **wanted; /* sorted */
    uint32_t wanted_count;
    bool *consumed;              /* by byte of the parameters */
    struct access_set *uncached; /* the last set that no entry holds */
};

static const struct access_set nothing_known = {.reason = "memory is short"};

/* ---- Sets ---- */

/* A set with all it points to, in one block; at its end what launches do not read. */
struct stored_set {
    struct access_set set;
    size_t read_bytes; /* of the block: what they read */
};

enum { REASON_BYTES = 192 };

static struct stored_set *set_new(uint32_t bases, uint32_t ranges, uint32_t dims)
{
    size_t read_bytes = sizeof(struct stored_set) + bases * sizeof(struct access_base) +
                        ranges * sizeof(struct access_range) + dims * sizeof(struct access_dim);
    struct stored_set *stored = calloc(1, read_bytes + REASON_BYTES);
    if (!stored)
        return NULL;
    stored->read_bytes = read_bytes;
    struct access_range *first = (struct access_range *)(stored + 1);
    struct access_dim *dim = (struct access_dim *)(first + ranges);
    stored->set.ranges = first;
    stored->set.bases = (struct access_base *)(dim + dims);
    stored->set.reason = (char *)stored + read_bytes;
    return stored;
}

/* What is in the block is written while it is made. */
static struct access_range *ranges_of(struct stored_set *stored)
{
    return (struct access_range *)(stored + 1);
}

static struct access_base *bases_of(struct stored_set *stored)
{
    return (struct access_base *)(uintptr_t)stored->set.bases;
}

static char *reason_of(struct stored_set *stored)
{
    return (char *)stored + stored->read_bytes;
}

static void set_add_directions(struct stored_set *stored,
                               const struct access_directions *directions, bool early)
{
    static const uint8_t kind_of[] = {
        [ACCESS_SOURCE_PARAM] = ACCESS_BASE_PARAM,
        [ACCESS_SOURCE_OBJECT] = ACCESS_BASE_OBJECT,
        [ACCESS_SOURCE_VARIABLE] = ACCESS_BASE_VARIABLE,
    };
    for (uint32_t i = 0; i < directions->count; i++) {
        const struct access_pointer *pointer = &directions->pointers[i];
        const bool has[] = {pointer->reads, pointer->writes, pointer->atomics};
        uint32_t base = stored->set.base_count++;
        bases_of(stored)[base] = (struct access_base){.kind = kind_of[pointer->source],
                                                      .object = (uint8_t)pointer->object,
                                                      .guessed = pointer->guessed,
                                                      .param_index = pointer->param_index,
                                                      .param_offset = pointer->param_offset,
                                                      .variable = pointer->variable};
        for (uint32_t k = 0; k < 3; k++)
            if (has[k])
                ranges_of(stored)[stored->set.range_count++] =
                    (struct access_range){.base = base,
                                          .kind = (uint8_t)(ACCESS_READ + k),
                                          .bound = ACCESS_BOUND_DIRECTION,
                                          .early = early,
                                          .bytes = ACCESS_WHOLE};
    }
    if (!directions->complete) {
        stored->set.complete = false;
        memcpy(reason_of(stored), directions->reason, REASON_BYTES);
        stored->set.reason_line = directions->reason_line;
    }
}

/* Why the first range that is not exact is not. */
static void set_verdict(struct stored_set *stored, const char *why)
{
    static const char *const reasons[] = {
        [ACCESS_BOUND_DIRECTION] = "where from the pointer it goes is not known",
        [ACCESS_BOUND_DATA] = "the address depends on data in memory",
        [ACCESS_BOUND_GUARD] = "whether it happens depends on data in memory",
        [ACCESS_BOUND_SHAPE] = "the bytes have no shape that the analysis can describe",
        [ACCESS_BOUND_BUDGET] = "the analysis stopped at its budget"};
    const struct access_range *worst = NULL;
    stored->set.exact = stored->set.complete;
    for (uint32_t i = 0; i < stored->set.range_count; i++)
        if (stored->set.ranges[i].bound && !worst)
            worst = &stored->set.ranges[i];
    if (!worst)
        return;
    stored->set.exact = false;
    if (!stored->set.complete)
        return;
    stored->set.reason_line = worst->line;
    snprintf(reason_of(stored), REASON_BYTES, "%s%s%s", reasons[worst->bound], why ? ": " : "",
             why ? why : "");
}

/* ---- By direction ---- */

static int compare_addresses(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t) * (const void *const *)left;
    uintptr_t b = (uintptr_t) * (const void *const *)right;
    return a < b ? -1 : a > b;
}

static bool is_wanted(void *user, const struct ptx_function *function,
                      const struct ptx_instruction *instruction)
{
    const struct access_kernel *kernel = user;
    (void)function;
    return bsearch(&instruction, kernel->wanted, kernel->wanted_count, sizeof(void *),
                   compare_addresses) != NULL;
}

/* The directions of the accesses whose ranges are not known: mostly the same at every launch. */
static const struct access_directions *directions_of(struct access_kernel *kernel,
                                                     const struct launch_set *found)
{
    const struct value_graph *graph = kernel->graph;
    if (kernel->directions &&
        memcmp(kernel->unresolved, found->unresolved, graph->access_count) == 0)
        return kernel->directions;
    access_directions_release(kernel->directions);
    kernel->directions = NULL;
    if (!kernel->unresolved)
        kernel->unresolved = calloc(graph->access_count + 1, 1);
    if (!kernel->wanted)
        kernel->wanted = calloc(graph->access_count + 1, sizeof *kernel->wanted);
    if (!kernel->unresolved || !kernel->wanted)
        return NULL;
    memcpy(kernel->unresolved, found->unresolved, graph->access_count);
    kernel->wanted_count = 0;
    for (uint32_t i = 0; i < graph->access_count; i++)
        if (found->unresolved[i])
            kernel->wanted[kernel->wanted_count++] = graph->accesses[i].instruction;
    if (kernel->wanted_count)
        qsort(kernel->wanted, kernel->wanted_count, sizeof(void *), compare_addresses);
    kernel->directions =
        access_directions_find_some(kernel->function, graph->has_hidden ? NULL : is_wanted, kernel);
    return kernel->directions;
}

/* Every pointer's whole allocation: for kernels without a graph. */
static struct access_set *set_whole(struct access_kernel *kernel)
{
    if (kernel->whole)
        return kernel->whole;
    const struct access_directions *directions =
        access_directions_find_some(kernel->function, NULL, NULL);
    struct stored_set *stored =
        directions ? set_new(directions->count, 3 * directions->count, 0) : NULL;
    if (stored) {
        stored->set.complete = true;
        set_add_directions(stored, directions, !dependent_launch_scan(kernel->function).waits);
        set_verdict(stored, kernel->graph ? kernel->graph->failure : NULL);
        kernel->whole = &stored->set;
    }
    access_directions_release(directions);
    return kernel->whole;
}

/* ---- By range ---- */

/* Only the bases that ranges have, in the order of those: equal launches have equal sets, whatever
 * else was looked at on the way. */
static void set_add_bases(struct stored_set *stored, struct launch_set *found)
{
    uint32_t numbers[LAUNCH_SET_BASES];
    memset(numbers, 0xff, sizeof numbers);
    for (uint32_t i = 0; i < found->ranges->count; i++) {
        uint32_t *base = &found->ranges->items[i].base;
        if (numbers[*base] == UINT32_MAX) {
            bases_of(stored)[stored->set.base_count] = found->bases[*base];
            numbers[*base] = stored->set.base_count++;
        }
        *base = numbers[*base];
    }
}

/* Addresses that are known as numbers alone: from the least of them. */
static void set_place_numbers(struct stored_set *stored)
{
    for (uint32_t b = 0; b < stored->set.base_count; b++) {
        struct access_base *base = &bases_of(stored)[b];
        bool first = true;
        if (base->kind != ACCESS_BASE_ADDRESS || base->param_index != ACCESS_NO_PARAM)
            continue;
        for (uint32_t i = 0; i < stored->set.range_count; i++) {
            const struct access_range *range = &stored->set.ranges[i];
            if (range->base == b && (first || (uint64_t)range->offset < base->address))
                base->address = (uint64_t)range->offset;
            first &= range->base != b;
        }
        for (uint32_t i = 0; i < stored->set.range_count; i++)
            if (stored->set.ranges[i].base == b)
                ranges_of(stored)[i].offset -= (int64_t)base->address;
    }
}

static void set_add_ranges(struct stored_set *stored, const struct range_list *list)
{
    struct access_dim *dims = (struct access_dim *)(uintptr_t)(stored->set.bases);
    for (uint32_t i = list->count; i-- > 0;)
        dims -= list->items[i].footprint.dim_count;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct range_item *item = &list->items[i];
        memcpy(dims, item->footprint.dims, item->footprint.dim_count * sizeof *dims);
        ranges_of(stored)[stored->set.range_count++] =
            (struct access_range){.base = item->base,
                                  .kind = item->kind,
                                  .bound = item->bound,
                                  .width = item->width,
                                  .dim_count = (uint8_t)item->footprint.dim_count,
                                  .early = item->early,
                                  .offset = item->footprint.offset,
                                  .bytes = item->footprint.bytes,
                                  .dims = dims,
                                  .line = item->line};
        dims += item->footprint.dim_count;
    }
}

/* Of calls that are not followed it is not known: where there is a wait, they are taken to come
 * behind it. */
static bool directions_are_early(const struct access_kernel *kernel, const struct launch_set *found)
{
    const struct value_graph *graph = kernel->graph;
    if (graph->has_hidden)
        return !dependent_launch_scan(kernel->function).waits;
    for (uint32_t i = 0; i < graph->access_count; i++)
        if (found->unresolved[i] && graph->accesses[i].early)
            return true;
    return false;
}

static struct access_set *set_of_launch(struct access_kernel *kernel, struct launch_set *found)
{
    const struct access_directions *directions = NULL;
    uint32_t dims = 0, more = 0;
    if (found->any_unresolved || kernel->graph->has_calls) {
        directions = directions_of(kernel, found);
        if (!directions)
            return NULL;
        more = directions->count;
    }
    for (uint32_t i = 0; i < found->ranges->count; i++)
        dims += found->ranges->items[i].footprint.dim_count;
    struct stored_set *stored =
        set_new(found->base_count + more, found->ranges->count + 3 * more, dims);
    if (!stored)
        return NULL;
    stored->set.complete = true;
    stored->set.reads_memory = found->reads_memory;
    set_add_bases(stored, found);
    set_add_ranges(stored, found->ranges);
    set_place_numbers(stored);
    if (directions)
        set_add_directions(stored, directions, directions_are_early(kernel, found));
    set_verdict(stored, NULL);
    return &stored->set;
}

/* ---- The cache ---- */

enum { SHAPE_WORDS = 10 };

/* Grid, block and the bytes of the parameters that sets depend on. */
static uint64_t key_make(const struct access_kernel *kernel, const struct access_launch *launch,
                         uint8_t *key)
{
    uint32_t shape[SHAPE_WORDS] = {launch->grid[0],       launch->grid[1],    launch->grid[2],
                                   launch->block[0],      launch->block[1],   launch->block[2],
                                   launch->cluster[0],    launch->cluster[1], launch->cluster[2],
                                   launch->dynamic_shared};
    uint8_t *at = key;
    memcpy(at, shape, sizeof shape);
    at += sizeof shape;
    for (uint32_t i = 0; i < kernel->use_count; i++) {
        const struct use *use = &kernel->uses[i];
        const uint8_t *from = launch->parameters ? launch->parameters[use->param] : NULL;
        if (from)
            memcpy(at, from + use->offset, use->bytes);
        else
            memset(at, 0, use->bytes);
        at += use->bytes;
    }
    return hash_mix_bytes(0, key, (size_t)(at - key));
}

/* Of the memory that a set was made with; none is another. */
static uint64_t version_of(const struct access_launch *launch)
{
    return launch->read ? launch->memory_version : UINT64_MAX;
}

static struct entry *entry_find(struct access_kernel *kernel, const struct access_launch *launch,
                                uint64_t hash, const uint8_t *key)
{
    struct entry *bucket = kernel->entries + hash % BUCKETS * WAYS;
    for (uint32_t i = 0; i < WAYS; i++)
        if (bucket[i].set && bucket[i].hash == hash &&
            memcmp(bucket[i].key, key, kernel->key_bytes) == 0 &&
            (!bucket[i].set->reads_memory || bucket[i].version == version_of(launch)))
            return &bucket[i];
    return NULL;
}

static void entry_clear(const struct access_kernel *kernel, struct entry *entry)
{
    free(entry->key);
    if (entry->set != kernel->whole)
        free(entry->set);
    *entry = (struct entry){0};
}

/* Takes the set; the one of its bucket that was used longest ago goes. */
static void entry_add(struct access_kernel *kernel, const struct access_launch *launch,
                      uint64_t hash, const uint8_t *key, struct access_set *set)
{
    struct entry *bucket = kernel->entries + hash % BUCKETS * WAYS, *oldest = bucket;
    for (uint32_t i = 1; i < WAYS && oldest->set; i++)
        if (!bucket[i].set || bucket[i].used < oldest->used)
            oldest = &bucket[i];
    uint8_t *kept = malloc(kernel->key_bytes);
    if (!kept) {
        kernel->uncached = set != kernel->whole ? set : NULL;
        return;
    }
    memcpy(kept, key, kernel->key_bytes);
    kernel->statistics.evictions += oldest->set != NULL;
    entry_clear(kernel, oldest);
    *oldest = (struct entry){hash, kept, set, version_of(launch), ++kernel->clock};
    kernel->newest = oldest;
}

/* Notes the bytes that a new set depends on. False when there were new ones: every key is then
 * another. */
static bool uses_cover(struct access_kernel *kernel, const bool *consumed)
{
    bool covered = true;
    for (uint32_t i = 0; i < kernel->function->param_bytes; i++) {
        covered &= kernel->consumed[i] || !consumed[i];
        kernel->consumed[i] |= consumed[i];
    }
    return covered;
}

static bool uses_collect(struct access_kernel *kernel)
{
    const struct ptx_function *function = kernel->function;
    struct use *uses = calloc(function->param_bytes + 1, sizeof *uses);
    uint32_t count = 0, bytes = SHAPE_WORDS * sizeof(uint32_t);
    if (!uses)
        return false;
    for (uint32_t p = 0; p < function->param_count; p++)
        for (uint32_t i = 0; i < function->params[p].size; i++) {
            if (!kernel->consumed[function->params[p].offset + i])
                continue;
            if (count && uses[count - 1].param == p &&
                uses[count - 1].offset + uses[count - 1].bytes == i)
                uses[count - 1].bytes++;
            else
                uses[count++] = (struct use){p, i, 1};
            bytes++;
        }
    free(kernel->uses);
    kernel->uses = uses;
    kernel->use_count = count;
    kernel->key_bytes = bytes;
    return true;
}

static void cache_clear(struct access_kernel *kernel)
{
    for (uint32_t i = 0; kernel->entries && i < BUCKETS * WAYS; i++)
        entry_clear(kernel, &kernel->entries[i]);
}

/* ---- Kernels ---- */

struct access_kernel *access_kernel_create(const struct ptx_function *function)
{
    struct access_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel)
        kernel->function = function;
    return kernel;
}

void access_kernel_release(struct access_kernel *kernel)
{
    if (!kernel)
        return;
    cache_clear(kernel);
    access_directions_release(kernel->directions);
    value_graph_release(kernel->graph);
    free(kernel->entries);
    free(kernel->uncached);
    free(kernel->unresolved);
    free((void *)kernel->wanted);
    free(kernel->consumed);
    free(kernel->uses);
    free(kernel->whole);
    free(kernel);
}

/* The graph and the cache, at the first launch. */
static bool kernel_prepare(struct access_kernel *kernel)
{
    if (kernel->graph)
        return kernel->entries != NULL;
    kernel->graph = value_graph_create(kernel->function);
    kernel->entries = calloc(BUCKETS * WAYS, sizeof *kernel->entries);
    kernel->consumed = calloc(kernel->function->param_bytes + 1, 1);
    if (!kernel->graph || !kernel->entries || !kernel->consumed || !uses_collect(kernel)) {
        free(kernel->entries);
        kernel->entries = NULL;
        return false;
    }
    return true;
}

/* Evaluates the launch, and brings the keys up to what it depends on. NULL when memory is short. */
static struct access_set *evaluate_launch(struct access_kernel *kernel,
                                          const struct access_launch *launch)
{
    struct access_set *set = NULL;
    struct workspace *workspace = workspace_take(kernel->graph);
    if (!workspace)
        return NULL;
    struct launch_set *found = launch_set_find(workspace, kernel->graph, launch);
    bool covered = uses_cover(kernel, found->consumed);
    if (!covered)
        cache_clear(kernel);
    if (covered || uses_collect(kernel))
        set = found->exhausted ? set_whole(kernel) : set_of_launch(kernel, found);
    workspace_give(workspace);
    return set;
}

static const struct access_set *find_slow(struct access_kernel *kernel,
                                          const struct access_launch *launch)
{
    uint8_t key[KEY_MAX];
    kernel->statistics.misses++;
    free(kernel->uncached);
    kernel->uncached = NULL;
    struct access_set *set = kernel_prepare(kernel) && !kernel->graph->failure
                                 ? evaluate_launch(kernel, launch)
                                 : set_whole(kernel);
    if (!set)
        return &nothing_known;
    if (set == kernel->whole && kernel->graph && kernel->graph->failure)
        return set;
    if (kernel->entries && kernel->key_bytes <= KEY_MAX)
        entry_add(kernel, launch, key_make(kernel, launch, key), key, set);
    else if (set != kernel->whole)
        kernel->uncached = set;
    return set;
}

const struct access_set *access_set_find(struct access_kernel *kernel,
                                         const struct access_launch *launch)
{
    uint8_t key[KEY_MAX];
    if (kernel->entries && kernel->key_bytes <= KEY_MAX) {
        uint64_t hash = key_make(kernel, launch, key);
        struct entry *entry = entry_find(kernel, launch, hash, key);
        if (entry) {
            entry->used = ++kernel->clock;
            kernel->newest = entry;
            kernel->statistics.hits++;
            return entry->set;
        }
    }
    return find_slow(kernel, launch);
}

struct dependent_launch access_dependent_launch(struct access_kernel *kernel)
{
    if (!kernel_prepare(kernel) || kernel->graph->failure || kernel->graph->has_hidden)
        return dependent_launch_scan(kernel->function);
    return kernel->graph->dependent_launch;
}

size_t access_set_pieces(const struct access_kernel *kernel, const struct access_set *set,
                         struct access_piece *pieces)
{
    size_t count = 0;
    const struct entry *entry = kernel->newest;
    pieces[count++] = (struct access_piece){kernel, sizeof *kernel};
    pieces[count++] = (struct access_piece){kernel->uses, kernel->use_count * sizeof *kernel->uses};
    if (!entry || entry->set != set)
        return count;
    pieces[count++] = (struct access_piece){entry, sizeof *entry};
    pieces[count++] = (struct access_piece){entry->key, kernel->key_bytes};
    pieces[count++] = (struct access_piece){set, ((const struct stored_set *)set)->read_bytes};
    return count;
}

struct access_statistics access_statistics_of(const struct access_kernel *kernel)
{
    return kernel->statistics;
}
