/* A launch evaluated. See launch_set.h. */
#include "runtime/access/launch_set.h"
#include "runtime/access/evaluate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Workspaces ---- */

struct workspace {
    size_t bytes;
    char memory[];
};

/* For each node and block pointers, and for what they point to: kernels of 100 instructions use
 * some 20 KiB. It bounds the time of a launch as well: so many forms take some 3 ms.
 */
enum { POOL_BYTES = 2 << 20, POOL_SLACK = 512 };

/* One that waits to be used again. */
static struct {
    _Atomic(struct workspace *) spare;
} spares;

static size_t workspace_bytes(const struct value_graph *graph)
{
    return POOL_BYTES + sizeof(struct evaluation) + sizeof(struct range_list) +
           (size_t)graph->node_count * 2 * sizeof(void *) +
           ((size_t)graph->block_count + graph->loop_count) * sizeof(void *) + graph->access_count +
           graph->kernel->param_bytes + POOL_SLACK;
}

struct workspace *workspace_take(const struct value_graph *graph)
{
    struct workspace *workspace = atomic_exchange(&spares.spare, NULL);
    size_t bytes = workspace_bytes(graph);
    if (workspace && workspace->bytes >= bytes)
        return workspace;
    free(workspace);
    workspace = malloc(sizeof *workspace + bytes);
    if (workspace)
        workspace->bytes = bytes;
    return workspace;
}

void workspace_give(struct workspace *workspace)
{
    if (workspace && workspace->bytes > 4 * POOL_BYTES) {
        free(workspace);
        return;
    }
    free(atomic_exchange(&spares.spare, workspace));
}

/* ---- Accesses ---- */

struct collector {
    struct evaluation *e;
    struct launch_set *set;
    uint32_t access; /* the one at hand */
    struct range_item item;
    uint32_t budget; /* of all its images: footprint.h */
    bool failed;     /* its range has no place that could be named */
};

/* Not an entry of a table that happens to be NULL. */
static bool is_absolute(const struct access_base *base)
{
    return base->kind == ACCESS_BASE_ADDRESS && base->param_index == ACCESS_NO_PARAM;
}

static uint32_t base_absolute(struct evaluation *e)
{
    const struct access_base absolute = {.kind = ACCESS_BASE_ADDRESS,
                                         .param_index = ACCESS_NO_PARAM};
    for (uint32_t i = 0; i < e->base_count; i++)
        if (is_absolute(&e->bases[i]))
            return i;
    if (e->base_count == sizeof e->bases / sizeof e->bases[0])
        return UINT32_MAX;
    e->bases[e->base_count] = absolute;
    return e->base_count++;
}

static void collect(void *user, const struct footprint *footprint)
{
    struct collector *collector = user;
    struct range_item item = collector->item;
    const struct value_graph_access *access = &collector->e->graph->accesses[collector->access];
    item.footprint = *footprint;
    if (!footprint->exact)
        item.bound = bound_worst(item.bound, ACCESS_BOUND_SHAPE);
    bool open = footprint->bytes == ACCESS_TO_END || footprint->bytes == ACCESS_WHOLE;
    const struct access_base *base = &collector->e->bases[item.base];
    bool absolute = is_absolute(base);
    if (item.bound && (collector->e->mixed || absolute)) {
        collector->failed = true; /* which allocation it ends with is not known */
        return;
    }
    if (open && item.bound == ACCESS_EXACT)
        item.bound = ACCESS_BOUND_DATA;
    const uint8_t kinds[] = {VALUE_GRAPH_READ, VALUE_GRAPH_WRITE, VALUE_GRAPH_ATOMIC};
    for (uint32_t k = 0; k < 3; k++)
        if (access->kinds & kinds[k]) {
            item.kind = (uint8_t)(ACCESS_READ + k);
            item.width = kinds[k] == VALUE_GRAPH_ATOMIC ? access->width : 0;
            range_list_add(collector->set->ranges, &item);
        }
}

static uint8_t conjunction_bound(const struct evaluation *e, const struct conjunction *when)
{
    for (uint32_t i = 0; when && i < when->count; i++)
        if (form_bound(e, when->constraints[i]))
            return ACCESS_BOUND_GUARD;
    return ACCESS_EXACT;
}

