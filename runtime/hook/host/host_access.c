/* See host_access.h. */
#include "runtime/hook/host/host_access.h"
#include "csan/detector/host_watch.h"
#include "runtime/device/driver/work.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/host/host_fault.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/pending_ranges.h"
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

/* ---- What the detector says ---- */

static bool is_over(void *user, uint64_t epoch)
{
    return host_watch_knows(user, epoch);
}

static void touched_guarded(void *user, uint64_t epoch, struct range bytes, bool writes)
{
    (void)user;
    page_guard_add(epoch, bytes, writes);
}
static void learned_guarded(void *user, const struct order *order)
{
    (void)user;
    page_guard_release(is_over, (void *)order);
}
static void freed_guarded(void *user, struct range bytes)
{
    (void)user;
    page_guard_forget(bytes);
}

static void touched_announced(void *user, uint64_t epoch, struct range bytes, bool writes)
{
    (void)user;
    pending_ranges_add(epoch, bytes, writes);
}
static void learned_announced(void *user, const struct order *order)
{
    (void)user;
    pending_ranges_release(is_over, (void *)order);
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

static void start_guard(csan_context *context)
{
    static const struct host_watch watch = {touched_guarded, learned_guarded, freed_guarded, NULL};
    const struct options *options = session_all_options();
    page_guard_start((struct page_guard_limits){.bytes = (uint64_t)options->host_guard_mb << 20,
                                                .microseconds = (uint64_t)options->host_guard_us});
    if (!host_fault_start(check)) {
        session_note("the host's loads and stores are not seen: signals cannot be handled here");
        return;
    }
    context_watch_host(context, &watch);
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
    static const struct host_watch watch = {touched_announced, learned_announced, freed_announced,
                                            NULL};
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
    if (strcmp(how, "guard") == 0)
        start_guard(context);
    else if (strcmp(how, "instrumented") == 0)
        start_instrumented(context);
}

void host_access_forked(void)
{
    if (instrumented)
        pending_ranges_stop();
    instrumented = false;
    if (!host_access_guards)
        return;
    host_access_guards = false;
    page_guard_stop();
    host_fault_stop();
}

bool host_access_summary(char *text, size_t bytes)
{
    if (!host_access_guards)
        return false;
    const struct page_guard_counts counts = page_guard_counts();
    snprintf(text, bytes,
             "host memory: %" PRIu64 " ops guarded, %" PRIu64 " not (limits), %" PRIu64
             " accesses not checked",
             counts.ops, counts.skipped, counts.unchecked);
    return true;
}
