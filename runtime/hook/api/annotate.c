/* The functions behind csan.h's annotations and calls for unit tests: the table that csan_api
 * returns. */
#include "runtime/hook/launch/launch_annotations.h"
#include "csan/detector/context.h"
#include "csan/stack/stack_source.h"
#include "runtime/hook/state/copied_values.h"
#include "runtime/hook/interpose/call_watch.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/api/library_call.h"
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/api/pool_block.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/python/frames.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/sync_callback.h"

#include <stdlib.h>
#include <string.h>

/* A key of csan_happens_before: a lane ordered after every stream the key was given for. */
struct order_key {
    const void *key;
    csan_lane lane;
    UT_hash_handle hh;
};

static struct {
    struct order_key *keys;
} table;

/* ---- The functions of struct csan_api ---- */

static struct csan_access access_to(const void *range, size_t bytes, int kind)
{
    return (struct csan_access){
        .base = (uintptr_t)range, .bytes = bytes, .kind = (uint8_t)kind, .argument = 0};
}

static void launch_touches(const void *range, size_t bytes, int kind)
{
    const struct csan_access access = access_to(range, bytes, kind);
    if (bytes)
        launch_annotations_add(&access);
}

static void host_touches(const void *range, size_t bytes, int kind)
{
    if (!bytes)
        return;
    if (__builtin_expect(calls_watched, 0))
        call_watch_host();
    if (!guard_enter())
        return;
    struct csan_access access = access_to(range, bytes, kind);
    csan_site site =
        host_function_site(callsite_of(kind == CSAN_READ ? "csan_host_reads" : "csan_host_writes",
                                       launch_annotations_arguments, 1));
    csan_op(session_context(), thread_lane(), site, CSAN_LEVEL_ANNOTATED, &access, 1);
    host_access_declared((struct range){access.base, access.base + bytes}, kind == CSAN_WRITE);
    guard_leave();
}

/* A pool orders nothing, so the stream says nothing that the detector keeps; and it may be the
 * default stream of a thread that has no context yet. */
static void pool_alloc(const void *block, size_t bytes, csan_stream handle)
{
    (void)handle;
    if (block && bytes)
        pool_block_alloc((uintptr_t)block, bytes, "csan_pool_alloc");
}

static void pool_free(const void *block, csan_stream handle)
{
    (void)handle;
    if (block)
        pool_block_free((uintptr_t)block);
}

/* The lane of a key, NULL when there is none yet and `make` is 0. */
static struct order_key *key_find(const void *key, bool make)
{
    struct order_key *found = NULL;
    HASH_FIND_PTR(table.keys, &key, found);
    if (found || !make || !(found = calloc(1, sizeof *found)))
        return found;
    found->key = key;
    found->lane =
        csan_lane_create(session_context(), (uintptr_t)key, "an order the program declared");
    if (found->lane == CSAN_NO_LANE) {
        free(found);
        return NULL;
    }
    HASH_ADD_PTR(table.keys, key, found);
    return found;
}

static void happens_before(const void *key, csan_stream handle)
{
    if (!guard_enter())
        return;
    struct stream *stream = stream_lock(handle, false);
    if (stream) {
        struct order_key *order = key_find(key, true);
        stream_declare(stream);
        if (order)
            csan_lane_waits(session_context(), order->lane, stream_lane(stream));
        guard_unlock();
    }
    guard_leave();
}

static void happens_after(const void *key, csan_stream handle)
{
    if (!guard_enter())
        return;
    struct stream *stream = stream_lock(handle, false);
    if (stream) {
        struct order_key *order = key_find(key, false);
        stream_declare(stream);
        if (order)
            csan_lane_waits(session_context(), stream_lane(stream), order->lane);
        guard_unlock();
    }
    guard_leave();
}

static void host_happens(const void *key, int before)
{
    thread_synchronizes(key, before != 0);
}

static void kernel_ptx(void *function, const char *ptx, size_t bytes)
{
    if (!function || !ptx || !bytes || !guard_enter())
        return;
    kernel_set_user_ptx(function, ptx, bytes);
    guard_leave();
}

static void name_stream(csan_stream handle, const char *name)
{
    if (!guard_enter())
        return;
    stream_named(handle, name ? name : "");
    guard_leave();
}

static void ignore(int begin)
{
    context_ignore(begin != 0);
}

static void benign_range(const void *range, size_t bytes)
{
    if (!range || !bytes || !guard_enter())
        return;
    csan_memory_benign(session_context(), (uintptr_t)range, bytes);
    guard_leave();
}

static uint64_t race_mark(void)
{
    uint64_t mark = 0;
    if (guard_enter()) {
        trace_wait();
        mark = csan_context_race_mark(session_context());
        guard_leave();
    }
    return mark;
}

