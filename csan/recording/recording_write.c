/* See recording_write.h. */
#include "csan/recording/recording_write.h"
#include "csan/base/now.h"
#include "csan/base/tick_clock.h"
#include "csan/base/thread_create.h"
#include "csan/recording/recording_define.h"
#include "csan/recording/recording_output.h"
#include "csan/recording/recording_finding.h"
#include "csan/recording/recording_set.h"
#include "csan/base/lock_order.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* UNWRITTEN_BYTES_MOST: how much may wait for the recording's own thread before the program's write
 * it. */
enum { FLUSH_MS = 100, UNWRITTEN_BYTES_MOST = 4 * BLOCK_BYTES };

struct recording {
    struct lock *lock;
    void (*thread_started)(void); /* or NULL */

    /* Under the lock. */
    struct byte_buffer open;
    struct recording_sets *sets;
    bool started, due, called, stopped;
    uint32_t context;   /* of the newest entry */
    bool framework_due; /* see recording_framework */
    uint64_t now, base, entries;
    uint64_t wall_offset; /* from `now` to nanoseconds since 1970 */
    struct tick_clock clock;
    uint64_t tenths; /* that the newest entry of kind RECORDED_AT leads to */
    struct number_pool snapshots, events, frees, contexts;
    struct number_set defined; /* by site */
    uint32_t wake;             /* a bell */
    pthread_t flusher;
    bool has_flusher, finished;

    /* Under `defining`, which is taken before the lock. */
    pthread_mutex_t defining;
    struct recording_definitions definitions;

    /* Under `io`, which is taken inside the lock and then held without it. */
    pthread_mutex_t io;
    struct byte_buffer taken;
    struct recording_output *file;
};

/* ---- life */

struct recording *recording_create(const char *path, uint64_t replace_before, const char *facts,
                                   void (*note)(const char *line))
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording || !(recording->sets = recording_sets_create()) ||
        !(recording->file = recording_output_create(path, replace_before, facts, note))) {
        recording_sets_destroy(recording ? recording->sets : NULL);
        free(recording);
        return NULL;
    }
    recording->due = true;
    pthread_mutex_init(&recording->defining, NULL);
    pthread_mutex_init(&recording->io, NULL);
    return recording;
}

void recording_on_thread(struct recording *recording, void (*started)(void))
{
    recording->thread_started = started;
}

void recording_attach(struct recording *recording, struct lock *lock,
                      const struct site_table *sites, const struct stack_depot *stacks)
{
    recording->lock = lock;
    recording->definitions.sites = sites;
    recording->definitions.stacks = stacks;
}

void recording_destroy(struct recording *recording)
{
    if (!recording)
        return;
    recording_sets_destroy(recording->sets);
    recording_definitions_clear(&recording->definitions);
    recording_output_destroy(recording->file);
    free(recording->open.data);
    free(recording->taken.data);
    number_pool_clear(&recording->snapshots);
    number_pool_clear(&recording->events);
    number_pool_clear(&recording->frees);
    number_pool_clear(&recording->contexts);
    number_set_clear(&recording->defined);
    pthread_mutex_destroy(&recording->defining);
    pthread_mutex_destroy(&recording->io);
    free(recording);
}

/* ---- entries */

/* Where an entry's fields are written: in a register meanwhile, since to the compiler a byte
 * written might be any field of the buffer. */
static inline uint8_t *entry_at(const struct recording *recording, enum recording_kind kind)
{
    uint8_t *at = recording->open.data + recording->open.length;
    *at = (uint8_t)kind;
    return at + 1;
}

static inline void entry_to(struct recording *recording, const uint8_t *at)
{
    recording->open.length = (size_t)(at - recording->open.data);
}

static inline void put_one(struct recording *recording, enum recording_kind kind, uint64_t field)
{
    entry_to(recording, number_write(entry_at(recording, kind), field));
}

static inline void put_two(struct recording *recording, enum recording_kind kind, uint64_t first,
                           uint64_t second)
{
    uint8_t *at = number_write(entry_at(recording, kind), first);
    entry_to(recording, number_write(at, second));
}

static inline uint64_t base_difference(struct recording *recording, uint64_t base)
{
    uint64_t difference = zigzag(base - recording->base);
    recording->base = base;
    return difference;
}

