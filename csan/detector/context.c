/* The detector's public functions (csan.h, part 2). They take the context's lock, make entries of
 * the calls, and hand out races. context_memory.c has the functions about memory,
 * context_lane.c those about sites and lanes. */
#include "csan/detector/context_state.h"
#include "csan/detector/host_watch.h"
#include "csan/options.h"
#include "csan/stack/stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- life */

csan_context *csan_context_create(const char *options_text,
                                  void (*on_race)(void *user, const struct csan_race *race),
                                  void *user, char *message, size_t message_bytes)
{
    struct options options;
    options_default(&options);
    if (options_text && options_parse(&options, options_text, message, message_bytes) != 0)
        return NULL;
    csan_context *context = calloc(1, sizeof(*context));
    if (!context)
        return NULL;
    context->lock = &context->own_lock;
    context->root = context;
    pthread_mutex_init(&context->delivery, NULL);
    live_memory_init(&context->live);
    canonicalizations_init(&context->canonicalizations);
    queue_init(&context->queue, (size_t)options.pending_limit,
               (uint64_t)options.pending_timeout_ms * 1000000u);
    context->on_race = on_race;
    context->user = user;
    struct detector *detector = &context->detector;
    bool ready = detector_init(detector);
    detector->strided_cap = (uint32_t)options.strided_cap;
    detector->conflicts.each = !options.dedup;
    detector->unordered.wanted = options.count_unordered != 0;
    detector->errors_wanted = strcmp(options.errors, "off") != 0;
    detector->initialized.wanted = options.init_check != 0;
    detector->stacks = stack_depot_create();
    detector->sites = detector->stacks ? site_table_create(detector->stacks) : NULL;
    if (!ready || !detector->sites) {
        csan_context_destroy(context);
        return NULL;
    }
    return context;
}

/* Its races go to the parent's, whose lock covers it: both are changed by one call. */
csan_context *csan_context_branch(csan_context *parent)
{
    csan_context *context = calloc(1, sizeof(*context));
    if (!context)
        return NULL;
    context->lock = parent->lock;
    context->parent = context->root = parent;
    pthread_mutex_init(&context->delivery, NULL);
    live_memory_init(&context->live);
    canonicalizations_init(&context->canonicalizations);
    queue_init(&context->queue, parent->queue.limit, parent->queue.timeout);
    struct detector *detector = &context->detector;
    bool ready = detector_init(detector);
    detector->parent = &parent->detector;
    detector->strided_cap = parent->detector.strided_cap;
    detector->conflicts.each = parent->detector.conflicts.each;
    detector->unordered.wanted = parent->detector.unordered.wanted;
    detector->stacks = parent->detector.stacks;
    detector->sites = parent->detector.sites;
    if (!ready) {
        csan_context_destroy(context);
        return NULL;
    }
    context->unchecked = parent->unchecked;
    if (parent->recording) {
        lock_take(context->lock);
        context->recorded_as = recording_branch(parent->recording, parent->recorded_as);
        context->recording = parent->recording;
        context_attend(context);
        context_leave(context);
    }
    return context;
}

void context_record(csan_context *context, struct recording *recording, int check)
{
    recording_attach(recording, context->lock, context->detector.sites, context->detector.stacks);
    context->recording = recording;
    context_attend(context);
    context->unchecked = !check;
}

bool context_is_recorded(const csan_context *context)
{
    return context->recording != NULL;
}

void context_set_time(csan_context *context, uint64_t nanoseconds, uint64_t wall)
{
    lock_take(context->lock);
    context->queue.now = nanoseconds;
    context->detector.wall = wall;
    lock_give(context->lock);
}

void csan_context_destroy(csan_context *context)
{
    if (!context)
        return;
    csan_context_drain(context);
    if (context->parent && context->detector.unordered.wanted) {
        lock_take(context->lock);
        context->parent->detector.unordered.pairs += context->detector.unordered.pairs;
        context->parent->detector.unordered.cut |= context->detector.unordered.cut;
        lock_give(context->lock);
    }
    if (context->recording && context->parent) {
        lock_take(context->lock);
        recording_branch_end(context->recording, context->recorded_as);
        context_leave(context);
    }
    detector_clear(&context->detector);
    if (context->detector.sites && !context->parent)
        site_table_destroy(context->detector.sites);
    if (context->detector.stacks && !context->parent)
        stack_depot_destroy(context->detector.stacks);
    live_memory_clear(&context->live);
    canonicalizations_clear(&context->canonicalizations);
    pthread_mutex_destroy(&context->delivery);
    free(context);
}

