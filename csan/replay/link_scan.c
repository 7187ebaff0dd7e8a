/* See link_scan.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/link_scan.h"
#include "csan/base/array.h"
#include "csan/replay/replay_define.h"

#include <stdlib.h>
#include <uthash.h>

/* Where unified memory begins, and how far pieces lie apart: accesses beyond one hit no other. */
static const uint64_t unified_first = UINT64_C(1) << 60, unified_gap = UINT64_C(1) << 32;

/* A record or wait, a handle made or opened. */
struct moment {
    uint64_t key, time;
    uint32_t process, number;
    uint32_t birth; /* of a handle made: the memory's */
    bool memory;
};

struct moments {
    struct moment *items;
    size_t count, capacity;
};

/* A message that came: which receive of the process had it. */
struct take {
    uint64_t key;
    uint32_t serial, number; /* number: of the TAKE or LOOK in the recording */
    bool looks;
};

/* The allocation at an address, as it is now. */
struct live {
    uint64_t base;
    uint32_t birth;
    UT_hash_handle hh;
};

struct scanned {
    struct link_process process;
    struct live *live; /* uthash */
    size_t birth_capacity;
    struct take *takes;
    size_t take_capacity, received;
    uint64_t last_receive; /* the highest number of a receive */
    bool passed;           /* a receive was over before one that might have had its message */
};

struct link_scan {
    size_t count;
    struct moments sources, waits;
    struct moments maps; /* `time`: the end of what is mapped, in the memory */
    uint64_t unified;    /* given so far */
    struct scanned processes[];
};

struct link_scan *link_scan_create(size_t count)
{
    struct link_scan *scan = calloc(1, sizeof *scan + count * sizeof(struct scanned));
    if (scan) {
        scan->count = count;
        scan->unified = unified_first;
    }
    return scan;
}

static void live_clear(struct scanned *scanned)
{
    struct live *live, *next;
    HASH_ITER(hh, scanned->live, live, next)
    {
        HASH_DEL(scanned->live, live);
        free(live);
    }
}

