/* What happened around the two accesses of each race: the ops, events and waits near them, on their
 * lanes and on those that are ordered with them, as a recording has them. A second pass over the
 * recording: the findings say which ops these are. csan report draws it. */
#ifndef RUNTIME_CLI_SURROUNDINGS_H
#define RUNTIME_CLI_SURROUNDINGS_H

#include "csan/finding.h"
#include "csan/recording_format.h"

enum { ALL_LANES = -1, NO_LANE = -2 };

/* An entry that is an op, or that makes order. */
struct moment {
    uint64_t at; /* its place among all moments of the recording, from 1 */
    enum recording_kind kind;
    int lane;         /* of struct surroundings; a number is never used again */
    int from_lane;    /* a wait's: whose work is waited for; ALL_LANES, or NO_LANE: not known */
    uint64_t from;    /* the moment on that lane up to which it waits; 0: before its first */
    uint64_t op;      /* the op's number; 0: none */
    uint64_t event;   /* 0: none */
    const char *name; /* of the op; NULL: none */
    bool concerns;    /* it is on an access's lane, waits for one, or is waited for there */
};

struct neighbourhood {
    struct moment *moments; /* ascending; where `at` leaps, what is between is left out */
    size_t count, capacity;
    uint64_t accesses[2]; /* `at` of the current and the previous access; 0: not found */
    int lanes[2];
    uint64_t until;
};

struct surroundings {
    struct neighbourhood *items; /* one for each finding */
    size_t count;
    struct neighbourhood whole; /* all moments, where that is wanted */
    char **lanes;               /* their names */
    size_t lane_count;
    char **sites;
    size_t site_capacity;
};

/* Read the recording at `path`. What cannot be read, or has no memory, is left out: every finding
 * has a neighbourhood, maybe an empty one. `whole`: keep all moments, too. */
void surroundings_read(struct surroundings *surroundings, const char *path,
                       struct finding *const *findings, size_t count, bool whole);
void surroundings_free(struct surroundings *surroundings);

#endif
