#include "csan/detector/detect_state.h"
#include "csan/detector/bounds.h"
#include "csan/detector/context.h"
#include "csan/detector/host_watch.h"
#include "csan/stack/stack.h"
#include "csan/detector/nearest_block.h"

#include <stdlib.h>
#include <string.h>

const char detector_pool_query[] = "an event query of a memory pool";
const char detector_host_change[] = "the host's store before the call";

bool detector_init(struct detector *detector)
{
    *detector = (struct detector){0};
    memory_init(&detector->memory);
    initialized_init(&detector->initialized);
    return order_init(&detector->order);
}

void detector_clear(struct detector *detector)
{
    same_operator_clear(&detector->same_operator);
    ad_hoc_clear(&detector->ad_hoc, &detector->order);
    steps_clear(&detector->steps);
    unordered_clear(&detector->unordered);
    range_history_clear(&detector->ranges);
    conflict_list_clear(&detector->conflicts);
    race_log_clear_all(&detector->races);
    memory_clear(&detector->memory);
    initialized_clear(&detector->initialized);
    order_clear(&detector->order);
}

/* ---- conflicts */

/* The call that would order `earlier` before all that is enqueued now, or NULL. */
static const char *unpromised_order(const struct detector *detector, epoch_t earlier)
{
    for (uint32_t i = 0; i < detector->unpromised_count; i++)
        if (order_knows(&detector->order, detector->unpromised[i].lane, earlier))
            return detector->unpromised[i].what;
    return NULL;
}

/* By that the memory came to its next owner, or a block's back to the system. What is at the host
 * has one name for all of its owners. */
static bool is_handed_on(const struct probe *probe, const struct past_access *earlier,
                         enum csan_race_kind kind)
{
    const struct detector *detector = probe->detector;
    const struct allocation *allocation = probe->allocation;
    const bool given_back =
        kind == CSAN_RACE_REUSE ||
        (kind == CSAN_RACE_FREE && allocation && earlier->generation != allocation->generation);
    if (!given_back && !(allocation && allocation->kind == CSAN_MEMORY_HOST))
        return false;
    for (uint32_t i = 0; i < detector->unpromised_count; i++)
        if (detector->unpromised[i].pool &&
            order_knows(&detector->order, detector->unpromised[i].lane, earlier->epoch))
            return true;
    return false;
}

/* What a report calls the allocation: the declared block, or it. */
static void name_owner(const struct probe *probe, struct conflict *conflict)
{
    struct range owner = {0, 0};
    if (probe->block) {
        owner = probe->block->range;
        conflict->birth_site = probe->block->site;
    } else if (probe->allocation) {
        owner = probe->allocation->born;
        conflict->birth_site = probe->allocation->birth.site;
    }
    conflict->base = owner.start;
    conflict->bytes = owner.end - owner.start;
}

static bool is_at_call(const struct detector *detector, const struct past_access *past)
{
    return detector->order.lanes[epoch_lane(past->epoch)].role == CSAN_LANE_CALL;
}

static void add_conflict(const struct probe *probe, const struct past_access *earlier,
                         uint64_t start, uint64_t end, enum csan_race_kind kind, bool undecided)
{
    struct conflict conflict = {
        .current = probe->access.self,
        .earlier = *earlier,
        .unpromised = unpromised_order(probe->detector, earlier->epoch),
        .start = start,
        .end = end,
        .pointer = probe->pointer,
        .kind = (uint8_t)kind,
        .possible =
            undecided || earlier->bound != CSAN_EXACT || probe->access.self.bound != CSAN_EXACT,
        .at_call = (uint8_t)(is_at_call(probe->detector, &probe->access.self) |
                             is_at_call(probe->detector, earlier) << 1),
    };
    if (ad_hoc_may_order(&probe->detector->ad_hoc, &probe->detector->order, &probe->access.self,
                         earlier, &conflict.word))
        conflict.possible = true;
    name_owner(probe, &conflict);
    conflict_list_add(&probe->detector->conflicts, &conflict);
}

