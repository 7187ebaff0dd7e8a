/* The order that a report proposes for a race, as data: between which calls of the program it goes,
 * and what makes it. The report's "Fix" puts it into words (race_cause.c), a report in JSON gives
 * its places (code_place.h), and csan fix adds it to a run. */
#ifndef CSAN_REPORT_PROPOSAL_H
#define CSAN_REPORT_PROPOSAL_H

#include <csan/csan.h>

#include <stdbool.h>

enum proposal_kind {
    PROPOSAL_NONE,       /* no order of the device's ops would help: `obstacle` says why */
    PROPOSAL_ORDER,      /* `to` waits for an event: `recorded`, or one more behind `from` */
    PROPOSAL_EDGE,       /* a dependency of a graph, from the node of `from` to that of `to` */
    PROPOSAL_NO_OVERLAP, /* the launch `recorded` may not begin before the one before it ends */
    PROPOSAL_STREAM,     /* the call `to` is made in the stream of `from` */
    PROPOSAL_HOST_WAIT,  /* the host waits for `from` before it calls `to` */
    PROPOSAL_KINDS
};

struct proposal {
    enum proposal_kind kind;
    const struct csan_race_access *from, *to;
    const struct csan_race_call *recorded; /* or NULL */
    const char *obstacle;                  /* NULL but of none */
};

/* All that it points to belongs to the race, but for the obstacle, which is constant. */
struct proposal proposal_of(const struct csan_race *race);

/* A host function that is a node of a graph, and another node of the same launch: it has no launch
 * of its own that could wait. */
bool proposal_shares_launch(const struct csan_race_access *a, const struct csan_race_access *b);

/* One side is a store of the host's that only the content of memory shows: it is not known where in
 * the program it is. */
bool race_is_host_change(const struct csan_race *race);

/* "none", "order", "edge", "no-overlap", "stream", "host-wait"; -1: no such. */
const char *proposal_kind_name(int kind);
int proposal_kind_of(const char *name);

#endif