/* ---- handing out races */

static const struct csan_race *next_race(csan_context *context)
{
    lock_take(context->lock);
    const struct csan_race *race = race_log_next(&context->detector.races);
    lock_give(context->lock);
    return race;
}

static bool is_suppressed(csan_context *context, const struct csan_race *race)
{
    return context->suppresses && context->suppresses(context->suppresses_user, race);
}

void context_suppress(csan_context *context, const struct csan_race *race)
{
    lock_take(context->lock);
    race_log_suppress(&context->detector.races, race);
    lock_give(context->lock);
}

void context_renew(csan_context *context, const struct csan_race *race)
{
    lock_take(context->lock);
    race_log_renew(&context->detector.races, race);
    lock_give(context->lock);
}

void context_withdraw(csan_context *context, const struct csan_race *race)
{
    lock_take(context->lock);
    race_log_withdraw(&context->detector.races, race);
    lock_give(context->lock);
}

void context_group(csan_context *context, const struct csan_race *race)
{
    lock_take(context->lock);
    race_log_group(&context->detector.races, race);
    lock_give(context->lock);
}

static void watch_reports(csan_context *context)
{
    lock_take(context->lock);
    const bool due = context->detector.watch_due;
    context->detector.watch_due = false;
    lock_give(context->lock);
    if (due && context->detector.watch->report)
        context->detector.watch->report(context->detector.watch->user);
}

/* Whoever holds the delivery lock hands out everything; another thread that found a race meanwhile
 * leaves it to that one, which looks again after letting go. */
void context_deliver(csan_context *context)
{
    const struct csan_race *race;
    context = context->root;
    watch_reports(context);
    while ((race = next_race(context))) {
        pthread_mutex_lock(&context->delivery);
        if (is_suppressed(context, race)) {
            context_suppress(context, race);
        } else {
            context_group(context, race);
            if (context->on_race)
                context->on_race(context->user, race);
        }
        pthread_mutex_unlock(&context->delivery);
    }
}

void context_set_filter(csan_context *context,
                        bool (*suppresses)(void *user, const struct csan_race *race), void *user)
{
    context->suppresses = suppresses;
    context->suppresses_user = user;
}

void context_set_framework(csan_context *context)
{
    lock_take(context->lock);
    if (!context->detector.framework && context->recording)
        recording_framework(context->recording);
    context->detector.framework = true;
    context_leave(context);
}

uint64_t context_occurrences(csan_context *context, uint64_t number)
{
    lock_take(context->lock);
    uint64_t count = race_log_occurrences(&context->detector.races, number);
    lock_give(context->lock);
    return count;
}

/* ---- what enters */

/* How many of csan_ignore_begin the thread has not ended. */
static __thread uint32_t ignoring __attribute__((tls_model("initial-exec")));

void context_ignore(bool begin)
{
    if (begin)
        ignoring++;
    else
        ignoring -= ignoring > 0;
}

bool context_ignores(void)
{
    return ignoring > 0;
}

uint32_t context_ignore_swap(uint32_t depth)
{
    const uint32_t before = ignoring;
    ignoring = depth;
    return before;
}

static inline const struct csan_access *as_seen(const csan_context *context,
                                                const struct csan_access *accesses, size_t *count,
                                                struct access_rooms *rooms)
{
    const csan_context *root = context->root;
    return canonicalize(&root->canonicalizations.now, &root->live, accesses, count, rooms);
}

struct canonicalization *context_canonicalization_changes(csan_context *context)
{
    const struct queue *queue = &context->queue;
    const uint64_t first = queue_first_ticket(queue);
    if (first || context->unchecked) /* nobody knows then */
        canonicalizations_keep(&context->canonicalizations, first, queue->last_ticket);
    else
        canonicalizations_forget(&context->canonicalizations);
    return &context->canonicalizations.now;
}

