/* One recording, read for surroundings.c: its lanes (surroundings_lane.c), what joins it to others
 * (surroundings_link.c), and all other entries (surroundings_reading.c). */
#ifndef RUNTIME_CLI_FINDINGS_SURROUNDINGS_READING_H
#define RUNTIME_CLI_FINDINGS_SURROUNDINGS_READING_H

#include "csan/recording/recording_read.h"
#include "csan/replay/interleaving.h"
#include "runtime/cli/findings/surroundings.h"

#include <stdbool.h>

struct channel;

/* How far around an access it is looked, in moments of all lanes of the recording. */
enum { RING = 256, BEFORE = 192, AFTER = 64 };

enum sought_what { SOUGHT_ACCESS, SOUGHT_OTHER, SOUGHT_CALL };

struct sought {
    uint64_t op; /* of a call: the newest before it */
    size_t finding, index;
    enum sought_what what;
};

/* Where an event or a snapshot was taken. */
struct source {
    int lane;
    uint64_t at;
};

struct table {
    void *items;
    size_t capacity;
};

struct reading {
    struct surroundings *result;
    struct neighbourhood *items; /* by finding: the moments of this recording */
    struct neighbourhood all;    /* of the whole */
    struct finding *const *findings;
    uint32_t group, process;
    int host;                                 /* its lane */
    uint64_t *clock;                          /* moments of all recordings so far */
    const struct interleaving_process *links; /* NULL: this recording is alone */
    size_t taken, wanted, sources;            /* links of these kinds so far */
    struct channel *channels;                 /* uthash */
    struct sought *sought;                    /* ascending by op */
    size_t sought_count;
    size_t *open; /* findings that take what comes */
    size_t open_count;
    struct moment ring[RING];
    uint64_t place, op; /* moments and ops so far */
    uint64_t time;      /* of struct moment, now */
    struct moment held; /* a record whose step comes next; kind 0: none */
    struct {
        int kind, lane;
        uint64_t site, event;
    } step;               /* of the wait that comes next; kind 0: none */
    struct table records; /* uint64_t by a step's event: its newest record, of the whole */
    struct {
        int lane;
        uint64_t at;
    } since; /* the record from which the next step of the lane counts; at 0: none */
    uint32_t context;
    bool whole;
    struct table events, snapshots; /* struct source by number */
    struct table lanes[2];          /* int, lane + 1, by number; of the whole, and of a branch */
    struct table newest;            /* uint64_t by lane: the newest moment on it */
    struct table described;         /* struct lane by lane: what lane_words wants of it */
    uint32_t letters;
    bool framework;
};

/* NULL: the number cannot be, or memory is short. */
void *table_at(struct table *table, size_t item_bytes, uint64_t number);

/* Keep what is around the moment for that finding, and what comes. */
void reading_open(struct reading *reading, size_t finding, uint64_t place);
void reading_entry(struct reading *reading, const struct recorded *recorded);
/* Behind the last entry. */
void reading_end(struct reading *reading);
/* A moment that comes now. */
void reading_moment(struct reading *reading, struct moment moment);
/* By `at`, if it is the newest. */
void neighbourhood_add(struct neighbourhood *neighbourhood, const struct moment *moment);

/* ---- lanes */

/* Its index; NO_LANE: memory is short. */
int reading_lane_add(struct reading *reading, const char *name);
int reading_lane(struct reading *reading, uint64_t number);
void reading_lane_take(struct reading *reading, const struct recorded *recorded);
void reading_lane_describe(struct reading *reading, const struct recorded *recorded);
void reading_lanes_clear(struct reading *reading);

/* ---- links */

void reading_link(struct reading *reading, const struct recorded *recorded);
void reading_links_clear(struct reading *reading);

#endif
