/* See failure.h. */
#include "runtime/hook/failure/failure.h"
#include "csan/detector/context.h"
#include "csan/base/text.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/operator/index_range.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/failure/launch_ring.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/observe/trace.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TEXT_BYTES = 1024,
    REPORT_BYTES = 4096,
    THREAD_BYTES = 96,
    FAILURES_MOST = 64,
    NOTED_MS = 20
};

/* One that is not reported yet, with copies of its strings. */
struct seen {
    struct device_failure failure;
    uint64_t ordinal;
    char what[128], kernel[4096], function[TEXT_BYTES], file[TEXT_BYTES], message[TEXT_BYTES];
    char assertion[TEXT_BYTES];
    struct seen *next;
};

uint32_t failures_seen;
static uint32_t failures_reported; /* an error reached the program, and a finding says so; atomic */

static struct {
    pthread_mutex_t mutex;
    struct seen *first;
    unsigned count; /* ever */
} failures = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* See failure_text. */
static struct {
    uint32_t code; /* 0: there is none; atomic */
    char text[REPORT_BYTES];
} reported_failure;

/* ---- Notifications ---- */

static const char *keep(char *room, size_t bytes, const char *text)
{
    if (!text)
        return NULL;
    snprintf(room, bytes, "%s", text);
    return room;
}

void failure_add(const struct device_failure *failure, uint64_t ordinal)
{
    struct seen *seen = calloc(1, sizeof *seen);
    if (!seen)
        return;
    seen->failure = *failure;
    seen->ordinal = ordinal;
    seen->failure.what = keep(seen->what, sizeof seen->what, failure->what);
    seen->failure.kernel = keep(seen->kernel, sizeof seen->kernel, failure->kernel);
    seen->failure.function = keep(seen->function, sizeof seen->function, failure->function);
    seen->failure.file = keep(seen->file, sizeof seen->file, failure->file);
    seen->failure.assertion = keep(seen->assertion, sizeof seen->assertion, failure->assertion);
    seen->failure.message = keep(seen->message, sizeof seen->message, failure->message);
    lock_order_take(LOCK_FAILURES, &failures.mutex);
    struct seen **end = &failures.first;
    while (*end)
        end = &(*end)->next;
    if (failures.count++ < FAILURES_MOST)
        *end = seen;
    else
        free(seen);
    __atomic_store_n(&failures_seen, 1, __ATOMIC_RELEASE);
    lock_order_give(LOCK_FAILURES, &failures.mutex);
}

static void device_failed(void *user, const struct device_failure *failure)
{
    (void)user;
    if (session_state == SESSION_ON)
        failure_add(failure, 0);
}

static void start(void)
{
    void (*subscribe)(device_failure_done *, void *);
    if (!session_options()->errors)
        return;
    *(void **)&subscribe = driver_function("device_failure_subscribe");
    if (subscribe)
        subscribe(device_failed, NULL);
}

void failure_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

static struct seen *take_all(void)
{
    lock_order_take(LOCK_FAILURES, &failures.mutex);
    struct seen *all = failures.first;
    failures.first = NULL;
    lock_order_give(LOCK_FAILURES, &failures.mutex);
    return all;
}

/* ---- Reporting ---- */

static int access_of(int access)
{
    return access == DEVICE_FAILURE_READ     ? CSAN_READ
           : access == DEVICE_FAILURE_WRITE  ? CSAN_WRITE
           : access == DEVICE_FAILURE_ATOMIC ? CSAN_ATOMIC
                                             : 0;
}

/* What the program knows the error by. */
static const char *code_name(CUresult code)
{
    static void *function;
    PFN_cuGetErrorName_v6000 name =
        (PFN_cuGetErrorName_v6000)driver_function_cached(&function, "cuGetErrorName");
    const char *text = NULL;
    return code != CUDA_SUCCESS && name && name(code, &text) == CUDA_SUCCESS ? text : NULL;
}

/* The call in progress, by which the program learns of it; NULL: it has not yet. */
struct reporting_call {
    const char *call;
    CUresult code;
    csan_site site;
};

/* NULL: the sizes are not known. */
static const uint32_t *known(const uint32_t sizes[3])
{
    return sizes[0] ? sizes : NULL;
}

static void sentence_add(struct text *detail, const char *sentence)
{
    text_add(detail, "%s%s", detail->length ? " " : "", sentence);
}

/* What else there is to say of the launch. */
static void detail_add(struct text *detail, const struct device_failure *failure, bool found,
                       uint64_t indices)
{
    if (failure->assertion)
        text_add(detail, "Assertion `%s` failed.", failure->assertion);
    index_range_add(detail, indices);
    if (!found)
        sentence_add(detail, "csan did not see the launch of this kernel.");
    else if (!failure->has_thread && failure->access)
        sentence_add(detail,
                     "Which thread it was, and at which address, the GPU does not say: the thread "
                     "had gone on, or ended. The launch is the newest of this kernel.");
}

