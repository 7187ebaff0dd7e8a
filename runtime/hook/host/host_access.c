/* See host_access.h. */
#include "runtime/hook/host/host_access.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "csan/detector/detect.h"
#include "csan/detector/host_watch.h"
#include "runtime/device/driver/work.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/host/code_owner.h"
#include "runtime/hook/host/device_fault.h"
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/host/host_fault.h"
#include "runtime/hook/host/host_futex.h"
#include "runtime/hook/host/host_text.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/hook/host/source_content.h"
#include "runtime/hook/host/unguarded.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/thread.h"
#include "runtime/instrumented/instrumented.h"

#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

bool host_access_guards, host_access_calls;
static bool instrumented; /* libcsan_host.so announces accesses */
static bool hashes;       /* what sources hold is looked at */
static bool handler_lost; /* SIGSEGV no longer comes to csan */
void (*host_access_on_change)(uint64_t op, csan_site site);
/* Written for work that csan's thread processes. So they are in another line of the processor's
 * caches than what calls of the C library read. */
static struct {
    _Alignas(64) uint64_t pending; /* how often the detector named work that is_pending; atomic */
    uint32_t asked;                /* how often is_still_handled was; atomic */
} seen;
static __thread struct host_access_guarded guarded
    __attribute__((tls_model("initial-exec"))); /* of the ops that the thread entered */

/* ---- What the detector says ---- */

static bool is_over(void *user, uint64_t epoch)
{
    return host_watch_knows(user, epoch);
}

static bool is_over_for_anyone(void *user, uint64_t epoch)
{
    return host_watch_anyone_knows(user, epoch);
}

/* Who sets a handler of SIGSEGV past the C library gets csan's faults, too. So csan looks at times
 * whether its own handler is still there. */
static bool is_still_handled(void)
{
    enum { LOOKS = 16 };
    if (__atomic_fetch_add(&seen.asked, 1, __ATOMIC_RELAXED) % LOOKS != 0 ||
        host_fault_is_handled())
        return true;
    host_access_guards = host_access_calls = false;
    handler_lost = true;
    page_guard_stop();
    return false;
}

/* Work that an access of the host's may meet, and that of a call before it returned. */
static bool is_pending(const struct host_touch *touch)
{
    return touch->exact && (touch->by == HOST_TOUCH_STREAM || touch->by == HOST_TOUCH_CALL);
}

static void pending_is_seen(void)
{
    __atomic_fetch_add(&seen.pending, 1, __ATOMIC_RELEASE);
}

static __thread enum host_access_call in_call __attribute__((tls_model("initial-exec")));

void host_access_before_write(uint64_t memory, uint64_t bytes)
{
    if (__builtin_expect(hashes, 0))
        source_content_forget((struct range){memory, memory + bytes});
}

void host_access_in_call(enum host_access_call call)
{
    in_call = call;
}

bool host_access_concerns(const struct csan_access *accesses, size_t count)
{
    for (size_t i = 0; host_access_guards && i < count; i++)
        if (host_blocks_has(accesses[i].base))
            return true;
    return false;
}

/* The host may poll it. */
static bool is_word(const struct host_touch *touch)
{
    enum { WORD_BYTES = 8 };
    return touch->atomic && touch->bytes.end - touch->bytes.start <= WORD_BYTES;
}

/* A page that is guarded cannot be read. */
static bool touched_guarded(void *user, const struct host_touch *touch)
{
    bool changed = false;
    (void)user;
    if (hashes && (touch->writes || in_call != HOST_CALL_WAITED))
        changed = source_content_touched(touch, in_call == HOST_CALL_COPY);
    if (!host_access_guards || touch->by == HOST_TOUCH_HOST)
        return changed;
    enum page_guard_part part = PAGE_GUARD_NONE;
    pending_is_seen();
    if (is_pending(touch) && !touch->pageable && !touch->request && is_still_handled())
        part = is_word(touch) ? page_guard_add_word(touch->epoch, touch->bytes, touch->writes)
                              : page_guard_add_strided(touch->epoch, touch->lmad, touch->writes);
    if (!touch->late)
        (*(part >= PAGE_GUARD_SAMPLED ? &guarded.ends : &guarded.other))++;
    return changed;
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
    if (host_access_guards) {
        page_guard_forget(bytes);
        unguarded_remove(bytes);
    }
}
static void lost_track(void *user)
{
    (void)user;
    source_content_forget_all();
}

