/* See race_record.h. */
#include "csan/detector/race_record.h"
#include "csan/detector/lane_text.h"
#include "csan/base/now.h"
#include "csan/stack/stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- accesses */

static size_t arguments_length(const struct site *site, const struct argument_set *set)
{
    size_t length = 1;
    for (uint8_t i = 0; site && i < set->count; i++)
        if (set->indices[i] < site->argument_count)
            length += strlen(site->arguments[set->indices[i]]) + 2;
    return length;
}

/* Write "p, out" at *text and step over it. */
static const char *arguments_write(char **text, const struct site *site,
                                   const struct argument_set *set)
{
    char *start = *text;
    for (uint8_t i = 0; site && i < set->count; i++) {
        if (set->indices[i] >= site->argument_count)
            continue;
        if (*text != start)
            *text = stpcpy(*text, ", ");
        *text = stpcpy(*text, site->arguments[set->indices[i]]);
    }
    *(*text)++ = '\0';
    return start;
}

/* The lane whose epoch it is. Of an earlier life with the same number nothing is kept. */
static const struct lane *lane_at(const struct race_scene *scene, epoch_t epoch)
{
    static const struct lane former = {.label = "an earlier stream"};
    const bool is_former = order_is_former(scene->order, epoch);
    return is_former ? &former : &scene->order->lanes[epoch_lane(epoch)];
}

static size_t lane_length(const struct race_scene *scene, epoch_t epoch)
{
    return lane_words(lane_at(scene, epoch), scene->framework, NULL, 0) + 1;
}

/* Room was counted by lane_length. */
static const char *lane_write(char **text, const struct race_scene *scene, epoch_t epoch)
{
    char *start = *text;
    *text +=
        lane_words(lane_at(scene, epoch), scene->framework, start, lane_length(scene, epoch)) + 1;
    return start;
}

/* Step over a copy of it. */
static const char *text_write(char **text, const char *from)
{
    char *start = *text;
    *text = stpcpy(*text, from) + 1;
    return start;
}

static void fill_created(struct csan_race_access *access, const struct lane *lane,
                         const struct race_scene *scene)
{
    const struct site *created = site_table_get(scene->sites, lane->created);
    if (created)
        stack_depot_get(scene->stacks, created->stack, &access->created_frames,
                        &access->created_frame_count);
}

/* The path, and behind its mark what was said of this call alone. */
static void fill_ranges(struct csan_race_access *access, const char *path, char **text)
{
    char *copy = *text, *end = copy + strlen(path);
    access->ranges = text_write(text, path);
    char *mark = strchr(copy, RANGE_DETAIL_MARK);
    access->detail = mark ? mark + 1 : end;
    if (mark)
        *mark = '\0';
}

static void fill_access(struct csan_race_access *access, const struct past_access *past,
                        const struct argument_set *set, char **text, const struct race_scene *scene)
{
    const struct lane *lane = lane_at(scene, past->epoch);
    const struct site *site = site_table_get(scene->sites, past->site);
    *access = (struct csan_race_access){
        .stream = lane->handle,
        .lane_kind = lane->role == CSAN_LANE_FUNCTION ? CSAN_LANE_HOST_FUNCTION : (int)lane->kind,
        .host = lane->host,
        .name = site ? site->name : "",
        .kind = past->kind,
        .bound = past->bound,
        .site = past->site,
        .level = past->level,
        .sequence = past->op,
    };
    access->lane = lane_write(text, scene, past->epoch);
    fill_created(access, lane, scene);
    access->arguments = arguments_write(text, site, set);
    fill_ranges(access, range_history_find(scene->ranges, past->op), text);
    if (site) {
        access->defined = site_table_definition(scene->sites, site->name);
        stack_depot_get(scene->stacks, site->stack, &access->frames, &access->frame_count);
    }
    if (site && site->launched)
        stack_depot_get(scene->stacks, site->launched, &access->launch_frames,
                        &access->launch_frame_count);
}

/* ---- the calls that explain it */

enum { EXPLAINED_CALLS = 4 };

static void fill_call(struct csan_race_call *call, const struct step *step, char **text,
                      const struct race_scene *scene)
{
    const struct site *site = site_table_get(scene->sites, step->site);
    if (!step->kind)
        return;
    call->lane = lane_write(text, scene, step->epoch);
    call->name = site ? site->name : "";
    call->after = step->after;
    const struct site *event =
        step_is_of_event(step) ? site_table_get(scene->sites, (csan_site)step->detail) : NULL;
    call->event = event ? event->name : NULL;
    if (site)
        stack_depot_get(scene->stacks, site->stack, &call->frames, &call->frame_count);
}

static void fill_order(struct csan_race_order *order, const struct explanation *found, char **text,
                       const struct race_scene *scene)
{
    order->cause = found->cause;
    fill_call(&order->record, &found->record, text, scene);
    fill_call(&order->again, &found->again, text, scene);
    fill_call(&order->wait, &found->wait, text, scene);
    fill_call(&order->usable, &found->usable, text, scene);
}

static size_t calls_length(const struct explanation *found, const struct race_scene *scene)
{
    const struct step *steps[EXPLAINED_CALLS] = {&found->record, &found->again, &found->wait,
                                                 &found->usable};
    size_t length = 0;
    for (int i = 0; i < EXPLAINED_CALLS; i++)
        if (steps[i]->kind)
            length += lane_length(scene, steps[i]->epoch);
    return length;
}

