/* Runs the detector over a recording: passes each entry to a context as the hooks did in the
 * recorded program. What the recording names by numbers (lanes, snapshots, events, frees, sites,
 * branches) becomes the context's own. Not thread-safe. */
#ifndef CSAN_REPLAY_REPLAY_H
#define CSAN_REPLAY_REPLAY_H

#include "csan/stack/module_map.h"
#include "csan/recording/recording_read.h"

struct replay;

/* The context is new, and stays the caller's; it outlives the replay. NULL: no memory. */
struct replay *replay_create(csan_context *context);
/* Ends what the recording left open, too. */
void replay_destroy(struct replay *replay);

/* Takes an entry. NULL, or the reason why no recording can have it. */
const char *replay_take(struct replay *replay, const struct recorded *recorded);

/* Takes all entries, and calls `progress` (may be NULL) after every few thousand, until it returns
 * 0. What waits at the end is decided. RECORDED_ENTRY: `progress` stopped it. */
enum recorded_status replay_run(struct replay *replay, struct recording_reader *reader,
                                int (*progress)(void *user), void *user);

/* The objects of the recorded process, for the symbolizer: valid for the replay's life. */
struct module_map *replay_modules(struct replay *replay);

/* The sites that it has taken so far, with the lines of an interpreted language. */
const struct replay_definitions *replay_definitions_of(const struct replay *replay);

#endif
