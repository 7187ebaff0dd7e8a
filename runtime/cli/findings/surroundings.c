/* See surroundings.h. */
#include "runtime/cli/findings/surroundings.h"
#include "csan/base/array.h"
#include "runtime/cli/findings/recorded_sites.h"
#include "runtime/cli/findings/surroundings_reading.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is sought */

static int compare_op(const void *a, const void *b)
{
    const struct sought *left = a, *right = b;
    return (left->op > right->op) - (left->op < right->op);
}

static void seek(struct reading *reading, uint64_t op, enum sought_what what, size_t finding,
                 size_t index)
{
    reading->sought[reading->sought_count++] = (struct sought){op, finding, index, what};
    if (op == 0) /* a call before the first op */
        reading_open(reading, finding, 0);
}

/* Accesses of this process; the calls that explain a race are those of one process alone. */
static void finding_seek(struct reading *reading, const struct finding *finding, size_t at)
{
    const bool own[2] = {finding->owner[0] == reading->process,
                         finding->owner[1] == reading->process};
    for (size_t i = 0; i < 2; i++)
        if (own[i] && finding->accesses[i].number)
            seek(reading, finding->accesses[i].number, SOUGHT_ACCESS, at, i);
    for (size_t i = 0; own[1] && i < finding->other_count; i++)
        if (finding->others[i].number)
            seek(reading, finding->others[i].number, SOUGHT_OTHER, at, i);
    for (size_t i = 0; own[0] && own[1] && i < finding->call_count; i++)
        seek(reading, finding->calls[i].after, SOUGHT_CALL, at, i);
}

/* ---- one recording */

static bool group_add(struct surroundings *surroundings, const char *name,
                      const struct recording_reader *reader, const struct options *options)
{
    char directory[PATH_MAX] = "";
    if (!array_grow(&surroundings->groups, surroundings->group_count, sizeof *surroundings->groups))
        return false;
    recording_reader_fact(reader, "directory", NULL, directory, sizeof directory);
    const struct lane_group group = {strdup(name), recorded_sites_create(options, directory)};
    surroundings->groups[surroundings->group_count++] = group;
    return group.name && group.sites;
}

static bool host_add(struct reading *reading)
{
    reading->host = reading_lane_add(reading, "the host");
    if (reading->host == NO_LANE)
        return false;
    reading->result->lanes[reading->host].host = true;
    return true;
}

static bool sought_make(struct reading *reading, const struct surroundings_request *request)
{
    size_t sought = 0;
    for (size_t i = 0; i < request->finding_count; i++)
        sought += 2 + request->findings[i]->call_count + request->findings[i]->other_count;
    reading->items = calloc(request->finding_count + 1, sizeof *reading->items);
    reading->sought = calloc(sought + 1, sizeof *reading->sought);
    reading->open = calloc(request->finding_count + 1, sizeof *reading->open);
    if (!reading->items || !reading->sought || !reading->open)
        return false;
    for (size_t i = 0; i < request->finding_count; i++)
        finding_seek(reading, request->findings[i], i);
    qsort(reading->sought, reading->sought_count, sizeof *reading->sought, compare_op);
    return true;
}

static void reading_clear(struct reading *reading, size_t finding_count)
{
    for (size_t i = 0; reading->items && i < finding_count; i++)
        free(reading->items[i].moments);
    free(reading->items);
    free(reading->all.moments);
    free(reading->sought);
    free(reading->open);
    free(reading->events.items);
    free(reading->snapshots.items);
    free(reading->newest.items);
    free(reading->records.items);
    reading_lanes_clear(reading);
    reading_links_clear(reading);
}

/* ---- all of them */

struct all_readings {
    const struct surroundings_request *request;
    struct reading *readings; /* by source */
    struct recording_reader **readers;
    uint64_t clock;
};

