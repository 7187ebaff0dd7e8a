/* csan's life in the process. See process.h. */
#include "runtime/hook/run/process.h"
#include "csan/detector/context.h"
#include "csan/report/finding.h"
#include "csan/base/output.h"
#include "csan/report/report.h"
#include "csan/stack/stack_source.h"
#include "runtime/hook/run/added_order.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/interpose/call_watch.h"
#include "runtime/hook/run/delivery.h"
#include "runtime/hook/state/device_name.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/run/process_exit.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/run/fatal_signal.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/run/injection.h"
#include "runtime/hook/failure/leaks.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_program.h"
#include "runtime/hook/library/library.h"
#include "runtime/hook/observe/range_verifier.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/run/process_tree.h"
#include "runtime/hook/run/recorder.h"
#include "runtime/hook/run/run_log.h"
#include "runtime/hook/failure/out_of_memory.h"
#include "runtime/hook/run/summary.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/python/frames.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct race_handler {
    process_race_handler *function;
    void *user;
};

static struct {
    pthread_once_t once, begun;
    csan_context *context;
    uint32_t backlog; /* as process_puts_off; atomic */
    struct report_sink *report;
    struct race_handler handler; /* of a framework's adapter */
    bool failed;                 /* a race was found that makes the program fail */
    bool restarted; /* forked from a process that had not used CUDA, which said all there is to say
                     */
} process = {.once = PTHREAD_ONCE_INIT, .begun = PTHREAD_ONCE_INIT};

csan_context *process_context(void)
{
    return process.context;
}

void process_note(const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!delivery_note(line))
        report_note(process.report, "%s", line);
}

void process_note_stack(const void *const *frames, size_t frame_count, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!delivery_note_stack(frames, frame_count, line))
        report_note_stack(process.report, frames, frame_count, line);
}

bool process_device_line(const char *path, uint64_t address, char *file, size_t bytes,
                         uint32_t *line)
{
    return report_device_line(process.report, path, address, file, bytes, line);
}

bool process_headline(const struct csan_race *race, char *text, size_t bytes)
{
    struct finding *finding = report_finding(process.report, race);
    if (finding)
        snprintf(text, bytes, "%s", finding->headline);
    finding_destroy(finding);
    return finding != NULL;
}

static void note_line(const char *line)
{
    process_note("%s", line);
}

/* ---- Races ---- */

/* 1 when races of this kind make the program fail. */
static bool fails(bool possible)
{
    return !possible || strcmp(process_all_options()->fail_on, "possible") == 0;
}

/* A race that is told makes the program fail, if its kind does. */
static void race_counts(const struct csan_race *race)
{
    if (fails(race->possible))
        __atomic_store_n(&process.failed, true, __ATOMIC_RELAXED);
    process_tree_race(race, fails(race->possible));
    process_publish();
}

static bool race_is_suppressed(const struct csan_race *race)
{
    const bool suppressed = report_suppresses(process.report, race);
    if (suppressed) {
        run_log_race(race, true);
        context_suppress(process.context, race);
    } else {
        context_group(process.context, race);
    }
    return suppressed;
}

static char *race_print(const struct csan_race *race, bool wanted)
{
    char *report = report_race(process.report, race, wanted);
    if (process_options()->drop_sync || process_options()->list_syncs)
        report_race_line(process.report, race);
    return report;
}

/* On csan's thread (delivery.h). */
static void race_deliver(const struct csan_race *race)
{
    if (race_is_suppressed(race))
        return;
    if (report_has_suppressions(process.report))
        race_counts(race); /* else it did when it was found */
    free(race_print(race, false));
    csan_on_report(race);
}

/* abort_on_error=1 ends the program where the race is, whatever a framework would do. */
static bool aborts_at_once(void)
{
    return process_all_options()->abort_on_error && process_all_options()->halt_on_error == 1;
}

static bool has_handler(void)
{
    return process.handler.function && process_all_options()->halt_on_error && !aborts_at_once();
}

/* The handler, which may end the program; else halt_on_error=1 does. */
static void race_ends(const struct csan_race *race, const char *report)
{
    const bool ends = has_handler() && !csan_is_error(race) &&
                      process.handler.function(process.handler.user, race, report);
    if (ends || process_all_options()->halt_on_error != 1)
        return;
    recorder_finish(true, true);
    report_finish(process.report);
    if (aborts_at_once())
        process_exit_abort();
    process_exit_now(process_all_options()->exitcode);
}

static void race_deliver_now(const struct csan_race *race)
{
    if (race_is_suppressed(race))
        return;
    race_counts(race);
    char *report = race_print(race, has_handler() && fails(race->possible));
    csan_on_report(race);
    run_log_race(race, false);
    if (fails(race->possible))
        race_ends(race, report ? report : "");
    free(report);
}

/* Who must know of a race when it is found, on the thread whose call showed it; and who asked that
 * csan do nothing beside the program. */
static bool race_is_wanted_now(void)
{
    const struct options *all = process_all_options();
    return has_handler() || all->halt_on_error == 1 || all->drop_sync || all->list_syncs ||
           run_log_wanted() || !all->backlog || stack_source_waits();
}

