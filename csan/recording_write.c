/* See recording_write.h. */
#include "recording_write.h"
#include "module_map.h"
#include "output.h"
#include "recording_block.h"
#include "recording_set.h"
#include "site.h"
#include "stack.h"
#include "stack_source.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_MS = 100, ENTRY_BYTES_MAX = 1 + RECORDING_FIELDS_MAX * NUMBER_BYTES_MAX };

/* Numbers of snapshots, events and frees: those given back are used again. */
struct number_pool {
    uint32_t *free;
    size_t count, capacity;
    uint32_t last;
};

/* Frames of an interpreted language whose lines are written: open addressing, 0 is empty. */
struct frame_set {
    uintptr_t *frames;
    size_t count, capacity;
};

struct flags {
    uint8_t *set;
    size_t capacity;
};

struct recording {
    pthread_mutex_t *lock;
    const struct site_table *sites;
    const struct stack_depot *stacks;
    void (*note)(const char *line);

    /* Under the lock. */
    struct byte_buffer open;
    struct recording_sets *sets;
    bool started, due, stopped;
    uint32_t context; /* of the newest entry */
    uint64_t now, base, entries;
    struct number_pool snapshots, events, frees, contexts;
    struct flags defined; /* by site */
    pthread_cond_t wake;
    pthread_t flusher;
    bool has_flusher, finished;

    /* Under `definitions`, which is taken before the lock. */
    pthread_mutex_t definitions;
    struct module_map modules;
    size_t modules_written;
    struct flags stacks_written;
    struct frame_set frames;

    /* Under `io`, which is taken inside the lock and then held without it. */
    pthread_mutex_t io;
    struct byte_buffer taken;
    struct block_writer writer;
    int descriptor;
    int error;
    struct text facts;
    uint64_t replace_before;
    char pattern[PATH_MAX], path[PATH_MAX + 16];
};

/* ---- small sets */

static uint32_t number_take(struct number_pool *pool)
{
    return pool->count ? pool->free[--pool->count] : ++pool->last;
}

static void number_give(struct number_pool *pool, uint32_t number)
{
    if (pool->count == pool->capacity) {
        size_t capacity = pool->capacity ? pool->capacity * 2 : 64;
        uint32_t *grown = realloc(pool->free, capacity * sizeof *grown);
        if (!grown)
            return; /* it is used never again */
        pool->free = grown;
        pool->capacity = capacity;
    }
    pool->free[pool->count++] = number;
}

static bool flag_is_set(const struct flags *flags, uint32_t number)
{
    return number < flags->capacity && flags->set[number];
}

static bool flag_set(struct flags *flags, uint32_t number)
{
    if (number >= flags->capacity) {
        size_t capacity = (size_t)number * 2 + 64;
        uint8_t *grown = realloc(flags->set, capacity);
        if (!grown)
            return false;
        memset(grown + flags->capacity, 0, capacity - flags->capacity);
        flags->set = grown;
        flags->capacity = capacity;
    }
    flags->set[number] = 1;
    return true;
}

static uintptr_t *frame_place(const struct frame_set *set, uintptr_t frame)
{
    size_t at = (size_t)(frame * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    while (set->frames[at % set->capacity] && set->frames[at % set->capacity] != frame)
        at++;
    return &set->frames[at % set->capacity];
}

/* True the first time. */
static bool frame_is_new(struct frame_set *set, uintptr_t frame)
{
    if (set->count * 2 >= set->capacity) {
        struct frame_set grown = {.count = set->count,
                                  .capacity = set->capacity ? set->capacity * 2 : 256};
        grown.frames = calloc(grown.capacity, sizeof *grown.frames);
        if (!grown.frames)
            return true;
        for (size_t i = 0; i < set->capacity; i++)
            if (set->frames[i])
                *frame_place(&grown, set->frames[i]) = set->frames[i];
        free(set->frames);
        *set = grown;
    }
    uintptr_t *place = set->capacity ? frame_place(set, frame) : NULL;
    if (!place || *place)
        return !place;
    *place = frame;
    set->count++;
    return true;
}

/* ---- facts */

static void fact_add(struct text *facts, const char *key, const char *value)
{
    size_t start = facts->length + strlen(key) + 1;
    text_add(facts, "%s %s", key, value);
    for (size_t i = start; i < facts->length; i++)
        if ((unsigned char)facts->data[i] < ' ')
            facts->data[i] = ' ';
    text_add(facts, "\n");
}

static void fact_add_command(struct text *facts)
{
    char line[4096] = "";
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, line, sizeof line - 1) : 0;
    if (file >= 0)
        close(file);
    for (ssize_t i = 0; i + 1 < length; i++)
        if (!line[i])
            line[i] = ' ';
    fact_add(facts, "command", line);
}

