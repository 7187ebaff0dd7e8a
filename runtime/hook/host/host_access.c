/* See host_access.h. */
#include "runtime/hook/host/host_access.h"
#include "csan/detector/context.h"
#include "csan/detector/detect.h"
#include "csan/detector/host_watch.h"
#include "runtime/device/driver/work.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/host/host_fault.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/hook/host/source_content.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/thread.h"
#include "runtime/instrumented/instrumented.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

bool host_access_guards;
static bool instrumented; /* libcsan_host.so announces accesses */
static bool hashes;       /* what sources hold is looked at */

/* ---- What the detector says ---- */

static bool is_over(void *user, uint64_t epoch)
{
    return host_watch_knows(user, epoch);
}

static bool is_over_for_anyone(void *user, uint64_t epoch)
{
    return host_watch_anyone_knows(user, epoch);
}

/* Work that an access of the host's may meet, and that of a call before it returned. */
static bool is_pending(const struct host_touch *touch)
{
    return touch->exact && (touch->by == HOST_TOUCH_STREAM || touch->by == HOST_TOUCH_CALL);
}

static __thread bool call_waited __attribute__((tls_model("initial-exec")));

void host_access_call_waited(bool waited)
{
    call_waited = waited;
}

/* A page that is guarded cannot be read. */
static void touched_guarded(void *user, const struct host_touch *touch)
{
    (void)user;
    if (hashes && (touch->writes || !call_waited))
        source_content_touched(touch);
    if (host_access_guards && is_pending(touch) && !touch->pageable)
        page_guard_add(touch->epoch, touch->bytes, touch->writes);
}
static bool learned_guarded(void *user, const struct order *order)
{
    (void)user;
    if (host_access_guards)
        page_guard_release(is_over, (void *)order);
    return hashes && source_content_learned(is_over_for_anyone, (void *)order);
}
static void freed_guarded(void *user, struct range bytes)
{
    (void)user;
    if (hashes)
        source_content_forget(bytes);
    if (host_access_guards)
        page_guard_forget(bytes);
}
static void lost_track(void *user)
{
    (void)user;
    source_content_forget_all();
}

static void touched_announced(void *user, const struct host_touch *touch)
{
    (void)user;
    if (is_pending(touch))
        pending_ranges_add(touch->epoch, touch->bytes, touch->writes);
}
static bool learned_announced(void *user, const struct order *order)
{
    (void)user;
    pending_ranges_release(is_over, (void *)order);
    return false;
}
static void freed_announced(void *user, struct range bytes)
{
    (void)user;
    pending_ranges_forget(bytes);
}

/* ---- Whose access it is ---- */

/* Code whose accesses to the host's memory are the work that the program enqueued, or its own
 * affair: drivers, CUDA's libraries, transports, and csan. By the beginning of the file's name. */
static const char *const others[] = {"libcuda",    "libnvidia", "libcu",     "libnv",   "libnccl",
                                     "libcsan",    "libucp",    "libuct",    "libucs",  "libucm",
                                     "libibverbs", "libmlx5",   "librdmacm", "ld-linux"};
static const char *const c_library[] = {"libc.so", "libc-"};

/* Safe in a signal handler (dl_find_object). "" is the program itself; NULL: code that no file
 * holds, as a compiler's at run time. */
static const char *file_of(uint64_t address)
{
    struct dl_find_object found;
    if (!address || _dl_find_object((void *)(uintptr_t)address, &found) != 0 ||
        !found.dlfo_link_map || !found.dlfo_link_map->l_name)
        return NULL;
    const char *name = strrchr(found.dlfo_link_map->l_name, '/');
    return name ? name + 1 : found.dlfo_link_map->l_name;
}

