/* See race_picture.h. */
#include "runtime/cli/findings/race_picture.h"

#include <stdlib.h>
#include <string.h>

/* How many are drawn before the first access, next to each access between them, and after the
 * second. */
enum { BEFORE = 6, BETWEEN = 8, AFTER = 4 };

struct choosing {
    const struct surroundings *surroundings;
    const struct neighbourhood *neighbourhood;
    const struct finding *finding;
    uint64_t *calls;
    size_t first, second; /* the accesses' indices, by time */
    bool *concerns;       /* by moment: it has to do with the race */
    bool *drawn;
};

static size_t index_of(const struct choosing *choosing, uint64_t at)
{
    const struct moment *moment = at ? neighbourhood_find(choosing->neighbourhood, at) : NULL;
    return moment ? (size_t)(moment - choosing->neighbourhood->moments) : SIZE_MAX;
}

/* ---- the calls that explain a race */

/* What the call did; a launch that does not wait for the one before it is an op. */
static bool fits_call(const struct moment *moment, const struct finding *finding,
                      const struct finding_call *call)
{
    const bool is_wait = strcmp(call->role, "wait") == 0;
    const bool is_record = moment->kind == RECORDED_RECORD || moment->step == CSAN_STEP_RECORD;
    const bool of_graphs = strcmp(finding->cause_kind, "two-executable-graphs") == 0;
    if (is_wait && strcmp(finding->cause_kind, "no-dependency-wait") == 0)
        return moment->op && (moment->op == call->after || moment->op == call->after + 1);
    if (moment->op || moment->after != call->after)
        return false;
    if (of_graphs && strcmp(call->role, "usable-record") != 0)
        return moment->step == CSAN_STEP_GRAPH_LAUNCH;
    return is_wait ? moment->step && !is_record : is_record;
}

static bool same_place(const struct surroundings *surroundings, const struct moment *moment,
                       const struct finding_call *call)
{
    const struct stack_frame *place = surroundings_place(surroundings, moment->lane, moment->site);
    const struct stack_frame *top = stack_frames_top(&call->stack);
    return place && top && place->line == top->line && place->file && top->file &&
           strcmp(place->file, top->file) == 0;
}

/* Where several came behind the same op, the place decides, and then the lane's name. */
static uint64_t call_find(const struct choosing *choosing, const struct finding_call *call)
{
    const struct surroundings *surroundings = choosing->surroundings;
    uint64_t found = 0;
    int best = -1;
    for (size_t i = 0; i < choosing->neighbourhood->count; i++) {
        const struct moment *moment = &choosing->neighbourhood->moments[i];
        if (!fits_call(moment, choosing->finding, call))
            continue;
        const bool same_lane = surroundings_lane_is(surroundings, moment->lane, call->lane);
        const int fit = 2 * same_place(surroundings, moment, call) + same_lane;
        if (fit > best) {
            best = fit;
            found = moment->at;
        }
    }
    return found;
}

/* ---- what has to do with the race */

static bool is_access_lane(const struct neighbourhood *neighbourhood, int lane)
{
    return lane == neighbourhood->lanes[0] ||
           (neighbourhood->accesses[1] && lane == neighbourhood->lanes[1]);
}

static void mark(bool *marks, size_t index)
{
    if (index != SIZE_MAX)
        marks[index] = true;
}

static uint32_t group_of(const struct choosing *choosing, const struct moment *moment)
{
    return moment->lane >= 0 ? choosing->surroundings->lanes[moment->lane].group : UINT32_MAX;
}

/* Both sides of what joins the accesses' processes. */
static void meets_mark(struct choosing *choosing)
{
    const struct neighbourhood *neighbourhood = choosing->neighbourhood;
    for (size_t i = 0; i < neighbourhood->count; i++)
        for (size_t k = 0; neighbourhood->moments[i].meet && k < i; k++) {
            const struct moment *one = &neighbourhood->moments[i];
            const struct moment *other = &neighbourhood->moments[k];
            if (one->meet != other->meet || group_of(choosing, one) == group_of(choosing, other))
                continue;
            choosing->concerns[i] = choosing->concerns[k] = true;
        }
}

/* What is on an access's lane, waits for one, or is waited for there. */
static void concerns_mark(struct choosing *choosing)
{
    const struct neighbourhood *neighbourhood = choosing->neighbourhood;
    for (size_t i = 0; i < neighbourhood->count; i++) {
        const struct moment *moment = &neighbourhood->moments[i];
        if (!is_access_lane(neighbourhood, moment->lane) &&
            !is_access_lane(neighbourhood, moment->from_lane) && moment->from_lane != ALL_LANES)
            continue;
        choosing->concerns[i] = true;
        mark(choosing->concerns, index_of(choosing, moment->from));
    }
    meets_mark(choosing);
}

/* ---- what is drawn of it */

