/* A recording that is being made: the entries of the detector, written to a file in the detector's
 * order. The context calls it for everything that goes through its lock. recording_format.h
 * describes the file.
 *
 * All threads share one buffer. The context's lock decides the order of entries, and to encode an
 * entry under it takes some 10 ns. So a buffer for each thread would not be faster. It would make
 * holes: entries that an idle thread still holds when the process is killed would be missing in the
 * middle.
 *
 * A thread of the recording's own compresses and writes what there is, every tenth of a second and
 * whenever a block is full. So launches do not wait for it, and a program that hangs and is killed
 * loses at most that tenth. Only a program that is four blocks ahead waits, and then writes itself.
 *
 * The file is opened at the first entry: a process that does nothing leaves none. */
#ifndef CSAN_RECORDING_RECORDING_WRITE_H
#define CSAN_RECORDING_RECORDING_WRITE_H

#include "csan/base/lock.h"
#include "csan/detector/queue.h"

#include <pthread.h>

struct context_finding;
struct context_host_change;
struct recording;
struct site_table;
struct stack_depot;

/* `path` is a pattern for output_path_expand. If the file exists, it is kept, and .PID is appended
 * to the name. Only a recording older than `replace_before` (nanoseconds since 1970) is replaced,
 * unless it is still being written. `facts` are lines "key value" beside those of every recording.
 * `note` receives one line, once, when the recording cannot go on; then nothing more is recorded.
 * NULL: no memory. */
struct recording *recording_create(const char *path, uint64_t replace_before, const char *facts,
                                   void (*note)(const char *line));
/* The recording's own thread calls `started` first, so that whoever observes the program's threads,
 * for example the locks of its allocator, can leave this one out. Set it before the first entry. */
void recording_on_thread(struct recording *recording, void (*started)(void));
/* The lock under which all calls below up to recording_leave are made, and the table of sites. */
void recording_attach(struct recording *recording, struct lock *lock,
                      const struct site_table *sites, const struct stack_depot *stacks);
/* Call it after recording_finish. The context need not exist any more, and must not be used
 * afterwards. */
void recording_destroy(struct recording *recording);

/* ---- entries, in their order; `context`: a number from recording_branch, or 0 */

/* `ticket`: the one by which a pending op will be resolved. `timed`: the entry may begin to wait in
 * the queue, or another waits there. Returns the time of the newest timed entry, in nanoseconds, by
 * which the queue decides. */
uint64_t recording_entry(struct recording *recording, uint32_t context, const struct entry *entry,
                         uint64_t ticket, bool timed);
/* Add this to such a time to get nanoseconds since 1970. */
uint64_t recording_wall_offset(const struct recording *recording);
uint64_t recording_resolve(struct recording *recording, uint32_t context, uint64_t ticket,
                           enum csan_level level, const struct csan_access *accesses, size_t count);
/* A finding that is no race, and comes from outside of the detector. Returns as recording_entry. */
uint64_t recording_finding(struct recording *recording, uint32_t context,
                           const struct context_finding *finding);
/* See context_host_changed. */
uint64_t recording_host_change(struct recording *recording, uint32_t context,
                               const struct context_host_change *change);
/* What joins the process to others. */
void recording_link(struct recording *recording, uint32_t context, uint32_t lane,
                    const struct csan_link *link);
void recording_lane(struct recording *recording, uint32_t context, unsigned role, uint32_t lane,
                    uint64_t handle, const char *label);
void recording_host_lane(struct recording *recording, uint32_t context, uint32_t lane,
                         unsigned kind, const char *label);
void recording_framework(struct recording *recording);
void recording_lane_kind(struct recording *recording, uint32_t context, uint32_t lane,
                         unsigned kind, uint32_t created);
void recording_lane_name(struct recording *recording, uint32_t context, uint32_t lane,
                         const char *name);
void recording_lane_part_of(struct recording *recording, uint32_t context, uint32_t lane,
                            uint32_t whole);
void recording_ranges(struct recording *recording, uint32_t context, const char *path);
void recording_unpromised(struct recording *recording, uint32_t context, uint32_t lane,
                          const char *what);
void recording_release(struct recording *recording, uint32_t context,
                       struct csan_snapshot *snapshot);
void recording_drain(struct recording *recording, uint32_t context);
void recording_clear(struct recording *recording, uint32_t context);
uint32_t recording_branch(struct recording *recording, uint32_t parent);
void recording_branch_end(struct recording *recording, uint32_t context);

/* Gives the lock back, and then writes the due part. */
void recording_leave(struct recording *recording);

/* ---- without the lock */

/* Defines the site, unless it is defined. Call it before the first entry that uses the site. */
void recording_site(struct recording *recording, csan_site site);
/* Where a kernel is defined. */
void recording_kernel(struct recording *recording, const char *name, const char *place);

/* Writes out everything, with `facts` ("key value" lines, may be "") at the end. Later entries are
 * not recorded. */
void recording_finish(struct recording *recording, const char *facts);

/* Where it went, and how much: valid after recording_finish. False: nothing was recorded, or not to
 * the end. */
bool recording_totals(struct recording *recording, const char **path, uint64_t *entries,
                      uint64_t *bytes);

#endif
