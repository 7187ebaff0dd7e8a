/* The detector's public face (csan.h, part 2): one lock, entries made from calls, races handed out.
 *
 * csan_memory_find and csan_memory_free_begin answer at once, from the program's view of memory
 * (front.h), even while the queue waits for an access set. */
#include "context.h"
#include "detect.h"
#include "lock.h"
#include "options.h"
#include "queue.h"
#include "recording_write.h"
#include "stack.h"
#include "translate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct csan_context {
    struct lock *lock; /* the parent's, or its own */
    struct lock own_lock;
    csan_context *parent; /* of a branch, else NULL */
    csan_context *root;   /* the parent, or itself */
    struct detector detector;
    struct queue queue;
    struct front front;
    struct translations translations; /* of the program's accesses; a branch has its parent's */
    struct recording *recording;      /* or NULL */
    uint32_t recorded_as;             /* in the recording: 0, or a branch's number */
    bool unchecked;                   /* what enters is recorded, and that is all */
    uint64_t next_number;
    void (*observer)(void *user, uint64_t sequence, csan_lane lane, csan_site site,
                     int before); /* or NULL */
    void *observer_user;
    pthread_mutex_t delivery; /* one callback at a time; never taken inside the lock */
    void (*on_race)(void *user, const struct csan_race *race);
    void *user;
    bool (*suppresses)(void *user, const struct csan_race *race); /* or NULL */
    void *suppresses_user;
};

/* Let go of the lock, and write what of the recording is due. */
static inline void leave(csan_context *context)
{
    if (__builtin_expect(context->recording != NULL, 0))
        recording_leave(context->recording);
    else
        lock_give(context->lock);
}

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
    front_init(&context->front);
    translations_init(&context->translations);
    queue_init(&context->queue, (size_t)options.pending_limit,
               (uint64_t)options.pending_timeout_ms * 1000000u);
    context->on_race = on_race;
    context->user = user;
    struct detector *detector = &context->detector;
    bool ready = detector_init(detector);
    detector->strided_cap = (uint32_t)options.strided_cap;
    detector->conflicts.each = !options.dedup;
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
    front_init(&context->front);
    translations_init(&context->translations);
    queue_init(&context->queue, parent->queue.limit, parent->queue.timeout);
    struct detector *detector = &context->detector;
    bool ready = detector_init(detector);
    detector->parent = &parent->detector;
    detector->strided_cap = parent->detector.strided_cap;
    detector->conflicts.each = parent->detector.conflicts.each;
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
        leave(context);
    }
    return context;
}

void context_record(csan_context *context, struct recording *recording, int check)
{
    recording_attach(recording, context->lock, context->detector.sites, context->detector.stacks);
    context->recording = recording;
    context->unchecked = !check;
}

void context_set_time(csan_context *context, uint64_t nanoseconds)
{
    lock_take(context->lock);
    context->queue.now = nanoseconds;
    lock_give(context->lock);
}