/* Races are copied into structs of the program's, which may be of an older csan.h. */
static size_t found_copy(uint64_t mark, void *races, size_t capacity, size_t bytes_each,
                         size_t (*since)(csan_context *, uint64_t, struct csan_race *, size_t))
{
    size_t count = 0, taken = 0;
    struct csan_race *all = capacity ? calloc(capacity, sizeof *all) : NULL;
    if (guard_enter()) {
        trace_wait();
        session_races_settle();
        count = since(session_context(), mark, all, all ? capacity : 0);
        guard_leave();
    }
    const size_t known = bytes_each < sizeof *all ? bytes_each : sizeof *all;
    for (; all && taken < count && taken < capacity; taken++)
        memcpy((char *)races + taken * bytes_each, &all[taken], known);
    free(all);
    return count;
}

static size_t races_copy(uint64_t mark, void *races, size_t capacity, size_t bytes_each)
{
    return found_copy(mark, races, capacity, bytes_each, csan_context_races_since);
}

static size_t findings_copy(uint64_t mark, void *findings, size_t capacity, size_t bytes_each)
{
    return found_copy(mark, findings, capacity, bytes_each, csan_context_findings_since);
}

static size_t report_since(uint64_t mark, size_t index, char *text, size_t capacity)
{
    struct csan_race *all = calloc(index + 1, sizeof *all);
    const size_t count = all ? findings_copy(mark, all, index + 1, sizeof *all) : 0;
    size_t length = 0;
    if (index < count && guard_enter_aside()) {
        length = session_report_text(&all[index], text, capacity);
        guard_leave();
    }
    free(all);
    return length;
}

/* The struct of csan.h 0.1, whose members lay elsewhere: the number of races is right, and what
 * they are is left empty. */
static size_t races_since(uint64_t mark, struct csan_race *races, size_t capacity)
{
    enum { BYTES_THEN = 240 };
    const size_t count = races_copy(mark, NULL, 0, 0);
    if (races && capacity)
        memset(races, 0, BYTES_THEN * (count < capacity ? count : capacity));
    return count;
}

static void races_clear(void)
{
    if (guard_enter()) {
        trace_wait();
        session_reports_settle(); /* one on its way would count afterwards */
        csan_context_races_clear(session_context());
        session_races_cleared();
        guard_leave();
    }
}

/* What is to be reported has its frames from the source as it was. A caller with its own stacks is
 * a framework's adapter. */
static void source_set(const struct csan_stack_source *source)
{
    if (guard_enter_aside()) {
        session_reports_settle();
        guard_leave();
    }
    stack_source_set(source);
    context_set_framework(session_context());
    copied_values_want();
}

static void on_race(session_race_handler *handler, void *user)
{
    if (guard_enter_aside()) {
        session_on_race(handler, user);
        guard_leave();
    }
}

static const struct csan_api api = {.size = sizeof api,
                                    .operator_begin = operator_begin,
                                    .operator_end = operator_end,
                                    .stack_source = source_set,
                                    .on_race = on_race,
                                    .pool_alloc = pool_alloc,
                                    .pool_free = pool_free,
                                    .launch_touches = launch_touches,
                                    .host_touches = host_touches,
                                    .happens_before = happens_before,
                                    .happens_after = happens_after,
                                    .host_happens = host_happens,
                                    .race_mark = race_mark,
                                    .races_since = races_since,
                                    .races_clear = races_clear,
                                    .kernel_ptx = kernel_ptx,
                                    .ignore = ignore,
                                    .benign_range = benign_range,
                                    .name_stream = name_stream,
                                    .python = python_frames,
                                    .races_copy = races_copy,
                                    .findings_copy = findings_copy,
                                    .failure_text = failure_text,
                                    .operator_indices = operator_note_indices,
                                    .call_touches = library_call_touches,
                                    .request_start = library_request_start,
                                    .request_end = library_request_end,
                                    .library = library_call_inside,
                                    .activity = library_call_activity,
                                    .host_view = library_call_host_view,
                                    .call_counts = library_call_count,
                                    .operator_source = operator_summary_source,
                                    .link = process_link_of_library,
                                    .token = process_link_token,
                                    .barrier = process_link_barrier,
                                    .links = process_links_wanted,
                                    .report_since = report_since,
                                    .unmodelled = counters_unmodelled,
                                    .on_synchronize = sync_callback_add,
                                    .off_synchronize = sync_callback_remove,
                                    .library_flag = library_call_flag,
                                    .exposed = library_call_exposed};

const struct csan_api *csan_api(void)
{
    return session_state && session_start() ? &api : NULL;
}
