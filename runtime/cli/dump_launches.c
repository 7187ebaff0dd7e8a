/* See dump_launches.h. */
#include "runtime/cli/dump_launches.h"
#include "csan/base/array.h"
#include "csan/shadow/lmad.h"
#include "csan/base/text.h"
#include "runtime/cli/site_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { RUNS_MAX = 1 << 22, RUNS_SHOWN = 4, ELSEWHERE = 0 };

/* An allocation; freed ones stay, since traces come late. */
struct birth {
    uint64_t base, bytes;
    uint64_t ordinal; /* among those of so many bytes, from 1 */
};

/* A launch whose trace is to come. */
struct launch {
    struct launch_key {
        uint64_t context, ticket;
    } key;
    uint32_t site;
    size_t births; /* that were before it */
    UT_hash_handle hh;
};

/* Bytes [first, end) of one allocation. */
struct run {
    uint32_t kind;   /* enum csan_access_kind */
    uint32_t memory; /* index of its birth + 1, or ELSEWHERE */
    uint64_t first, end;
};

struct runs {
    struct run *at;
    size_t count, capacity;
    bool failed; /* too many, or memory is short */
};

struct dump {
    struct birth *births;
    size_t birth_count, birth_capacity;
    struct site_table sites;
    struct launch *launches;
    uint64_t context;
};

/* ---- What the recording has ---- */

static void birth_keep(struct dump *dump, uint64_t base, uint64_t bytes)
{
    uint64_t ordinal = 1;
    if (!array_room(&dump->births, dump->birth_count, &dump->birth_capacity, 64, SIZE_MAX,
                    sizeof *dump->births))
        return;
    for (size_t i = dump->birth_count; ordinal == 1 && i-- > 0;)
        if (dump->births[i].bytes == bytes)
            ordinal = dump->births[i].ordinal + 1;
    dump->births[dump->birth_count++] = (struct birth){base, bytes, ordinal};
}

static struct launch *launch_find(struct dump *dump, uint64_t ticket)
{
    struct launch_key key = {dump->context, ticket};
    struct launch *launch = NULL;
    HASH_FIND(hh, dump->launches, &key, sizeof key, launch);
    return launch;
}

static void launch_keep(struct dump *dump, const struct recorded *recorded)
{
    uint64_t ticket = recorded->value[FIELD_TICKET];
    struct launch *launch = launch_find(dump, ticket) ? NULL : calloc(1, sizeof *launch);
    if (!launch)
        return;
    launch->key = (struct launch_key){dump->context, ticket};
    launch->site = recorded->set->site;
    launch->births = dump->birth_count;
    HASH_ADD(hh, dump->launches, key, sizeof launch->key, launch);
}

/* ---- From accesses to runs of bytes ---- */

/* The newest allocation of before the launch that has the address; its end, else where the next
 * begins, in *end. */
static uint32_t memory_of(const struct dump *dump, const struct launch *launch, uint64_t address,
                          uint64_t *end)
{
    *end = UINT64_MAX;
    for (size_t i = launch->births; i-- > 0;) {
        const struct birth *birth = &dump->births[i];
        if (address - birth->base < birth->bytes) {
            uint64_t left = birth->bytes - (address - birth->base);
            *end = left < *end - address ? address + left : *end;
            return (uint32_t)i + 1;
        }
        if (birth->base > address && birth->base < *end)
            *end = birth->base;
    }
    return ELSEWHERE;
}

static void run_add(struct runs *runs, struct run run)
{
    if (runs->count < RUNS_MAX &&
        array_room(&runs->at, runs->count, &runs->capacity, 64, SIZE_MAX, sizeof *runs->at))
        runs->at[runs->count++] = run;
    else
        runs->failed = true;
}

/* Places count from the allocation's beginning; elsewhere they say nothing but how many. */
static void bytes_add(const struct dump *dump, const struct launch *launch, struct runs *runs,
                      uint32_t kind, uint64_t start, uint64_t end)
{
    while (start < end && !runs->failed) {
        uint64_t until;
        uint32_t memory = memory_of(dump, launch, start, &until);
        uint64_t base = memory ? dump->births[memory - 1].base : 0;
        until = until < end ? until : end;
        run_add(runs, (struct run){kind, memory, start - base, until - base});
        start = until;
    }
}

static void access_add(const struct dump *dump, const struct launch *launch, struct runs *runs,
                       const struct csan_access *access)
{
    struct lmad lmad;
    uint64_t from = 0, start, end;
    if (!lmad_from_access(&lmad, access))
        return;
    for (; !runs->failed && lmad_next_run(&lmad, from, &start, &end); from = end)
        bytes_add(dump, launch, runs, access->kind, start, end);
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->memory != b->memory)
        return a->memory < b->memory ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Sorted, and disjoint within a kind. */