/* The nearest `most` that concern, from `from` on by steps of `way`, as far as `end`. */
static void nearest_mark(struct choosing *choosing, size_t from, size_t end, int way, size_t most)
{
    for (size_t i = from; i != end && most; i += (size_t)way) {
        if (!choosing->concerns[i])
            continue;
        choosing->drawn[i] = true;
        most--;
    }
}

static bool is_host(const struct choosing *choosing, int lane)
{
    return lane >= 0 && choosing->surroundings->lanes[lane].host;
}

/* Nobody's order here comes from what another stream waits for later. */
static void after_mark(struct choosing *choosing)
{
    const struct neighbourhood *neighbourhood = choosing->neighbourhood;
    size_t most = AFTER;
    for (size_t i = choosing->second + 1; i < neighbourhood->count && most; i++) {
        const int lane = neighbourhood->moments[i].lane;
        if (!choosing->concerns[i] ||
            (!is_host(choosing, lane) && !is_access_lane(neighbourhood, lane)))
            continue;
        choosing->drawn[i] = true;
        most--;
    }
}

/* Who sent what is received here. */
static void givers_mark(struct choosing *choosing, size_t index)
{
    const struct moment *moments = choosing->neighbourhood->moments;
    for (size_t i = index; moments[index].meet && !moments[index].gives && i-- > 0;)
        if (moments[i].meet == moments[index].meet && moments[i].gives)
            choosing->drawn[i] = true;
}

static void drawn_mark(struct choosing *choosing)
{
    const struct neighbourhood *neighbourhood = choosing->neighbourhood;
    const size_t first = choosing->first, second = choosing->second;
    nearest_mark(choosing, first, SIZE_MAX, -1, BEFORE + 1);
    nearest_mark(choosing, first, second, 1, BETWEEN + 1);
    nearest_mark(choosing, second, first, -1, BETWEEN + 1);
    after_mark(choosing);
    for (size_t i = 0; i < choosing->finding->call_count; i++)
        mark(choosing->drawn, index_of(choosing, choosing->calls[i]));
    for (size_t i = 0; i < choosing->finding->other_count; i++)
        mark(choosing->drawn, index_of(choosing, neighbourhood->others[i]));
    /* What is waited for comes before who waits. */
    for (size_t i = neighbourhood->count; i-- > 0;)
        if (choosing->drawn[i]) {
            mark(choosing->drawn, index_of(choosing, neighbourhood->moments[i].from));
            givers_mark(choosing, i);
        }
}

static void picture_fill(struct race_picture *picture, const struct choosing *choosing)
{
    size_t skipped = 0;
    for (size_t i = 0; i < choosing->neighbourhood->count; i++) {
        const struct moment *moment = &choosing->neighbourhood->moments[i];
        if (choosing->drawn[i] && moment->lane >= 0) {
            picture->skipped[picture->count] = skipped;
            picture->shown[picture->count++] = moment;
            skipped = 0;
        } else {
            skipped += choosing->concerns[i];
        }
    }
}

static void choose(struct choosing *choosing)
{
    const size_t current = index_of(choosing, choosing->neighbourhood->accesses[0]);
    const size_t previous = index_of(choosing, choosing->neighbourhood->accesses[1]);
    const bool alone = finding_is_error(choosing->finding) && previous == SIZE_MAX;
    if (current == SIZE_MAX || (previous == SIZE_MAX && !alone))
        return;
    choosing->first = alone || current < previous ? current : previous;
    choosing->second = alone || current > previous ? current : previous;
    for (size_t i = 0; i < choosing->finding->call_count; i++)
        choosing->calls[i] = call_find(choosing, &choosing->finding->calls[i]);
    concerns_mark(choosing);
    drawn_mark(choosing);
}

bool race_picture_choose(struct race_picture *picture, const struct surroundings *surroundings,
                         const struct neighbourhood *neighbourhood, const struct finding *finding)
{
    const size_t count = neighbourhood->count;
    *picture =
        (struct race_picture){.shown = calloc(count + 1, sizeof *picture->shown),
                              .skipped = calloc(count + 1, sizeof *picture->skipped),
                              .calls = calloc(finding->call_count + 1, sizeof *picture->calls)};
    struct choosing choosing = {.surroundings = surroundings,
                                .neighbourhood = neighbourhood,
                                .finding = finding,
                                .calls = picture->calls,
                                .concerns = calloc(count + 1, sizeof(bool)),
                                .drawn = calloc(count + 1, sizeof(bool))};
    const bool good =
        picture->shown && picture->skipped && picture->calls && choosing.concerns && choosing.drawn;
    if (good) {
        choose(&choosing);
        picture_fill(picture, &choosing);
    }
    free(choosing.concerns);
    free(choosing.drawn);
    return good;
}

void race_picture_free(struct race_picture *picture)
{
    free(picture->shown);
    free(picture->skipped);
    free(picture->calls);
    *picture = (struct race_picture){0};
}