/* What a call may do before it returns, and work of a stream: of that the driver knows. */
static bool driver_keeps_order(const struct detector *detector, const struct past_access *current,
                               const struct past_access *earlier)
{
    const struct past_access *other = is_at_call(detector, current)   ? earlier
                                      : is_at_call(detector, earlier) ? current
                                                                      : NULL;
    const struct lane *lane = other ? &detector->order.lanes[epoch_lane(other->epoch)] : NULL;
    return lane && !lane->host && lane->role != CSAN_LANE_FUNCTION;
}

static void on_conflict(void *user, const struct past_access *earlier, uint64_t start, uint64_t end,
                        bool undecided)
{
    const struct probe *probe = user;
    enum csan_race_kind kind = CSAN_RACE_DATA;
    if (same_operator_have(&probe->detector->same_operator, epoch_lane(probe->access.self.epoch),
                           epoch_lane(earlier->epoch), earlier->op) ||
        driver_keeps_order(probe->detector, &probe->access.self, earlier))
        return;
    if (probe->is_free)
        kind = CSAN_RACE_FREE;
    else if (earlier->generation != probe->access.self.generation)
        kind = CSAN_RACE_REUSE;
    else if (earlier->kind == CSAN_ATOMIC || probe->access.self.kind == CSAN_ATOMIC)
        kind = CSAN_RACE_ATOMIC;
    if (!is_handed_on(probe, earlier, kind))
        add_conflict(probe, earlier, start, end, kind, undecided);
}

/* Use before birth and after death: both are accesses to the whole allocation by the lane that
 * allocated or freed it. */
void probe_check_life(const struct probe *probe, const struct lmad *lmad)
{
    const struct allocation *allocation = probe->allocation;
    const struct order *order = &probe->detector->order;
    uint32_t lane = epoch_lane(probe->access.self.epoch);
    uint64_t start, end;
    if (!lmad_next_run(lmad, lmad->base, &start, &end))
        return;
    if (allocation->freed && !probe->is_free) /* says more than its birth, which came before */
        add_conflict(probe, &allocation->death, start, end,
                     order_knows(order, lane, allocation->death.epoch) ? CSAN_RACE_USE_AFTER_FREE
                                                                       : CSAN_RACE_FREE,
                     false);
    else if (!order_knows(order, lane, allocation->birth.epoch))
        add_conflict(probe, &allocation->birth, start, end, CSAN_RACE_BIRTH, false);
}

/* What is the same of all accesses of an op. */
void probe_begin(struct probe *probe, struct detector *detector, const struct past_access *past)
{
    probe->detector = detector;
    probe->allocation = NULL;
    probe->block = NULL;
    probe->is_free = false;
    probe->access = (struct shadow_access){
        .self = *past,
        .knowledge = order_knowledge(&detector->order, epoch_lane(past->epoch)),
        .order = &detector->order,
        .strided_cap = detector->strided_cap,
        .strided_dropped = &detector->stats.strided_dropped,
        .conflict = on_conflict,
        .user = probe,
    };
}

/* ---- findings that are no races */

static void neighbour_fill(const struct detector *detector, struct csan_error *error,
                           const struct bounds_fault *fault)
{
    const struct site *site = site_table_get(detector->sites, fault->neighbour_site);
    error->neighbour = fault->neighbour.start;
    error->neighbour_bytes = fault->neighbour.end - fault->neighbour.start;
    if (site && error->neighbour_bytes)
        stack_depot_get(detector->stacks, site->stack, &error->neighbour_frames,
                        &error->neighbour_frame_count);
}

/* `code`: the error that the program gets, or NULL. */
static void add_fault(struct detector *detector, const struct past_access *past, uint64_t pointer,
                      const struct bounds_fault *fault, const char *code)
{
    struct conflict conflict = {.current = *past,
                                .earlier = {.epoch = epoch_make(ORDER_HOST, 0),
                                            .site = fault->birth_site,
                                            .argument = CSAN_NO_ARGUMENT},
                                .start = fault->bytes.start,
                                .end = fault->bytes.end,
                                .pointer = pointer,
                                .base = fault->owner.start,
                                .bytes = fault->owner.end - fault->owner.start,
                                .birth_site = fault->birth_site,
                                .kind = CSAN_RACE_OUT_OF_BOUNDS};
    if (fault->freed) {
        conflict.earlier = fault->death;
        conflict.kind = CSAN_RACE_USE_AFTER_FREE;
    }
    if (!fault->freed || code) {
        if (detector->error_count == DETECTOR_ERRORS)
            return;
        struct csan_error *error = &detector->errors[detector->error_count++];
        *error = (struct csan_error){
            .code = code, .detail = "", .where = (int)fault->where, .distance = fault->distance};
        neighbour_fill(detector, error, fault);
        conflict.error = error;
    }
    conflict_list_add(&detector->conflicts, &conflict);
}