static void runs_settle(struct runs *runs)
{
    size_t count = 0;
    if (runs->count)
        qsort(runs->at, runs->count, sizeof *runs->at, compare_runs);
    for (size_t i = 0; i < runs->count; i++) {
        struct run next = runs->at[i], *last = count ? &runs->at[count - 1] : NULL;
        if (last && last->kind == next.kind && last->memory == next.memory &&
            next.first <= last->end)
            last->end = next.end > last->end ? next.end : last->end;
        else
            runs->at[count++] = next;
    }
    runs->count = count;
}

/* ---- Text ---- */

static const char *const kind_words[] = {
    [CSAN_READ] = "read", [CSAN_WRITE] = "write", [CSAN_ATOMIC] = "atomic"};

/* The runs of one kind and allocation: a few of them, else how many, and their checksum. */
static void item_add(struct text *text, const struct dump *dump, const char *word,
                     const struct run *runs, size_t count)
{
    const struct birth *birth = runs->memory ? &dump->births[runs->memory - 1] : NULL;
    uint64_t bytes = 0;
    uint32_t crc = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += runs[i].end - runs[i].first;
        crc = recording_crc(crc, &runs[i].first, sizeof runs[i].first);
        crc = recording_crc(crc, &runs[i].end, sizeof runs[i].end);
    }
    if (!birth) {
        text_add(text, "%s %" PRIu64 " bytes of no allocation; ", word, bytes);
        return;
    }
    text_add(text, "%s %" PRIu64 "#%" PRIu64 ":", word, birth->bytes, birth->ordinal);
    for (size_t i = 0; i < count && i < RUNS_SHOWN; i++)
        text_add(text, " %" PRIu64 "-%" PRIu64, runs[i].first, runs[i].end - 1);
    if (count > RUNS_SHOWN)
        text_add(text, " ... %" PRIu64 " bytes in %zu runs, checksum %08" PRIx32, bytes, count,
                 crc);
    text_add(text, "; ");
}

static void items_add(struct text *text, const struct dump *dump, const struct runs *runs,
                      bool by_kind)
{
    for (size_t i = 0, next; i < runs->count; i = next) {
        const struct run *first = &runs->at[i];
        for (next = i + 1; next < runs->count && runs->at[next].kind == first->kind &&
                           runs->at[next].memory == first->memory;)
            next++;
        item_add(text, dump, by_kind ? kind_words[first->kind] : "touched", first, next - i);
    }
}

static void line_print(const struct dump *dump, const struct launch *launch, struct runs *runs,
                       bool bounded)
{
    const struct named_site *site = site_table_find(&dump->sites, launch->site);
    struct text kinds = {0}, all = {0};
    runs_settle(runs);
    items_add(&kinds, dump, runs, true);
    for (size_t i = 0; i < runs->count; i++)
        runs->at[i].kind = CSAN_READ;
    runs_settle(runs);
    items_add(&all, dump, runs, false);
    const char *touched = bounded ? "bounded" : runs->failed ? "too much" : all.data;
    site_text_print(site ? site->name : "?");
    printf("\t%s\t%s\n", touched ? touched : "nothing",
           kinds.data && !runs->failed ? kinds.data : "");
    text_free(&kinds);
    text_free(&all);
}

static void launch_print(struct dump *dump, const struct recorded *recorded)
{
    const struct recording_set *set = recorded->set;
    struct launch *launch = launch_find(dump, recorded->value[FIELD_TICKET]);
    struct runs runs = {0};
    bool bounded = false;
    if (!launch)
        return;
    for (size_t i = 0; i < set->count; i++) {
        bounded |= set->accesses[i].bound != CSAN_EXACT;
        access_add(dump, launch, &runs, &set->accesses[i]);
    }
    if (set->level == CSAN_LEVEL_TRACED)
        line_print(dump, launch, &runs, bounded);
    free(runs.at);
    HASH_DEL(dump->launches, launch);
    free(launch);
}

/* ---- The recording ---- */

static void entry_take(struct dump *dump, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_SITE:
        site_table_keep(&dump->sites, recorded);
        break;
    case RECORDED_CONTEXT:
        dump->context = recorded->value[FIELD_CONTEXT];
        break;
    case RECORDED_BIRTH:
    case RECORDED_POOL_ALLOC:
        birth_keep(dump, recorded->value[FIELD_BASE], recorded->value[FIELD_BYTES]);
        break;
    case RECORDED_OP_PENDING:
        launch_keep(dump, recorded);
        break;
    case RECORDED_RESOLVE:
        launch_print(dump, recorded);
        break;
    default:
        break;
    }
}

static void dump_free(struct dump *dump)
{
    struct launch *launch, *next;
    HASH_ITER(hh, dump->launches, launch, next)
    {
        HASH_DEL(dump->launches, launch);
        free(launch);
    }
    site_table_free(&dump->sites);
    free(dump->births);
}

enum recorded_status launches_dump(struct recording_reader *reader)
{
    struct dump dump = {0};
    struct recorded recorded;
    enum recorded_status status;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY && !ferror(stdout))
        entry_take(&dump, &recorded);
    fflush(stdout);
    dump_free(&dump);
    return status;
}