static void facts_add_process(struct text *facts)
{
    char text[PATH_MAX];
    const char *rank = output_rank();
    snprintf(text, sizeof text, "%d.%d", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
    fact_add(facts, "csan", text);
    fact_add_command(facts);
    if (getcwd(text, sizeof text))
        fact_add(facts, "directory", text);
    snprintf(text, sizeof text, "%d", (int)getpid());
    fact_add(facts, "process", text);
    if (gethostname(text, sizeof text) == 0)
        fact_add(facts, "machine", text);
    if (rank)
        fact_add(facts, "rank", rank);
    snprintf(text, sizeof text, "%lld", (long long)time(NULL));
    fact_add(facts, "started", text);
}

static void facts_add_forms(struct text *facts)
{
    for (int kind = 1; kind < RECORDED_KINDS; kind++) {
        const struct recording_form *form = &recording_forms[kind];
        text_add(facts, "entry %d %s", kind, form->name);
        for (int i = 0; i < RECORDING_FIELDS_MAX && form->fields[i]; i++)
            text_add(facts, " %s", recording_field_names[form->fields[i]]);
        text_add(facts, "\n");
    }
}

/* ---- life */

/* As of now: the program may go elsewhere. */
static bool pattern_keep(struct recording *recording, const char *path)
{
    char directory[PATH_MAX] = "";
    const char *slash = "";
    if (path[0] != '/' && getcwd(directory, sizeof directory))
        slash = "/";
    int length =
        snprintf(recording->pattern, sizeof recording->pattern, "%s%s%s", directory, slash, path);
    return length > 0 && (size_t)length < sizeof recording->pattern;
}

struct recording *recording_create(const char *path, uint64_t replace_before, const char *facts,
                                   void (*note)(const char *line))
{
    struct recording *recording = calloc(1, sizeof *recording);
    pthread_condattr_t attributes;
    if (!recording || !pattern_keep(recording, path) ||
        !(recording->sets = recording_sets_create())) {
        free(recording);
        return NULL;
    }
    recording->note = note;
    recording->replace_before = replace_before;
    recording->descriptor = -1;
    recording->due = true;
    pthread_mutex_init(&recording->definitions, NULL);
    pthread_mutex_init(&recording->io, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recording->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    facts_add_process(&recording->facts);
    text_add(&recording->facts, "%s", facts);
    facts_add_forms(&recording->facts);
    return recording;
}

void recording_attach(struct recording *recording, pthread_mutex_t *lock,
                      const struct site_table *sites, const struct stack_depot *stacks)
{
    recording->lock = lock;
    recording->sites = sites;
    recording->stacks = stacks;
}

void recording_destroy(struct recording *recording)
{
    if (!recording)
        return;
    recording_sets_destroy(recording->sets);
    module_map_clear(&recording->modules);
    text_free(&recording->facts);
    free(recording->open.data);
    free(recording->taken.data);
    free(recording->snapshots.free);
    free(recording->events.free);
    free(recording->frees.free);
    free(recording->contexts.free);
    free(recording->defined.set);
    free(recording->stacks_written.set);
    free(recording->frames.frames);
    pthread_cond_destroy(&recording->wake);
    pthread_mutex_destroy(&recording->definitions);
    pthread_mutex_destroy(&recording->io);
    free(recording);
}

/* ---- entries */

static uint64_t clock_read(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 1;
}

uint64_t recording_time(const struct recording *recording)
{
    return recording->now;
}

static inline void put(struct recording *recording, uint64_t value)
{
    byte_buffer_put(&recording->open, value);
}

static inline void put_kind(struct recording *recording, enum recording_kind kind)
{
    recording->open.data[recording->open.length++] = (uint8_t)kind;
}

static inline void put_base(struct recording *recording, uint64_t base)
{
    put(recording, zigzag(base - recording->base));
    recording->base = base;
}

/* Room for any entry without a set or a text, and for what comes before it. False: nothing is to be
 * recorded. */
static inline bool begin(struct recording *recording, uint32_t context)
{
    if (recording->stopped || !byte_buffer_reserve(&recording->open, 3 * ENTRY_BYTES_MAX))
        return false;
    uint64_t now = clock_read();
    if (now != recording->now) {
        put_kind(recording, RECORDED_TIME);
        put(recording, recording->now ? now - recording->now : 0);
        recording->now = now;
    }
    if (context != recording->context) {
        put_kind(recording, RECORDED_CONTEXT);
        put(recording, context);
        recording->context = context;
    }
    recording->entries++;
    return true;
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
        put_kind(recording, RECORDED_PROMISE);
        put(recording, snapshot->number);
    }
    return snapshot->number;
}

static uint32_t event_number(struct recording *recording, struct csan_event *event)
{
    if (!event->number) {
        event->number = number_take(&recording->events);
        put_kind(recording, RECORDED_EVENT);
        put(recording, event->number);
    }
    return event->number;
}

static void put_two(struct recording *recording, enum recording_kind kind, uint64_t first,
                    uint64_t second)
{
    put_kind(recording, kind);
    put(recording, first);
    put(recording, second);
}

static void put_op(struct recording *recording, const struct entry *entry, uint64_t ticket)
{
    put_kind(recording, entry->pending ? RECORDED_OP_PENDING : RECORDED_OP);
    if (entry->pending)
        put(recording, ticket);
    put(recording, entry->lane);
    put_set(recording, entry->site, entry->level, entry->accesses, entry->access_count);
}

static void put_memory(struct recording *recording, const struct entry *entry)
{
    put_kind(recording, entry->kind == ENTRY_BIRTH        ? RECORDED_BIRTH
                        : entry->kind == ENTRY_POOL_ALLOC ? RECORDED_POOL_ALLOC
                                                          : RECORDED_POOL_FREE);
    if (entry->kind == ENTRY_BIRTH)
        put(recording, entry->memory_kind);
    put(recording, entry->lane);
    put(recording, entry->site);
    put_base(recording, entry->base);
    if (entry->kind != ENTRY_POOL_FREE)
        put(recording, entry->bytes);
}

static void put_free(struct recording *recording, const struct entry *entry)
{
    struct csan_free *token = entry->free;
    if (entry->kind == ENTRY_FREE_BEGIN) {
        token->number = number_take(&recording->frees);
        put_kind(recording, RECORDED_FREE_BEGIN);
        put(recording, token->number);
        put(recording, entry->lane);
        put(recording, entry->site);
        put_base(recording, token->base);
        put(recording, entry->checked ? RECORDED_CHECKED : 0);
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
        put_kind(recording, RECORDED_SNAPSHOT_ALL);
        put(recording, snapshot_new(recording, entry));
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
        put_kind(recording, RECORDED_EVENT_DESTROY);
        put(recording, first);
        number_give(&recording->events, first);
        return;
    default: /* ENTRY_LANE_DESTROY */
        put_kind(recording, RECORDED_LANE_DESTROY);
        put(recording, lane);
        return;
    }
}

void recording_entry(struct recording *recording, uint32_t context, const struct entry *entry,
                     uint64_t ticket)
{
    if (!begin(recording, context))
        return;
    switch (entry->kind) {
    case ENTRY_OP:
        put_op(recording, entry, ticket);
        break;
    case ENTRY_BIRTH:
    case ENTRY_POOL_ALLOC:
    case ENTRY_POOL_FREE:
        put_memory(recording, entry);
        break;
    case ENTRY_FREE_BEGIN:
    case ENTRY_FREE_END:
        put_free(recording, entry);
        break;
    default:
        put_order(recording, entry);
        break;
    }
    end(recording);
}

void recording_resolve(struct recording *recording, uint32_t context, uint64_t ticket,
                       enum csan_level level, const struct csan_access *accesses, size_t count)
{
    if (!begin(recording, context))
        return;
    put_kind(recording, RECORDED_RESOLVE);
    put(recording, ticket);
    put_set(recording, 0, level, accesses, count);
    end(recording);
}

static void put_text(struct byte_buffer *buffer, const char *text)
{
    size_t length = strlen(text);
    if (!byte_buffer_reserve(buffer, NUMBER_BYTES_MAX + length + 1 + ENTRY_BYTES_MAX))
        return;
    byte_buffer_put(buffer, length);
    memcpy(buffer->data + buffer->length, text, length + 1);
    buffer->length += length + 1;
}

void recording_lane(struct recording *recording, uint32_t context, uint32_t lane, uint64_t handle,
                    const char *label)
{
    if (!begin(recording, context))
        return;
    put_two(recording, RECORDED_LANE, lane, handle);
    put_text(&recording->open, label ? label : "");
    end(recording);
}

void recording_host_lane(struct recording *recording, uint32_t context, uint32_t lane,
                         unsigned kind, const char *label)
{
    if (!begin(recording, context))
        return;
    put_two(recording, RECORDED_HOST_LANE, lane, kind);
    put_text(&recording->open, label ? label : "");
    end(recording);
}

void recording_unpromised(struct recording *recording, uint32_t context, uint32_t lane,
                          const char *what)
{
    if (!begin(recording, context))
        return;
    put_kind(recording, RECORDED_UNPROMISED);
    put(recording, lane);
    put_text(&recording->open, what);
    end(recording);
}

void recording_release(struct recording *recording, uint32_t context,
                       struct csan_snapshot *snapshot)
{
    if (!snapshot->number || !begin(recording, context))
        return;
    put_kind(recording, RECORDED_RELEASE);
    put(recording, snapshot->number);
    number_give(&recording->snapshots, snapshot->number);
    snapshot->number = 0;
    end(recording);
}

static void put_bare(struct recording *recording, uint32_t context, enum recording_kind kind)
{
    if (begin(recording, context))
        put_kind(recording, kind);
    end(recording);
}

void recording_drain(struct recording *recording, uint32_t context)
{
    put_bare(recording, context, RECORDED_DRAIN);
}

void recording_clear(struct recording *recording, uint32_t context)
{
    put_bare(recording, context, RECORDED_CLEAR);
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
        put_kind(recording, RECORDED_BRANCH_END);
        put(recording, context);
    }
    number_give(&recording->contexts, context);
    end(recording);
}

