/* See call_statistics.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/cli/statistics/call_statistics.h"
#include "csan/base/array.h"
#include "csan/base/json_text.h"

#include <csan/detector.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Numbers of a damaged recording may be any: what is above is of an unknown device and kind. */
enum { DEVICES = 129, LANES_MOST = 1 << 20, SITES_MOST = 1 << 24 };

/* What the lane's ops are; SAME: what their names say. */
enum lane_use { LANE_SAME, LANE_OF_HOST, LANE_OF_FUNCTION };

struct lane {
    uint16_t device; /* and one; 0: not known */
    uint8_t use;     /* enum lane_use */
};

struct allocation {
    UT_hash_handle hh;
    uint64_t base;
    uint16_t device;
};

struct call_statistics {
    struct lane *lanes; /* by number */
    size_t lane_capacity;
    uint8_t *sites; /* by number: enum call_kind of ops with that name; CALL_KINDS: none counts */
    size_t site_capacity;
    struct allocation *allocations;
    uint64_t context; /* not 0: a graph is checked by itself */
    uint64_t counts[CALL_KINDS][DEVICES];
};

static const struct {
    const char *words, *key;
} kinds[CALL_KINDS] = {[CALL_KERNEL] = {"kernels", "kernel"},
                       [CALL_COPY] = {"copies", "copy"},
                       [CALL_SET] = {"sets", "set"},
                       [CALL_LIBRARY] = {"other calls with accesses", "library"},
                       [CALL_HOST_FUNCTION] = {"host functions", "host-function"},
                       [CALL_HOST_ACCESS] = {"accesses of the host", "host-access"},
                       [CALL_GRAPH_LAUNCH] = {"launches of graphs", "graph-launch"},
                       [CALL_ALLOCATION] = {"allocations", "allocation"},
                       [CALL_HOST_ALLOCATION] = {"allocations of host memory", "host-allocation"},
                       [CALL_FREE] = {"frees", "free"},
                       [CALL_BLOCK] = {"blocks of pools given out", "block"},
                       [CALL_BLOCK_FREE] = {"blocks of pools taken back", "block-free"},
                       [CALL_RECORD] = {"records of events", "record"},
                       [CALL_STREAM_WAIT] = {"waits of streams", "stream-wait"},
                       [CALL_HOST_WAIT] = {"waits of the host", "host-wait"}};

struct call_statistics *call_statistics_create(void)
{
    return calloc(1, sizeof(struct call_statistics));
}

void call_statistics_destroy(struct call_statistics *statistics)
{
    struct allocation *allocation, *next;
    if (!statistics)
        return;
    HASH_ITER(hh, statistics->allocations, allocation, next)
    {
        HASH_DELETE(hh, statistics->allocations, allocation);
        free(allocation);
    }
    free(statistics->lanes);
    free(statistics->sites);
    free(statistics);
}

/* ---- lanes and sites */

/* The element of that number; NULL: there is none. New ones are zero. */
static void *element(void *array, size_t *capacity, uint64_t number, size_t most, size_t bytes)
{
    const size_t former = *capacity;
    void *items;
    if (number >= most || !array_reserve(array, number + 1, capacity, 64, most, bytes))
        return NULL;
    memcpy(&items, array, sizeof items);
    memset((char *)items + former * bytes, 0, (*capacity - former) * bytes);
    return (char *)items + number * bytes;
}

static struct lane *lane_of(struct call_statistics *statistics, uint64_t number)
{
    return element(&statistics->lanes, &statistics->lane_capacity, number, LANES_MOST,
                   sizeof(struct lane));
}

static unsigned device_of(struct call_statistics *statistics, uint64_t number)
{
    const struct lane *lane = lane_of(statistics, number);
    return lane ? lane->device : 0;
}

static void take_lane(struct call_statistics *statistics, const struct recorded *recorded)
{
    struct lane *lane = lane_of(statistics, recorded->value[FIELD_LANE]);
    if (!lane)
        return;
    *lane = (struct lane){0};
    if (recorded->kind == RECORDED_HOST_LANE)
        lane->use = LANE_OF_HOST;
    else if (recorded->kind == RECORDED_LANE_AS &&
             recorded->value[FIELD_FLAGS] == CSAN_LANE_FUNCTION)
        lane->use = LANE_OF_FUNCTION;
}

