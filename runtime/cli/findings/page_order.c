/* See page_order.h. */
#include "runtime/cli/findings/page_order.h"
#include "csan/base/array.h"
#include "csan/base/json_text.h"
#include "runtime/cli/findings/race_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Moments that some race draws: of many races, each once. */
struct drawn {
    const struct moment **items;
    size_t count, capacity;
};

static bool drawn_add(struct drawn *drawn, const struct moment *moment)
{
    if (!array_room(&drawn->items, drawn->count, &drawn->capacity, 256, SIZE_MAX,
                    sizeof(struct moment *)))
        return false;
    drawn->items[drawn->count++] = moment;
    return true;
}

static int compare_at(const void *left, const void *right)
{
    const struct moment *const *a = left, *const *b = right;
    return ((*a)->at > (*b)->at) - ((*a)->at < (*b)->at);
}

/* ---- moments */

static void place_add(struct text *text, const struct surroundings *surroundings, int lane,
                      uint64_t site)
{
    const struct stack_frame *frame = surroundings_place(surroundings, lane, site);
    if (!frame || !frame->file || !frame->line)
        return;
    json_member_string(text, "file", frame->file);
    json_member_number(text, "line", frame->line);
}

static void moment_add(struct text *text, const struct surroundings *surroundings,
                       const struct moment *moment)
{
    text_add(text, "\n   {");
    json_member_number(text, "at", moment->at);
    json_member_string(text, "kind", recording_forms[moment->kind].name);
    text_add(text, "\"lane\": %d, ", moment->lane);
    if (moment->op)
        json_member_number(text, "op", moment->op);
    if (moment->event)
        json_member_number(text, "event", moment->event);
    if (moment->op)
        json_member_string(text, "name", moment_name(surroundings, moment));
    else
        json_member_string(text, "deed", moment_deed(moment));
    place_add(text, surroundings, moment->lane, moment->site);
    if (moment->from_lane != NO_LANE) {
        text_add(text, "\"from_lane\": %d, ", moment->from_lane);
        json_member_number(text, "from", moment->from);
    }
    if (moment->meet) {
        char meet[24];
        snprintf(meet, sizeof meet, "%016" PRIx64, moment->meet); /* a number of JSON is shorter */
        json_member_string(text, "meet", meet);
        text_add(text, "\"gives\": %s, ", moment->gives ? "true" : "false");
    }
    json_comma_drop(text);
    text_add(text, "}");
}

static void moments_add(struct text *text, const struct surroundings *surroundings,
                        const struct drawn *drawn)
{
    uint64_t last = 0;
    if (drawn->count)
        qsort(drawn->items, drawn->count, sizeof *drawn->items, compare_at);
    text_add(text, "],\n \"moments\": [");
    for (size_t i = 0; i < drawn->count; i++) {
        if (drawn->items[i]->at == last)
            continue;
        text_add(text, "%s", last ? "," : "");
        moment_add(text, surroundings, drawn->items[i]);
        last = drawn->items[i]->at;
    }
    text_add(text, "]}");
}

/* ---- lanes */

/* Of one process there is nothing to group. */
static void groups_add(struct text *text, const struct surroundings *surroundings)
{
    text_add(text, "],\n \"hosts\": [");
    for (size_t i = 0; i < surroundings->lane_count; i++)
        if (surroundings->lanes[i].host)
            text_add(text, "%zu, ", i);
    json_comma_drop(text);
    text_add(text, "],\n \"groups\": [");
    for (size_t i = 0; surroundings->group_count > 1 && i < surroundings->group_count; i++) {
        json_string_add(text, surroundings->groups[i].name);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "],\n \"group_of\": [");
    for (size_t i = 0; i < surroundings->lane_count; i++)
        text_add(text, "%s%u", i ? "," : "", surroundings->lanes[i].group);
}

static void lanes_add(struct text *text, const struct surroundings *surroundings)
{
    text_add(text, "\"lanes\": [");
    for (size_t i = 0; i < surroundings->lane_count; i++) {
        json_string_add(text, surroundings->lanes[i].name);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "],\n \"created\": [");
    for (size_t i = 0; i < surroundings->lane_count; i++) {
        text_add(text, "%s{", i ? ", " : "");
        place_add(text, surroundings, (int)i, surroundings->lanes[i].created);
        json_comma_drop(text);
        text_add(text, "}");
    }
    groups_add(text, surroundings);
}

/* ---- races */

static void numbers_add(struct text *text, const char *key, const uint64_t *numbers, size_t count)
{
    text_add(text, "\"%s\": [", key);
    for (size_t i = 0; i < count; i++)
        text_add(text, "%s%" PRIu64, i ? "," : "", numbers[i]);
    text_add(text, "]");
}

static void picture_add(struct text *text, const struct race_picture *picture)
{
    text_add(text, ", \"moments\": [");
    for (size_t i = 0; i < picture->count; i++)
        text_add(text, "%s%" PRIu64, i ? "," : "", picture->shown[i]->at);
    text_add(text, "], \"skipped\": [");
    for (size_t i = 0; i < picture->count; i++)
        text_add(text, "%s%zu", i ? "," : "", picture->skipped[i]);
    text_add(text, "]");
}

static void race_add(struct text *text, const struct surroundings *surroundings,
                     const struct neighbourhood *neighbourhood, const struct finding *finding,
                     struct drawn *drawn)
{
    struct race_picture picture;
    bool good = race_picture_choose(&picture, surroundings, neighbourhood, finding);
    for (size_t i = 0; good && i < picture.count; i++)
        good = drawn_add(drawn, picture.shown[i]);
    text->cut |= !good;
    if (good) {
        text_add(text, "{");
        numbers_add(text, "accesses", neighbourhood->accesses, 2);
        text_add(text, ", ");
        numbers_add(text, "calls", picture.calls, finding->call_count);
        text_add(text, ", ");
        numbers_add(text, "others", neighbourhood->others, finding->other_count);
        picture_add(text, &picture);
        text_add(text, "}");
    }
    race_picture_free(&picture);
}

void page_order_add(struct text *text, struct finding *const *findings,
                    const struct surroundings *surroundings)
{
    struct drawn drawn = {0};
    text_add(text, "{\"recording\": %s, ", surroundings->group_count ? "true" : "false");
    lanes_add(text, surroundings);
    text_add(text, "],\n \"races\": [");
    for (size_t i = 0; i < surroundings->count; i++) {
        text_add(text, "%s\n  ", i ? "," : "");
        race_add(text, surroundings, &surroundings->items[i], findings[i], &drawn);
    }
    moments_add(text, surroundings, &drawn);
    free(drawn.items);
}