static bool touched_announced(void *user, const struct host_touch *touch)
{
    (void)user;
    if (is_pending(touch)) {
        pending_is_seen();
        (is_word(touch) ? pending_ranges_add_word : pending_ranges_add)(touch->epoch, touch->bytes,
                                                                        touch->writes);
    }
    return false;
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

struct host_access_guarded host_access_guarded(void)
{
    return guarded;
}

bool host_access_all_guarded(struct host_access_guarded before)
{
    const struct host_access_guarded now = host_access_guarded();
    return host_access_guards && now.ends != before.ends && now.other == before.other;
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

static __thread struct {
    struct range bytes;
    bool writes;
    uint64_t seen; /* of seen.pending */
} declared __attribute__((tls_model("initial-exec")));

void host_access_declared(struct range bytes, bool writes)
{
    declared.bytes = bytes;
    declared.writes = writes;
    declared.seen = __atomic_load_n(&seen.pending, __ATOMIC_ACQUIRE);
}

static bool is_declared(struct range bytes, bool writes)
{
    return bytes.start >= declared.bytes.start && bytes.end <= declared.bytes.end &&
           (declared.writes || !writes) &&
           declared.seen == __atomic_load_n(&seen.pending, __ATOMIC_ACQUIRE);
}

/* What the C library does inside is not checked: it may hold locks that csan would want. Those of
 * its functions for text touch no memory of the program's with such a lock. */
static bool is_of_the_program(const struct host_fault *fault, uint64_t text)
{
    if (code_is_the_programs(fault->pc, fault->caller))
        return true;
    return text && code_is_in_c_library(fault->pc, fault->caller) && code_is_the_programs(text, 0);
}

/* A load of a text may go past its end: so many bytes at once does the C library load. */
static struct range within_text(struct range bytes)
{
    page_guard_open(bytes, false);
    const char *const from = (const char *)(uintptr_t)bytes.start;
    const char *const end = memchr(from, 0, bytes.end - bytes.start);
    return end ? (struct range){bytes.start, (uintptr_t)end + 1} : bytes;
}

/* With host_order=threads a page is closed as long as any thread does not know that the op is over:
 * this one may. */
static bool is_known_here(const struct host_fault *fault)
{
    enum { OPS_MOST = 8 };
    uint64_t epochs[OPS_MOST];
    if (session_options()->host_observed)
        return false;
    const size_t count = page_guard_epochs(fault->bytes, fault->writes, epochs, OPS_MOST);
    if (count > OPS_MOST)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!context_knows(session_context(), thread_lane(), epochs[i]))
            return false;
    return true;
}

static enum host_fault_checked check(const struct host_fault *fault)
{
    struct callsite_stack stack;
    if (is_declared(fault->bytes, fault->writes))
        return HOST_FAULT_CHECKED;
    const uint64_t text = host_text_caller(fault->stack);
    if (guard_self.depth || guard_self.locked || !is_of_the_program(fault, text) || !guard_enter())
        return HOST_FAULT_UNCHECKED;
    if (is_known_here(fault)) {
        guard_leave();
        return HOST_FAULT_ORDERED;
    }
    callsite_capture(&stack);
    if (text) /* csan's own function is between */
        stack_from(&stack, text, text);
    stack_from(&stack, fault->pc, fault->pc + 1);
    enter_access(callsite_intern(&stack, name_of(fault->writes), NULL, 0),
                 text && !fault->writes ? within_text(fault->bytes) : fault->bytes, fault->writes);
    guard_leave();
    return HOST_FAULT_CHECKED;
}

static void left_out(struct range bytes)
{
    if (host_access_guards)
        page_guard_open(bytes, true);
}

void host_access_enter(struct range bytes, bool writes, const char *name)
{
    if (is_declared(bytes, writes))
        return;
    if (guard_self.depth || guard_self.locked || !guard_enter()) {
        left_out(bytes);
        return;
    }
    struct callsite_stack stack;
    callsite_capture(&stack);
    if (code_runs_for_nccl() || code_is_a_librarys(stack.frames, stack.count))
        left_out(bytes);
    else
        enter_access(callsite_intern(&stack, name, NULL, 0), bytes, writes);
    guard_leave();
}

/* ---- Sources that changed ---- */

static bool is_of_a_library(csan_site site)
{
    const void *const *frames;
    size_t count;
    context_site_stack(session_context(), site, &frames, &count);
    return code_is_a_librarys(frames, count);
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
        const csan_site site = callsite_intern(&stack, detector_host_change, NULL, 0);
        if (host_access_on_change)
            host_access_on_change(change.number, site);
        context_host_changed(
            session_context(),
            &(struct context_host_change){.lane = thread_lane(),
                                          .site = site,
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

static void watch_faults(void)
{
    if (device_fault_possible())
        session_watch_faults();
}

/* Where a GPU walks the host's page tables, it would fault on guarded pages itself (CUDA Driver
 * API, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES). */
static bool devices_use_host_pages(void)
{
    CUresult (*count_devices)(int *);
    CUresult (*get_attribute)(int *, CUdevice_attribute, CUdevice);
    int count = 0, uses = 0;
    *(void **)&count_devices = driver_function("cuDeviceGetCount");
    *(void **)&get_attribute = driver_function("cuDeviceGetAttribute");
    if (!count_devices || !get_attribute || count_devices(&count) != CUDA_SUCCESS)
        return false;
    for (CUdevice device = 0; device < count && !uses; device++)
        if (get_attribute(&uses, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
                          device) != CUDA_SUCCESS)
            uses = 0;
    return uses != 0;
}

static void stop_guard(void)
{
    host_access_guards = host_access_calls = false;
    page_guard_stop();
    host_fault_stop();
}

static void begin_guard(void)
{
    if (devices_use_host_pages()) {
        stop_guard();
        session_note("the host's loads and stores are not seen: this machine's GPU uses the "
                     "host's page tables, so that no page may be guarded; host=instrumented and "
                     "csan_host_reads work");
        return;
    }
    watch_device();
}

void host_access_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT, faults = PTHREAD_ONCE_INIT;
    pthread_once(&faults, watch_faults);
    if (host_access_guards)
        pthread_once(&once, begin_guard);
}

/* Go makes its system calls itself, and they would fail on guarded pages. Its linker leaves a note
 * in what it links. */
static int has_go_note(struct dl_phdr_info *object, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        const char *at = (const char *)(uintptr_t)(object->dlpi_addr + header->p_vaddr);
        const char *const end = at + header->p_memsz;
        while (header->p_type == PT_NOTE && (size_t)(end - at) >= sizeof(ElfW(Nhdr)) + 4) {
            const ElfW(Nhdr) *note = (const void *)at;
            if (note->n_namesz == 4 && memcmp(note + 1, "Go\0", 4) == 0)
                return 1;
            at += sizeof *note + ((note->n_namesz + 3) & ~3u) + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 0;
}

/* A quarter of what the kernel lets a process have, with two for each that is guarded. */
static uint64_t stretches_most(void)
{
    enum { USUAL = 65530, SHARE = 8 };
    unsigned long most = USUAL;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file && fscanf(file, "%lu", &most) != 1)
        most = USUAL;
    if (file)
        fclose(file);
    return most / SHARE;
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

static void start_guard(void (*before_end)(void))
{
    const struct options *options = session_all_options();
    if (dl_iterate_phdr(has_go_note, NULL)) {
        session_note("the host's loads and stores are not seen: parts of this program are written "
                     "in Go, whose system calls would fail on guarded pages");
        return;
    }
    page_guard_start((struct page_guard_limits){.bytes = (uint64_t)options->host_guard_mb << 20,
                                                .microseconds = (uint64_t)options->host_guard_us,
                                                .stretches = stretches_most()});
    if (!host_fault_start(check, before_end)) {
        session_note("the host's loads and stores are not seen: signals cannot be handled here");
        return;
    }
    host_access_guards = host_access_calls = true;
}

/* Whose code that is does not change, but for libraries that are closed. */
static bool is_the_programs(uint64_t pc)
{
    enum { KEPT = 16 };
    static __thread struct {
        uint64_t pc;
        bool programs;
    } kept[KEPT] __attribute__((tls_model("initial-exec")));
    const size_t at = hash_mix(0, pc) % KEPT;
    if (kept[at].pc != pc) {
        kept[at].programs = code_is_the_programs(pc, 0);
        kept[at].pc = pc;
    }
    return kept[at].programs;
}

/* Announced by instrumented code, before the instruction at `pc`. */
static void announced(const void *address, size_t bytes, int writes, const void *pc)
{
    const struct range range = {(uintptr_t)address, (uintptr_t)address + bytes};
    struct callsite_stack stack;
    /* Whose it is comes first: csan itself may copy memory with the lock that the next asks for. */
    if (guard_self.depth || guard_self.locked || !is_the_programs((uintptr_t)pc - 1))
        return;
    const enum pending_ranges_met met = pending_ranges_meet(range, writes != 0);
    if (met == PENDING_WORD)
        pending_ranges_forget_all();
    if (met != PENDING_OP || is_declared(range, writes != 0) || !guard_enter())
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

/* The order that announced atomic operations make is wanted, whatever shows the accesses. */
static void follow_order(struct csan_host_table *table)
{
    table->release = thread_releases;
    table->acquire = thread_acquires;
}

static void start_instrumented(csan_context *context)
{
    static const struct host_watch watch = {
        .touched = touched_announced, .learned = learned_announced, .freed = freed_announced};
    struct csan_host_table table = {.access = announced};
    if (!csan_host_activate) {
        session_note("option host=instrumented: no code of the program is compiled with "
                     "-fsanitize=thread and linked with -lcsan_host");
        return;
    }
    if (!session_options()->host_observed)
        follow_order(&table);
    pending_ranges_start(csan_host_activate(&table));
    context_watch_host(context, &watch);
    instrumented = host_access_calls = true;
}

/* Nothing is ever pending, so that no access is announced. */
static void start_order(void)
{
    struct csan_host_table table = {.access = announced};
    follow_order(&table);
    if (csan_host_activate)
        csan_host_activate(&table);
}

void host_access_start(csan_context *context, void (*before_end)(void))
{
    const char *how = session_all_options()->host;
    const bool both = strcmp(how, "guard+content") == 0;
    host_futex_follows = !session_options()->host_observed;
    if (strcmp(how, "instrumented") == 0)
        start_instrumented(context);
    else if (!session_options()->host_observed)
        start_order();
    if (both || strcmp(how, "content") == 0)
        start_hashes();
    if (both || strcmp(how, "guard") == 0)
        start_guard(before_end);
    watch_memory(context);
}

void host_access_forked(void)
{
    host_access_calls = host_futex_follows = false;
    if (instrumented)
        pending_ranges_stop();
    instrumented = false;
    if (hashes)
        source_content_stop();
    hashes = false;
    if (!host_access_guards)
        return;
    host_access_guards = false;
    unguarded_forked();
    page_guard_forked();
    host_fault_stop();
}

bool host_access_summary(char *text, size_t bytes)
{
    const struct page_guard_counts counts = page_guard_counts();
    const struct source_content_counts sources = source_content_counts();
    const bool in_part = counts.skipped + counts.refused + counts.unchecked > 0 || handler_lost;
    const bool guard = (host_access_guards || handler_lost) &&
                       (in_part || hashes || session_options()->verbosity > 0);
    int length = 0;
    if (guard)
        length =
            snprintf(text, bytes,
                     "host memory: %" PRIu64 " ops guarded (%" PRIu64 " of them in part), %" PRIu64
                     " not guarded (%" PRIu64 " by the limits, %" PRIu64
                     " in memory that cannot be guarded), %" PRIu64 " access%s not checked",
                     counts.ops, counts.in_part, counts.skipped + counts.refused, counts.skipped,
                     counts.refused, counts.unchecked, counts.unchecked == 1 ? "" : "es");
    if (handler_lost && (size_t)length < bytes)
        length += snprintf(text + length, bytes - (size_t)length,
                           "; no page is guarded since the program set a handler of SIGSEGV past "
                           "the C library");
    if (hashes && length >= 0 && (size_t)length < bytes)
        snprintf(text + length, bytes - (size_t)length,
                 "%s%" PRIu64 " sources hashed, %" PRIu64 " not hashed (limits), %" PRIu64
                 " not compared",
                 length ? "; " : "host memory: ", sources.sources, sources.skipped, sources.silent);
    const uint64_t dropped = pending_ranges_dropped();
    if (dropped)
        snprintf(text, bytes,
                 "host memory: %" PRIu64
                 " range%s not looked at, since too many ops were pending at once",
                 dropped, dropped == 1 ? " was" : "s were");
    return guard || hashes || dropped;
}
