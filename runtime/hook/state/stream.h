/* CUDA contexts and their streams, as lanes of the detector.
 *
 * A context owns one legacy default stream, one per-thread default stream for each host thread, and
 * the streams that the program creates. The legacy stream is ordered with every blocking stream of
 * its context, both ways (CUDA C++ Programming Guide, "Default Stream"). These joins are made late.
 * A blocking stream that did something is put on its context's list of dirty streams, and the
 * legacy stream's next op joins and empties that list. A blocking stream joins the legacy stream if
 * that did something since the last time.
 *
 * All functions but the first two need the hooks' lock. What they return is valid while it is held.
 */
#ifndef RUNTIME_HOOK_STATE_STREAM_H
#define RUNTIME_HOOK_STATE_STREAM_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

#include <sys/types.h>

struct stream;

/* Takes the lock, and returns the stream that `handle` names in the calling thread;
 * `thread_default` says what 0 means. If csan did not see the stream's creation, it asks the
 * driver. So call this only after a driver call with the handle succeeded. NULL, without the lock,
 * if there is no such stream. */
struct stream *stream_lock(CUstream handle, bool thread_default);

/* The same, but it does not ask the driver about unknown handles. Safe with any handle. */
struct stream *stream_lock_known(CUstream handle, bool thread_default);

csan_lane stream_lane(const struct stream *stream);
/* A lane for a call, beside the stream's (CSAN_LANE_CALL); CSAN_NO_LANE when there are too many. */
csan_lane stream_calls_lane(struct stream *stream);
CUstream stream_handle(const struct stream *stream);
bool stream_is_legacy(const struct stream *stream);
bool stream_is_blocking(const struct stream *stream); /* with the legacy stream, and no such */
CUcontext stream_context(const struct stream *stream);

/* Makes the joins that are due before an op is enqueued on the stream. Call it once for each op. */
void stream_use(struct stream *stream);

/* What a launch with programmatic stream serialization is ordered after. It may begin before the
 * newest kernel of its stream ends (CUDA C++ Programming Guide, "Programmatic Dependent Launch and
 * Synchronization"). Without `end` it is ordered after all of the stream: no kernel came last, or
 * one that does not let others begin early. */
struct stream_overlap {
    csan_snapshot *start; /* as it begins */
    csan_snapshot *end;   /* once it has waited for that kernel */
    uint64_t number;      /* number of that kernel's launch, if it overlapped one itself; else 0 */
    bool whole;           /* which then is all of the stream */
    bool unknown;         /* there is no `end` because that kernel's code is not known */
};

/* As stream_use, for a launch. The caller releases what is returned. */
struct stream_overlap stream_use_launch(struct stream *stream);
/* The launch was enqueued; takes the snapshots. Valid until the stream's next work. */
void stream_set_overlap(struct stream *stream, struct stream_overlap overlap);
void stream_overlap_release(struct stream_overlap *overlap);

/* The same for a call that may still fail, and is no work yet. For the legacy stream it orders no
 * blocking stream after another. */
void stream_look(struct stream *stream);

/* The same for an order that the program declares. It is no work of the stream, so it does not make
 * an idle stream wait for the legacy stream. */
void stream_declare(struct stream *stream);

/* What a synchronize or a query of the stream covers now. The caller releases it. */
csan_snapshot *stream_snapshot(struct stream *stream);

/* The stream's next op is also work of the context's legacy stream (peer copies). Call them before
 * and after the op. */
void stream_serialize_before(struct stream *stream, CUcontext context);
void stream_serialize_after(struct stream *stream, CUcontext context);

/* After cuStreamCreate. Forgets an older stream of the same handle whose end csan did not see. */
void stream_created(CUstream handle, CUcontext context, bool blocking, csan_site site);
/* The program names the stream; "" is no name. Does nothing if csan does not know the stream.
 * Without the lock. */
void stream_named(CUstream handle, const char *name);
/* The program named a thread (thread_name.h), and so its per-thread default streams. With the lock.
 */
void stream_thread_named(pid_t thread);

/* Call these around cuStreamDestroy: the first takes the stream out of the table, and the second
 * puts it back if the call failed. */
struct stream *stream_take_out(CUstream handle);
void stream_put_back(struct stream *stream);
void stream_destroyed(struct stream *stream, csan_site site);

/* What a synchronize of the whole context covers: several snapshots, joined together at the end. */
struct stream_cut {
    csan_snapshot **snapshots;
    size_t count;
};
void stream_cut_take(CUcontext context, struct stream_cut *cut);
/* Both without the lock. `join` orders everything in the cut before the host. */
void stream_cut_release(struct stream_cut *cut, bool join);

/* The context is a part of another one, which includes it: a green context of a primary one. */
void stream_context_within(CUcontext part, CUcontext whole);

/* Replaces the context by the one that it is a part of. True if other contexts have work, too. */
bool stream_context_is_apart(CUcontext *context);
/* Orders `lane` after all that the context and its parts did so far. */
void stream_context_gather(CUcontext context, csan_lane lane);
/* All later work of the context and its parts waits for what the event holds now. */
void stream_context_wait(CUcontext context, csan_event *event);

/* The context and all its streams are gone. The host is ordered after them. */
void stream_context_destroyed(CUcontext context);

/* Finds the driver's functions about streams; without any lock. */
void stream_symbols_find(void);

/* The calling thread's current context, or NULL. */
CUcontext stream_current_context(void);

/* 1 when the stream is under capture. */
bool stream_is_capturing(CUstream handle, bool thread_default);

/* Whether the handle names the calling thread's own default stream. */
bool stream_is_of_thread(CUstream handle, bool thread_default);

/* Whether the driver says of each stream of the current context that csan knows that its work is
 * done. Also false while one is captured, and if a default stream of another thread cannot be
 * asked. Without the hooks' lock. */
bool stream_context_is_idle(void);

#endif
