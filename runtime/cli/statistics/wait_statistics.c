/* See wait_statistics.h. */
#include "runtime/cli/statistics/wait_statistics.h"
#include "csan/base/array.h"
#include "csan/base/json_text.h"
#include "csan/options.h"
#include "csan/replay/waits.h"
#include "runtime/cli/findings/recorded_sites.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 10, PLACE_BYTES = 512 };

/* A place of the source, or a site of which no place is known. */
struct wait_place {
    char text[PLACE_BYTES]; /* "main app.cu:12", or the site's name */
    const struct stack_frame *frame;
    enum wait_kind kind;
    uint64_t calls, nothing;
    enum wait_reason reason;
    uint64_t by;
    bool unrecorded; /* its waits were for events that were not recorded */
};

struct wait_statistics {
    const struct recording_reader *reader;
    struct waits *waits;
    struct recorded_sites *sites;
    struct wait_place *places;
    size_t count, capacity;
    uint64_t kinds[WAIT_KINDS], nothing[WAIT_KINDS];
    bool done, failed;
};

static const struct {
    const char *what, *words, *key;
} kinds[WAIT_KINDS] = {
    [WAIT_KIND_STREAM_EVENT] = {"event wait", "a stream waits for an event", "event-wait"},
    [WAIT_KIND_EVENT] = {"event synchronize", "the host waits for an event", "event-synchronize"},
    [WAIT_KIND_STREAM] = {"stream synchronize", "the host waits for a stream",
                          "stream-synchronize"},
    [WAIT_KIND_DEVICE] = {"device synchronize", "the host waits for a device",
                          "device-synchronize"},
    [WAIT_KIND_COPY] = {"copy", "the host waits in a copy or set", "copy"}};

static const char *const reasons[] = {[WAIT_REASON_NONE] = "none",
                                      [WAIT_REASON_WAITED] = "waited",
                                      [WAIT_REASON_STREAMS] = "default-stream",
                                      [WAIT_REASON_SAME_STREAM] = "same-stream",
                                      [WAIT_REASON_NO_WORK] = "no-work",
                                      [WAIT_REASON_UNRECORDED] = "unrecorded"};

struct wait_statistics *wait_statistics_create(const struct recording_reader *reader)
{
    char directory[PATH_MAX] = "";
    struct options options;
    struct wait_statistics *statistics = calloc(1, sizeof *statistics);
    if (!statistics)
        return NULL;
    options_default(&options);
    recording_reader_fact(reader, "directory", NULL, directory, sizeof directory);
    statistics->reader = reader;
    statistics->waits = waits_create();
    statistics->sites = recorded_sites_create(&options, directory);
    if (!statistics->waits || !statistics->sites) {
        wait_statistics_destroy(statistics);
        return NULL;
    }
    return statistics;
}

void wait_statistics_destroy(struct wait_statistics *statistics)
{
    if (!statistics)
        return;
    waits_destroy(statistics->waits);
    recorded_sites_destroy(statistics->sites);
    free(statistics->places);
    free(statistics);
}

void wait_statistics_take(struct wait_statistics *statistics, const struct recorded *recorded)
{
    recorded_sites_take(statistics->sites, recorded);
    statistics->failed |= !waits_take(statistics->waits, recorded);
}

/* ---- places */

static const struct stack_frame *place_text(struct wait_statistics *statistics, uint64_t site,
                                            char *text, size_t bytes)
{
    const struct stack_frame *frame = recorded_sites_place(statistics->sites, site);
    const char *name = recorded_sites_name(statistics->sites, site);
    char place[PLACE_BYTES / 2];
    if (!frame || !frame->line) {
        snprintf(text, bytes, "%s (site %" PRIu64 ")", name ? name : "?", site);
        return NULL;
    }
    stack_frame_place(frame, place, sizeof place);
    if (frame->function)
        snprintf(text, bytes, "%s %s", frame->function, place);
    else
        snprintf(text, bytes, "%s", place);
    return frame;
}

static struct wait_place *place_of(struct wait_statistics *statistics, const struct wait_site *site)
{
    struct wait_place made = {.kind = site->kind};
    made.frame = place_text(statistics, site->site, made.text, sizeof made.text);
    for (size_t i = 0; i < statistics->count; i++)
        if (statistics->places[i].kind == site->kind &&
            strcmp(statistics->places[i].text, made.text) == 0)
            return &statistics->places[i];
    if (!array_room(&statistics->places, statistics->count, &statistics->capacity, 16, SIZE_MAX,
                    sizeof made))
        return NULL;
    statistics->places[statistics->count] = made;
    return &statistics->places[statistics->count++];
}

static int by_nothing(const void *a, const void *b)
{
    const struct wait_place *one = a, *other = b;
    if (one->nothing != other->nothing)
        return one->nothing < other->nothing ? 1 : -1;
    return strcmp(one->text, other->text);
}

static void places_make(struct wait_statistics *statistics)
{
    size_t count;
    const struct wait_site *sites = waits_sites(statistics->waits, &count);
    if (statistics->done)
        return;
    statistics->done = true;
    for (size_t i = 0; i < count; i++) {
        struct wait_place *place = place_of(statistics, &sites[i]);
        statistics->kinds[sites[i].kind] += sites[i].calls;
        statistics->nothing[sites[i].kind] += sites[i].nothing;
        if (!place)
            continue;
        place->calls += sites[i].calls;
        place->nothing += sites[i].nothing;
        if (sites[i].nothing) {
            place->reason = sites[i].reason;
            place->by = sites[i].by;
            place->unrecorded |= sites[i].reason == WAIT_REASON_UNRECORDED;
        }
    }
    qsort(statistics->places, statistics->count, sizeof *statistics->places, by_nothing);
}