/* Of the finding made since the mark, for the exception that a framework is about to raise. */
static void keep_text(uint64_t mark, CUresult code)
{
    struct csan_race race;
    if (reported_failure.code ||
        csan_context_findings_since(session_context(), mark, &race, 1) == 0 || !race.framework ||
        !race.error || !session_headline(&race, reported_failure.text, TEXT_BYTES))
        return;
    const struct csan_error *error = race.error;
    char *end = reported_failure.text + strlen(reported_failure.text);
    if (error->has_thread)
        end += snprintf(end, THREAD_BYTES, ", block (%u,%u,%u), thread (%u,%u,%u)", error->block[0],
                        error->block[1], error->block[2], error->thread[0], error->thread[1],
                        error->thread[2]);
    if (error->detail && error->detail[0])
        snprintf(end, (size_t)(reported_failure.text + sizeof reported_failure.text - end), ". %s",
                 error->detail);
    __atomic_store_n(&reported_failure.code, (uint32_t)code, __ATOMIC_RELEASE);
}

const char *failure_text(int code)
{
    const uint32_t known = __atomic_load_n(&reported_failure.code, __ATOMIC_ACQUIRE);
    return known && (!code || known == (uint32_t)code) ? reported_failure.text : NULL;
}

/* Another thread's launch may have failed before its hook noted it: it is given some time. */
static bool launch_find(const struct launch_ring_query *query, struct launch_ring_entry *launch,
                        uint64_t *since)
{
    for (unsigned waited = 0; waited < NOTED_MS; waited++) {
        if (launch_ring_find(query, launch, since))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        deferred_flush();
    }
    return launch_ring_find(query, launch, since);
}

static void report(const struct seen *seen, const struct reporting_call *reporting)
{
    const struct device_failure *failure = &seen->failure;
    char place[TEXT_BYTES + 16];
    struct launch_ring_entry launch = {.lane = CSAN_HOST};
    uint64_t since = 0;
    const char *shown = failure->kernel ? kernel_shown_name(failure->kernel) : NULL;
    const bool found = launch_find(&(struct launch_ring_query){.id = failure->launch,
                                                               .symbol = failure->kernel,
                                                               .shown = shown,
                                                               .grid = known(failure->grid),
                                                               .block = known(failure->block_size),
                                                               .ordinal = seen->ordinal},
                                   &launch, &since);
    struct text detail = {0};
    detail_add(&detail, failure, found, found ? launch.indices : 0);
    struct context_finding finding = {
        .kind = CSAN_RACE_DEVICE_EXCEPTION,
        .lane = launch.lane,
        .site = found ? launch.site
                      : csan_site_intern(session_context(), shown ? shown : "a kernel", NULL, 0,
                                         NULL, 0),
        .level = CSAN_LEVEL_RANGES,
        .access = access_of(failure->access),
        .address = failure->address,
        .bytes = !failure->has_address ? 0
                 : failure->bytes      ? failure->bytes
                                       : 1,
        .reported = reporting ? reporting->site : 0,
        .error = {.exception = failure->what,
                  .code = code_name(failure->code || !reporting ? (CUresult)failure->code
                                                                : reporting->code),
                  .detail = detail.data ? detail.data : "",
                  .function = failure->function,
                  .has_thread = failure->has_thread,
                  .device = failure->device,
                  .threads = failure->threads,
                  .reported_by = reporting ? reporting->call : NULL,
                  .launches_since = since}};
    memcpy(finding.error.grid, failure->grid, sizeof failure->grid);
    memcpy(finding.error.block_size, failure->block_size, sizeof failure->block_size);
    memcpy(finding.error.block, failure->block, sizeof failure->block);
    memcpy(finding.error.thread, failure->thread, sizeof failure->thread);
    if (failure->file) {
        snprintf(place, sizeof place, "%s:%u", failure->file, failure->line);
        finding.error.place = place;
    }
    const uint64_t mark = csan_context_race_mark(session_context());
    context_find(session_context(), &finding);
    if (reporting)
        keep_text(mark, reporting->code);
    text_free(&detail);
}

/* What the driver calls the error, where nobody saw more. */
static const char *words_of(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        return "illegal memory access";
    case CUDA_ERROR_MISALIGNED_ADDRESS:
        return "misaligned memory access";
    case CUDA_ERROR_ASSERT:
        return "failed assert";
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        return "illegal instruction";
    case CUDA_ERROR_INVALID_PC:
        return "call or jump to an address without code";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return "kernel that ran too long";
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
        return "stack overflow";
    default:
        return "failed launch";
    }
}

/* No source reported which kernel failed. The launches that had not finished narrow it: it is one
 * of them, and in each stream the first. */