void csan_context_destroy(csan_context *context)
{
    if (!context)
        return;
    csan_context_drain(context);
    if (context->recording && context->parent) {
        lock_take(context->lock);
        recording_branch_end(context->recording, context->recorded_as);
        leave(context);
    }
    detector_clear(&context->detector);
    if (context->detector.sites && !context->parent)
        site_table_destroy(context->detector.sites);
    if (context->detector.stacks && !context->parent)
        stack_depot_destroy(context->detector.stacks);
    front_clear(&context->front);
    translations_clear(&context->translations);
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

/* Whoever holds the delivery lock hands out everything; another thread that found a race meanwhile
 * leaves it to that one, which looks again after letting go. */
static void deliver_slow(csan_context *context)
{
    const struct csan_race *race;
    context = context->root;
    while ((race = next_race(context))) {
        pthread_mutex_lock(&context->delivery);
        if (is_suppressed(context, race)) {
            lock_take(context->lock);
            race_log_suppress(&context->detector.races, race);
            lock_give(context->lock);
        } else if (context->on_race) {
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

static bool undelivered(const csan_context *context)
{
    const struct race_log *races = &context->root->detector.races;
    return races->delivered < races->count;
}

static uint64_t next_number(csan_context *context)
{
    return ++context->root->next_number;
}

/* A front end whose lane could not be created (CSAN_NO_LANE) may go on using it: nothing happens.
 */
static bool lanes_exist(const csan_context *context, const struct entry *entry)
{
    uint32_t count = context->detector.order.count;
    return entry->lane < count && entry->other < count;
}

static void observe(const csan_context *context, const struct entry *entry, int before)
{
    if (context->observer)
        context->observer(context->observer_user, entry->number, entry->lane, entry->site, before);
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
    return translate(&root->translations.now, &root->front, accesses, count, rooms);
}

/* To be changed: what is pending has been enqueued already. */
static struct translation *translation_changes(csan_context *context)
{
    const struct queue *queue = &context->queue;
    const uint64_t first = queue_first_ticket(queue);
    if (first || context->unchecked) /* nobody knows then */
        translations_keep(&context->translations, first, queue->last_ticket);
    else
        translations_forget(&context->translations);
    return &context->translations.now;
}

/* Into the recording. Returns the ticket that the entry would have if its access set came later. */
static inline uint64_t record(csan_context *context, const struct entry *entry)
{
    uint64_t ticket = context->queue.last_ticket + 1;
    bool timed = context->queue.entries || entry->kind == ENTRY_OP || entry->kind == ENTRY_JOIN;
    context->queue.now =
        recording_entry(context->recording, context->recorded_as, entry, ticket, timed);
    return ticket;
}

/* The entry's turn. Returns the ticket of an op whose access set comes later. */
static inline uint64_t enter(csan_context *context, struct entry *entry)
{
    if (__builtin_expect(context->recording != NULL, 0)) {
        uint64_t ticket = record(context, entry);
        if (context->unchecked) {
            context->queue.last_ticket += entry->pending;
            detector_pass_by(&context->detector, entry);
            return entry->pending ? ticket : 0;
        }
    }
    return queue_submit(&context->queue, &context->detector, entry);
}

/* With the lock, which is let go. */
static uint64_t submit_locked(csan_context *context, struct entry *entry)
{
    uint64_t ticket = 0;
    struct access_rooms rooms = {NULL, NULL};
    if (lanes_exist(context, entry)) {
        if (entry->kind == ENTRY_OP)
            entry->number = next_number(context);
        entry->accesses = as_seen(context, entry->accesses, &entry->access_count, &rooms);
        ticket = enter(context, entry);
    }
    bool news = undelivered(context);
    leave(context);
    if (__builtin_expect(news, 0))
        deliver_slow(context);
    if (__builtin_expect(context->observer != NULL, 0) && entry->number)
        observe(context, entry, 0);
    access_rooms_free(&rooms);
    return ticket;
}

static uint64_t submit(csan_context *context, struct entry *entry)
{
    lock_take(context->lock);
    return submit_locked(context, entry);
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
    bool news = undelivered(context);
    leave(context);
    if (__builtin_expect(news, 0))
        deliver_slow(context);
}

static inline bool lane_exists(const csan_context *context, csan_lane lane)
{
    return lane < context->detector.order.count;
}

/* ---- sites and lanes */

csan_site csan_site_intern(csan_context *context, const char *name, const char *const *arguments,
                           size_t argument_count, const void *const *frames, size_t frame_count)
{
    csan_site site = site_table_intern(context->detector.sites, name, arguments, argument_count,
                                       frames, frame_count);
    if (context->recording)
        recording_site(context->recording, site);
    return site;
}

csan_site context_site_with(csan_context *context, csan_site site, const char *const *arguments,
                            size_t argument_count)
{
    const struct site *known = site_table_get(context->detector.sites, site);
    const void *const *frames = NULL;
    size_t count = 0;
    if (!known)
        return site;
    stack_depot_get(context->detector.stacks, known->stack, &frames, &count);
    return csan_site_intern(context, known->name, arguments, argument_count, frames, count);
}

csan_lane csan_lane_create_after(csan_context *context, uint64_t handle, const char *label,
                                 csan_lane maker)
{
    struct order *order = &context->detector.order;
    csan_lane lane = CSAN_NO_LANE;
    lock_take(context->lock);
    if (maker < order->count)
        lane = order_lane_create_after(order, handle, label, maker);
    if (context->recording && lane != CSAN_NO_LANE)
        recording_lane(context->recording, context->recorded_as, lane, handle, label);
    leave(context);
    if (lane != CSAN_NO_LANE && maker != CSAN_HOST) /* in its turn, if something waits */
        csan_lane_waits(context, lane, maker);
    return lane;
}

csan_lane csan_lane_create(csan_context *context, uint64_t handle, const char *label)
{
    return csan_lane_create_after(context, handle, label, CSAN_HOST);
}

csan_lane csan_lane_create_host(csan_context *context, const char *label, enum csan_host_lane kind)
{
    lock_take(context->lock);
    csan_lane lane = order_lane_create(&context->detector.order, 0, label);
    if (lane != CSAN_NO_LANE)
        order_lane_is_host(&context->detector.order, lane, kind == CSAN_HOST_THREAD);
    if (context->recording && lane != CSAN_NO_LANE)
        recording_host_lane(context->recording, context->recorded_as, lane, kind, label);
    leave(context);
    return lane;
}

bool context_is_over(csan_context *context, const csan_snapshot *snapshot)
{
    lock_take(context->lock);
    bool over = snapshot->state == SNAPSHOT_FILLED && snapshot->value.epoch &&
                order_is_over(&context->detector.order, snapshot->value.epoch);
    lock_give(context->lock);
    return over;
}

void csan_lane_destroy(csan_context *context, csan_lane lane)
{
    if (lane == CSAN_NO_LANE)
        return;
    submit(context, &(struct entry){.kind = ENTRY_LANE_DESTROY, .lane = lane});
}

/* ---- order */

void csan_lane_waits(csan_context *context, csan_lane lane, csan_lane other)
{
    submit(context, &(struct entry){.kind = ENTRY_JOIN_LANE, .lane = lane, .other = other});
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
                strcmp(what, detector_pool_poll) == 0;
            detector->unpromised[detector->unpromised_count++].lane = lane;
            if (context->recording)
                recording_unpromised(context->recording, context->recorded_as, lane, what);
        }
    }
    leave(context);
    return lane;
}

void csan_lane_seen_to_wait(csan_context *context, csan_lane other, const char *what)
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

void csan_snapshot_seen_by_pool(csan_context *context, const csan_snapshot *snapshot)
{
    csan_lane lane = context_unpromised_lane(context, detector_pool_poll);
    if (lane != CSAN_NO_LANE)
        csan_snapshot_join(context, lane, snapshot);
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
    leave(context);
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
        submit_locked(context, &(struct entry){.kind = ENTRY_RECORD, .event = event, .lane = lane});
        return;
    }
    if (lane_exists(context, lane)) {
        if (__builtin_expect(context->recording != NULL, 0))
            record(context, &(struct entry){.kind = ENTRY_RECORD, .event = event, .lane = lane});
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
        submit_locked(context, &(struct entry){.kind = ENTRY_WAIT, .event = event, .lane = lane});
        return;
    }
    if (lane_exists(context, lane)) {
        if (__builtin_expect(context->recording != NULL, 0))
            record(context, &(struct entry){.kind = ENTRY_WAIT, .event = event, .lane = lane});
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

/* ---- memory */

static bool is_range(uint64_t base, uint64_t bytes)
{
    return bytes && base + bytes > base;
}

/* Nothing of it is benign any more. */
static void memory_is_born(csan_context *context, struct range range)
{
    if (benign_has(&context->translations.now.benign, range))
        benign_remove(&translation_changes(context)->benign, range);
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
    lock_take(context->lock);
    bool known = lanes_exist(context, &entry);
    if (known) {
        entry.number = next_number(context);
        front_add(&context->front, kind, (struct range){base, base + bytes});
        memory_is_born(context, (struct range){base, base + bytes});
        enter(context, &entry);
    }
    leave(context);
    return known ? 0 : -1;
}

csan_free *csan_memory_free_begin(csan_context *context, uint64_t base, csan_lane lane, int checked,
                                  csan_site site)
{
    csan_free *token = calloc(1, sizeof(*token));
    if (!token)
        return NULL;
    lock_take(context->lock);
    struct front_entry removed;
    if (lane >= context->detector.order.count || !front_remove(&context->front, base, &removed)) {
        lock_give(context->lock);
        free(token);
        return NULL;
    }
    token->base = base;
    token->bytes = removed.range.end - base;
    token->kind = removed.kind;
    token->conflicts.each = context->detector.conflicts.each;
    struct entry entry = {.kind = ENTRY_FREE_BEGIN,
                          .lane = lane,
                          .site = site,
                          .free = token,
                          .checked = checked && !context_ignores(),
                          .number = next_number(context)};
    enter(context, &entry);
    leave(context);
    observe(context, &entry, 1);
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
        front_add(&context->front, token->kind,
                  (struct range){token->base, token->base + token->bytes});
    enter(context, &entry);
    bool news = undelivered(context);
    leave(context);
    if (news)
        deliver_slow(context);
}

int csan_memory_find(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes,
                     enum csan_memory_kind *kind)
{
    lock_take(context->lock);
    const struct front_entry *found = front_find(&context->front, address);
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
    alias_add(&translation_changes(context)->aliases, base, bytes, onto);
    lock_give(context->lock);
}

void csan_memory_unalias(csan_context *context, uint64_t base, uint64_t bytes)
{
    lock_take(context->lock);
    if (is_range(base, bytes) &&
        alias_has(&context->translations.now.aliases, (struct range){base, base + bytes}))
        alias_remove(&translation_changes(context)->aliases, base, bytes);
    lock_give(context->lock);
}

int csan_memory_owner(csan_context *context, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    struct range owner = {0, 0};
    if (!front_may_have(&context->front, address))
        return 0;
    lock_take(context->lock);
    bool found = front_owner(&context->front, address, &owner);
    lock_give(context->lock);
    if (found) {
        *base = owner.start;
        *bytes = owner.end - owner.start;
    }
    return found;
}

struct range context_span(csan_context *context)
{
    return front_span(&context->front);
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
        if (front_may_point(&context->front, pointers[i])) {
            place[may] = (uint32_t)i;
            asked[may++] = pointers[i];
        }
        if (!may || (may < MOST && i + 1 < count))
            continue;
        lock_take(context->lock);
        for (size_t k = 0; k < may; k++)
            __builtin_prefetch(memory_cache_slot(&context->detector.memory, asked[k]));
        front_pointees(&context->front, asked, may, found);
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
    struct translation *translation = translation_changes(context);
    parts = alias_translate(&translation->aliases, parts, &count, &room);
    for (size_t i = 0; i < count; i++)
        benign_add(&translation->benign,
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
    front_add_block(&context->front, block);
    submit_locked(
        context,
        &(struct entry){
            .kind = ENTRY_POOL_ALLOC, .lane = lane, .site = site, .base = base, .bytes = bytes});
    return 0;
}

int csan_memory_pool_free(csan_context *context, uint64_t base, csan_lane lane, csan_site site)
{
    lock_take(context->lock);
    front_remove_block(&context->front, base);
    submit_locked(context, &(struct entry){
                               .kind = ENTRY_POOL_FREE, .lane = lane, .site = site, .base = base});
    return 0;
}

/* ---- ops */

static uint64_t op_at_once(csan_context *context, struct op *op)
{
    struct access_rooms rooms = {NULL, NULL};
    if (lane_exists(context, op->lane)) {
        op->number = next_number(context);
        op->accesses = as_seen(context, op->accesses, &op->access_count, &rooms);
        if (__builtin_expect(context->recording != NULL, 0))
            record(context, &(struct entry){.kind = ENTRY_OP,
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
    if (context_ignores())
        count = 0;
    if (begin_at_once(context))
        return op_at_once(context, &(struct op){.lane = lane,
                                                .site = site,
                                                .level = level,
                                                .accesses = accesses,
                                                .access_count = count});
    struct entry entry = {.kind = ENTRY_OP,
                          .lane = lane,
                          .site = site,
                          .level = level,
                          .accesses = accesses,
                          .access_count = count};
    submit_locked(context, &entry);
    return entry.number;
}

void csan_op_sibling(csan_context *context, csan_lane lane, csan_lane other, uint64_t first,
                     uint64_t last)
{
    submit(context,
           &(struct entry){
               .kind = ENTRY_SIBLING, .lane = lane, .other = other, .first = first, .last = last});
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
    const struct translations *translations = &context->root->translations;
    accesses = translate(context == context->root ? translations_at(translations, ticket)
                                                  : &translations->now,
                         &context->root->front, accesses, &count, &rooms);
    if (context->recording) {
        context->queue.now = recording_resolve(context->recording, context->recorded_as, ticket,
                                               level, accesses, count);
    }
    if (context->unchecked)
        context->detector.stats.launches[level]++;
    else
        queue_resolve(&context->queue, &context->detector, ticket, level, accesses, count);
    bool news = undelivered(context);
    leave(context);
    access_rooms_free(&rooms);
    if (news)
        deliver_slow(context);
}

void csan_context_observe(csan_context *context,
                          void (*on_op)(void *user, uint64_t sequence, csan_lane lane,
                                        csan_site site, int before),
                          void *user)
{
    context->observer = on_op;
    context->observer_user = user;
}

void csan_context_drain(csan_context *context)
{
    lock_take(context->lock);
    if (context->recording)
        recording_drain(context->recording, context->recorded_as);
    queue_drain(&context->queue, &context->detector);
    leave(context);
    deliver_slow(context);
}

/* ---- what was found */

void csan_context_stats(csan_context *context, struct csan_stats *stats)
{
    lock_take(context->lock);
    const struct detector *detector = &context->detector;
    *stats = detector->stats;
    stats->races = detector->races.certain;
    stats->possible = detector->races.possible;
    stats->suppressed = detector->races.suppressed;
    stats->duplicates = detector->races.duplicates;
    stats->lanes = detector->order.live_count;
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

size_t csan_context_races_since(csan_context *context, uint64_t mark, struct csan_race *races,
                                size_t capacity)
{
    lock_take(context->lock);
    size_t count = race_log_since(&context->detector.races, mark, races, capacity);
    lock_give(context->lock);
    return count;
}

void csan_context_races_clear(csan_context *context)
{
    lock_take(context->lock);
    if (context->recording)
        recording_clear(context->recording, context->recorded_as);
    race_log_forget(&context->detector.races);
    leave(context);
}