static bool reading_begin(struct all_readings *all, struct surroundings *result, size_t source)
{
    char message[PATH_MAX + 256];
    const struct surroundings_request *request = all->request;
    struct reading *reading = &all->readings[source];
    all->readers[source] =
        recording_reader_open(request->sources[source].path, message, sizeof message);
    *reading = (struct reading){.result = result,
                                .findings = request->findings,
                                .group = (uint32_t)result->group_count,
                                .process = request->sources[source].process,
                                .clock = &all->clock,
                                .whole = request->whole};
    if (request->interleaving && source < request->interleaving->count)
        reading->links = &request->interleaving->processes[source];
    return all->readers[source] &&
           group_add(result, request->sources[source].name, all->readers[source],
                     request->options) &&
           host_add(reading) && sought_make(reading, request);
}

static bool items_make(struct surroundings *result, const struct surroundings_request *request)
{
    result->items = calloc(request->finding_count + 1, sizeof *result->items);
    for (; result->items && result->count < request->finding_count; result->count++) {
        struct neighbourhood *item = &result->items[result->count];
        item->others =
            calloc(request->findings[result->count]->other_count + 1, sizeof *item->others);
        if (!item->others)
            return false;
    }
    return result->items != NULL;
}

/* So many entries of that source; false: it has no more. */
static bool entries_read(struct all_readings *all, size_t source, uint64_t count)
{
    struct recorded recorded;
    for (; count; count--) {
        if (recording_reader_next(all->readers[source], &recorded) != RECORDED_ENTRY)
            return false;
        reading_entry(&all->readings[source], &recorded);
    }
    return true;
}

static void all_read(struct all_readings *all)
{
    const struct interleaving *interleaving = all->request->interleaving;
    for (size_t i = 0; interleaving && i < interleaving->turn_count; i++)
        if (interleaving->turns[i].process < all->request->source_count)
            entries_read(all, interleaving->turns[i].process, interleaving->turns[i].entries);
    for (size_t i = 0; i < all->request->source_count; i++) {
        entries_read(all, i, UINT64_MAX); /* what the interleaving lacks */
        reading_end(&all->readings[i]);
    }
}

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

static void neighbourhood_merge(struct neighbourhood *to, struct neighbourhood *from)
{
    if (!to->count) {
        free(to->moments);
        to->moments = from->moments;
        to->count = from->count;
        to->capacity = from->capacity;
        *from = (struct neighbourhood){0};
        return;
    }
    struct moment *grown =
        from->count ? realloc(to->moments, (to->count + from->count) * sizeof *grown) : NULL;
    if (!grown)
        return;
    memcpy(grown + to->count, from->moments, from->count * sizeof *grown);
    to->moments = grown;
    to->count += from->count;
    to->capacity = to->count;
    qsort(grown, to->count, sizeof *grown, compare_moments);
}

static void all_merge(struct all_readings *all, struct surroundings *result)
{
    for (size_t source = 0; source < all->request->source_count; source++) {
        struct reading *reading = &all->readings[source];
        neighbourhood_merge(&result->whole, &reading->all);
        for (size_t i = 0; i < result->count; i++)
            neighbourhood_merge(&result->items[i], &reading->items[i]);
    }
}

void surroundings_read(struct surroundings *surroundings,
                       const struct surroundings_request *request)
{
    struct all_readings all = {
        .request = request,
        .readings = calloc(request->source_count + 1, sizeof *all.readings),
        .readers = calloc(request->source_count + 1, sizeof(struct recording_reader *))};
    *surroundings = (struct surroundings){0};
    bool good = all.readings && all.readers && items_make(surroundings, request);
    for (size_t i = 0; good && i < request->source_count; i++)
        good = reading_begin(&all, surroundings, i);
    if (good) {
        all_read(&all);
        all_merge(&all, surroundings);
    }
    for (size_t i = 0; all.readings && all.readers && i < request->source_count; i++) {
        if (all.readers[i])
            recording_reader_close(all.readers[i]);
        reading_clear(&all.readings[i], request->finding_count);
    }
    free(all.readings);
    free(all.readers);
}