static void take_part(struct call_statistics *statistics, const struct recorded *recorded)
{
    const unsigned device = device_of(statistics, recorded->value[FIELD_OTHER]);
    struct lane *lane = lane_of(statistics, recorded->value[FIELD_LANE]);
    if (lane)
        lane->device = (uint16_t)device;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static enum call_kind kind_named(const char *name)
{
    if (begins(name, "cuMemcpy") || begins(name, "cudaMemcpy"))
        return CALL_COPY;
    if (begins(name, "cuMemset") || begins(name, "cudaMemset"))
        return CALL_SET;
    if (begins(name, "cuTexObject") || begins(name, "cuSurfObject"))
        return CALL_KINDS; /* the birth of a description */
    return CALL_KERNEL;
}

static void take_site(struct call_statistics *statistics, const struct recorded *recorded)
{
    uint8_t *kind = element(&statistics->sites, &statistics->site_capacity,
                            recorded->value[FIELD_SITE], SITES_MOST, 1);
    if (kind)
        *kind = (uint8_t)kind_named(recorded->text ? recorded->text : "");
}

/* ---- what happens */

static void count(struct call_statistics *statistics, enum call_kind kind, unsigned device)
{
    if (kind < CALL_KINDS)
        statistics->counts[kind][device < DEVICES ? device : 0]++;
}

static enum call_kind kind_of_site(const struct call_statistics *statistics, uint64_t site)
{
    return site < statistics->site_capacity ? statistics->sites[site] : CALL_KERNEL;
}

static enum call_kind kind_of_op(const struct call_statistics *statistics, const struct lane *lane,
                                 const struct recording_set *set)
{
    if (lane && lane->use == LANE_OF_HOST)
        return CALL_HOST_ACCESS;
    if (lane && lane->use == LANE_OF_FUNCTION)
        return CALL_HOST_FUNCTION;
    const enum call_kind kind = kind_of_site(statistics, set ? set->site : 0);
    return kind == CALL_KERNEL && set && set->level == CSAN_LEVEL_LIBRARY ? CALL_LIBRARY : kind;
}

static void take_op(struct call_statistics *statistics, const struct recorded *recorded)
{
    const uint64_t number = recorded->value[FIELD_LANE];
    const struct lane *lane = lane_of(statistics, number);
    const struct lane host = {.use = LANE_OF_HOST};
    if (number == CSAN_HOST)
        lane = &host;
    count(statistics, kind_of_op(statistics, lane, recorded->set), lane ? lane->device : 0);
}

static void take_birth(struct call_statistics *statistics, const struct recorded *recorded)
{
    const uint64_t base = recorded->value[FIELD_BASE];
    const unsigned device = device_of(statistics, recorded->value[FIELD_LANE]);
    struct allocation *allocation;
    if (recorded->value[FIELD_MEMORY] == CSAN_MEMORY_VARIABLE || /* comes with its module */
        kind_of_site(statistics, recorded->value[FIELD_SITE]) == CALL_KINDS)
        return;
    count(statistics,
          recorded->value[FIELD_MEMORY] == CSAN_MEMORY_HOST ? CALL_HOST_ALLOCATION
                                                            : CALL_ALLOCATION,
          device);
    HASH_FIND(hh, statistics->allocations, &base, sizeof base, allocation);
    if (!allocation && (allocation = calloc(1, sizeof *allocation)) != NULL) {
        allocation->base = base;
        HASH_ADD(hh, statistics->allocations, base, sizeof allocation->base, allocation);
        if (!allocation->hh.tbl) {
            free(allocation);
            return;
        }
    }
    if (allocation)
        allocation->device = (uint16_t)device;
}

/* For the device of the memory. The ends of variables, and frees that failed, are few or none. */
static void take_free(struct call_statistics *statistics, const struct recorded *recorded)
{
    const uint64_t base = recorded->value[FIELD_BASE];
    struct allocation *allocation;
    HASH_FIND(hh, statistics->allocations, &base, sizeof base, allocation);
    if (!allocation)
        return;
    count(statistics, CALL_FREE, allocation->device);
    HASH_DELETE(hh, statistics->allocations, allocation);
    free(allocation);
}

static void take_step(struct call_statistics *statistics, const struct recorded *recorded)
{
    struct lane *lane = lane_of(statistics, recorded->value[FIELD_LANE]);
    const unsigned device = lane ? lane->device : 0;
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_STEP_DEVICE:
        if (lane)
            lane->device =
                recorded->value[FIELD_FIRST] < DEVICES ? (uint16_t)recorded->value[FIELD_FIRST] : 0;
        return;
    case CSAN_STEP_RECORD:
        count(statistics, CALL_RECORD, device);
        return;
    case CSAN_STEP_WAIT:
    case CSAN_STEP_WAIT_UNRECORDED:
        count(statistics, CALL_STREAM_WAIT, device);
        return;
    case CSAN_STEP_HOST_WAIT: /* a thread's lane may be the one that waits */
        count(statistics, CALL_HOST_WAIT, device_of(statistics, CSAN_HOST));
        return;
    case CSAN_STEP_GRAPH_LAUNCH:
        count(statistics, CALL_GRAPH_LAUNCH, device);
        return;
    default:
        return;
    }
}

