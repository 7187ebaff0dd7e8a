/* CUDA contexts and their streams, as lanes of the detector.
 *
 * A context owns one legacy default stream, one per-thread default stream for each host thread, and
 * the streams the program creates. The legacy stream is ordered with every blocking stream of its
 * context, both ways (CUDA C++ Programming Guide, "Default Stream"). Those joins are made late: a
 * blocking stream that did something is put on its context's list of dirty ones, which the legacy
 * stream's next op empties; and a blocking stream joins the legacy stream when that has done
 * something since the last time.
 *
 * All functions but the first two want the hooks' lock; what they return is valid while it is
 * held. */
#ifndef RUNTIME_HOOK_STATE_STREAM_H
#define RUNTIME_HOOK_STATE_STREAM_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

#include <sys/types.h>

struct stream;

/* Takes the lock, and returns the stream that `handle` names in the calling thread;
 * `thread_default` says what 0 means. A stream nobody saw being created is looked up in the driver,
 * so call this only after a driver call with the handle succeeded. NULL, without the lock, when
 * there is none. */
struct stream *stream_lock(CUstream handle, bool thread_default);

/* The same without asking the driver about unknown handles: safe with any handle. */
struct stream *stream_lock_known(CUstream handle, bool thread_default);

csan_lane stream_lane(const struct stream *stream);
/* A lane of the stream's beside it (CSAN_LANE_CALL); CSAN_NO_LANE when there are too many. */
csan_lane stream_calls_lane(struct stream *stream);
CUstream stream_handle(const struct stream *stream);
bool stream_is_legacy(const struct stream *stream);
bool stream_is_blocking(const struct stream *stream); /* with the legacy stream, and no such */
CUcontext stream_context(const struct stream *stream);

/* Make the joins due before something is enqueued on the stream: call it once for each. */
void stream_use(struct stream *stream);

/* What a launch with programmatic stream serialization, which may begin before the newest kernel of
 * its stream ends, is ordered after (CUDA C++ Programming Guide, "Programmatic Dependent Launch and
 * Synchronization"). Without `end` that is all of the stream: no kernel came last, or one that does
 * not let others begin early. */
struct stream_overlap {
    csan_snapshot *start; /* as it begins */
    csan_snapshot *end;   /* once it has waited for that kernel */
    uint64_t number;      /* that kernel's launch, if it overlapped one itself; else 0 */
    bool whole;           /* which then is all of the stream */
    bool unknown;         /* no `end` because that kernel's code is not known */
};

/* As stream_use, for a launch. The caller releases what is returned. */
struct stream_overlap stream_use_launch(struct stream *stream);
/* The launch was enqueued; takes the snapshots. Until the stream's next work only. */
void stream_set_overlap(struct stream *stream, struct stream_overlap overlap);
void stream_overlap_release(struct stream_overlap *overlap);

/* The same for what is no work yet: calls that may still fail. For the legacy stream that orders no
 * blocking stream after another. */
void stream_look(struct stream *stream);

/* The same for an order that the program declares: no work of the stream, so an idle one has not
 * waited for the legacy stream by it. */
void stream_declare(struct stream *stream);

/* What a synchronize or a query of the stream covers, as of now. The caller releases it. */
csan_snapshot *stream_snapshot(struct stream *stream);

/* The stream's next op is work of the context's legacy stream, too (peer copies): call them before
 * and after it. */
void stream_serialize_before(struct stream *stream, CUcontext context);
void stream_serialize_after(struct stream *stream, CUcontext context);

/* After cuStreamCreate; forgets a stream of the same handle whose end was not seen. */
void stream_created(CUstream handle, CUcontext context, bool blocking, csan_site site);
/* The program calls the stream so from now on, "" is no name; nothing where csan does not know the
 * stream. Without the lock. */
void stream_named(CUstream handle, const char *name);
/* The program named a thread (thread_name.h): so are its per-thread default streams. Wants the
 * lock.
 */
void stream_thread_named(pid_t thread);

/* Around cuStreamDestroy: out of the table before, and back into it when the call failed. */
struct stream *stream_take_out(CUstream handle);
void stream_put_back(struct stream *stream);
void stream_destroyed(struct stream *stream, csan_site site);

/* What a synchronize of the whole context covers: several snapshots, joined together at the end. */
struct stream_cut {
    csan_snapshot **snapshots;
    size_t count;
};
void stream_cut_take(CUcontext context, struct stream_cut *cut);
/* Both without the lock; `join` orders everything in the cut before the host. */
void stream_cut_release(struct stream_cut *cut, bool join);

/* The context is a part of another one, which covers it: a green context of a primary one. */
void stream_context_within(CUcontext part, CUcontext whole);

/* Replaces the context by the one that it is a part of. True when others have work, too. */
bool stream_context_is_apart(CUcontext *context);
/* Orders `lane` after all that the context, and its parts, did so far. */
void stream_context_gather(CUcontext context, csan_lane lane);
/* All that the context, and its parts, will be given waits for what the event holds now. */
void stream_context_wait(CUcontext context, csan_event *event);

/* The context and all its streams are gone; the host is ordered after them. */
void stream_context_destroyed(CUcontext context);

/* Finds the driver's functions about streams; without any lock. */
void stream_symbols_find(void);

/* The calling thread's current context, or NULL. */
CUcontext stream_current_context(void);

/* 1 when the stream is under capture. */
bool stream_is_capturing(CUstream handle, bool thread_default);

/* Whether the handle names the calling thread's own default stream. */
bool stream_is_of_thread(CUstream handle, bool thread_default);

/* Whether all streams of the current context that csan knows have done their work, as the driver
 * says of each. False, too, while one is captured, or where a default stream of another thread
 * cannot be asked. Without the hooks' lock. */
bool stream_context_is_idle(void);

#endif