static struct missing_order missing_of(const struct conflict *conflict, const struct order *order)
{
    const uint32_t from = epoch_lane(conflict->earlier.epoch),
                   to = epoch_lane(conflict->current.epoch);
    return (struct missing_order){.from = from,
                                  .to = to,
                                  .known = clock_known(order->lanes[to].clock, from),
                                  .born = order->lanes[to].born,
                                  .later = conflict->current.site,
                                  .kind = conflict->kind == CSAN_RACE_ATOMIC ? CSAN_RACE_DATA
                                                                             : conflict->kind};
}

/* ---- other lanes of the same call */

static void fill_also(struct race_record *record, const struct also_list *also, char **text,
                      const struct race_scene *scene)
{
    for (size_t i = 0; i < also->count; i++) {
        const struct conflict *other = also->items[i];
        const struct lane *lane = lane_at(scene, other->earlier.epoch);
        record->also[i] =
            (struct csan_race_also){.lane = lane_write(text, scene, other->earlier.epoch),
                                    .stream = lane->handle,
                                    .sequence = other->earlier.op,
                                    .address = other->start,
                                    .bytes = other->end - other->start};
    }
    record->race.also = record->also;
    record->race.also_count = also->count;
    record->race.also_total = also->total;
}

/* Strings of the caller's are copied; frames are the depot's. */
static void fill_error(struct race_record *record, const struct csan_error *from, char **text)
{
    struct csan_error *error = &record->error;
    const char **const strings[] = {&error->exception, &error->code,  &error->detail,
                                    &error->function,  &error->place, &error->reported_by};
    if (!from)
        return;
    *error = *from;
    if (from->out_of_memory) {
        struct csan_out_of_memory *out_of_memory = (struct csan_out_of_memory *)*text;
        *out_of_memory = *from->out_of_memory;
        error->out_of_memory = out_of_memory;
        *text += sizeof *out_of_memory;
    }
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (*strings[i])
            *strings[i] = text_write(text, *strings[i]);
    record->race.error = error;
}

static size_t error_length(const struct csan_error *error)
{
    const char *const strings[] = {error->exception, error->code,  error->detail,
                                   error->function,  error->place, error->reported_by};
    size_t length = error->out_of_memory ? sizeof *error->out_of_memory : 0;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        length += strings[i] ? strlen(strings[i]) + 1 : 0;
    return length;
}

/* ---- the whole */

struct race_record *race_record_create(const struct conflict *conflict,
                                       const struct also_list *also, const struct race_scene *scene)
{
    const struct past_access *accesses[2] = {&conflict->current, &conflict->earlier};
    const struct argument_set *sets[2] = {&conflict->current_arguments,
                                          &conflict->earlier_arguments};
    struct explanation found = {.cause = CSAN_CAUSE_NONE};
    if (!conflict->error)
        found = explain(scene->steps, scene->order, &conflict->current, &conflict->earlier);
    if (conflict->word.end)
        found = (struct explanation){.cause = CSAN_CAUSE_AD_HOC, .usable = found.usable};
    size_t length = calls_length(&found, scene);
    if (conflict->error)
        length += error_length(conflict->error);
    for (size_t i = 0; i < also->count; i++)
        length += lane_length(scene, also->items[i]->earlier.epoch);
    for (int i = 0; i < 2; i++)
        length += lane_length(scene, accesses[i]->epoch) +
                  strlen(range_history_find(scene->ranges, accesses[i]->op)) + 1 +
                  arguments_length(site_table_get(scene->sites, accesses[i]->site), sets[i]);
    struct race_record *record =
        calloc(1, sizeof(*record) + also->count * sizeof(*record->also) + length);
    if (!record)
        return NULL;
    char *text = (char *)(record->also + also->count);
    struct csan_race *race = &record->race;
    race->kind = conflict->kind;
    race->possible = conflict->possible;
    race->address = conflict->start;
    race->bytes = conflict->end - conflict->start;
    race->allocation = conflict->base;
    race->allocation_bytes = conflict->bytes;
    race->pointer = conflict->pointer;
    race->unpromised = conflict->unpromised;
    race->in_graph = scene->in_graph;
    race->framework = scene->framework;
    race->time = scene->wall ? scene->wall : now_wall();
    record->missing = missing_of(conflict, scene->order);
    record->occurrences = 1;
    race->order = &record->order;
    fill_error(record, conflict->error, &text); /* first: it may have more than text */
    fill_access(&race->current, accesses[0], sets[0], &text, scene);
    fill_access(&race->previous, accesses[1], sets[1], &text, scene);
    race->current.at_call = conflict->at_call & 1;
    race->previous.at_call = conflict->at_call >> 1;
    fill_order(&record->order, &found, &text, scene);
    record->order.word = conflict->word.start;
    record->order.word_bytes = conflict->word.end - conflict->word.start;
    fill_also(record, also, &text, scene);
    const struct site *birth = site_table_get(scene->sites, conflict->birth_site);
    if (birth)
        stack_depot_get(scene->stacks, birth->stack, &race->allocation_frames,
                        &race->allocation_frame_count);
    race->object = birth ? site_object(birth) : NULL;
    if (birth && site_is_variable(birth)) {
        race->variable = birth->name;
        race->variable_module = birth->arguments[0];
    }
    return record;
}