/* ---- writing out */

/* Without any of the locks that the program's threads wait for, except io. */
static void trouble_say(struct recording *recording, const char *what, int error)
{
    char line[PATH_MAX + 256], reason[128];
    recording->error = error;
    snprintf(line, sizeof line, "cannot %s recording '%s': %s; %s", what, recording->path,
             strerror_r(error, reason, sizeof reason),
             recording->writer.number ? "it ends here" : "nothing is recorded");
    if (recording->note)
        recording->note(line);
}

/* One of an earlier run, that nobody is writing any more. */
static bool is_replaceable(const struct recording *recording)
{
    char magic[sizeof RECORDING_MAGIC - 1];
    struct stat status;
    int file = open(recording->path, O_RDONLY | O_CLOEXEC);
    bool replaceable =
        file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec <
            recording->replace_before &&
        pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
        memcmp(magic, RECORDING_MAGIC, sizeof magic) == 0 && flock(file, LOCK_SH | LOCK_NB) == 0;
    if (file >= 0)
        close(file);
    return replaceable;
}

static void file_open(struct recording *recording)
{
    output_path_expand(recording->path, PATH_MAX, recording->pattern);
    if (is_replaceable(recording))
        unlink(recording->path);
    recording->descriptor = output_open(recording->path, O_EXCL);
    if (recording->descriptor < 0 && errno == EEXIST) {
        size_t length = strlen(recording->path);
        snprintf(recording->path + length, sizeof recording->path - length, ".%d", (int)getpid());
        recording->descriptor = output_open(recording->path, O_EXCL);
    }
    if (recording->descriptor < 0) {
        trouble_say(recording, "open", errno);
        return;
    }
    flock(recording->descriptor, LOCK_EX | LOCK_NB); /* says that it is being written */
    int error = block_writer_open(&recording->writer, recording->descriptor);
    if (!error)
        error = block_writer_put(&recording->writer, BLOCK_FACTS, recording->facts.data,
                                 recording->facts.length);
    if (error)
        trouble_say(recording, "write", error);
}