static bool is_needless(const struct wait_place *place)
{
    const struct wait_site whole = {.kind = place->kind,
                                    .calls = place->calls,
                                    .nothing = place->nothing,
                                    .reason =
                                        place->unrecorded ? WAIT_REASON_UNRECORDED : place->reason};
    return waits_can_go(&whole);
}

/* ---- in words */

static void print_because(struct wait_statistics *statistics, const struct wait_place *place)
{
    char by[PLACE_BYTES] = "";
    if (place->by)
        place_text(statistics, place->by, by, sizeof by);
    switch (place->reason) {
    case WAIT_REASON_WAITED:
        if (by[0])
            printf("            the wait at %s has ordered that before\n", by);
        else
            puts("            earlier waits have ordered that before");
        return;
    case WAIT_REASON_STREAMS:
        puts("            the order that the default stream makes has it already");
        return;
    case WAIT_REASON_SAME_STREAM:
        puts("            the event is recorded in the stream that waits, which runs in order");
        return;
    case WAIT_REASON_NO_WORK:
        puts("            nothing is enqueued there that it could wait for");
        return;
    default:
        return;
    }
}

static void print_kinds(const struct wait_statistics *statistics)
{
    printf("\n%12s %16s  waits\n", "calls", "ordered nothing");
    for (int i = 0; i < WAIT_KINDS; i++)
        if (statistics->kinds[i])
            printf("%12" PRIu64 " %16" PRIu64 "  %s\n", statistics->kinds[i],
                   statistics->nothing[i], kinds[i].words);
}

/* What was not followed, and might be what a wait is for. */
static void print_unknown(const struct wait_statistics *statistics)
{
    char value[512];
    unsigned shown = 0;
    for (const char *at = NULL;
         (at = recording_reader_fact(statistics->reader, "unmodelled", at, value, sizeof value));)
        printf(shown++ ? ", %s" : "csan did not follow these calls, and a wait may be for them: %s",
               value);
    if (shown)
        putchar('\n');
    puts(
        "A wait may also be there for an error code, a clock or another process.\n"
        "Waits that did order something are not listed: csan mutate tries whether an access needs\n"
        "them.");
}

static void print_advice(struct wait_statistics *statistics)
{
    unsigned shown = 0, more = 0, unrecorded = 0;
    for (size_t i = 0; i < statistics->count; i++) {
        const struct wait_place *place = &statistics->places[i];
        unrecorded += place->unrecorded;
        if (!is_needless(place))
            continue;
        if (shown >= TOP) {
            more++;
            continue;
        }
        if (!shown++)
            puts("\nNeedless waits: what each waited for was ordered before, every time");
        printf("%12" PRIu64 "  %s at %s\n", place->calls, kinds[place->kind].what, place->text);
        print_because(statistics, place);
    }
    if (more)
        printf("%12s  %u places more\n", "", more);
    for (size_t i = 0; unrecorded && i < statistics->count; i++)
        if (statistics->places[i].unrecorded)
            printf("%s at %s orders nothing: its event was not recorded before\n",
                   kinds[statistics->places[i].kind].what, statistics->places[i].text);
    if (shown)
        print_unknown(statistics);
    else
        puts("\nNo needless waits: each place ordered something that was not ordered before");
}

void wait_statistics_print(struct wait_statistics *statistics)
{
    places_make(statistics);
    if (statistics->failed) {
        puts("\nMemory is short: waits are not counted");
        return;
    }
    if (!statistics->count)
        return;
    print_kinds(statistics);
    print_advice(statistics);
}

/* ---- as JSON */

static void json_place(struct text *text, const struct stack_frame *frame)
{
    json_member_string(text, "function", frame ? frame->function : NULL);
    json_member_string(text, "file", frame ? frame->file : NULL);
    json_member_maybe(text, "line", frame != NULL, frame ? frame->line : 0);
}

static void json_advice(struct wait_statistics *statistics, struct text *text,
                        const struct wait_place *place)
{
    char by[PLACE_BYTES] = "";
    text_add(text, "\n    {");
    json_member_string(text, "kind", kinds[place->kind].key);
    json_member_string(text, "text", place->text);
    json_place(text, place->frame);
    json_member_number(text, "calls", place->calls);
    json_member_truth(text, "needless", is_needless(place));
    json_member_string(text, "reason", reasons[place->reason]);
    text_add(text, "\"by\": ");
    if (place->by && place->reason == WAIT_REASON_WAITED) {
        text_add(text, "{");
        const struct stack_frame *frame = place_text(statistics, place->by, by, sizeof by);
        json_member_string(text, "text", by);
        json_place(text, frame);
        json_comma_drop(text);
        text_add(text, "}");
    } else {
        text_add(text, "null");
    }
    text_add(text, "}, ");
}

void wait_statistics_json(struct wait_statistics *statistics, struct text *text)
{
    places_make(statistics);
    text_add(text, "\"waits\": [");
    for (int i = 0; i < WAIT_KINDS && !statistics->failed; i++) {
        text_add(text, "\n    {");
        json_member_string(text, "kind", kinds[i].key);
        json_member_number(text, "calls", statistics->kinds[i]);
        json_member_number(text, "ordered_nothing", statistics->nothing[i]);
        json_comma_drop(text);
        text_add(text, "}, ");
    }
    json_comma_drop(text);
    text_add(text, "],\n \"advice\": [");
    for (size_t i = 0; i < statistics->count && !statistics->failed; i++)
        if (is_needless(&statistics->places[i]) || statistics->places[i].unrecorded)
            json_advice(statistics, text, &statistics->places[i]);
    json_comma_drop(text);
    text_add(text, "],\n ");
}