uint64_t context_submit_locked(csan_context *context, struct entry *entry)
{
    uint64_t ticket = 0;
    struct access_rooms rooms = {NULL, NULL};
    if (context_has_lanes(context, entry)) {
        if (entry->kind == ENTRY_OP)
            entry->number = context_next_op(context, entry->lane, context_may_have_ranges());
        entry->accesses = as_seen(context, entry->accesses, &entry->access_count, &rooms);
        ticket = context_enter(context, entry);
    }
    bool news = context_has_news(context);
    context_give(context);
    if (__builtin_expect(news, 0))
        context_deliver(context);
    if (__builtin_expect(context->observer != NULL, 0) && entry->number)
        context_observe(context, entry, 0);
    access_rooms_free(&rooms);
    return ticket;
}

static uint64_t submit(csan_context *context, struct entry *entry)
{
    if (entry->kind == ENTRY_OP)
        context_ready_ranges();
    lock_take(context->lock);
    return context_submit_locked(context, entry);
}

/* Takes the lock. True when nothing waits: what enters is then processed at once, and needs no
 * entry but for a recording. */
static inline bool begin_at_once(csan_context *context)
{
    lock_take(context->lock);
    return __builtin_expect(!context->queue.entries && !context->unchecked, 1);
}

static inline void end_at_once(csan_context *context)
{
    const struct race_log *races = &context->root->detector.races;
    bool news = races->delivered < races->count;
    if (__builtin_expect(!context->attended, 1)) {
        lock_give(context->lock);
    } else {
        news = context_has_news(context);
        context_give(context);
    }
    if (__builtin_expect(news, 0))
        context_deliver(context);
}

void context_note_ranges(csan_context *context, uint64_t number)
{
    struct range_path *path = named_range_now();
    if (range_history_note(&context->root->detector.ranges, number, path) && context->recording)
        recording_ranges(context->recording, context->recorded_as, path ? path->text : "");
}

/* ---- order */

bool context_is_over(csan_context *context, const csan_snapshot *snapshot)
{
    lock_take(context->lock);
    bool over = snapshot->state == SNAPSHOT_FILLED && snapshot->value.epoch &&
                order_is_over(&context->detector.order, snapshot->value.epoch);
    lock_give(context->lock);
    return over;
}

bool context_knows(csan_context *context, csan_lane lane, uint64_t epoch)
{
    lock_take(context->lock);
    const bool known = order_knows(&context->detector.order, lane, epoch);
    lock_give(context->lock);
    return known;
}

void csan_lane_destroy(csan_context *context, csan_lane lane)
{
    if (lane == CSAN_NO_LANE)
        return;
    submit(context, &(struct entry){.kind = ENTRY_LANE_DESTROY, .lane = lane});
}

void csan_lane_waits(csan_context *context, csan_lane lane, csan_lane other)
{
    submit(context, &(struct entry){.kind = ENTRY_JOIN_LANE, .lane = lane, .other = other});
}

static struct entry step_entry(const struct step *step)
{
    return (struct entry){.kind = ENTRY_STEP,
                          .lane = step->lane,
                          .site = step->site,
                          .step = step->kind,
                          .number = step->after,
                          .first = step->object,
                          .last = step->detail};
}

void csan_step(csan_context *context, csan_lane lane, enum csan_step_kind kind, uint64_t object,
               uint64_t detail, csan_site site)
{
    struct step step = {
        .object = object, .detail = detail, .lane = lane, .site = site, .kind = (uint8_t)kind};
    const bool at_once = begin_at_once(context);
    step.after = context->root->next_number;
    if (!at_once) {
        struct entry entry = step_entry(&step);
        context_submit_locked(context, &entry);
        return;
    }
    if (context_has_lane(context, lane)) {
        if (__builtin_expect(context->recording != NULL, 0)) {
            const struct entry entry = step_entry(&step);
            context_record_entry(context, &entry);
        }
        detector_step(&context->detector, &step);
    }
    end_at_once(context);
}

