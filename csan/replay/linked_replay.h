/* Replays the recordings of several processes into one detector: what one process did and another
 * one did to memory that they share, and that nothing orders.
 *
 * The recordings are read together, the process that lags behind in time first. A process whose
 * next entry needs what another one has not done yet (a message, a record of an event, a handle)
 * waits. When all wait, a recording lacks something, or they do not belong together. Then the one
 * that is behind goes on without, and every race found from there on is a possible one: the order
 * that is missing may be what ordered it. So this always ends. Where a recording is cut off, the
 * same holds for what comes later than its end. */
#ifndef CSAN_REPLAY_LINKED_REPLAY_H
#define CSAN_REPLAY_LINKED_REPLAY_H

#include "csan/replay/interleaving.h"
#include "csan/replay/replay_define.h"

struct linked_replay;

struct linked_source {
    const char *path;
    const char *name; /* "rank 3" */
};

/* The context is new and the caller's; it outlives the replay, as the sources do. NULL: a file
 * cannot be read, or memory is short: `message` says it. */
struct linked_replay *linked_replay_create(csan_context *context,
                                           const struct linked_source *sources, size_t count,
                                           char *message, size_t message_bytes);
void linked_replay_destroy(struct linked_replay *replay);

/* Reads all. `say` receives one line about each thing that is missing, and each file that cannot be
 * read to its end. */
void linked_replay_run(struct linked_replay *replay, void (*say)(void *user, const char *line),
                       void *user);

/* Before linked_replay_run: calls this after each 4,096 entries or so, with the user of `say`. */
void linked_replay_on_progress(struct linked_replay *replay, void (*progress)(void *user));
/* The same: keeps in which order it reads. False: memory is short. */
bool linked_replay_interleaves(struct linked_replay *replay);
/* Behind it: that order, which is the caller's from here on. NULL: it was not kept. */
struct interleaving *linked_replay_interleaving(struct linked_replay *replay);

/* The number that the process's own replay gives an op of the context; 0: not known. */
uint64_t linked_replay_op(const struct linked_replay *replay, uint64_t op);
/* From on_race and filters: the process that an access's site is of; false: not known. */
bool linked_replay_process(const struct linked_replay *replay, uint32_t site, size_t *process);
/* Every recording has the messages of MPI, if there are any (libcsan_mpi). */
bool linked_replay_has_messages(const struct linked_replay *replay);
/* Order is missing: races found now are possible ones. */
bool linked_replay_doubts(const struct linked_replay *replay);

/* Modules and lines of all processes, for the symbolizer. */
struct replay_definitions *linked_replay_code(struct linked_replay *replay);

struct linked_counts {
    uint64_t entries, messages, collectives, waits;
    uint64_t bytes;  /* of messages */
    uint64_t shared; /* memory that was opened */
};
struct linked_counts linked_replay_counts(const struct linked_replay *replay);

#endif