/* Called by the detector, one race at a time, on the thread whose call showed it. */
static void race_found(void *user, const struct csan_race *race)
{
    (void)user;
    if (race_is_wanted_now()) {
        guard_self.locked++; /* a signal handler must not wait for the report's lock */
        race_deliver_now(race);
        guard_self.locked--;
        return;
    }
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    if (!report_has_suppressions(process.report))
        race_counts(race);
    pthread_once(&watched, fatal_signal_watch); /* no report is lost by a signal */
    delivery_race(race);
}

static void hurry(void)
{
    report_hurry(process.report);
}

static void note_deliver(const char *line)
{
    report_note(process.report, "%s", line);
}

static void note_stack_deliver(const void *const *frames, size_t frame_count, const char *line)
{
    report_note_stack(process.report, frames, frame_count, line);
}

static const struct delivery_face delivery_face = {race_deliver, note_deliver, note_stack_deliver,
                                                   hurry};

/* More than the helper may take to start and to answer. */
enum { SETTLE_MS = 30000 };

void process_reports_settle(void)
{
    delivery_wait(SETTLE_MS);
}

void process_races_settle(void)
{
    if (report_has_suppressions(process.report))
        delivery_wait(SETTLE_MS);
}

void process_on_race(process_race_handler *function, void *user)
{
    if (function && process_all_options()->halt_on_error) {
        process_puts_nothing_off();
        deferred_flush(); /* on csan's thread, that finds no handler yet */
        process_reports_settle();
    }
    process.handler = (struct race_handler){function, user};
}

/* ---- The start ---- */

/* Nothing is put off where it matters when a race is found, or when an op is told; nor where csan's
 * thread would take its time from the program's. */
static uint32_t backlog_option(void)
{
    const struct options *all = process_all_options();
    const bool at_once = all->halt_on_error == 1 ||
                         (process.handler.function && all->halt_on_error) || all->verify_ranges ||
                         all->drop_sync || all->list_syncs || all->add_order[0] ||
                         run_log_wanted() || strcmp(all->host_order, "observed") != 0;
    cpu_set_t cores;
    const bool alone = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) < 2;
    return at_once || alone ? 0 : (uint32_t)all->backlog;
}

uint32_t process_puts_off(void)
{
    return __atomic_load_n(&process.backlog, __ATOMIC_RELAXED);
}

void process_puts_nothing_off(void)
{
    __atomic_store_n(&process.backlog, 0, __ATOMIC_RELAXED);
}

/* The detector takes its own options by text; these are the ones that are its. */
static csan_context *make_context(void)
{
    char text[512], message[256];
    snprintf(text, sizeof text,
             "pending_limit=%d:pending_timeout_ms=%d:strided_cap=%d:dedup=%d:count_unordered=%d:"
             "errors=%s:init_check=%d",
             process_all_options()->pending_limit, process_all_options()->pending_timeout_ms,
             process_all_options()->strided_cap, process_all_options()->dedup,
             process_all_options()->count_unordered, process_options()->errors ? "auto" : "off",
             process_all_options()->init_check);
    csan_context *context = csan_context_create(text, race_found, NULL, message, sizeof message);
    if (!context)
        fprintf(stderr, "csan: cannot start (%s); the program runs unchecked\n", message);
    return context;
}

/* What a process says and registers once is not said again in its forked children. */
static void child_started(void);
static void start_first(void)
{
    library_check_order();
    pthread_atfork(run_log_flush, NULL, child_started);
    process_exit_start();
}

static void decide(void)
{
    bool on = process_is_wanted(process.restarted);
    if (on) {
        process_options_read();
        process.report = process.restarted ? report_open_hushed(process_all_options())
                                           : report_open(process_all_options(), NULL);
        delivery_start(&delivery_face);
        process.context = process.report ? make_context() : NULL;
        on = process.context != NULL;
    }
    if (on) {
        process_tree_attach();
        learning_program_identify();
        report_hush(process.report, false); /* each process has a recording of its own */
        on = recorder_start(process.context, process_all_options());
        if (!on)
            report_finish(process.report);
        report_hush(process.report, process.restarted);
    }
    if (on) {
        run_log_start();
        process.backlog = backlog_option();
        call_watch_start();
        python_frames_start(process_all_options()->python_stacks, note_line);
        if (!process.restarted)
            start_first();
    } else {
        process_exit_start_off();
    }
    __atomic_store_n(&driver_hooks_on, on ? DRIVER_READY : DRIVER_OFF, __ATOMIC_RELEASE);
    if (on) {
        thread_start();
        report_hush(process.report, false);
    }
}

bool process_start(void)
{
    uint8_t on = __atomic_load_n(&driver_hooks_on, __ATOMIC_ACQUIRE);
    if (__builtin_expect(on == DRIVER_UNDECIDED, 0)) {
        pthread_once(&process.once, decide);
        on = __atomic_load_n(&driver_hooks_on, __ATOMIC_ACQUIRE);
    }
    return on == DRIVER_ON || on == DRIVER_READY;
}