/* The call's lane, made at its first wait; CSAN_NO_LANE when there are too many. */
csan_lane context_unpromised_lane(csan_context *context, const char *what)
{
    struct detector *detector = &context->detector;
    csan_lane lane = CSAN_NO_LANE;
    lock_take(context->lock);
    for (uint32_t i = 0; i < detector->unpromised_count; i++)
        if (strcmp(detector->unpromised[i].what, what) == 0)
            lane = detector->unpromised[i].lane;
    if (lane == CSAN_NO_LANE && detector->unpromised_count < UNPROMISED_MAX) {
        lane = order_lane_create(&detector->order, 0, what);
        if (lane != CSAN_NO_LANE) {
            detector->unpromised[detector->unpromised_count].what = what;
            detector->unpromised[detector->unpromised_count].pool =
                strcmp(what, detector_pool_query) == 0;
            if (detector->unpromised[detector->unpromised_count].pool)
                detector->order.pool = lane;
            detector->unpromised[detector->unpromised_count++].lane = lane;
            if (context->recording)
                recording_unpromised(context->recording, context->recorded_as, lane, what);
        }
    }
    context_leave(context);
    return lane;
}

void csan_lane_observed_wait(csan_context *context, csan_lane other, const char *what)
{
    csan_lane lane = context_unpromised_lane(context, what);
    if (lane == CSAN_NO_LANE)
        return;
    if (other != CSAN_NO_LANE) {
        csan_lane_waits(context, lane, other);
        return;
    }
    csan_snapshot *all = csan_snapshot_take_all(context);
    csan_snapshot_join(context, lane, all);
    if (all)
        csan_snapshot_release(context, all);
}

void csan_snapshot_observed_wait(csan_context *context, const csan_snapshot *snapshot,
                                 const char *what)
{
    csan_lane lane = context_unpromised_lane(context, what);
    if (lane != CSAN_NO_LANE)
        csan_snapshot_join(context, lane, snapshot);
}

void csan_snapshot_seen_by_pool(csan_context *context, const csan_snapshot *snapshot)
{
    csan_snapshot_observed_wait(context, snapshot, detector_pool_query);
}

static csan_snapshot *snapshot_create(enum snapshot_state state)
{
    csan_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (snapshot)
        *snapshot = (csan_snapshot){.references = 1, .state = state};
    return snapshot;
}

csan_snapshot *csan_snapshot_take(csan_context *context, csan_lane lane)
{
    csan_snapshot *snapshot = snapshot_create(SNAPSHOT_EMPTY);
    if (snapshot)
        submit(context,
               &(struct entry){.kind = ENTRY_SNAPSHOT, .lane = lane, .snapshot = snapshot});
    return snapshot;
}

csan_snapshot *csan_snapshot_take_all(csan_context *context)
{
    csan_snapshot *snapshot = snapshot_create(SNAPSHOT_EMPTY);
    if (snapshot)
        submit(context, &(struct entry){.kind = ENTRY_SNAPSHOT_ALL, .snapshot = snapshot});
    return snapshot;
}

void csan_snapshot_join(csan_context *context, csan_lane lane, const csan_snapshot *snapshot)
{
    if (snapshot)
        submit(context, &(struct entry){.kind = ENTRY_JOIN,
                                        .lane = lane,
                                        .snapshot = (csan_snapshot *)snapshot});
}

void csan_snapshot_release(csan_context *context, csan_snapshot *snapshot)
{
    lock_take(context->lock);
    if (context->recording && snapshot)
        recording_release(context->recording, context->recorded_as, snapshot);
    snapshot_handle_release(snapshot);
    context_leave(context);
}

csan_snapshot *csan_snapshot_promise(csan_context *context)
{
    (void)context;
    return snapshot_create(SNAPSHOT_PROMISE);
}

void csan_snapshot_keep(csan_context *context, csan_snapshot *promise, csan_lane lane)
{
    submit(context, &(struct entry){.kind = ENTRY_KEEP, .lane = lane, .snapshot = promise});
}

/* ---- events */

csan_event *csan_event_create(csan_context *context)
{
    (void)context;
    return calloc(1, sizeof(csan_event));
}

void csan_event_destroy(csan_context *context, csan_event *event)
{
    if (event)
        submit(context, &(struct entry){.kind = ENTRY_EVENT_DESTROY, .event = event});
}