static void block_put(struct recording *recording, enum block_kind kind, const void *bytes,
                      size_t count)
{
    if (recording->descriptor < 0 && !recording->error)
        file_open(recording);
    if (recording->error)
        return;
    int error = block_writer_put(&recording->writer, kind, bytes, count);
    if (error)
        trouble_say(recording, "write", error);
}

/* Take what there is, under the lock; io is held from here on. */
static void block_take(struct recording *recording)
{
    pthread_mutex_lock(&recording->io);
    struct byte_buffer taken = recording->open;
    recording->open = recording->taken;
    recording->open.length = 0;
    recording->taken = taken;
    recording->due = false;
    if (taken.failed && !recording->error)
        trouble_say(recording, "write", ENOMEM);
    recording->stopped |= recording->error != 0;
}

/* Write what was taken, without the lock. */
static void block_write(struct recording *recording)
{
    if (recording->taken.length && !recording->taken.failed)
        block_put(recording, BLOCK_ENTRIES, recording->taken.data, recording->taken.length);
    pthread_mutex_unlock(&recording->io);
}

static void *flush_now_and_then(void *user)
{
    struct recording *recording = user;
    pthread_mutex_lock(recording->lock);
    while (!recording->stopped) {
        struct timespec when;
        clock_gettime(CLOCK_MONOTONIC, &when);
        when.tv_nsec += FLUSH_MS * 1000000L;
        when.tv_sec += when.tv_nsec / 1000000000L;
        when.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&recording->wake, recording->lock, &when);
        if (recording->stopped || !recording->open.length)
            continue;
        block_take(recording);
        pthread_mutex_unlock(recording->lock);
        block_write(recording);
        pthread_mutex_lock(recording->lock);
    }
    pthread_mutex_unlock(recording->lock);
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
        pthread_create(&recording->flusher, NULL, flush_now_and_then, recording) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void leave_slow(struct recording *recording)
{
    if (!recording->started) {
        recording->started = true;
        flusher_start(recording);
    }
    block_take(recording);
    pthread_mutex_unlock(recording->lock);
    block_write(recording);
}