/* ---- The first call, and forked children ---- */

static void begin(void)
{
    process_tree_enter();
    process_exit_begin();
    recorder_begin();
    __atomic_store_n(&driver_hooks_on, DRIVER_ON, __ATOMIC_RELEASE);
}

void process_begin(void)
{
    if (__atomic_load_n(&driver_hooks_on, __ATOMIC_ACQUIRE) == DRIVER_READY)
        pthread_once(&process.begun, begin);
}

void driver_begins(void)
{
    if (guard_self.depth)
        return;
    if (process_start())
        process_begin();
    else
        process_forked_call();
}

/* The state that locks guard may be in the midst of a change, by a thread that is not here. Where
 * CUDA was not used there is none yet: csan starts anew at the child's first call. Else the child
 * could not use CUDA either (CUDA C Programming Guide, "Initialization": a context does not outlive
 * a fork). */
static void child_started(void)
{
    const uint8_t on = __atomic_load_n(&driver_hooks_on, __ATOMIC_ACQUIRE);
    const bool was_on = on == DRIVER_READY || on == DRIVER_UNDECIDED || on == DRIVER_ON;
    const bool unused = was_on && on != DRIVER_ON && !driver_was_passed();
    if (unused) {
        process.once = (pthread_once_t)PTHREAD_ONCE_INIT;
        process.restarted = true;
        thread_forked();
        process_exit_forked();
    }
    if (was_on)
        __atomic_store_n(&driver_hooks_on, unused ? DRIVER_UNDECIDED : DRIVER_FORKED,
                         __ATOMIC_RELEASE);
}

void process_forked_call(void)
{
    static const char line[] =
        "csan: this process was forked after its parent had used CUDA, so its CUDA calls are not "
        "checked; fork before the first CUDA call, or start the child with exec (Python's "
        "multiprocessing: 'spawn')\n";
    uint8_t forked = DRIVER_FORKED;
    if (!__atomic_compare_exchange_n(&driver_hooks_on, &forked, DRIVER_OFF, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    process_tree_forked();
    output_write(STDERR_FILENO, line, sizeof line - 1); /* the report's lock may be held */
}

/* ---- The end ---- */

/* Everything that waits is decided, said and written; for good: the driver goes after csan. */
static void summarize(struct csan_stats *stats)
{
    trace_wait();
    trace_rest();
    csan_context_drain(process.context);
    leaks_find();
    if (!delivery_finish())
        while (!guard_self.locked && !delivery_wait(SETTLE_MS))
            ; /* what csan writes is not read: then it is as if the program wrote it */
    csan_context_stats(process.context, stats);
    learning_finish();
    if (process_all_options()->print_summary && !recorder_only_records())
        report_occurrences(process.report, process.context);
    if (process_all_options()->print_summary && !recorder_only_records())
        summary_print(process.report, stats, process_options()->verbosity);
    report_suppressions(process.report);
    recorder_finish(process_all_options()->print_summary, false);
}

int process_finish(bool *decided)
{
    struct csan_stats stats;
    process_puts_nothing_off(); /* no driver's call is made once the driver goes */
    deferred_flush();
    failure_finish();
    out_of_memory_finish();
    run_log_finish_device();
    summarize(&stats);
    process_publish();
    run_log_close();
    injection_summarize();
    added_order_summarize();
    const int error = report_finish(process.report);
    process_tree_summed_up(error == 0);
    __atomic_store_n(&process.failed,
                     stats.races > 0 || stats.errors > 0 || (stats.possible > 0 && fails(true)),
                     __ATOMIC_RELAXED);
    *decided = process_all_options()->verify_ranges && range_verifier_summarize();
    return *decided ? JUDGE_EXIT_CODE : process_exit_code();
}

void process_publish(void)
{
    char device[DEVICE_NAME_BYTES];
    struct csan_stats stats;
    if (!process_tree_attached())
        return;
    context_counts(process.context, &stats);
    device_name_describe(device);
    process_tree_counts(device, &stats);
}

bool process_aborts(void)
{
    return process_all_options()->abort_on_error && process_all_options()->exitcode &&
           __atomic_load_n(&process.failed, __ATOMIC_RELAXED);
}

int process_exit_code(void)
{
    const bool failed = __atomic_load_n(&process.failed, __ATOMIC_RELAXED);
    return failed && !process_tree_attached() ? process_all_options()->exitcode : 0;
}

void process_races_cleared(void)
{
    __atomic_store_n(&process.failed, false, __ATOMIC_RELAXED);
    process_tree_races_cleared();
}

bool process_summarizes(void)
{
    return process_all_options()->print_summary && !process.restarted && !process_tree_attached();
}

void process_finish_unused(void)
{
    if (process_summarizes() && !recorder_only_records())
        process_note("no CUDA call was made, so nothing was checked");
    else if (process_summarizes())
        process_note("no CUDA call was made, so nothing was recorded");
    report_finish(process.report);
}

/* As early as can be: on_exit handlers run last to first, and csan's is to run after the program's.
 */
__attribute__((constructor)) static void loaded(void)
{
    process_start();
}