/* An entry may bring others before it: framework, context, clock, time, at, a number's first use.
 */
enum { PRECEDING_MAX = 7 };

/* Room for any entry without a set or a text, and for what comes before it. False: nothing is to be
 * recorded. */
static inline bool begin(struct recording *recording, uint32_t context)
{
    if (recording->stopped ||
        !byte_buffer_reserve(&recording->open, PRECEDING_MAX * ENTRY_BYTES_MAX))
        return false;
    if (__builtin_expect(recording->framework_due, 0)) {
        recording->framework_due = false;
        entry_to(recording, entry_at(recording, RECORDED_FRAMEWORK));
    }
    if (context != recording->context) {
        put_one(recording, RECORDED_CONTEXT, context);
        recording->context = context;
    }
    recording->entries++;
    return true;
}

static inline void put_time(struct recording *recording)
{
    uint64_t now = now_coarse();
    if (now == recording->now)
        return;
    if (!recording->now) {
        recording->wall_offset = now_wall() - now;
        put_one(recording, RECORDED_CLOCK, recording->wall_offset + now);
    }
    put_one(recording, RECORDED_TIME, recording->now ? now - recording->now : 0);
    recording->now = now;
}

/* The time at which the program made the call, in tenths of a microsecond. Reports show it, and it
 * puts csan's ops beside what other tools recorded. A replay needs it for nothing: how long an
 * entry may wait in the queue is measured by the coarse time of put_time. */
static inline void put_at(struct recording *recording)
{
    const uint64_t tenths = tick_clock_now(&recording->clock);
    if (tenths <= recording->tenths)
        return;
    put_one(recording, RECORDED_AT, tenths - recording->tenths);
    recording->tenths = tenths;
}

static inline void end(struct recording *recording)
{
    if (__builtin_expect(recording->open.length >= BLOCK_BYTES || recording->open.failed, 0))
        recording->due = true;
}

static void put_set(struct recording *recording, uint32_t site, uint32_t level,
                    const struct csan_access *accesses, size_t count)
{
    recording_sets_put(recording->sets, &recording->open, site, level, accesses, count);
}

/* A promise has no entry of its own that makes it: its number comes with its first use. */
static uint32_t snapshot_number(struct recording *recording, struct csan_snapshot *snapshot)
{
    if (!snapshot->number) {
        snapshot->number = number_take(&recording->snapshots);
        put_one(recording, RECORDED_PROMISE, snapshot->number);
    }
    return snapshot->number;
}

static uint32_t event_number(struct recording *recording, struct csan_event *event)
{
    if (!event->number) {
        event->number = number_take(&recording->events);
        put_one(recording, RECORDED_EVENT, event->number);
    }
    return event->number;
}

static void put_op(struct recording *recording, const struct entry *entry, uint64_t ticket)
{
    if (entry->pending)
        put_two(recording, RECORDED_OP_PENDING, ticket, entry->lane);
    else
        put_one(recording, RECORDED_OP, entry->lane);
    put_set(recording, entry->site, entry->level, entry->accesses, entry->access_count);
}

static void put_judged(struct recording *recording, const struct entry *entry)
{
    uint8_t *at = number_write(entry_at(recording, RECORDED_JUDGED), entry->lane);
    entry_to(recording, number_write(number_write(at, entry->judged), entry->base));
    put_set(recording, entry->site, entry->level, entry->accesses, entry->access_count);
}

static void put_memory(struct recording *recording, const struct entry *entry)
{
    bool birth = entry->kind == ENTRY_BIRTH;
    uint8_t *at = entry_at(recording, birth                             ? RECORDED_BIRTH
                                      : entry->kind == ENTRY_POOL_ALLOC ? RECORDED_POOL_ALLOC
                                                                        : RECORDED_POOL_FREE);
    if (birth)
        at = number_write(at, entry->memory_kind);
    at = number_write(at, entry->lane);
    at = number_write(at, entry->site);
    at = number_write(at, base_difference(recording, entry->base));
    if (entry->kind != ENTRY_POOL_FREE)
        at = number_write(at, entry->bytes);
    entry_to(recording, at);
}

static void put_same_operator(struct recording *recording, const struct entry *entry)
{
    uint8_t *at = number_write(entry_at(recording, RECORDED_SAME_OPERATOR), entry->lane);
    at = number_write(number_write(at, entry->other), entry->first);
    entry_to(recording, number_write(at, entry->last));
}