static bool begins(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

/* memcpy and its kind are the caller's, who is on top of the stack. What the C library does inside,
 * as realloc, may hold its locks, which csan would want. */
static bool is_the_programs(const struct host_fault *fault)
{
    const size_t others_count = sizeof others / sizeof *others;
    const size_t c_count = sizeof c_library / sizeof *c_library;
    const char *name = file_of(fault->pc);
    if (!name)
        return true;
    if (begins(name, c_library, c_count)) {
        name = file_of(fault->caller);
        if (!name || begins(name, c_library, c_count))
            return false;
    }
    return !begins(name, others, others_count);
}

/* ---- Reporting ---- */

/* The stack from the frame at `pc` on, which becomes `as`; frames are return addresses. */
static void stack_from(struct callsite_stack *stack, uintptr_t pc, uintptr_t as)
{
    stack->note = NULL;
    for (size_t i = 0; i < stack->count; i++) {
        if ((uintptr_t)stack->frames[i] != pc)
            continue;
        const size_t at = (size_t)(stack->frames - stack->storage) + i;
        stack->storage[at] = (const void *)as;
        stack->frames = stack->storage + at;
        stack->count -= i;
        return;
    }
}

static const char *name_of(bool writes)
{
    return writes ? "the host's store" : "the host's load";
}

static void enter_access(csan_site site, struct range bytes, bool writes)
{
    const struct csan_access access = {.base = bytes.start,
                                       .bytes = bytes.end - bytes.start,
                                       .kind = writes ? CSAN_WRITE : CSAN_READ,
                                       .argument = CSAN_NO_ARGUMENT};
    csan_op(session_context(), thread_lane(), host_function_site(site), CSAN_LEVEL_ANNOTATED,
            &access, 1);
}

static bool check(const struct host_fault *fault)
{
    struct callsite_stack stack;
    if (guard_self.depth || guard_self.locked || !is_the_programs(fault) || !guard_enter())
        return false;
    callsite_capture(&stack);
    stack_from(&stack, fault->pc, fault->pc + 1);
    enter_access(callsite_intern(&stack, name_of(fault->writes), NULL, 0), fault->bytes,
                 fault->writes);
    guard_leave();
    return true;
}

void host_access_call(uintptr_t memory, size_t bytes, bool writes, const char *name)
{
    const struct range range = {memory, memory + bytes};
    if (!bytes || range.end < range.start || !page_guard_overlaps(range, writes))
        return;
    if (guard_self.depth == 0 && guard_self.locked == 0 && guard_enter()) {
        enter_access(callsite_of(name, NULL, 0), range, writes);
        guard_leave();
        page_guard_open(range, false);
    } else {
        page_guard_open(range, true);
    }
}

void host_access_open(uintptr_t memory, size_t bytes)
{
    const struct range range = {memory, memory + bytes};
    if (bytes && range.end > range.start && page_guard_overlaps(range, true))
        page_guard_open(range, false);
}

/* ---- Sources that changed ---- */

/* The CUDA runtime and the driver are in front of who called them. */
static bool is_of_a_library(csan_site site)
{
    static const char *const cuda[] = {"libcudart", "libcuda.so", "libcsan"};
    const size_t others_count = sizeof others / sizeof *others;
    const void *const *frames;
    size_t count;
    context_site_stack(session_context(), site, &frames, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = file_of((uintptr_t)frames[i]);
        if (!name || !begins(name, cuda, sizeof cuda / sizeof *cuda))
            return name && begins(name, others, others_count);
    }
    return false;
}

static void report_changes(void *user)
{
    struct source_change change;
    struct callsite_stack stack;
    (void)user;
    while (source_content_next(&change)) {
        if (is_of_a_library(change.site))
            continue;
        callsite_capture(&stack);
        context_host_changed(session_context(),
                             &(struct context_host_change){
                                 .lane = thread_lane(),
                                 .site = callsite_intern(&stack, detector_host_change, NULL, 0),
                                 .op_lane = epoch_lane(change.epoch),
                                 .op_sequence = epoch_sequence(change.epoch),
                                 .op = change.number,
                                 .op_site = change.site,
                                 .op_level = change.level,
                                 .access = {.base = change.bytes.start,
                                            .bytes = change.bytes.end - change.bytes.start,
                                            .kind = CSAN_READ,
                                            .argument = change.argument}});
    }
}

/* ---- Life ---- */

/* The embedded device touches memory as the host does. */
static void watch_device(void)
{
    static const struct device_work_watch watch = {page_guard_pause, page_guard_resume};
    void (*subscribe)(const struct device_work_watch *);
    *(void **)&subscribe = driver_function("device_work_subscribe");
    if (subscribe)
        subscribe(&watch);
}

void host_access_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (host_access_guards)
        pthread_once(&once, watch_device);
}