/* For a stream's exact access. Branches check nodes that never run by themselves. */
static void check_bounds(struct probe *probe, const struct lmad *lmad)
{
    struct detector *detector = probe->detector;
    const struct past_access *past = &probe->access.self;
    const struct lane *lane = &detector->order.lanes[epoch_lane(past->epoch)];
    const struct site *site = site_table_get(detector->sites, past->site);
    const struct bounds_op op = {.level = past->level, .node = site && site->launched};
    struct bounds_fault fault;
    if (!detector->errors_wanted || detector->parent || lane->host ||
        lane->role != CSAN_LANE_STREAM)
        return;
    if (bounds_check(&detector->memory, detector->sites, &op, lmad, past->kind, &fault))
        add_fault(detector, past, probe->pointer, &fault, NULL);
    else if (fault.unplaced && past->level == CSAN_LEVEL_RANGES)
        __atomic_store_n(&detector->unplaced, detector->unplaced + 1, __ATOMIC_RELAXED);
}

/* ---- ops */

/* A branch takes the parent's allocation for its own at the first access; without shadow, and
 * ordered before all that the branch does. */
static struct allocation *adopt(struct detector *detector, uint64_t address)
{
    const struct allocation *found = memory_find(&detector->parent->memory, address);
    if (!found || found->freed)
        return NULL;
    struct past_access birth = {.epoch = order_advance(&detector->order, ORDER_HOST),
                                .site = found->birth.site,
                                .argument = CSAN_NO_ARGUMENT,
                                .kind = CSAN_ALLOCATE};
    return memory_create(&detector->memory, &detector->order,
                         found->kind == CSAN_MEMORY_VARIABLE ? found->kind : CSAN_MEMORY_DEVICE,
                         found->range.start, found->range.end - found->range.start, &birth);
}

static struct allocation *find_allocation(struct detector *detector, uint64_t address)
{
    struct allocation *found = memory_find(&detector->memory, address);
    return found || !detector->parent ? found : adopt(detector, address);
}

/* A ghost of the parent's is none of the branch's allocations: a gap of its own. */
static uint64_t gap_end(struct detector *detector, uint64_t address, uint64_t end)
{
    end = memory_gap_end(&detector->memory, address, end);
    if (!detector->parent)
        return end;
    const struct allocation *ghost = memory_find(&detector->parent->memory, address);
    if (ghost)
        return ghost->range.end < end ? ghost->range.end : end;
    return memory_gap_end(&detector->parent->memory, address, end);
}

/* In no allocation. */
static void touch_anonymous(struct probe *probe, const struct lmad *lmad)
{
    probe->allocation = NULL;
    probe->block = NULL;
    probe->access.self.generation = 0;
    probe->access.lmad = lmad;
    shadow_touch(&probe->detector->memory.anonymous, &probe->access);
}

/* The declared block that holds the whole access, or NULL. */
static inline const struct block *block_around(const struct allocation *allocation, uint64_t start,
                                               uint64_t end)
{
    const struct block *block = allocation_block(allocation, start);
    return block && end <= block->range.end ? block : NULL;
}

static inline uint32_t generation_of(const struct allocation *allocation, const struct block *block)
{
    return block ? block->generation : allocation->generation;
}

static void touch_allocation(struct probe *probe, const struct lmad *lmad,
                             struct allocation *allocation)
{
    probe->allocation = allocation;
    probe->block = block_around(allocation, lmad->base, lmad->base + lmad->span);
    probe->access.self.generation = generation_of(allocation, probe->block);
    probe->access.lmad = lmad;
    if (allocation->freed || epoch_lane(allocation->birth.epoch) != ORDER_HOST)
        probe_check_life(probe, lmad);
    if (!allocation->freed)
        shadow_touch(&allocation->shadow, &probe->access);
}

