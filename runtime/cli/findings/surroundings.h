/* What happened around the two accesses of each race, and around the calls that explain it. These
 * are the ops, events and waits nearby, on their lanes and on lanes that are ordered with them, as
 * a recording has them. It takes a second pass over the recording, in which the findings say which
 * ops these are. csan report draws it. */
#ifndef RUNTIME_CLI_FINDINGS_SURROUNDINGS_H
#define RUNTIME_CLI_FINDINGS_SURROUNDINGS_H

#include "csan/report/finding.h"
#include "csan/recording/recording_format.h"

struct options;
struct recorded_sites;

enum { ALL_LANES = -1, NO_LANE = -2 };

/* An entry that is an op, or that makes order. */
struct moment {
    uint64_t at; /* its place among all moments of the recording, from 1 */
    enum recording_kind kind;
    int step;       /* enum csan_step_kind, if the recording has one for it; 0: none */
    int lane;       /* index into struct surroundings' lanes; never used again for another lane */
    int from_lane;  /* for a wait: the lane that is waited for; ALL_LANES, or NO_LANE: not known */
    uint64_t from;  /* the moment on that lane up to which it waits; 0: before its first one */
    uint64_t op;    /* the op's number; 0: it is none */
    uint64_t after; /* of the newest op, this one included */
    uint64_t event; /* 0: none */
    uint64_t site;  /* of surroundings' sites; 0: not known */
};

struct neighbourhood {
    struct moment *moments; /* ascending; between moments whose `at` are not consecutive, others are
                               left out */
    size_t count, capacity;
    uint64_t accesses[2]; /* `at` of the current and the previous access; 0: not found */
    int lanes[2];
    uint64_t *others; /* `at` of each of the finding's; 0: not found */
    uint64_t until;
};

struct surroundings {
    struct neighbourhood *items; /* one for each finding */
    size_t count;
    struct neighbourhood whole; /* all moments, where that is wanted */
    char **lanes;               /* their names */
    uint64_t *created;          /* for each lane the site where it was made; 0: not known */
    size_t lane_count;
    struct recorded_sites *sites; /* NULL: there is no recording */
};

/* Reads the recording at `path`. What cannot be read, or has no memory, is left out: every finding
 * has a neighbourhood, maybe an empty one. `whole`: keeps all moments, too. The options say how
 * frames are resolved. */
void surroundings_read(struct surroundings *surroundings, const char *path,
                       const struct options *options, struct finding *const *findings, size_t count,
                       bool whole);
void surroundings_free(struct surroundings *surroundings);

/* NULL: it is not in that neighbourhood. */
const struct moment *neighbourhood_find(const struct neighbourhood *neighbourhood, uint64_t at);

/* An op's name. NULL: it is no op, or has none. */
const char *moment_name(const struct surroundings *surroundings, const struct moment *moment);
/* What a call that makes order does: "record event", "wait for event", "launch graph"; "wait". */
const char *moment_deed(const struct moment *moment);

#endif