static void start_hashes(void)
{
    const uint64_t microseconds = (uint64_t)session_all_options()->host_guard_us;
    hashes = source_content_start(microseconds);
    if (hashes)
        host_function_on_unordered = source_content_forget_all;
    else
        session_note("what sources of copies hold is not compared: process_vm_writev is not "
                     "allowed here");
}

static void watch_memory(csan_context *context)
{
    static const struct host_watch watch = {
        .touched = touched_guarded, .learned = learned_guarded, .freed = freed_guarded};
    static const struct host_watch hashing = {.touched = touched_guarded,
                                              .learned = learned_guarded,
                                              .freed = freed_guarded,
                                              .lost = lost_track,
                                              .report = report_changes};
    if (hashes || host_access_guards)
        context_watch_host(context, hashes ? &hashing : &watch);
}

static void start_guard(void)
{
    const struct options *options = session_all_options();
    page_guard_start((struct page_guard_limits){.bytes = (uint64_t)options->host_guard_mb << 20,
                                                .microseconds = (uint64_t)options->host_guard_us});
    if (!host_fault_start(check)) {
        session_note("the host's loads and stores are not seen: signals cannot be handled here");
        return;
    }
    host_access_guards = true;
}

/* Announced by instrumented code, before the instruction at `pc`. */
static void announced(const void *address, size_t bytes, int writes, const void *pc)
{
    const struct range range = {(uintptr_t)address, (uintptr_t)address + bytes};
    struct callsite_stack stack;
    if (guard_self.depth || guard_self.locked || !pending_ranges_meet(range, writes != 0) ||
        !guard_enter())
        return;
    callsite_capture(&stack);
    stack_from(&stack, (uintptr_t)pc, (uintptr_t)pc);
    enter_access(callsite_intern(&stack, name_of(writes), NULL, 0), range, writes != 0);
    guard_leave();
}

static void thread_releases(const void *key)
{
    thread_synchronizes(key, true);
}

static void thread_acquires(const void *key)
{
    thread_synchronizes(key, false);
}

static void start_instrumented(csan_context *context)
{
    static const struct host_watch watch = {
        .touched = touched_announced, .learned = learned_announced, .freed = freed_announced};
    struct csan_host_table table = {
        .written = pending_written, .touched = pending_touched, .access = announced};
    if (!csan_host_activate) {
        session_note("option host=instrumented: no code of the program is compiled with "
                     "-fsanitize=thread and linked with -lcsan_host");
        return;
    }
    if (!session_options()->host_observed) {
        table.release = thread_releases;
        table.acquire = thread_acquires;
    }
    context_watch_host(context, &watch);
    csan_host_activate(&table);
    instrumented = true;
}

void host_access_start(csan_context *context)
{
    const char *how = session_all_options()->host;
    const bool both = strcmp(how, "guard+content") == 0;
    if (strcmp(how, "instrumented") == 0)
        start_instrumented(context);
    if (both || strcmp(how, "content") == 0)
        start_hashes();
    if (both || strcmp(how, "guard") == 0)
        start_guard();
    watch_memory(context);
}

void host_access_forked(void)
{
    if (instrumented)
        pending_ranges_stop();
    instrumented = false;
    if (hashes)
        source_content_stop();
    hashes = false;
    if (!host_access_guards)
        return;
    host_access_guards = false;
    page_guard_stop();
    host_fault_stop();
}

bool host_access_summary(char *text, size_t bytes)
{
    const struct page_guard_counts counts = page_guard_counts();
    const struct source_content_counts sources = source_content_counts();
    int length = 0;
    if (host_access_guards)
        length = snprintf(text, bytes,
                          "host memory: %" PRIu64 " ops guarded, %" PRIu64 " not (limits), %" PRIu64
                          " accesses not checked",
                          counts.ops, counts.skipped, counts.unchecked);
    if (hashes && length >= 0 && (size_t)length < bytes)
        snprintf(text + length, bytes - (size_t)length,
                 "%s%" PRIu64 " sources hashed, %" PRIu64 " not (limits), %" PRIu64 " not compared",
                 length ? "; " : "host memory: ", sources.sources, sources.skipped, sources.silent);
    return host_access_guards || hashes;
}