static void touch_one(struct probe *probe, const struct lmad *lmad, struct allocation *allocation)
{
    if (allocation)
        touch_allocation(probe, lmad, allocation);
    else
        touch_anonymous(probe, lmad);
}

/* A contiguous access may run over the end of an allocation: each part belongs to what lies there.
 */
static void touch_contiguous(struct probe *probe, struct lmad *lmad)
{
    uint64_t end = lmad->base + lmad->span;
    while (lmad->base < end) {
        struct allocation *allocation = find_allocation(probe->detector, lmad->base);
        uint64_t part_end = end;
        if (!allocation)
            part_end = gap_end(probe->detector, lmad->base, end);
        else if (allocation->range.end < end)
            part_end = allocation->range.end;
        lmad->bytes = lmad->span = part_end - lmad->base;
        touch_one(probe, lmad, allocation);
        lmad->base = part_end;
    }
}

/* "To the end": of the declared block or the allocation that holds the pointer; nothing where there
 * is none. What most launches are made of, while only directions are known. */
static void touch_to_end(struct probe *probe, uint64_t base)
{
    struct allocation *allocation = find_allocation(probe->detector, base);
    if (!allocation)
        return;
    const struct block *block = allocation_block(allocation, base);
    uint64_t bytes = (block ? block->range.end : allocation->range.end) - base;
    struct lmad lmad; /* dims stay as they are: dim_count says there are none */
    lmad.base = base;
    lmad.bytes = lmad.span = bytes;
    lmad.dim_count = 0;
    touch_allocation(probe, &lmad, allocation);
}

static void touch(struct probe *probe, const struct csan_access *access)
{
    struct lmad lmad;
    if (access->kind < CSAN_READ || access->kind > CSAN_ATOMIC)
        return;
    probe->pointer = access->base;
    probe->access.self.argument = access->argument;
    probe->access.self.kind = access->kind;
    probe->access.self.bound = access->bound;
    probe->access.self.element_bytes = access->element_bytes;
    if (access->bytes == CSAN_TO_END) {
        touch_to_end(probe, access->base);
        return;
    }
    if (!lmad_from_access(&lmad, access))
        return;
    if (access->bound == CSAN_EXACT)
        check_bounds(probe, &lmad);
    if (lmad_is_contiguous(&lmad))
        touch_contiguous(probe, &lmad);
    else
        touch_one(probe, &lmad, find_allocation(probe->detector, lmad.base));
}

/* Exact, an interval, and nothing that may order the op with another one: in one look at the bytes
 * that say so. */
static inline bool is_plain(const struct csan_access *access)
{
    enum { FROM = offsetof(struct csan_access, dim_count) };
    static const struct csan_access said = {.dim_count = 0xff, .bound = 0xff, .order = 0xff};
    uint64_t seen, wanted;
    _Static_assert(CSAN_EXACT == 0 && FROM + sizeof seen == sizeof *access &&
                       offsetof(struct csan_access, bound) > FROM &&
                       offsetof(struct csan_access, order) > FROM,
                   "they are in one word");
    memcpy(&seen, (const char *)access + FROM, sizeof seen);
    memcpy(&wanted, (const char *)&said + FROM, sizeof wanted);
    return (seen & wanted) == 0;
}

/* Most accesses are exact, and to an interval that was touched before by something that their lane
 * knows of. False: it is another, or may order the op with another one; and nothing was done. */
static inline bool touch_again(struct memory *memory, const struct csan_access *access,
                               const struct past_access *op, struct knowledge knowledge)
{
    uint64_t start = access->base, end = start + access->bytes;
    if (!is_plain(access))
        return false;
    struct allocation *allocation = memory_find(memory, start);
    if (!allocation || allocation->freed || !knowledge_has(knowledge, allocation->birth.epoch))
        return false;
    struct access_history *history = shadow_history(&allocation->shadow, start, end);
    if (!history)
        return false;
    struct past_access past = *op;
    const struct block *block = block_around(allocation, start, end);
    if (!block && allocation->pooled) /* a block that was freed, or more than one */
        return false;
    past.generation = generation_of(allocation, block);
    past.argument = access->argument;
    past.kind = access->kind;
    past.element_bytes = access->element_bytes;
    if (past.kind == CSAN_READ)
        return access_history_read_again(history, &past, knowledge);
    return past.kind == CSAN_WRITE && access_history_write_again(history, &past, knowledge);
}