void csan_event_record(csan_context *context, csan_event *event, csan_lane lane)
{
    __atomic_store_n(&event->recorded, true, __ATOMIC_RELEASE);
    if (!begin_at_once(context)) {
        context_submit_locked(context,
                              &(struct entry){.kind = ENTRY_RECORD, .event = event, .lane = lane});
        return;
    }
    if (context_has_lane(context, lane)) {
        if (__builtin_expect(context->recording != NULL, 0))
            context_record_entry(
                context, &(struct entry){.kind = ENTRY_RECORD, .event = event, .lane = lane});
        detector_record(&context->detector, event, lane);
    }
    end_at_once(context);
}

void csan_event_record_snapshot(csan_context *context, csan_event *event,
                                const csan_snapshot *snapshot)
{
    __atomic_store_n(&event->recorded, true, __ATOMIC_RELEASE);
    submit(context, &(struct entry){.kind = ENTRY_RECORD_SNAPSHOT,
                                    .event = event,
                                    .snapshot = (csan_snapshot *)snapshot});
}

void csan_event_wait(csan_context *context, csan_event *event, csan_lane lane)
{
    if (!begin_at_once(context)) {
        context_submit_locked(context,
                              &(struct entry){.kind = ENTRY_WAIT, .event = event, .lane = lane});
        return;
    }
    if (context_has_lane(context, lane)) {
        if (__builtin_expect(context->recording != NULL, 0))
            context_record_entry(context,
                                 &(struct entry){.kind = ENTRY_WAIT, .event = event, .lane = lane});
        detector_wait(&context->detector, event, lane);
    }
    end_at_once(context);
}

csan_snapshot *csan_event_snapshot(csan_context *context, csan_event *event)
{
    if (!__atomic_load_n(&event->recorded, __ATOMIC_ACQUIRE))
        return NULL;
    csan_snapshot *snapshot = snapshot_create(SNAPSHOT_EMPTY);
    if (snapshot)
        submit(context,
               &(struct entry){.kind = ENTRY_SNAPSHOT_EVENT, .event = event, .snapshot = snapshot});
    return snapshot;
}

/* ---- ops */

static inline uint64_t op_at_once(csan_context *context, struct op *op, bool ranges)
{
    struct access_rooms rooms = {NULL, NULL};
    if (context_has_lane(context, op->lane)) {
        op->number = context_next_op(context, op->lane, ranges);
        op->accesses = as_seen(context, op->accesses, &op->access_count, &rooms);
        if (__builtin_expect(context->recording != NULL, 0))
            context_record_entry(context, &(struct entry){.kind = ENTRY_OP,
                                                          .lane = op->lane,
                                                          .site = op->site,
                                                          .level = op->level,
                                                          .accesses = op->accesses,
                                                          .access_count = op->access_count});
        detector_op(&context->detector, op);
    }
    end_at_once(context);
    if (__builtin_expect(context->observer != NULL, 0) && op->number)
        context->observer(context->observer_user, op->number, op->lane, op->site, 0);
    access_rooms_free(&rooms);
    return op->number;
}

uint64_t csan_op(csan_context *context, csan_lane lane, csan_site site, enum csan_level level,
                 const struct csan_access *accesses, size_t count)
{
    if (context_ignores()) {
        context_doubt(context);
        count = 0;
    }
    const bool ranges = context_ready_ranges();
    if (begin_at_once(context))
        return op_at_once(context,
                          &(struct op){.lane = lane,
                                       .site = site,
                                       .level = level,
                                       .accesses = accesses,
                                       .access_count = count},
                          ranges);
    struct entry entry = {.kind = ENTRY_OP,
                          .lane = lane,
                          .site = site,
                          .level = level,
                          .accesses = accesses,
                          .access_count = count};
    context_submit_locked(context, &entry);
    return entry.number;
}

const uint64_t *context_generation(const csan_context *context)
{
    return &context->generation;
}

void csan_op_same_operator(csan_context *context, csan_lane lane, csan_lane other, uint64_t first,
                           uint64_t last)
{
    submit(context, &(struct entry){.kind = ENTRY_SAME_OPERATOR,
                                    .lane = lane,
                                    .other = other,
                                    .first = first,
                                    .last = last});
}