enum { SUSPECTS = 8, NEWEST = 4 };

static const char *name_of(const struct launch_ring_entry *launch)
{
    const void *const *frames;
    size_t depth;
    const char *name = context_site_stack(session_context(), launch->site, &frames, &depth);
    return name ? name : "a kernel";
}

static void add_suspects(struct text *detail, const struct launch_ring_entry *suspects,
                         size_t count)
{
    text_add(detail,
             "Which kernel failed is not known for certain: it is one of those that had not "
             "finished, ");
    for (size_t i = 0; i < count; i++)
        text_add(detail, "%s%s", i ? ", " : "", name_of(&suspects[i]));
    text_add(detail, count == SUSPECTS ? ", or another. " : ". ");
}

static void add_newest(struct text *detail)
{
    const char *names[NEWEST];
    const size_t count = launch_ring_newest(names, NEWEST);
    text_add(detail, "Which kernel failed is not known. ");
    for (size_t i = 0; i < count; i++)
        text_add(detail, "%s%s%s", i ? ", " : "The newest launches were of: ", names[i],
                 i + 1 == count ? ". " : "");
}

static void add_cause(struct text *detail)
{
    text_add(detail, trace_has_tools()
                         ? "The driver writes no GPU core dump while csan uses its tools interface "
                           "to learn kernels: with CSAN_OPTIONS=access=ptx the report says thread, "
                           "line and address."
                         : "The driver wrote no GPU core dump that csan could read.");
}

static void report_unknown(const struct reporting_call *reporting)
{
    struct launch_ring_entry suspects[SUSPECTS];
    struct text detail = {0};
    deferred_flush(); /* the launch may be in it */
    const size_t count = launch_ring_unfinished(suspects, SUSPECTS);
    if (count > 1)
        add_suspects(&detail, suspects, count);
    else if (count == 0)
        add_newest(&detail);
    else if (suspects[0].failed)
        text_add(&detail, "csan waited for it alone, and it failed. ");
    else
        text_add(&detail, "It is the first launch of its stream that had not finished. ");
    add_cause(&detail);
    struct context_finding finding = {.kind = CSAN_RACE_DEVICE_EXCEPTION,
                                      .lane = count == 1 ? suspects[0].lane : CSAN_HOST,
                                      .site = count == 1 ? suspects[0].site : reporting->site,
                                      .level = count == 1 ? CSAN_LEVEL_RANGES : CSAN_LEVEL_LIBRARY,
                                      .reported = reporting->site,
                                      .error = {.exception = words_of(reporting->code),
                                                .code = code_name(reporting->code),
                                                .detail = detail.data ? detail.data : "",
                                                .reported_by = reporting->call}};
    if (count == 1) {
        finding.error.launches_since = launch_ring_since(&suspects[0]);
        memcpy(finding.error.grid, suspects[0].grid, sizeof suspects[0].grid);
        memcpy(finding.error.block_size, suspects[0].block, sizeof suspects[0].block);
    }
    const uint64_t mark = csan_context_race_mark(session_context());
    context_find(session_context(), &finding);
    keep_text(mark, reporting->code);
    text_free(&detail);
}

static void report_all(const struct reporting_call *reporting)
{
    struct seen *seen = take_all(), *next;
    if (seen) {
        deferred_flush(); /* the launch may be in it */
        __atomic_store_n(&failures_reported, 1, __ATOMIC_RELEASE);
    }
    for (; seen; seen = next) {
        next = seen->next;
        report(seen, reporting);
        free(seen);
    }
}

/* Errors that a failed kernel leaves in its context. CUDA Driver API, CUresult: "This leaves the
 * process in an inconsistent state and any further CUDA work will return the same error." */
bool failure_is_lasting(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
        return true;
    default:
        return false;
    }
}

CUresult failure_call_ended(const struct driver_entry *entry, CUresult result, enum dump_wait wait)
{
    if (session_state != SESSION_ON || guard_self.depth || guard_self.hosted || !guard_enter())
        return result;
    result = dump_call_ended(result, wait);
    const bool any = __atomic_load_n(&failures.first, __ATOMIC_ACQUIRE) != NULL;
    if (failure_is_lasting(result) && session_options()->errors &&
        (any || !__atomic_exchange_n(&failures_reported, 1, __ATOMIC_ACQ_REL))) {
        const struct reporting_call reporting = {
            .call = entry->name, .code = result, .site = callsite_of(entry->name, NULL, 0)};
        if (any)
            report_all(&reporting);
        else
            report_unknown(&reporting);
    }
    guard_leave();
    return result;
}

void failure_finish(void)
{
    dump_look_for_users(); /* the driver ends the program behind it, and no call returns the error
                            */
    report_all(NULL);
    dump_finish();
}