static void put_step(struct recording *recording, const struct entry *entry)
{
    uint8_t *at = number_write(entry_at(recording, RECORDED_STEP), entry->lane);
    at = number_write(number_write(at, entry->step), entry->first);
    at = number_write(number_write(at, entry->last), entry->site);
    entry_to(recording, at);
}

static void put_free(struct recording *recording, const struct entry *entry)
{
    struct csan_free *token = entry->free;
    if (entry->kind == ENTRY_FREE_BEGIN) {
        token->number = number_take(&recording->frees);
        uint8_t *at = number_write(entry_at(recording, RECORDED_FREE_BEGIN), token->number);
        at = number_write(at, entry->lane);
        at = number_write(at, entry->site);
        at = number_write(at, base_difference(recording, token->base));
        entry_to(recording, number_write(at, (entry->checked ? RECORDED_CHECKED : 0) |
                                                 (entry->ignored ? RECORDED_IGNORED : 0)));
        return;
    }
    put_two(recording, RECORDED_FREE_END, token->number,
            (entry->failed ? RECORDED_FAILED : 0) |
                (entry->waited == CSAN_FREE_WAITED ? RECORDED_WAITED : 0) |
                (entry->waited == CSAN_FREE_FORGOTTEN ? RECORDED_FORGOTTEN : 0));
    number_give(&recording->frees, token->number);
}

/* The snapshot that the entry fills. */
static uint32_t snapshot_new(struct recording *recording, const struct entry *entry)
{
    return entry->snapshot->number = number_take(&recording->snapshots);
}

static void put_order(struct recording *recording, const struct entry *entry)
{
    uint32_t first, lane = entry->lane;
    switch (entry->kind) {
    case ENTRY_JOIN_LANE:
        put_two(recording, RECORDED_JOIN_LANE, lane, entry->other);
        return;
    case ENTRY_JOIN:
        first = snapshot_number(recording, entry->snapshot);
        put_two(recording, RECORDED_JOIN, lane, first);
        return;
    case ENTRY_SNAPSHOT:
        put_two(recording, RECORDED_SNAPSHOT, snapshot_new(recording, entry), lane);
        return;
    case ENTRY_SNAPSHOT_ALL:
        put_one(recording, RECORDED_SNAPSHOT_ALL, snapshot_new(recording, entry));
        return;
    case ENTRY_SNAPSHOT_EVENT:
        first = event_number(recording, entry->event);
        put_two(recording, RECORDED_SNAPSHOT_EVENT, snapshot_new(recording, entry), first);
        return;
    case ENTRY_KEEP:
        first = snapshot_number(recording, entry->snapshot);
        put_two(recording, RECORDED_KEEP, first, lane);
        return;
    case ENTRY_RECORD:
        first = event_number(recording, entry->event);
        put_two(recording, RECORDED_RECORD, first, lane);
        return;
    case ENTRY_RECORD_SNAPSHOT:
        first = event_number(recording, entry->event);
        lane = snapshot_number(recording, entry->snapshot);
        put_two(recording, RECORDED_RECORD_SNAPSHOT, first, lane);
        return;
    case ENTRY_WAIT:
        first = event_number(recording, entry->event);
        put_two(recording, RECORDED_WAIT, lane, first);
        return;
    case ENTRY_EVENT_DESTROY:
        first = event_number(recording, entry->event); /* one never used counts in the queue, too */
        put_one(recording, RECORDED_EVENT_DESTROY, first);
        number_give(&recording->events, first);
        return;
    default: /* ENTRY_LANE_DESTROY */
        put_one(recording, RECORDED_LANE_DESTROY, lane);
        return;
    }
}

