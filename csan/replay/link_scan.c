/* See link_scan.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/link_scan.h"
#include "csan/base/array.h"
#include "csan/replay/exposed_windows.h"
#include "csan/replay/receives.h"
#include "csan/replay/replay_define.h"
#include "csan/replay/shared_memory.h"

#include <stdlib.h>
#include <uthash.h>

/* Where unified memory begins, and how far pieces lie apart: accesses beyond one hit no other. Of
 * some pieces the size is not known when they get their place. */
static const uint64_t unified_first = UINT64_C(1) << 60, unified_gap = UINT64_C(1) << 32,
                      unified_most = UINT64_C(1) << 40;

/* A record or wait, a handle made or opened. */
struct moment {
    uint64_t key, time;
    uint64_t offset; /* of a handle made: where in the memory it begins */
    uint64_t place;  /* ... and where that lies for all, if the memory has a descriptor */
    uint32_t process, number;
    uint32_t birth; /* of a handle made: the memory's */
    bool memory;
};

struct moments {
    struct moment *items;
    size_t count, capacity;
};

/* A send that waited for its receive, and is over. */
struct taken_send {
    uint64_t serial;
    uint32_t wanted; /* its number among what the process waits for */
};

/* Where memory that was opened or mapped lies for all. */
struct place {
    uint64_t key, unified;
    UT_hash_handle hh;
};

/* The allocation at an address, as it is now. */
struct live {
    uint64_t base;
    uint32_t birth;
    UT_hash_handle hh;
};

struct scanned {
    struct link_process process;
    struct live *live;           /* uthash */
    struct shared_memory mapped; /* what of its memory has descriptors, as it is now */
    size_t birth_capacity;
    struct receives receives;
    struct synchronous_sends synchronous;
    struct taken_send *taken_sends;
    size_t taken_send_count, taken_send_capacity;
};

struct link_scan {
    size_t count;
    struct moments sources, waits;
    struct moments maps; /* `time`: the end of what is mapped, in the memory */
    uint64_t unified;    /* given so far */
    struct sends sends;
    struct lock_sections locks;
    struct exposed_windows exposed;
    struct place *opened; /* uthash, by key: as the first one to open it found it */
    struct place *mapped; /* uthash, by key: memory that has descriptors */
    struct scanned processes[];
};

struct link_scan *link_scan_create(size_t count)
{
    struct link_scan *scan = calloc(1, sizeof *scan + count * sizeof(struct scanned));
    if (!scan || !lock_sections_init(&scan->locks, count)) {
        free(scan);
        return NULL;
    }
    scan->count = count;
    scan->unified = unified_first;
    for (size_t i = 0; i < count; i++)
        shared_memory_init(&scan->processes[i].mapped);
    return scan;
}

static void places_clear(struct place **places)
{
    struct place *place, *next;
    HASH_ITER(hh, *places, place, next)
    {
        HASH_DEL(*places, place);
        free(place);
    }
}

/* NULL: memory is short. */
static struct place *place_of(struct place **places, uint64_t key)
{
    struct place *place = NULL;
    HASH_FIND(hh, *places, &key, sizeof key, place);
    if (place)
        return place;
    place = calloc(1, sizeof *place);
    if (!place)
        return NULL;
    place->key = key;
    HASH_ADD(hh, *places, key, sizeof place->key, place);
    if (place->hh.tbl)
        return place;
    free(place);
    return NULL;
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
        shared_memory_clear(&scanned->mapped);
        free(scanned->process.wanted);
        free(scanned->process.uses);
        free(scanned->process.births);
        free(scanned->process.opened);
        free(scanned->process.taken);
        free(scanned->process.mapped);
        receives_clear(&scanned->receives);
        synchronous_sends_clear(&scanned->synchronous);
        free(scanned->taken_sends);
    }
    sends_clear(&scan->sends);
    lock_sections_clear(&scan->locks);
    exposed_windows_clear(&scan->exposed);
    places_clear(&scan->opened);
    places_clear(&scan->mapped);
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