void surroundings_free(struct surroundings *surroundings)
{
    for (size_t i = 0; i < surroundings->count; i++) {
        free(surroundings->items[i].moments);
        free(surroundings->items[i].others);
    }
    for (size_t i = 0; i < surroundings->lane_count; i++)
        free(surroundings->lanes[i].name);
    for (size_t i = 0; i < surroundings->group_count; i++) {
        free(surroundings->groups[i].name);
        recorded_sites_destroy(surroundings->groups[i].sites);
    }
    free(surroundings->whole.moments);
    free(surroundings->elapsed);
    free(surroundings->items);
    free(surroundings->lanes);
    free(surroundings->groups);
    *surroundings = (struct surroundings){0};
}

/* ---- looked at */

static int compare_at(const void *key, const void *item)
{
    const uint64_t *at = key;
    const struct moment *moment = item;
    return (*at > moment->at) - (*at < moment->at);
}

const struct moment *neighbourhood_find(const struct neighbourhood *neighbourhood, uint64_t at)
{
    return neighbourhood->count ? bsearch(&at, neighbourhood->moments, neighbourhood->count,
                                          sizeof *neighbourhood->moments, compare_at)
                                : NULL;
}

/* NULL: the lane is none. */
static struct recorded_sites *sites_of(const struct surroundings *surroundings, int lane)
{
    return lane >= 0 ? surroundings->groups[surroundings->lanes[lane].group].sites : NULL;
}

const struct stack_frame *surroundings_place(const struct surroundings *surroundings, int lane,
                                             uint64_t site)
{
    struct recorded_sites *sites = sites_of(surroundings, lane);
    return sites ? recorded_sites_place(sites, site) : NULL;
}

bool surroundings_lane_is(const struct surroundings *surroundings, int lane, const char *words)
{
    if (lane < 0)
        return false;
    const struct surrounding_lane *is = &surroundings->lanes[lane];
    return strcmp(is->name, words) == 0 ||
           (strlen(words) == is->own && strncmp(is->name, words, is->own) == 0);
}

const char *moment_name(const struct surroundings *surroundings, const struct moment *moment)
{
    return moment->op && moment->lane >= 0
               ? recorded_sites_name(sites_of(surroundings, moment->lane), moment->site)
               : NULL;
}

static const char *link_deed(int link)
{
    static const char *const deeds[LINK_ALL] = {
        [CSAN_LINK_SEND] = "send message",
        [CSAN_LINK_NEXT] = "send message",
        [CSAN_LINK_RECEIVE] = "receive message",
        [CSAN_LINK_TAKE] = "receive message",
        [CSAN_LINK_LOOK] = "see message",
        [CSAN_LINK_ENTER] = "begin collective call",
        [CSAN_LINK_LEAVE] = "end collective call",
        [CSAN_LINK_SHARE] = "share memory",
        [CSAN_LINK_OPEN] = "open shared memory",
        [CSAN_LINK_PUBLISH] = "set value",
        [LINK_STARTS] = "start process",
        [LINK_BEGINS] = "begin",
        [CSAN_LINK_LEARN] = "read value",
        [CSAN_LINK_RECORD] = "record shared event",
        [CSAN_LINK_WAIT] = "wait for shared event",
    };
    return deeds[link] ? deeds[link] : "join processes";
}

const char *moment_deed(const struct moment *moment)
{
    if (moment->link)
        return link_deed(moment->link);
    if (moment->kind == RECORDED_RECORD || moment->step == CSAN_STEP_RECORD)
        return "record event";
    if (moment->kind == RECORDED_WAIT || moment->step == CSAN_STEP_WAIT ||
        moment->step == CSAN_STEP_WAIT_UNRECORDED)
        return "wait for event";
    if (moment->step == CSAN_STEP_GRAPH_LAUNCH)
        return "launch graph";
    return moment->step == CSAN_STEP_STREAM_DESTROYED ? "destroy stream" : "wait";
}