uint64_t recording_entry(struct recording *recording, uint32_t context, const struct entry *entry,
                         uint64_t ticket, bool timed)
{
    if (entry->kind == ENTRY_DOUBT || !begin(recording, context))
        return recording->now;
    if (timed)
        put_time(recording);
    switch (entry->kind) {
    case ENTRY_OP:
        put_at(recording);
        put_op(recording, entry, ticket);
        break;
    case ENTRY_SAME_OPERATOR:
        put_same_operator(recording, entry);
        break;
    case ENTRY_STEP:
        put_at(recording);
        put_step(recording, entry);
        break;
    case ENTRY_JUDGED:
        put_judged(recording, entry);
        break;
    case ENTRY_BIRTH:
        put_at(recording);
        put_memory(recording, entry);
        break;
    case ENTRY_POOL_ALLOC:
    case ENTRY_POOL_FREE:
        put_memory(recording, entry);
        break;
    case ENTRY_FREE_BEGIN:
        put_at(recording);
        put_free(recording, entry);
        break;
    case ENTRY_FREE_END:
        put_free(recording, entry);
        break;
    default:
        put_order(recording, entry);
        break;
    }
    end(recording);
    return recording->now;
}

uint64_t recording_resolve(struct recording *recording, uint32_t context, uint64_t ticket,
                           enum csan_level level, const struct csan_access *accesses, size_t count)
{
    if (!begin(recording, context))
        return recording->now;
    put_time(recording);
    put_one(recording, RECORDED_RESOLVE, ticket);
    put_set(recording, 0, level, accesses, count);
    end(recording);
    return recording->now;
}

uint64_t recording_finding(struct recording *recording, uint32_t context,
                           const struct context_finding *finding)
{
    if (!begin(recording, context))
        return recording->now;
    put_time(recording);
    uint8_t *at = number_write(entry_at(recording, RECORDED_FINDING), finding->lane);
    at = number_write(number_write(at, finding->site), finding->reported);
    entry_to(recording, number_write(number_write(at, finding->address), finding->bytes));
    recording_finding_put(&recording->open, finding);
    end(recording);
    return recording->now;
}

uint64_t recording_host_change(struct recording *recording, uint32_t context,
                               const struct context_host_change *change)
{
    if (!begin(recording, context))
        return recording->now;
    put_time(recording);
    uint8_t *at = number_write(entry_at(recording, RECORDED_HOST_CHANGE), change->lane);
    at = number_write(number_write(at, change->site), change->op_lane);
    entry_to(recording, number_write(number_write(at, change->op), change->op_sequence));
    put_set(recording, change->op_site, change->op_level, &change->access, 1);
    end(recording);
    return recording->now;
}

void recording_link(struct recording *recording, uint32_t context, uint32_t lane,
                    const struct csan_link *link)
{
    if (!begin(recording, context))
        return;
    put_time(recording);
    put_at(recording);
    uint8_t *at = number_write(entry_at(recording, RECORDED_LINK), lane);
    at = number_write(number_write(at, (uint64_t)link->kind), link->key);
    at = number_write(number_write(at, link->number), link->peers);
    at = number_write(number_write(at, link->address), link->bytes);
    entry_to(recording, number_write(at, link->time));
    end(recording);
}

uint64_t recording_wall_offset(const struct recording *recording)
{
    return recording->wall_offset;
}

void recording_lane(struct recording *recording, uint32_t context, unsigned role, uint32_t lane,
                    uint64_t handle, const char *label)
{
    if (!begin(recording, context))
        return;
    put_two(recording, role ? RECORDED_LANE_AS : RECORDED_LANE, lane, handle);
    if (role)
        byte_buffer_put(&recording->open, role);
    byte_buffer_put_text(&recording->open, label ? label : "");
    end(recording);
}

void recording_host_lane(struct recording *recording, uint32_t context, uint32_t lane,
                         unsigned kind, const char *label)
{
    if (!begin(recording, context))
        return;
    put_two(recording, RECORDED_HOST_LANE, lane, kind);
    byte_buffer_put_text(&recording->open, label ? label : "");
    end(recording);
}

void recording_lane_kind(struct recording *recording, uint32_t context, uint32_t lane,
                         unsigned kind, uint32_t created)
{
    if (!begin(recording, context))
        return;
    put_two(recording, RECORDED_LANE_KIND, lane, kind);
    byte_buffer_put(&recording->open, created);
    end(recording);
}

void recording_lane_name(struct recording *recording, uint32_t context, uint32_t lane,
                         const char *name)
{
    if (!begin(recording, context))
        return;
    put_one(recording, RECORDED_LANE_NAME, lane);
    byte_buffer_put_text(&recording->open, name);
    end(recording);
}