void recording_leave(struct recording *recording)
{
    if (__builtin_expect(recording->due && recording->open.length && !recording->stopped, 0))
        leave_slow(recording);
    else
        pthread_mutex_unlock(recording->lock);
}

void recording_finish(struct recording *recording, const char *facts)
{
    if (!recording->lock || recording->finished)
        return;
    recording->finished = true;
    pthread_mutex_lock(recording->lock);
    bool over = recording->stopped, has_flusher = recording->has_flusher;
    block_take(recording);
    recording->stopped = true;
    recording->has_flusher = false;
    pthread_cond_broadcast(&recording->wake);
    pthread_mutex_unlock(recording->lock);
    if (!over && (recording->taken.length || recording->writer.number)) {
        if (recording->taken.length)
            block_put(recording, BLOCK_ENTRIES, recording->taken.data, recording->taken.length);
        block_put(recording, BLOCK_END, facts, strlen(facts));
    }
    if (recording->descriptor >= 0)
        close(recording->descriptor);
    recording->descriptor = -1;
    uint64_t number = recording->writer.number, offset = recording->writer.offset;
    block_writer_close(&recording->writer);
    recording->writer.number = number; /* for the totals */
    recording->writer.offset = offset;
    pthread_mutex_unlock(&recording->io);
    if (has_flusher)
        pthread_join(recording->flusher, NULL);
}

bool recording_totals(struct recording *recording, const char **path, uint64_t *entries,
                      uint64_t *bytes)
{
    *path = recording->path;
    *entries = recording->entries;
    *bytes = recording->writer.offset;
    return recording->writer.number && !recording->error;
}