static void collect_piece(struct collector *collector, const struct condition *condition,
                          const struct piece *piece, uint64_t bytes, uint8_t bound)
{
    struct evaluation *e = collector->e;
    if (piece->base == BASE_SHARED || piece->base == BASE_LOCAL || piece->base == BASE_PARAMETERS)
        return;
    collector->item.base = piece->base == BASE_NONE ? base_absolute(e) : piece->base - BASE_MEMORY;
    if (piece->base == BASE_UNKNOWN || collector->item.base == UINT32_MAX) {
        collector->failed = true;
        return;
    }
    for (uint32_t c = 0; c < condition->when.count; c++) {
        const struct conjunction *when;
        bool exact = true;
        if (!when_both(e, condition->when.items[c], piece->when, &when, &exact))
            continue;
        uint8_t own = bound_worst(form_bound(e, piece->form), bound_worst(piece->bound, bound));
        own = bound_worst(own, condition->bound);
        own = bound_worst(own, conjunction_bound(e, when));
        collector->item.bound = exact ? own : bound_worst(own, ACCESS_BOUND_SHAPE);
        footprint_find(piece->form, when, &e->indices, bytes, &collector->budget, collect,
                       collector);
    }
}

static struct condition access_condition(struct evaluation *e,
                                         const struct value_graph_access *access)
{
    struct condition condition = *evaluate_block(e, access->block);
    bool exact = true;
    if (!access->guard || !condition.when.count)
        return condition;
    const struct predicate *guard = evaluate_predicate(e, access->guard);
    const struct condition *holds = access->guard_negated ? &guard->no : &guard->yes;
    condition.when = disjunction_and(&condition.when, &holds->when, &e->indices, e->pool, &exact);
    condition.bound = bound_worst(bound_worst(condition.bound, holds->bound),
                                  exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
    return condition;
}

/* The bytes that a copy of computed size reads in one case of the size; *bound: at most so many. */
static uint64_t copied_bytes(struct evaluation *e, const struct value_graph_access *access,
                             const struct piece *size, uint8_t *bound)
{
    int64_t high = size->form->constant;
    *bound = size->bound;
    if (size->base != BASE_NONE || !affine_is_constant(size->form)) {
        *bound = bound_worst(*bound, ACCESS_BOUND_DATA);
        high = piece_interval(e, size).high;
    }
    if (high <= 0)
        return 0;
    if (access->bytes && (uint64_t)high > access->bytes)
        return access->bytes;
    return high < (int64_t)1 << 32 ? (uint64_t)high : (uint64_t)1 << 32;
}

/* The bytes and the threads of one case of the access's size. */
static void collect_addresses(struct collector *collector, const struct condition *condition,
                              const struct value *address, uint64_t bytes, uint8_t bound)
{
    for (uint32_t i = 0; bytes && i < address->count; i++)
        collect_piece(collector, condition, &address->pieces[i], bytes, bound);
}

/* cp.async with a size that is 16 or 0, as threads have it: each is an access of its own. */
static void collect_sizes(struct collector *collector, const struct condition *condition,
                          const struct value *address)
{
    struct evaluation *e = collector->e;
    const struct value_graph_access *access = &e->graph->accesses[collector->access];
    const struct value *size = evaluate_node(e, access->size);
    for (uint32_t i = 0; i < size->count; i++) {
        struct condition own = *condition;
        uint8_t bound;
        uint64_t bytes = copied_bytes(e, access, &size->pieces[i], &bound);
        bool exact = true;
        if (bytes && size->pieces[i].when) {
            struct disjunction when = disjunction_never();
            when.items[when.count++] = size->pieces[i].when;
            own.when = disjunction_and(&own.when, &when, &e->indices, e->pool, &exact);
        }
        collect_addresses(collector, &own, address, bytes,
                          exact ? bound : bound_worst(bound, ACCESS_BOUND_SHAPE));
    }
}

static void collect_access(struct collector *collector)
{
    struct evaluation *e = collector->e;
    const struct value_graph_access *access = &e->graph->accesses[collector->access];
    collector->failed = !access->address;
    collector->item =
        (struct range_item){.line = access->instruction->line, .early = access->early};
    e->line = access->instruction->line;
    if (!collector->failed) {
        struct condition condition = access_condition(e, access);
        if (!condition.when.count)
            return; /* never */
        const struct value *address = evaluate_node(e, access->address);
        if (access->size)
            collect_sizes(collector, &condition, address);
        else
            collect_addresses(collector, &condition, address, access->bytes, ACCESS_EXACT);
    }
    if (collector->failed) {
        collector->set->unresolved[collector->access] = true;
        collector->set->any_unresolved = true;
    }
}

/* ---- The launch ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_bases(const struct access_base *a, const struct access_base *b)
{
    int order = compare_numbers(a->kind, b->kind);
    order = order ? order : compare_numbers(a->param_offset, b->param_offset);
    order = order ? order : compare_numbers(a->address, b->address);
    return order ? order : compare_numbers((uintptr_t)a->variable, (uintptr_t)b->variable);
}

/* Sorts the bases. Their order of appearance depends on whether memory can be read, so it would not
 * be stable. */
static void order_bases(struct evaluation *e, struct range_list *ranges)
{
    struct access_base unsorted[LAUNCH_SET_BASES];
    uint32_t places[LAUNCH_SET_BASES];
    memcpy(unsorted, e->bases, e->base_count * sizeof *unsorted);
    for (uint32_t i = 0; i < e->base_count; i++) {
        places[i] = 0;
        for (uint32_t k = 0; k < e->base_count; k++) {
            int order = compare_bases(&unsorted[k], &unsorted[i]);
            places[i] += order < 0 || (order == 0 && k < i);
        }
        e->bases[places[i]] = unsorted[i];
    }
    for (uint32_t i = 0; i < ranges->count; i++)
        ranges->items[i].base = places[ranges->items[i].base];
}

static void *zeroed(struct pool *pool, size_t bytes)
{
    void *memory = pool_allocate(pool, bytes);
    memset(memory, 0, bytes);
    return memory;
}

static struct evaluation *evaluation_start(struct pool *pool, const struct value_graph *graph,
                                           const struct access_launch *launch, bool *consumed)
{
    struct evaluation *e = pool_allocate(pool, sizeof *e);
    e->graph = graph;
    e->launch = launch;
    e->pool = pool;
    e->indices.count = e->indices.division_count = 0;
    e->values = zeroed(pool, graph->node_count * sizeof *e->values);
    e->predicates = zeroed(pool, graph->node_count * sizeof *e->predicates);
    e->conditions = zeroed(pool, (graph->block_count + 1) * sizeof *e->conditions);
    e->loops = zeroed(pool, (graph->loop_count + 1) * sizeof *e->loops);
    memset(e->specials, 0, sizeof e->specials);
    e->base_count = 0;
    e->consumed = consumed;
    e->reads_memory = e->mixed = false;
    e->attempts = e->attempt_depth = 0;
    e->line = e->loop = 0;
    return e;
}

static void find(struct launch_set *set, struct pool *pool, const struct value_graph *graph,
                 const struct access_launch *launch)
{
    struct evaluation *e = evaluation_start(pool, graph, launch, set->consumed);
    struct collector collector = {.e = e, .set = set, .budget = FOOTPRINT_BUDGET};
    e->stack = __builtin_frame_address(0);
    set->bases = e->bases;
    for (uint32_t i = 0; i < graph->access_count; i++) {
        collector.access = i;
        collect_access(&collector);
    }
    if (e->mixed) /* found out late: what was taken before may end in the wrong allocation */
        for (uint32_t i = 0; i < set->ranges->count; i++)
            if (set->ranges->items[i].bound)
                set->exhausted = true;
    order_bases(e, set->ranges);
    range_list_finish(set->ranges);
    set->base_count = e->base_count;
    set->reads_memory = e->reads_memory;
}

/* The one frame that is jumped to. */
static void find_protected(struct launch_set *set, struct pool *pool,
                           const struct value_graph *graph, const struct access_launch *launch)
{
    jmp_buf exhausted, *outer = pool->exhausted;
    pool->exhausted = &exhausted;
    if (setjmp(exhausted) == 0)
        find(set, pool, graph, launch);
    else
        set->exhausted = true;
    pool->exhausted = outer;
}

struct launch_set *launch_set_find(struct workspace *workspace, const struct value_graph *graph,
                                   const struct access_launch *launch)
{
    struct pool pool = {.memory = workspace->memory, .bytes = workspace->bytes - POOL_SLACK};
    jmp_buf cannot;
    pool.exhausted = &cannot; /* the workspace has room for these */
    struct launch_set *set = pool_allocate(&pool, sizeof *set);
    memset(set, 0, sizeof *set);
    set->consumed = zeroed(&pool, graph->kernel->param_bytes + 1);
    set->unresolved = zeroed(&pool, graph->access_count + 1);
    set->ranges = pool_allocate(&pool, sizeof *set->ranges);
    set->ranges->count = 0;
    find_protected(set, &pool, graph, launch);
    return set;
}