void recording_lane_part_of(struct recording *recording, uint32_t context, uint32_t lane,
                            uint32_t whole)
{
    if (!begin(recording, context))
        return;
    put_two(recording, RECORDED_LANE_PART, lane, whole);
    end(recording);
}

void recording_ranges(struct recording *recording, uint32_t context, const char *path)
{
    if (!begin(recording, context))
        return;
    entry_to(recording, entry_at(recording, RECORDED_RANGES));
    byte_buffer_put_text(&recording->open, path);
    end(recording);
}

void recording_unpromised(struct recording *recording, uint32_t context, uint32_t lane,
                          const char *what)
{
    if (!begin(recording, context))
        return;
    put_one(recording, RECORDED_UNPROMISED, lane);
    byte_buffer_put_text(&recording->open, what);
    end(recording);
}

void recording_release(struct recording *recording, uint32_t context,
                       struct csan_snapshot *snapshot)
{
    if (!snapshot->number || !begin(recording, context))
        return;
    put_one(recording, RECORDED_RELEASE, snapshot->number);
    number_give(&recording->snapshots, snapshot->number);
    snapshot->number = 0;
    end(recording);
}

static void put_bare(struct recording *recording, uint32_t context, enum recording_kind kind)
{
    if (begin(recording, context))
        entry_to(recording, entry_at(recording, kind));
    end(recording);
}

void recording_drain(struct recording *recording, uint32_t context)
{
    if (recording->entries) /* else the end of a process that did nothing would make a file */
        put_bare(recording, context, RECORDED_DRAIN);
}

void recording_clear(struct recording *recording, uint32_t context)
{
    put_bare(recording, context, RECORDED_CLEAR);
}

/* With the first entry: a process that enqueues nothing makes no file. */
void recording_framework(struct recording *recording)
{
    recording->framework_due = true;
}

uint32_t recording_branch(struct recording *recording, uint32_t parent)
{
    uint32_t context = number_take(&recording->contexts);
    if (begin(recording, parent))
        put_two(recording, RECORDED_BRANCH, context, parent);
    end(recording);
    return context;
}

void recording_branch_end(struct recording *recording, uint32_t context)
{
    if (begin(recording, 0)) {
        put_one(recording, RECORDED_BRANCH_END, context);
    }
    number_give(&recording->contexts, context);
    end(recording);
}

/* ---- writing out */

/* What a call of the program's must find as it left it. A thread cancelled while it writes would
 * also leave locks taken. */
struct entered {
    int error, cancel;
};

static struct entered call_enter(void)
{
    struct entered entered = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &entered.cancel);
    return entered;
}

static void call_leave(struct entered entered)
{
    pthread_setcancelstate(entered.cancel, NULL);
    errno = entered.error;
}

/* Take what there is, under the lock; io is held from here on. */
static void block_take(struct recording *recording)
{
    pthread_mutex_lock(&recording->io);
    struct byte_buffer taken = recording->open;
    recording->open = recording->taken;
    recording->open.length = 0;
    recording->taken = taken;
    recording->due = recording->called = false;
    if (taken.failed)
        recording_output_fail(recording->file, ENOMEM);
    recording->stopped |= recording_output_failed(recording->file);
}

/* Write what was taken, without the lock. */
static void block_write(struct recording *recording)
{
    if (recording->taken.length && !recording->taken.failed)
        recording_output_put(recording->file, BLOCK_ENTRIES, recording->taken.data,
                             recording->taken.length);
    pthread_mutex_unlock(&recording->io);
}

static void *flush_now_and_then(void *user)
{
    struct recording *recording = user;
    if (recording->thread_started)
        recording->thread_started();
    lock_take(recording->lock);
    while (!recording->stopped) {
        if (!recording->due || !recording->open.length)
            lock_wait(recording->lock, &recording->wake, FLUSH_MS);
        if (recording->stopped || !recording->open.length)
            continue;
        block_take(recording);
        lock_give(recording->lock);
        block_write(recording);
        lock_take(recording->lock);
    }
    lock_give(recording->lock);
    return NULL;
}

/* A thread that no signal of the program's is delivered to. Without it a recording is written when
 * a block is full, and at the end. */
static void flusher_start(struct recording *recording)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    recording->has_flusher =
        thread_create(&recording->flusher, NULL, flush_now_and_then, recording) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The recording's own thread is called once a block; a program that is faster than that thread
 * waits for it here, and then writes itself. */