void detector_commit(struct detector *detector, struct conflict_list *list)
{
    const struct detector *root = detector->parent ? detector->parent : detector;
    struct race_log *log = detector->parent ? &detector->parent->races : &detector->races;
    if (__builtin_expect(list->count == 0, 1))
        return;
    race_log_commit(log, list,
                    &(struct race_scene){.order = &detector->order,
                                         .steps = &detector->steps,
                                         .ranges = &root->ranges,
                                         .sites = detector->sites,
                                         .stacks = detector->stacks,
                                         .in_graph = detector->parent != NULL,
                                         .framework = root->framework,
                                         .wall = detector->wall});
    detector->error_count = 0;
}

static epoch_t op_epoch(struct detector *detector, const struct entry *entry)
{
    if (!entry->host_joined)
        return order_advance(&detector->order, entry->lane);
    order_join(&detector->order, entry->lane, &entry->snapshot->value);
    return order_advance_alone(&detector->order, entry->lane);
}

/* Births and frees are ops, too. */
struct past_access detector_op_access(struct detector *detector, const struct entry *entry)
{
    const epoch_t epoch = op_epoch(detector, entry);
    if (detector->unordered.wanted)
        unordered_op(&detector->unordered, &detector->order, epoch);
    return (struct past_access){.epoch = epoch,
                                .op = entry->number,
                                .site = entry->site,
                                .argument = CSAN_NO_ARGUMENT,
                                .kind = CSAN_WRITE};
}

/* The accesses from `done` on. */
static void touch_rest(struct detector *detector, const struct op *op,
                       const struct past_access *past, size_t done)
{
    struct probe probe;
    if (ad_hoc_is_used(op->accesses + done, op->access_count - done))
        ad_hoc_op(&detector->ad_hoc, &detector->order, past->epoch, op->number, op->accesses,
                  op->access_count);
    probe_begin(&probe, detector, past);
    for (; done < op->access_count; done++)
        if (!touch_again(&detector->memory, &op->accesses[done], past, probe.access.knowledge))
            touch(&probe, &op->accesses[done]);
    detector_commit(detector, &detector->conflicts);
}

/* Option init_check. */
static void check_initialized(struct detector *detector, const struct op *op,
                              const struct past_access *past)
{
    const struct lane *lane = &detector->order.lanes[op->lane];
    const struct site *site = site_table_get(detector->sites, op->site);
    struct initialized_fault faults[INITIALIZED_FAULTS];
    const struct initialized_op touched = {
        .accesses = op->accesses,
        .count = op->access_count,
        .level = op->level,
        .launched = site && site->launched,
        .judged = !lane->host && lane->role == CSAN_LANE_STREAM && !detector->out_of_turn};
    const size_t count =
        initialized_op(&detector->initialized, &detector->memory, &touched, faults);
    for (size_t i = 0; i < count; i++) {
        struct past_access reads = *past;
        reads.kind = CSAN_READ;
        reads.argument = faults[i].access->argument;
        detector_find(detector, CSAN_RACE_UNINITIALIZED, &reads, faults[i].bytes.start,
                      faults[i].bytes.end - faults[i].bytes.start,
                      &(struct csan_error){.detail = ""});
    }
}

__attribute__((always_inline)) static inline void touch_all(struct detector *detector,
                                                            const struct op *op, epoch_t epoch)
{
    struct past_access past = {
        .epoch = epoch, .op = op->number, .site = op->site, .level = (uint8_t)op->level};
    struct knowledge knowledge = order_knowledge(&detector->order, op->lane);
    size_t done = 0;
    if (__builtin_expect(detector->initialized.wanted, 0))
        check_initialized(detector, op, &past);
    detector->stats.ops++;
    detector->stats.launches[op->level]++;
    while (done < op->access_count &&
           touch_again(&detector->memory, &op->accesses[done], &past, knowledge))
        done++;
    if (__builtin_expect(done < op->access_count, 0))
        touch_rest(detector, op, &past, done);
    if (__builtin_expect(detector->same_operator.count != 0, 0))
        same_operator_forget(&detector->same_operator, op->lane);
    if (__builtin_expect(detector->unordered.wanted, 0))
        unordered_op(&detector->unordered, &detector->order, epoch);
    if (__builtin_expect(detector->watch != NULL, 0))
        detector_watch_op(detector, op, epoch);
}