static void take(struct call_statistics *statistics, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_HOST_LANE:
        take_lane(statistics, recorded);
        return;
    case RECORDED_LANE_PART:
        take_part(statistics, recorded);
        return;
    case RECORDED_OP:
    case RECORDED_OP_PENDING:
        take_op(statistics, recorded);
        return;
    case RECORDED_BIRTH:
        take_birth(statistics, recorded);
        return;
    case RECORDED_FREE_BEGIN:
        take_free(statistics, recorded);
        return;
    case RECORDED_POOL_ALLOC:
        count(statistics, CALL_BLOCK, device_of(statistics, recorded->value[FIELD_LANE]));
        return;
    case RECORDED_POOL_FREE:
        count(statistics, CALL_BLOCK_FREE, device_of(statistics, recorded->value[FIELD_LANE]));
        return;
    case RECORDED_STEP:
        take_step(statistics, recorded);
        return;
    default:
        return;
    }
}

void call_statistics_take(struct call_statistics *statistics, const struct recorded *recorded)
{
    if (recorded->kind == RECORDED_CONTEXT)
        statistics->context = recorded->value[FIELD_CONTEXT];
    else if (recorded->kind == RECORDED_SITE) /* all contexts have them in common */
        take_site(statistics, recorded);
    else if (!statistics->context)
        take(statistics, recorded);
}

uint64_t call_statistics_count(const struct call_statistics *statistics, enum call_kind kind,
                               uint64_t device)
{
    return device < DEVICES ? statistics->counts[kind][device] : 0;
}

/* ---- printed */

void call_statistics_print(const struct call_statistics *statistics)
{
    printf("\n%12s  %-7s  kind\n", "calls", "device");
    for (unsigned device = 0; device < DEVICES; device++) {
        /* What is of no device, or not known, comes last. */
        const unsigned number = device + 1 < DEVICES ? device + 1 : 0;
        for (int kind = 0; kind < CALL_KINDS; kind++) {
            const uint64_t calls = statistics->counts[kind][number];
            if (calls && number)
                printf("%12" PRIu64 "  %-7u  %s\n", calls, number - 1, kinds[kind].words);
            else if (calls)
                printf("%12" PRIu64 "  %-7s  %s\n", calls, "-", kinds[kind].words);
        }
    }
}

void call_statistics_json(const struct call_statistics *statistics, struct text *text)
{
    text_add(text, "\"calls\": [");
    for (unsigned device = 0; device < DEVICES; device++)
        for (int kind = 0; kind < CALL_KINDS; kind++) {
            const uint64_t calls = statistics->counts[kind][device];
            if (!calls)
                continue;
            text_add(text, "{");
            json_member_string(text, "kind", kinds[kind].key);
            json_member_maybe(text, "device", device != 0, device ? device - 1 : 0);
            json_member_number(text, "calls", calls);
            json_comma_drop(text);
            text_add(text, "}, ");
        }
    json_comma_drop(text);
    text_add(text, "],\n ");
}