static void leave_slow(struct recording *recording)
{
    struct entered entered = call_enter();
    bool write = !recording->started || !recording->has_flusher ||
                 recording->open.length >= UNWRITTEN_BYTES_MOST || recording->open.failed;
    if (!recording->started) {
        recording->started = true;
        flusher_start(recording);
    }
    if (write) {
        block_take(recording);
        lock_give(recording->lock);
        block_write(recording);
    } else {
        bool call = !recording->called;
        recording->called = true;
        lock_give(recording->lock);
        if (call)
            lock_ring(&recording->wake);
    }
    call_leave(entered);
}

void recording_leave(struct recording *recording)
{
    if (__builtin_expect(recording->due && recording->open.length && !recording->stopped, 0))
        leave_slow(recording);
    else
        lock_give(recording->lock);
}

void recording_finish(struct recording *recording, const char *facts)
{
    if (!recording->lock || recording->finished)
        return;
    recording->finished = true;
    struct entered entered = call_enter();
    lock_take(recording->lock);
    bool over = recording->stopped, has_flusher = recording->has_flusher;
    block_take(recording);
    recording->stopped = true;
    recording->has_flusher = false;
    lock_ring(&recording->wake);
    lock_give(recording->lock);
    const char *path;
    uint64_t bytes;
    if (!over &&
        (recording->taken.length || recording_output_totals(recording->file, &path, &bytes))) {
        if (recording->taken.length)
            recording_output_put(recording->file, BLOCK_ENTRIES, recording->taken.data,
                                 recording->taken.length);
        recording_output_put(recording->file, BLOCK_END, facts, strlen(facts));
    }
    recording_output_close(recording->file);
    pthread_mutex_unlock(&recording->io);
    if (has_flusher)
        pthread_join(recording->flusher, NULL);
    call_leave(entered);
}

bool recording_totals(struct recording *recording, const char **path, uint64_t *entries,
                      uint64_t *bytes)
{
    *entries = recording->entries;
    return recording_output_totals(recording->file, path, bytes) &&
           !recording_output_failed(recording->file);
}

/* ---- sites */

/* Under the lock. False: nothing was written. */
static bool definition_append(struct recording *recording, const struct byte_buffer *buffer)
{
    struct byte_buffer *open = &recording->open;
    if (recording->stopped || !byte_buffer_reserve(open, buffer->length + ENTRY_BYTES_MAX))
        return false;
    if (buffer->length)
        memcpy(open->data + open->length, buffer->data, buffer->length);
    open->length += buffer->length;
    open->failed |= buffer->failed;
    end(recording);
    return true;
}

static bool is_defined(struct recording *recording, csan_site site)
{
    lock_take(recording->lock);
    bool defined = recording->stopped || number_set_has(&recording->defined, site);
    lock_give(recording->lock);
    return defined;
}

void recording_site(struct recording *recording, csan_site site)
{
    struct byte_buffer buffer = {0};
    if (!site || is_defined(recording, site))
        return;
    struct entered entered = call_enter(); /* modules are read from files */
    lock_order_take(LOCK_DEFINITIONS, &recording->defining);
    if (!is_defined(recording, site)) {
        recording_definitions_put(&recording->definitions, &buffer, site);
        lock_take(recording->lock);
        if (definition_append(recording, &buffer))
            recording->open.failed |= !number_set_add(&recording->defined, site);
        recording_leave(recording);
    }
    lock_order_give(LOCK_DEFINITIONS, &recording->defining);
    call_leave(entered);
    free(buffer.data);
}

void recording_kernel(struct recording *recording, const char *name, const char *place)
{
    struct byte_buffer buffer = {0};
    if (byte_buffer_reserve(&buffer, ENTRY_BYTES_MAX))
        buffer.data[buffer.length++] = RECORDED_KERNEL;
    byte_buffer_put_text(&buffer, name);
    byte_buffer_put_text(&buffer, place);
    struct entered entered = call_enter();
    lock_order_take(LOCK_DEFINITIONS, &recording->defining);
    lock_take(recording->lock);
    definition_append(recording, &buffer);
    recording_leave(recording);
    lock_order_give(LOCK_DEFINITIONS, &recording->defining);
    call_leave(entered);
    free(buffer.data);
}