void link_scan_destroy(struct link_scan *scan)
{
    if (!scan)
        return;
    for (size_t i = 0; i < scan->count; i++) {
        struct scanned *scanned = &scan->processes[i];
        live_clear(scanned);
        free(scanned->process.wanted);
        free(scanned->process.uses);
        free(scanned->process.births);
        free(scanned->process.opened);
        free(scanned->process.taken);
        free(scanned->process.mapped);
        free(scanned->takes);
    }
    free(scan->sources.items);
    free(scan->waits.items);
    free(scan->maps.items);
    free(scan);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool moment_add(struct moments *moments, const struct moment *moment)
{
    if (!array_room(&moments->items, moments->count, &moments->capacity, 256, SIZE_MAX,
                    sizeof *moments->items))
        return false;
    moments->items[moments->count++] = *moment;
    return true;
}

static struct live *live_at(struct scanned *scanned, uint64_t base)
{
    struct live *live = NULL;
    HASH_FIND(hh, scanned->live, &base, sizeof base, live);
    return live;
}

static bool take_birth(struct scanned *scanned, uint64_t base)
{
    struct live *live = live_at(scanned, base);
    if (!live) {
        live = calloc(1, sizeof *live);
        if (!live)
            return false;
        live->base = base;
        HASH_ADD(hh, scanned->live, base, sizeof live->base, live);
        if (!live->hh.tbl) {
            free(live);
            return false;
        }
    }
    live->birth = (uint32_t)++scanned->process.birth_count;
    return true;
}

static bool take_free(struct scanned *scanned, uint64_t base)
{
    struct live *live = live_at(scanned, base);
    if (live) {
        HASH_DEL(scanned->live, live);
        free(live);
    }
    return true;
}

static bool take_share(struct link_scan *scan, struct scanned *scanned, struct moment *moment,
                       const struct recorded *recorded)
{
    const struct live *live = live_at(scanned, recorded->value[FIELD_ADDRESS]);
    moment->birth = live ? live->birth : 0;
    if (!replay_grow((void **)&scanned->process.births, &scanned->birth_capacity,
                     sizeof *scanned->process.births, moment->birth))
        return false;
    struct link_memory *memory = &scanned->process.births[moment->birth];
    if (!memory->unified) {
        memory->bytes = recorded->value[FIELD_BYTES];
        memory->unified = scan->unified;
        scan->unified += memory->bytes + unified_gap;
    }
    return true;
}

static bool take_message(struct scanned *scanned, const struct recorded *recorded)
{
    const uint64_t serial = recorded->value[FIELD_FIRST];
    const bool looks = recorded->value[FIELD_FLAGS] == CSAN_LINK_LOOK;
    if (!array_room(&scanned->takes, scanned->process.taken_count, &scanned->take_capacity, 256,
                    SIZE_MAX, sizeof *scanned->takes))
        return false;
    const uint32_t number = (uint32_t)scanned->process.taken_count++;
    scanned->takes[number] =
        (struct take){recorded->value[FIELD_HANDLE], (uint32_t)serial, number, looks};
    scanned->received += !looks;
    if (!looks && serial > scanned->last_receive)
        scanned->last_receive = serial;
    scanned->passed |= recorded->value[FIELD_LAST] != 0;
    return true;
}

static bool take_link(struct link_scan *scan, size_t process, const struct recorded *recorded)
{
    struct scanned *scanned = &scan->processes[process];
    struct moment moment = {.key = recorded->value[FIELD_HANDLE],
                            .time = recorded->value[FIELD_NANOSECONDS],
                            .process = (uint32_t)process};
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_LINK_SHARE:
        moment.memory = true;
        if (!take_share(scan, scanned, &moment, recorded))
            return false;
        /* fall through */
    case CSAN_LINK_RECORD:
        moment.number = (uint32_t)scanned->process.source_count++;
        return moment_add(&scan->sources, &moment);
    case CSAN_LINK_OPEN:
        moment.memory = true;
        /* fall through */
    case CSAN_LINK_WAIT:
        moment.number = (uint32_t)scanned->process.wanted_count++;
        return moment_add(&scan->waits, &moment);
    case CSAN_LINK_MAP:
        moment.time = recorded->value[FIELD_FIRST] + recorded->value[FIELD_BYTES];
        moment.number = (uint32_t)scanned->process.mapped_count++;
        return moment_add(&scan->maps, &moment);
    case CSAN_LINK_TAKE:
    case CSAN_LINK_LOOK:
        return take_message(scanned, recorded);
    case CSAN_LINK_LACK:
        scanned->process.lacks |=
            1u << (recorded->value[FIELD_HANDLE] < 31 ? recorded->value[FIELD_HANDLE] : 31);
        return true;
    default:
        return true;
    }
}

bool link_scan_take(struct link_scan *scan, size_t process, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_BIRTH:
        return take_birth(&scan->processes[process], recorded->value[FIELD_BASE]);
    case RECORDED_FREE_BEGIN:
        return take_free(&scan->processes[process], recorded->value[FIELD_BASE]);
    case RECORDED_LINK:
        return take_link(scan, process, recorded);
    default:
        return true;
    }
}

/* ---- Matching -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct moment *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    return 0;
}

/* The newest source of that key up to that time; NULL: there is none. */
static const struct moment *source_of(const struct moments *sources, const struct moment *wait)
{
    size_t low = 0, high = sources->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&sources->items[middle], wait) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct moment *found = low ? &sources->items[low - 1] : NULL;
    return found && found->key == wait->key && found->memory == wait->memory ? found : NULL;
}

static bool tables_make(struct link_process *process)
{
    process->wanted = malloc((process->wanted_count + 1) * sizeof *process->wanted);
    process->uses = calloc(process->source_count + 1, sizeof *process->uses);
    process->opened = calloc(process->wanted_count + 1, sizeof *process->opened);
    process->mapped = calloc(process->mapped_count + 1, sizeof *process->mapped);
    if (!process->wanted || !process->uses || !process->opened || !process->mapped)
        return false;
    for (size_t i = 0; i < process->wanted_count; i++)
        process->wanted[i] = (struct link_source){LINK_NONE, 0};
    return true;
}