void detector_host_changed(struct detector *detector, const struct past_access *now,
                           const struct past_access *earlier, struct range bytes)
{
    struct probe probe;
    probe_begin(&probe, detector, now);
    probe.pointer = bytes.start;
    probe.allocation = memory_find(&detector->memory, bytes.start);
    if (probe.allocation)
        probe.block = block_around(probe.allocation, bytes.start, bytes.end);
    add_conflict(&probe, earlier, bytes.start, bytes.end, CSAN_RACE_DATA, false);
    detector_commit(detector, &detector->conflicts);
}

/* The first accesses' allocations come from farther away than the processor looks ahead. */
__attribute__((always_inline)) static inline void prefetch(struct memory *memory,
                                                           const struct op *op)
{
    enum { AHEAD = 8 };
    for (size_t i = 0; i < op->access_count && i < AHEAD; i++)
        memory_prefetch(memory, op->accesses[i].base);
}

void detector_op(struct detector *detector, const struct op *op)
{
    prefetch(&detector->memory, op);
    touch_all(detector, op, order_advance(&detector->order, op->lane));
}

static void process_op(struct detector *detector, const struct entry *entry)
{
    struct op op = {.lane = entry->lane,
                    .site = entry->site,
                    .level = entry->level,
                    .number = entry->number,
                    .accesses = entry->accesses,
                    .access_count = entry->access_count};
    touch_all(detector, &op, op_epoch(detector, entry));
}

static bool judge(struct detector *detector, const struct entry *entry,
                  const struct csan_access *access, struct bounds_fault *fault)
{
    const struct site *site = site_table_get(detector->sites, entry->site);
    const struct bounds_op op = {.level = entry->level,
                                 .node = site && site->launched,
                                 .refused = entry->judged != CONTEXT_WRONG_POINTER};
    struct lmad lmad;
    if (entry->judged == CONTEXT_REFUSED_FREE)
        return bounds_check_free(&detector->memory, access->base, fault);
    if (access->bytes == CSAN_TO_END || !lmad_from_access(&lmad, access))
        return false;
    if (entry->judged == CONTEXT_WRONG_POINTER)
        return bounds_check_wrong_pointer(&detector->memory, detector->sites, &op, entry->base,
                                          (struct range){lmad.base, lmad.base + lmad.span}, fault);
    return bounds_check(&detector->memory, detector->sites, &op, &lmad, access->kind, fault);
}

static void process_judged(struct detector *detector, const struct entry *entry)
{
    const char *code = entry->judged == CONTEXT_WRONG_POINTER ? NULL : "CUDA_ERROR_INVALID_VALUE";
    struct past_access past = {
        .epoch = epoch_make(entry->lane, 0), .site = entry->site, .level = (uint8_t)entry->level};
    for (size_t i = 0; detector->errors_wanted && i < entry->access_count; i++) {
        const struct csan_access *access = &entry->accesses[i];
        struct bounds_fault fault;
        past.argument = access->argument;
        past.kind = entry->judged == CONTEXT_REFUSED_FREE ? CSAN_FREE : access->kind;
        if (judge(detector, entry, access, &fault))
            add_fault(detector, &past, access->base, &fault, code);
    }
    detector_commit(detector, &detector->conflicts);
}