uint64_t csan_op_pending(csan_context *context, csan_lane lane, csan_site site,
                         enum csan_level fallback_level, const struct csan_access *fallback,
                         size_t fallback_count)
{
    if (context_ignores()) {
        csan_op(context, lane, site, fallback_level, NULL, 0);
        return 0;
    }
    return submit(context, &(struct entry){.kind = ENTRY_OP,
                                           .lane = lane,
                                           .site = site,
                                           .level = fallback_level,
                                           .pending = true,
                                           .accesses = fallback,
                                           .access_count = fallback_count});
}

void csan_op_resolve(csan_context *context, uint64_t ticket, enum csan_level level,
                     const struct csan_access *accesses, size_t count)
{
    if (!ticket)
        return;
    struct access_rooms rooms = {NULL, NULL};
    lock_take(context->lock);
    /* Recorded like that, too: a replay needs no aliases. A branch's tickets are its own. */
    const struct canonicalizations *canonicalizations = &context->root->canonicalizations;
    accesses =
        canonicalize(context == context->root ? canonicalizations_at(canonicalizations, ticket)
                                              : &canonicalizations->now,
                     &context->root->live, accesses, &count, &rooms);
    if (context->recording) {
        context->queue.now = recording_resolve(context->recording, context->recorded_as, ticket,
                                               level, accesses, count);
    }
    if (context->unchecked)
        context->detector.stats.launches[level]++;
    else
        queue_resolve(&context->queue, &context->detector, ticket, level, accesses, count);
    bool news = context_has_news(context);
    context_give(context);
    access_rooms_free(&rooms);
    if (news)
        context_deliver(context);
}

void csan_context_observe(csan_context *context,
                          void (*on_op)(void *user, uint64_t sequence, csan_lane lane,
                                        csan_site site, int before),
                          void *user)
{
    context->observer = on_op;
    context->observer_user = user;
}

void context_watch_host(csan_context *context, const struct host_watch *watch)
{
    context->detector.watch = watch;
    context_attend(context);
}

void csan_context_drain(csan_context *context)
{
    lock_take(context->lock);
    if (context->recording)
        recording_drain(context->recording, context->recorded_as);
    queue_drain(&context->queue, &context->detector);
    context_leave(context);
    context_deliver(context);
}

static void find(csan_context *context, const struct context_finding *finding)
{
    struct detector *detector = &context->detector;
    const struct site *reported = site_table_get(detector->sites, finding->reported);
    const struct past_access current = {
        .epoch = epoch_make(finding->lane, 0),
        .site = finding->site,
        .argument = finding->argument ? (uint16_t)(finding->argument - 1) : CSAN_NO_ARGUMENT,
        .kind = (uint8_t)finding->access,
        .level = (uint8_t)finding->level};
    struct csan_error error = finding->error;
    if (reported)
        stack_depot_get(detector->stacks, reported->stack, &error.reported_frames,
                        &error.reported_frame_count);
    detector_find(detector, finding->kind, &current, finding->address, finding->bytes, &error);
}

void context_find(csan_context *context, const struct context_finding *finding)
{
    lock_take(context->lock);
    const bool exists = context_has_lane(context, finding->lane);
    if (exists && context->recording) {
        context->queue.now = recording_finding(context->recording, context->recorded_as, finding);
        context->detector.wall = context->queue.now + recording_wall_offset(context->recording);
    }
    if (exists && !context->unchecked)
        find(context, finding);
    context_leave(context);
    context_deliver(context);
}

