/* The lanes of a recording, by the words that reports have for them. See surroundings_reading.h. */
#include "csan/detector/lane_text.h"
#include "runtime/cli/findings/surroundings_reading.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_WORDS_BYTES = 256 };

/* Of several processes, with the process. To be freed. */
static char *lane_name(const struct reading *reading, const char *words)
{
    char whole[2 * LANE_WORDS_BYTES];
    const struct surroundings *result = reading->result;
    snprintf(whole, sizeof whole, "%s%s%s", words, reading->links ? " of " : "",
             reading->links ? result->groups[reading->group].name : "");
    return strdup(whole);
}

int reading_lane_add(struct reading *reading, const char *name)
{
    struct surroundings *result = reading->result;
    struct surrounding_lane *grown =
        realloc(result->lanes, (result->lane_count + 1) * sizeof *grown);
    if (grown)
        result->lanes = grown;
    char *copy = grown && result->lane_count < INT_MAX ? lane_name(reading, name) : NULL;
    if (!copy)
        return NO_LANE;
    grown[result->lane_count] =
        (struct surrounding_lane){.name = copy, .own = strlen(name), .group = reading->group};
    return (int)result->lane_count++;
}

/* Lanes of a branch are its own; branches need no number, for each ends before the next begins. */
static void lane_define(struct reading *reading, uint64_t number, const char *name)
{
    int *lane = table_at(&reading->lanes[reading->context != 0], sizeof *lane, number);
    if (lane)
        *lane = reading_lane_add(reading, name) + 1;
}

int reading_lane(struct reading *reading, uint64_t number)
{
    const int *lane = table_at(&reading->lanes[reading->context != 0], sizeof *lane, number);
    if (number == CSAN_HOST)
        return reading->host;
    return lane && *lane > 0 ? *lane - 1 : NO_LANE;
}

void reading_lane_take(struct reading *reading, const struct recorded *recorded)
{
    lane_define(reading, recorded->value[FIELD_LANE], recorded->text);
}

static struct lane *described(struct reading *reading, uint64_t number)
{
    const int lane = reading_lane(reading, number);
    return lane >= 0 ? table_at(&reading->described, sizeof(struct lane), (uint64_t)lane) : NULL;
}

static uint64_t created_of(struct reading *reading, uint64_t number)
{
    const int lane = reading_lane(reading, number);
    return lane >= 0 ? reading->result->lanes[lane].created : 0;
}

static void created_set(struct reading *reading, uint64_t number, uint64_t site)
{
    const int lane = reading_lane(reading, number);
    if (lane >= 0)
        reading->result->lanes[lane].created = site;
}

/* Reports name it by the same words. */
static void lane_rename(struct reading *reading, uint64_t number)
{
    char words[LANE_WORDS_BYTES], label[LANE_WORDS_BYTES];
    const struct lane *of = described(reading, number);
    const int lane = reading_lane(reading, number);
    struct lane whole = of ? *of : (struct lane){0};
    if (!of || lane < 0 || reading->framework)
        return;
    snprintf(label, sizeof label, "%.*s", (int)reading->result->lanes[lane].own,
             reading->result->lanes[lane].name);
    whole.label = label;
    lane_words(&whole, false, words, sizeof words);
    char *copy = lane_name(reading, words);
    if (!copy)
        return;
    free(reading->result->lanes[lane].name);
    reading->result->lanes[lane].name = copy;
    reading->result->lanes[lane].own = strlen(words);
}

void reading_lane_describe(struct reading *reading, const struct recorded *recorded)
{
    const uint64_t number = recorded->value[FIELD_LANE];
    struct lane *lane = described(reading, number);
    if (!lane)
        return;
    if (recorded->kind == RECORDED_LANE_NAME) {
        free(lane->name);
        lane->name = recorded->text[0] ? strdup(recorded->text) : NULL;
    } else if (recorded->kind == RECORDED_LANE_PART) {
        const struct lane *of = described(reading, recorded->value[FIELD_OTHER]);
        lane = described(reading, number); /* the table may have moved */
        if (!of || !lane)
            return;
        lane->kind = of->kind;
        lane->letter = of->letter;
        created_set(reading, number, created_of(reading, recorded->value[FIELD_OTHER]));
        free(lane->name);
        lane->name = of->name ? strdup(of->name) : NULL;
    } else {
        lane->kind = (uint8_t)recorded->value[FIELD_FLAGS];
        created_set(reading, number, recorded->value[FIELD_SITE]);
        if (lane->kind == CSAN_LANE_BLOCKING || lane->kind == CSAN_LANE_NON_BLOCKING)
            lane->letter = ++reading->letters;
    }
    lane_rename(reading, number);
}

void reading_lanes_clear(struct reading *reading)
{
    for (size_t i = 0; i < reading->described.capacity; i++)
        free(((struct lane *)reading->described.items)[i].name);
    free(reading->described.items);
    free(reading->lanes[0].items);
    free(reading->lanes[1].items);
}
