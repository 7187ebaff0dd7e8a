/* What happened around the two accesses of each race, and around the calls that explain it. These
 * are the ops, events and waits nearby, on their lanes and on lanes that are ordered with them, as
 * a recording has them. It takes a second pass over the recording, in which the findings say which
 * ops these are. csan report draws it.
 *
 * Of several processes each has a group of lanes, and their recordings are read in the order in
 * which csan merge --order would (csan/replay/interleaving.h). What joins them is a moment, too: a
 * message that is sent and received, a collective call, a shared event. */
#ifndef RUNTIME_CLI_FINDINGS_SURROUNDINGS_H
#define RUNTIME_CLI_FINDINGS_SURROUNDINGS_H

#include "csan/report/finding.h"
#include "csan/recording/recording_format.h"

struct interleaving;
struct options;
struct recorded_sites;

enum { ALL_LANES = -1, NO_LANE = -2 };
/* Of moments' links, beside enum csan_link_kind: a process starts another one, and begins. */
enum { LINK_STARTS = CSAN_LINK_KINDS, LINK_BEGINS, LINK_ALL };

/* An entry that is an op, or that makes order. */
struct moment {
    uint64_t at;    /* its place among all moments of all recordings, from 1 */
    uint64_t place; /* ... among those of its own */
    uint64_t time;  /* when the program called: tenths of a microsecond since 1970; 0: not known */
    enum recording_kind kind;
    int step;       /* enum csan_step_kind, if the recording has one for it; 0: none */
    int lane;       /* index into struct surroundings' lanes; never used again for another lane */
    int from_lane;  /* for a wait: the lane that is waited for; ALL_LANES, or NO_LANE: not known */
    uint64_t from;  /* the moment on that lane up to which it waits; 0: before its first one */
    uint64_t op;    /* the op's number; 0: it is none */
    uint64_t after; /* of the newest op, this one included */
    uint64_t event; /* 0: none */
    uint64_t site;  /* of the sites of its lane's group; 0: not known */
    int link;       /* enum csan_link_kind or LINK_STARTS, of what joins processes; else 0 */
    uint64_t meet;  /* the same on both sides of a message or collective call; 0: none */
    bool gives;     /* the other side learns of it */
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

struct surrounding_lane {
    char *name;       /* of several processes, with its group's: "stream A of rank 1" */
    size_t own;       /* bytes of the name without that */
    uint64_t created; /* the site where it was made; 0: not known */
    uint32_t group;
    bool host;
};

/* The lanes of one process. */
struct lane_group {
    char *name; /* "rank 1" */
    struct recorded_sites *sites;
};

/* The program asked for the device's time between two records of events. */
struct elapsed {
    uint64_t from, to; /* `at` of the records */
    uint64_t nanoseconds;
};

struct surroundings {
    struct neighbourhood *items; /* one for each finding */
    size_t count;
    struct neighbourhood whole; /* all moments, where that is wanted */
    struct elapsed *elapsed;    /* where that is wanted */
    size_t elapsed_count, elapsed_capacity;
    struct surrounding_lane *lanes;
    size_t lane_count;
    struct lane_group *groups; /* one for each recording */
    size_t group_count;
};

/* A recording to read. */
struct surroundings_source {
    const char *path, *name; /* name: of its group */
    uint32_t process;        /* as findings number it (owner) */
};
struct surroundings_request {
    const struct surroundings_source *sources;
    size_t source_count;
    const struct interleaving *interleaving; /* of these sources; NULL: one behind the other */
    const struct options *options;           /* how frames are resolved */
    struct finding *const *findings;
    size_t finding_count;
    bool whole; /* keep all moments, too */
};

/* What cannot be read, or has no memory, is left out: every finding has a neighbourhood, maybe an
 * empty one. */
void surroundings_read(struct surroundings *surroundings,
                       const struct surroundings_request *request);
void surroundings_free(struct surroundings *surroundings);

/* NULL: it is not in that neighbourhood. */
const struct moment *neighbourhood_find(const struct neighbourhood *neighbourhood, uint64_t at);

/* Where in the source the site of a moment or a lane of that lane's group is; NULL: not known. */
const struct stack_frame *surroundings_place(const struct surroundings *surroundings, int lane,
                                             uint64_t site);
/* Whether reports call that lane so. */
bool surroundings_lane_is(const struct surroundings *surroundings, int lane, const char *words);
/* An op's name. NULL: it is no op, or has none. */
const char *moment_name(const struct surroundings *surroundings, const struct moment *moment);
/* What a call that makes order does: "record event", "wait for event", "launch graph",
 * "send message"; "wait". */
const char *moment_deed(const struct moment *moment);

#endif