/* ---- sites, and what they refer to */

static void define_modules(struct recording *recording, struct byte_buffer *buffer)
{
    module_map_update(&recording->modules);
    while (recording->modules_written < recording->modules.count) {
        const struct module *module = &recording->modules.modules[recording->modules_written++];
        char build_id[2 * BUILD_ID_MAX + 1] = "";
        for (uint8_t i = 0; i < module->build_id_bytes; i++)
            snprintf(build_id + (size_t)2 * i, 3, "%02x", module->build_id[i]);
        if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
            return;
        buffer->data[buffer->length++] = RECORDED_MODULE;
        byte_buffer_put(buffer, module->start);
        byte_buffer_put(buffer, module->bytes);
        byte_buffer_put(buffer, module->bias);
        put_text(buffer, module->path);
        put_text(buffer, build_id);
    }
}

static void define_source_line(struct recording *recording, struct byte_buffer *buffer,
                               const void *frame)
{
    struct csan_source_line line;
    if (!stack_source_owns(frame) || !frame_is_new(&recording->frames, (uintptr_t)frame) ||
        !stack_source_describe(frame, &line) || !byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_SOURCE_LINE;
    byte_buffer_put(buffer, (uintptr_t)frame);
    byte_buffer_put(buffer, line.line);
    put_text(buffer, line.file ? line.file : "");
    put_text(buffer, line.function ? line.function : "");
}

static void define_stack(struct recording *recording, struct byte_buffer *buffer, uint32_t stack)
{
    const void *const *frames;
    size_t count;
    stack_depot_get(recording->stacks, stack, &frames, &count);
    if (!count || flag_is_set(&recording->stacks_written, stack))
        return;
    define_modules(recording, buffer);
    for (size_t i = 0; i < count; i++)
        define_source_line(recording, buffer, frames[i]);
    if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX + count * NUMBER_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_STACK;
    byte_buffer_put(buffer, stack);
    byte_buffer_put(buffer, count);
    for (size_t i = 0; i < count; i++)
        byte_buffer_put(buffer, zigzag((uintptr_t)frames[i] - (i ? (uintptr_t)frames[i - 1] : 0)));
    flag_set(&recording->stacks_written, stack);
}

static void define_site(struct recording *recording, struct byte_buffer *buffer, csan_site number)
{
    const struct site *site = site_table_get(recording->sites, number);
    if (!site)
        return;
    define_stack(recording, buffer, site->stack);
    if (!byte_buffer_reserve(buffer, ENTRY_BYTES_MAX))
        return;
    buffer->data[buffer->length++] = RECORDED_SITE;
    byte_buffer_put(buffer, number);
    byte_buffer_put(buffer, site->stack);
    put_text(buffer, site->name);
    byte_buffer_put(buffer, site->argument_count);
    for (uint32_t i = 0; i < site->argument_count; i++)
        put_text(buffer, site->arguments[i]);
}

/* Under the lock. */
static void definition_append(struct recording *recording, const struct byte_buffer *buffer,
                              csan_site site)
{
    struct byte_buffer *open = &recording->open;
    if (recording->stopped || !byte_buffer_reserve(open, buffer->length + ENTRY_BYTES_MAX))
        return;
    if (buffer->length)
        memcpy(open->data + open->length, buffer->data, buffer->length);
    open->length += buffer->length;
    open->failed |= buffer->failed || !flag_set(&recording->defined, site);
    end(recording);
}

static bool is_defined(struct recording *recording, csan_site site)
{
    pthread_mutex_lock(recording->lock);
    bool defined = recording->stopped || flag_is_set(&recording->defined, site);
    pthread_mutex_unlock(recording->lock);
    return defined;
}

void recording_site(struct recording *recording, csan_site site)
{
    struct byte_buffer buffer = {0};
    if (!site || is_defined(recording, site))
        return;
    pthread_mutex_lock(&recording->definitions);
    if (!is_defined(recording, site)) {
        define_site(recording, &buffer, site);
        pthread_mutex_lock(recording->lock);
        definition_append(recording, &buffer, site);
        recording_leave(recording);
    }
    pthread_mutex_unlock(&recording->definitions);
    free(buffer.data);
}