/* Room for memory of a size that is not known yet. */
static uint64_t place_take(struct link_scan *scan)
{
    const uint64_t unified = scan->unified;
    scan->unified += unified_most;
    return unified;
}

static bool take_share(struct link_scan *scan, struct scanned *scanned, struct moment *moment,
                       const struct recorded *recorded)
{
    if (shared_memory_find(&scanned->mapped, recorded->value[FIELD_ADDRESS] + moment->offset,
                           &moment->place))
        return true;
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

static bool take_map(struct link_scan *scan, struct scanned *scanned, struct moment *moment,
                     const struct recorded *recorded)
{
    const uint64_t offset = recorded->value[FIELD_FIRST], bytes = recorded->value[FIELD_BYTES];
    struct place *place = place_of(&scan->mapped, moment->key);
    if (place && !place->unified)
        place->unified = place_take(scan);
    moment->time = offset + bytes;
    moment->number = (uint32_t)scanned->process.mapped_count++;
    return place && moment_add(&scan->maps, moment) &&
           (!bytes || shared_memory_add(&scanned->mapped, recorded->value[FIELD_ADDRESS], bytes,
                                        place->unified + offset));
}

static bool take_receive(struct scanned *scanned, const struct recorded *recorded)
{
    const bool looks = recorded->value[FIELD_FLAGS] == CSAN_LINK_LOOK;
    return receives_take(&scanned->receives, recorded,
                         looks ? 0 : (uint32_t)scanned->process.source_count++);
}

static bool take_taken(struct scanned *scanned, const struct recorded *recorded)
{
    if (!array_room(&scanned->taken_sends, scanned->taken_send_count, &scanned->taken_send_capacity,
                    64, SIZE_MAX, sizeof *scanned->taken_sends))
        return false;
    scanned->taken_sends[scanned->taken_send_count++] = (struct taken_send){
        recorded->value[FIELD_FIRST], (uint32_t)scanned->process.wanted_count++};
    return true;
}

static bool take_lack(struct link_scan *scan, size_t process, const struct recorded *recorded)
{
    const uint64_t lack = recorded->value[FIELD_HANDLE], deed = recorded->value[FIELD_LAST];
    if (lack != CSAN_LACK_ONE_SIDED || !deed) {
        scan->processes[process].process.lacks |= 1u << (lack < 31 ? lack : 31);
        return true;
    }
    return exposed_windows_add(&scan->exposed,
                               &(struct exposed_window){recorded->value[FIELD_FIRST],
                                                        (uint32_t)process, .reads = deed != 1});
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
        moment.offset = recorded->value[FIELD_FIRST];
        moment.time = recorded->value[FIELD_LAST] ? 0 : moment.time;
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
        return take_map(scan, scanned, &moment, recorded);
    case CSAN_LINK_CLOSE:
        shared_memory_remove(&scanned->mapped, recorded->value[FIELD_ADDRESS],
                             recorded->value[FIELD_BYTES]);
        return true;
    case CSAN_LINK_TAKE:
    case CSAN_LINK_LOOK:
    case CSAN_LINK_POST:
        return take_receive(scanned, recorded);
    case CSAN_LINK_NEXT:
        return sends_take(&scan->sends, &scanned->synchronous, recorded);
    case CSAN_LINK_TAKEN:
        return take_taken(scanned, recorded);
    case CSAN_LINK_LOCK:
    case CSAN_LINK_UNLOCK:
        return lock_sections_take(&scan->locks, process, recorded);
    case CSAN_LINK_LACK:
        return take_lack(scan, process, recorded);
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

/* Those who opened memory of a process whose recording is missing share it all the same. False:
 * memory is short. */
static bool opened_resolve(struct link_scan *scan, const struct moment *wait, uint64_t unified)
{
    struct link_process *process = &scan->processes[wait->process].process;
    struct place *place = place_of(&scan->opened, wait->key);
    if (!place)
        return false;
    if (!place->unified)
        place->unified = unified ? unified : place_take(scan);
    process->opened[wait->number] = unified ? unified : place->unified;
    return true;
}

static uint64_t unified_of(const struct link_process *process, const struct moment *source)
{
    return source->place ? source->place : process->births[source->birth].unified + source->offset;
}

static bool resolve(struct link_scan *scan, const struct moment *wait)
{
    struct link_process *process = &scan->processes[wait->process].process;
    const struct moment *source = source_of(&scan->sources, wait);
    uint64_t unified = 0;
    if (source) {
        struct link_process *of = &scan->processes[source->process].process;
        process->wanted[wait->number] = (struct link_source){source->process, source->number};
        of->uses[source->number]++;
        unified = wait->memory ? unified_of(of, source) : 0;
    }
    process->foreign |= wait->memory && !source;
    return !wait->memory || opened_resolve(scan, wait, unified);
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
        const struct place *place = NULL;
        HASH_FIND(hh, scan->mapped, &maps->items[first].key, sizeof place->key, place);
        const struct link_memory memory = {maps->items[end - 1].time, place ? place->unified : 0};
        for (size_t i = first; i < end; i++)
            scan->processes[maps->items[i].process].process.mapped[maps->items[i].number] = memory;
    }
}

static bool number_receives(struct scanned *scanned)
{
    struct link_process *process = &scanned->process;
    process->taken = receives_number(&scanned->receives);
    process->taken_count = scanned->receives.count;
    process->uncertain = receives_uncertain(&scanned->receives);
    return process->taken != NULL;
}

/* A send that is over waits for what was known where its receive was posted. */
static void resolve_taken(struct link_scan *scan, struct scanned *scanned,
                          const struct taken_send *taken)
{
    uint32_t source;
    const struct synchronous_send *send =
        synchronous_sends_find(&scanned->synchronous, taken->serial);
    for (size_t i = 0; send && i < scan->count; i++) {
        struct scanned *of = &scan->processes[i];
        if (!receives_find(&of->receives, send->key, send->message, &source))
            continue;
        scanned->process.wanted[taken->wanted] = (struct link_source){(uint32_t)i, source};
        of->process.uses[source]++;
        return;
    }
}

/* Who reads what another one may write meanwhile. */
static bool resolve_exposed(struct link_scan *scan)
{
    bool *exposed = calloc(scan->count + 1, sizeof *exposed);
    if (exposed)
        exposed_windows_resolve(&scan->exposed, exposed);
    for (size_t i = 0; exposed && i < scan->count; i++)
        scan->processes[i].process.exposed = exposed[i];
    free(exposed);
    return exposed != NULL;
}

static bool resolve_locks(struct link_scan *scan)
{
    bool *uncertain = calloc(scan->count + 1, sizeof *uncertain);
    const bool good = uncertain && lock_sections_resolve(&scan->locks, uncertain);
    for (size_t i = 0; good && i < scan->count; i++)
        scan->processes[i].process.unordered = uncertain[i];
    free(uncertain);
    return good;
}

bool link_scan_resolve(struct link_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++) {
        struct scanned *scanned = &scan->processes[i];
        live_clear(scanned);
        shared_memory_clear(&scanned->mapped);
        if (!tables_make(&scanned->process) || !number_receives(scanned) ||
            !replay_grow((void **)&scanned->process.births, &scanned->birth_capacity,
                         sizeof *scanned->process.births, scanned->process.birth_count))
            return false;
    }
    if (scan->sources.count)
        qsort(scan->sources.items, scan->sources.count, sizeof *scan->sources.items, compare);
    for (size_t i = 0; i < scan->waits.count; i++)
        if (!resolve(scan, &scan->waits.items[i]))
            return false;
    resolve_maps(scan);
    for (size_t i = 0; i < scan->count; i++)
        for (size_t k = 0; k < scan->processes[i].taken_send_count; k++)
            resolve_taken(scan, &scan->processes[i], &scan->processes[i].taken_sends[k]);
    for (size_t i = 0; i < scan->count; i++)
        receives_clear(&scan->processes[i].receives);
    return resolve_exposed(scan) && resolve_locks(scan);
}

const struct link_process *link_scan_of(const struct link_scan *scan, size_t process)
{
    return &scan->processes[process].process;
}

const struct lock_sections *link_scan_locks(const struct link_scan *scan)
{
    return &scan->locks;
}