void context_host_changed(csan_context *context, const struct context_host_change *change)
{
    struct detector *detector = &context->detector;
    struct order *order = &detector->order;
    lock_take(context->lock);
    const bool exists = change->lane < order->count && change->op_lane < order->count;
    if (exists && context->recording) {
        context->queue.now =
            recording_host_change(context->recording, context->recorded_as, change);
        detector->wall = context->queue.now + recording_wall_offset(context->recording);
    }
    if (exists && !context->unchecked) {
        const struct csan_access *access = &change->access;
        const struct past_access now = {
            .epoch = epoch_make(change->lane, order->lanes[change->lane].sequence),
            .op = context->root->next_number,
            .site = change->site,
            .argument = CSAN_NO_ARGUMENT,
            .kind = CSAN_WRITE,
            .level = CSAN_LEVEL_ANNOTATED};
        const struct past_access earlier = {.epoch =
                                                epoch_make(change->op_lane, change->op_sequence),
                                            .op = change->op,
                                            .site = change->op_site,
                                            .argument = access->argument,
                                            .kind = CSAN_READ,
                                            .level = (uint8_t)change->op_level};
        detector_host_changed(detector, &now, &earlier,
                              (struct range){access->base, access->base + access->bytes});
    }
    context_leave(context);
    context_deliver(context);
}

void context_doubt(csan_context *context)
{
    if (context->detector.watch) {
        lock_take(context->lock);
        context->detector.watch_lost = true;
        context_leave(context);
    }
    if (!context->detector.initialized.wanted)
        return;
    lock_take(context->lock);
    context_submit_locked(context, &(struct entry){.kind = ENTRY_DOUBT, .lane = CSAN_HOST});
}

void context_judge(csan_context *context, const struct context_call *call)
{
    struct entry entry = {.kind = ENTRY_JUDGED,
                          .lane = call->lane,
                          .site = call->site,
                          .level = call->level,
                          .accesses = call->accesses,
                          .access_count = call->access_count,
                          .judged = (uint8_t)call->what,
                          .base = call->pointer};
    lock_take(context->lock);
    context_submit_locked(context, &entry);
}

uint64_t context_unplaced(const csan_context *context)
{
    return __atomic_load_n(&context->detector.unplaced, __ATOMIC_RELAXED);
}

/* ---- what was found */

/* Under the lock. */
static void counts_copy(const struct detector *detector, struct csan_stats *stats)
{
    *stats = detector->stats;
    stats->races = detector->races.certain;
    stats->possible = detector->races.possible;
    stats->errors = detector->races.errors;
    stats->grouped = detector->races.grouped;
    stats->suppressed = detector->races.suppressed;
    stats->duplicates = detector->races.duplicates;
}

void context_counts(csan_context *context, struct csan_stats *stats)
{
    lock_take(context->lock);
    counts_copy(&context->detector, stats);
    lock_give(context->lock);
}

void csan_context_stats(csan_context *context, struct csan_stats *stats)
{
    lock_take(context->lock);
    const struct detector *detector = &context->detector;
    counts_copy(detector, stats);
    stats->lanes = detector->order.live_count;
    stats->unordered = detector->unordered.pairs;
    stats->unordered_counted = detector->unordered.wanted && !detector->unordered.cut;
    memory_totals(&detector->memory, &stats->allocations, &stats->cells, &stats->strided_records);
    lock_give(context->lock);
}

uint64_t csan_context_race_mark(csan_context *context)
{
    lock_take(context->lock);
    uint64_t mark = race_log_mark(&context->detector.races);
    lock_give(context->lock);
    return mark;
}

static size_t found_since(csan_context *context, uint64_t mark, struct csan_race *races,
                          size_t capacity, bool errors_too)
{
    lock_take(context->lock);
    size_t count = race_log_since(&context->detector.races, mark, races, capacity, errors_too);
    lock_give(context->lock);
    return count;
}

size_t csan_context_races_since(csan_context *context, uint64_t mark, struct csan_race *races,
                                size_t capacity)
{
    return found_since(context, mark, races, capacity, false);
}

size_t csan_context_findings_since(csan_context *context, uint64_t mark, struct csan_race *races,
                                   size_t capacity)
{
    return found_since(context, mark, races, capacity, true);
}

void csan_context_races_clear(csan_context *context)
{
    lock_take(context->lock);
    if (context->recording)
        recording_clear(context->recording, context->recorded_as);
    race_log_forget(&context->detector.races);
    context_leave(context);
}

void context_link(csan_context *context, csan_lane lane, const struct csan_link *link)
{
    lock_take(context->lock);
    if (context->recording && context_has_lane(context, lane))
        recording_link(context->recording, context->recorded_as, lane, link);
    context_leave(context);
}
