/* A recording that is being made: what enters the detector, written to a file in the detector's
 * order. The context calls it for everything that goes through its lock; see recording_format.h for
 * the file.
 *
 * There is one buffer, not one for each thread: the order of entries is made by the context's lock,
 * under which an entry takes some 10 ns to be coded, so buffers of threads would bring no speed,
 * but holes: what an idle thread still holds back when the process is killed would be missing in
 * the middle. A thread of the recording's own compresses and writes what there is, every tenth of a
 * second and when a block is full, so that launches do not wait for it, and a program that hangs
 * and is killed leaves all but that tenth. Only a program that is four blocks ahead of it waits,
 * and then writes itself.
 *
 * The file is opened at the first entry: a process that does nothing leaves none. */
#ifndef CSAN_RECORDING_RECORDING_WRITE_H
#define CSAN_RECORDING_RECORDING_WRITE_H

#include "csan/base/lock.h"
#include "csan/detector/queue.h"

#include <pthread.h>

struct context_finding;
struct recording;
struct site_table;
struct stack_depot;

/* `path` is a pattern for output_path_expand. A file that is there already is left alone, and .PID
 * appended; only a recording that is older than `replace_before` (nanoseconds since 1970) is
 * replaced, unless it is still being written. `facts`: lines "key value" beside those that every
 * recording has. `note` receives one line, once, when the recording cannot go on; then nothing more
 * is recorded. NULL: no memory. */
struct recording *recording_create(const char *path, uint64_t replace_before, const char *facts,
                                   void (*note)(const char *line));
/* `started` is the first thing that the recording's own thread calls: whoever looks on at what the
 * program's threads do, at its allocator's locks for one, is to leave that one out. Before the
 * first entry. */
void recording_on_thread(struct recording *recording, void (*started)(void));
/* The lock that all calls below up to recording_leave are made under, and what sites mean. */
void recording_attach(struct recording *recording, struct lock *lock,
                      const struct site_table *sites, const struct stack_depot *stacks);
/* After recording_finish; then the context may be gone, but must not be used any more. */
void recording_destroy(struct recording *recording);

/* ---- what happens, in its order; `context`: a number from recording_branch, or 0 */

/* `ticket`: what a pending op will be resolved by. `timed`: the entry may begin to wait in the
 * queue, or something waits there. Returns the time of the newest timed entry, in nanoseconds; the
 * queue's decisions go by it. */
uint64_t recording_entry(struct recording *recording, uint32_t context, const struct entry *entry,
                         uint64_t ticket, bool timed);
/* What makes of such a time nanoseconds since 1970. */
uint64_t recording_wall_offset(const struct recording *recording);
uint64_t recording_resolve(struct recording *recording, uint32_t context, uint64_t ticket,
                           enum csan_level level, const struct csan_access *accesses, size_t count);
/* A finding that is no race, from outside of the detector. Returns as recording_entry. */
uint64_t recording_finding(struct recording *recording, uint32_t context,
                           const struct context_finding *finding);
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

/* Let go of the lock; then write out what is due. */
void recording_leave(struct recording *recording);

/* ---- without the lock */

/* Define the site, unless it is. Before the first entry that uses it. */
void recording_site(struct recording *recording, csan_site site);
/* Where a kernel is defined. */
void recording_kernel(struct recording *recording, const char *name, const char *place);

/* Write out everything, with `facts` ("key value" lines, may be "") at the end. Nothing is recorded
 * from here on. */
void recording_finish(struct recording *recording, const char *facts);

/* Where it went, and how much: valid after recording_finish. False: nothing was recorded, or not to
 * the end. */
bool recording_totals(struct recording *recording, const char **path, uint64_t *entries,
                      uint64_t *bytes);

#endif