void detector_find(struct detector *detector, enum csan_race_kind kind,
                   const struct past_access *current, uint64_t address, uint64_t bytes,
                   const struct csan_error *error)
{
    struct nearest_block found = {.where = CSAN_WHERE_UNKNOWN};
    struct csan_error copy = *error;
    if (bytes)
        found = nearest_block_of(&detector->memory, address);
    copy.where = (int)found.where;
    copy.distance = found.distance;
    struct conflict conflict = {.current = *current,
                                .earlier = {.epoch = epoch_make(ORDER_HOST, 0),
                                            .site = found.birth_site,
                                            .argument = CSAN_NO_ARGUMENT},
                                .start = address,
                                .end = address + bytes,
                                .pointer = address,
                                .base = found.owner.start,
                                .bytes = found.owner.end - found.owner.start,
                                .birth_site = found.birth_site,
                                .kind = (uint8_t)kind,
                                .error = &copy};
    if (found.freed)
        conflict.earlier = found.death;
    conflict_list_add(&detector->conflicts, &conflict);
    detector_commit(detector, &detector->conflicts);
}

/* ---- order */

static void process_step(struct detector *detector, const struct entry *entry)
{
    detector_step(detector, &(struct step){.after = entry->number,
                                           .object = entry->first,
                                           .detail = entry->last,
                                           .lane = entry->lane,
                                           .site = entry->site,
                                           .kind = entry->step});
}

static void fill(struct csan_snapshot *snapshot, struct snapshot value)
{
    if (snapshot->state == SNAPSHOT_FILLED) { /* a promise given up, or kept twice: first wins */
        snapshot_release(&value);
        return;
    }
    snapshot->value = value;
    snapshot->state = SNAPSHOT_FILLED;
}

static void destroy_event(struct csan_event *event)
{
    snapshot_release(&event->value);
    free(event);
}

void detector_process(struct detector *detector, struct entry *entry)
{
    struct order *order = &detector->order;
    switch (entry->kind) {
    case ENTRY_OP:
        process_op(detector, entry);
        return;
    case ENTRY_SAME_OPERATOR:
        same_operator_add(
            &detector->same_operator,
            (struct same_operator_member){entry->lane, entry->other, entry->first, entry->last});
        return;
    case ENTRY_JOIN_LANE:
        order_join_lane(order, entry->lane, entry->other);
        return;
    case ENTRY_JOIN:
        order_join(order, entry->lane, &entry->snapshot->value);
        return;
    case ENTRY_SNAPSHOT:
    case ENTRY_KEEP:
        fill(entry->snapshot, order_snapshot(order, entry->lane));
        return;
    case ENTRY_SNAPSHOT_ALL:
        fill(entry->snapshot, order_snapshot_all(order));
        return;
    case ENTRY_SNAPSHOT_EVENT:
        fill(entry->snapshot, snapshot_share(entry->event->value));
        return;
    case ENTRY_RECORD:
        detector_record(detector, entry->event, entry->lane);
        return;
    case ENTRY_RECORD_SNAPSHOT:
        detector_record_snapshot(detector, entry->event, snapshot_share(entry->snapshot->value));
        return;
    case ENTRY_WAIT:
        detector_wait(detector, entry->event, entry->lane);
        return;
    case ENTRY_EVENT_DESTROY:
        destroy_event(entry->event);
        return;
    case ENTRY_LANE_DESTROY:
        order_lane_destroy(order, entry->lane);
        return;
    case ENTRY_BIRTH:
        detector_birth(detector, entry);
        return;
    case ENTRY_FREE_BEGIN:
        detector_free_begin(detector, entry);
        return;
    case ENTRY_FREE_END:
        detector_free_end(detector, entry);
        return;
    case ENTRY_POOL_ALLOC:
        detector_pool_alloc(detector, entry);
        return;
    case ENTRY_POOL_FREE:
        detector_pool_free(detector, entry);
        return;
    case ENTRY_STEP:
        process_step(detector, entry);
        return;
    case ENTRY_JUDGED:
        process_judged(detector, entry);
        return;
    case ENTRY_DOUBT:
        detector_doubt(detector);
        return;
    }
}

void detector_pass_by(struct detector *detector, struct entry *entry)
{
    switch (entry->kind) {
    case ENTRY_OP:
        detector->stats.ops++;
        detector->stats.launches[entry->level] += !entry->pending;
        return;
    case ENTRY_EVENT_DESTROY:
        destroy_event(entry->event);
        return;
    case ENTRY_LANE_DESTROY:
        order_lane_destroy(&detector->order, entry->lane);
        return;
    case ENTRY_FREE_END:
        free(entry->free);
        return;
    default:
        return;
    }
}