/* Memory of a process whose recording is missing: those who opened it share it all the same. */
static uint64_t unified_of_key(struct link_scan *scan, const struct moment *wait)
{
    for (size_t i = 0; i < scan->waits.count; i++) {
        const struct moment *other = &scan->waits.items[i];
        if (other->key == wait->key &&
            scan->processes[other->process].process.opened[other->number])
            return scan->processes[other->process].process.opened[other->number];
    }
    scan->unified += unified_gap * 256;
    return scan->unified - unified_gap * 256;
}

static void resolve(struct link_scan *scan, const struct moment *wait)
{
    struct link_process *process = &scan->processes[wait->process].process;
    const struct moment *source = source_of(&scan->sources, wait);
    if (source) {
        struct link_process *of = &scan->processes[source->process].process;
        process->wanted[wait->number] = (struct link_source){source->process, source->number};
        of->uses[source->number]++;
        if (wait->memory)
            process->opened[wait->number] = of->births[source->birth].unified;
    } else if (wait->memory) {
        process->opened[wait->number] = unified_of_key(scan, wait);
        process->foreign = true;
    }
}

/* All that is mapped of one memory lies at one place. */
static void resolve_maps(struct link_scan *scan)
{
    struct moments *maps = &scan->maps;
    if (maps->count)
        qsort(maps->items, maps->count, sizeof *maps->items, compare);
    for (size_t first = 0, end; first < maps->count; first = end) {
        for (end = first; end < maps->count && maps->items[end].key == maps->items[first].key;)
            end++;
        const struct link_memory memory = {maps->items[end - 1].time, scan->unified};
        scan->unified += memory.bytes + unified_gap;
        for (size_t i = first; i < end; i++)
            scan->processes[maps->items[i].process].process.mapped[maps->items[i].number] = memory;
    }
}

/* By channel, and there in the order in which receives were posted; a look comes before the receive
 * with its number. */
static int compare_takes(const void *a, const void *b)
{
    const struct take *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->serial != other->serial)
        return one->serial < other->serial ? -1 : 1;
    return other->looks - one->looks;
}

/* The n-th receive of a channel has its n-th message. */
static bool number_takes(struct scanned *scanned)
{
    struct link_process *process = &scanned->process;
    const size_t count = process->taken_count;
    uint32_t number = 0;
    process->taken = calloc(count + 1, sizeof *process->taken);
    if (!process->taken)
        return false;
    if (count)
        qsort(scanned->takes, count, sizeof *scanned->takes, compare_takes);
    for (size_t i = 0; i < count; i++) {
        const struct take *take = &scanned->takes[i];
        if (i && take->key != scanned->takes[i - 1].key)
            number = 0;
        process->taken[take->number] = number + 1;
        number += !take->looks;
    }
    process->uncertain = scanned->passed && scanned->received < scanned->last_receive;
    free(scanned->takes);
    scanned->takes = NULL;
    return true;
}

bool link_scan_resolve(struct link_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++) {
        struct scanned *scanned = &scan->processes[i];
        live_clear(scanned);
        if (!tables_make(&scanned->process) || !number_takes(scanned) ||
            !replay_grow((void **)&scanned->process.births, &scanned->birth_capacity,
                         sizeof *scanned->process.births, scanned->process.birth_count))
            return false;
    }
    if (scan->sources.count)
        qsort(scan->sources.items, scan->sources.count, sizeof *scan->sources.items, compare);
    for (size_t i = 0; i < scan->waits.count; i++)
        resolve(scan, &scan->waits.items[i]);
    resolve_maps(scan);
    return true;
}

const struct link_process *link_scan_of(const struct link_scan *scan, size_t process)
{
    return &scan->processes[process].process;
}
