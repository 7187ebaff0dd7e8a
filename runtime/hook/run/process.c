/* csan's life in the process. See process.h. */
#include "runtime/hook/run/process.h"
#include "runtime/hook/session/session.h"
#include "csan/detector/context.h"
#include "csan/base/output.h"
#include "csan/report/report.h"
#include "csan/stack/stack_source.h"
#include "runtime/hook/run/added_order.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/interpose/call_watch.h"
#include "runtime/hook/session/delivery.h"
#include "runtime/hook/state/device_name.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/run/connect.h"
#include "runtime/hook/run/process_exit.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/run/fatal_signal.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/run/held_race.h"
#include "runtime/hook/run/injection.h"
#include "runtime/hook/failure/leaks.h"
#include "runtime/hook/observe/kernel_reads.h"
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
#include "runtime/hook/state/process_link.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/python/frames.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_once_t once, begun;
    bool failed;    /* a race was found that makes the program fail */
    bool restarted; /* forked from a process that had not used CUDA, which said all there is to say
                     */
} process = {.once = PTHREAD_ONCE_INIT, .begun = PTHREAD_ONCE_INIT};

static void note_line(const char *line)
{
    session_note("%s", line);
}

/* ---- Races ---- */

/* 1 when races of this kind make the program fail. */
static bool fails(bool possible)
{
    return !possible || strcmp(session_all_options()->fail_on, "possible") == 0;
}

/* A reported race makes the program fail, if its kind does. */
static void race_counts(const struct csan_race *race)
{
    if (fails(race->possible))
        __atomic_store_n(&process.failed, true, __ATOMIC_RELAXED);
    process_tree_race(race, fails(race->possible));
    process_publish();
}

static bool race_is_suppressed(const struct csan_race *race)
{
    const bool suppressed = report_suppresses(session_report(), race);
    if (suppressed) {
        run_log_race(race, true);
        context_suppress(session_context(), race);
    } else {
        context_group(session_context(), race);
    }
    return suppressed;
}

static char *race_print(const struct csan_race *race, bool wanted)
{
    char *report = report_race(session_report(), race, wanted);
    if (session_options()->drop_sync || session_options()->list_syncs)
        report_race_line(session_report(), race);
    return report;
}

/* On csan's thread (delivery.h). */
static void race_deliver(const struct csan_race *race)
{
    if (race_is_suppressed(race))
        return;
    if (report_has_suppressions(session_report()))
        race_counts(race); /* else it did when it was found */
    free(race_print(race, false));
    csan_on_report(race);
}

/* abort_on_error=1 ends the program where the race is, whatever a framework would do. */
static bool aborts_at_once(void)
{
    return session_all_options()->abort_on_error && session_all_options()->halt_on_error == 1;
}

static bool has_handler(void)
{
    return session_race_watcher().function && session_all_options()->halt_on_error &&
           !aborts_at_once();
}

/* The handler, which may end the program; else halt_on_error=1 does. */
static void race_ends(const struct csan_race *race, const char *report)
{
    const bool ends = has_handler() && !csan_is_error(race) &&
                      session_race_watcher().function(session_race_watcher().user, race, report);
    if (ends || session_all_options()->halt_on_error != 1)
        return;
    recorder_finish(true, true);
    report_finish(session_report());
    if (aborts_at_once())
        process_exit_abort();
    process_exit_now(session_all_options()->exitcode);
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
    const struct options *all = session_all_options();
    return has_handler() || all->halt_on_error == 1 || all->drop_sync || all->list_syncs ||
           run_log_wanted() || !all->deferred_limit || stack_source_waits();
}

/* On the thread whose call showed it, or that reports what was held. */
static void race_report(const struct csan_race *race)
{
    if (race_is_wanted_now()) {
        guard_self.locked++; /* a signal handler must not wait for the report's lock */
        race_deliver_now(race);
        guard_self.locked--;
        return;
    }
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    if (!report_has_suppressions(session_report()))
        race_counts(race);
    pthread_once(&watched, fatal_signal_watch); /* no report is lost by a signal */
    delivery_race(race);
}

/* Called by the detector, one race at a time, on the thread whose call showed it. */
static void race_found(void *user, const struct csan_race *race)
{
    (void)user;
    if (!held_race_take(race))
        race_report(race);
}

static void operators_followed(void)
{
    held_race_release(false, race_report);
}

static void hurry(void)
{
    report_hurry(session_report());
}

static void note_deliver(const char *line)
{
    report_note(session_report(), "%s", line);
}

static void note_stack_deliver(const void *const *frames, size_t frame_count, const char *line)
{
    report_note_stack(session_report(), frames, frame_count, line);
}

static const struct delivery_face delivery_face = {race_deliver, note_deliver, note_stack_deliver,
                                                   hurry};

/* ---- The start ---- */

/* Nothing is deferred if the moment matters at which a race is found or an op is enqueued. The same
 * holds if csan's thread would take its time from the program's. */
static uint32_t deferred_limit_option(void)
{
    const struct options *all = session_all_options();
    const bool at_once = all->halt_on_error == 1 || all->verify_ranges || all->drop_sync ||
                         all->list_syncs || all->add_order[0] || run_log_wanted() ||
                         strcmp(all->host_order, "observed") != 0 ||
                         (strcmp(all->host, "off") != 0 && strcmp(all->host, "guard") != 0);
    cpu_set_t cores;
    const bool alone = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) < 2;
    return at_once || alone ? 0 : (uint32_t)all->deferred_limit;
}

/* The detector takes its own options by text; these are the ones that are its. */
static csan_context *make_context(void)
{
    char text[512], message[256];
    snprintf(text, sizeof text,
             "pending_limit=%d:pending_timeout_ms=%d:strided_cap=%d:dedup=%d:count_unordered=%d:"
             "errors=%s:init_check=%d",
             session_all_options()->pending_limit, session_all_options()->pending_timeout_ms,
             session_all_options()->strided_cap, session_all_options()->dedup,
             session_all_options()->count_unordered, session_options()->errors ? "auto" : "off",
             session_all_options()->init_check);
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

static void open_session(void)
{
    session_options_read();
    struct report_sink *report = process.restarted ? report_open_hushed(session_all_options())
                                                   : report_open(session_all_options(), NULL);
    session_set(NULL, report);
    delivery_start(&delivery_face);
    if (report)
        session_set(make_context(), report);
}

static void decide(void)
{
    bool on = session_is_wanted(process.restarted);
    connect_tables();
    if (on) {
        open_session();
        on = session_context() != NULL;
    }
    if (on) {
        process_tree_attach();
        learning_program_identify();
        report_hush(session_report(), false); /* each process has a recording of its own */
        on = recorder_start(session_context(), session_all_options());
        if (!on)
            report_finish(session_report());
        report_hush(session_report(), process.restarted);
    }
    if (on) {
        run_log_start();
        connect_hooks(deferred_limit_option());
        operator_summary_on_followed = operators_followed;
        host_access_start(session_context(), fatal_signal_end);
        injection_start();
        call_watch_start(added_order_start());
        python_frames_start(session_all_options()->python_stacks, note_line);
        if (!process.restarted)
            start_first();
    } else {
        process_exit_start_off();
    }
    __atomic_store_n(&session_state, on ? SESSION_READY : SESSION_OFF, __ATOMIC_RELEASE);
    if (on) {
        thread_start();
        report_hush(session_report(), false);
    }
}

static void decide_once(void)
{
    pthread_once(&process.once, decide);
}

/* ---- The first call, and forked children ---- */

static void begin(void)
{
    process_tree_enter();
    process_exit_begin();
    recorder_begin();
    process_link_started();
    __atomic_store_n(&session_state, SESSION_ON, __ATOMIC_RELEASE);
}

static void begin_once(void)
{
    pthread_once(&process.begun, begin);
}

/* The state that locks guard may be in the midst of a change, by a thread that is not here. Where
 * CUDA was not used there is none yet: csan starts anew at the child's first call. Else the child
 * could not use CUDA either (CUDA C Programming Guide, "Initialization": a context does not outlive
 * a fork). */
static void child_started(void)
{
    const uint8_t on = __atomic_load_n(&session_state, __ATOMIC_ACQUIRE);
    host_access_forked();
    const bool was_on = on == SESSION_READY || on == SESSION_UNDECIDED || on == SESSION_ON;
    const bool unused = was_on && on != SESSION_ON && !driver_was_passed();
    if (unused) {
        process.once = (pthread_once_t)PTHREAD_ONCE_INIT;
        process.restarted = true;
        thread_forked();
        process_exit_forked();
    }
    if (was_on)
        __atomic_store_n(&session_state, unused ? SESSION_UNDECIDED : SESSION_FORKED,
                         __ATOMIC_RELEASE);
}

static void forked_call(void)
{
    static const char line[] =
        "csan: this process was forked after its parent had used CUDA, so its CUDA calls are not "
        "checked; fork before the first CUDA call, or start the child with exec (Python's "
        "multiprocessing: 'spawn')\n";
    uint8_t forked = SESSION_FORKED;
    if (!__atomic_compare_exchange_n(&session_state, &forked, SESSION_OFF, false, __ATOMIC_ACQ_REL,
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
    csan_context_drain(session_context());
    held_race_release(true, race_report);
    leaks_find(process_exit_end());
    if (!delivery_finish())
        while (!guard_self.locked && !delivery_wait(SESSION_SETTLE_MS))
            ; /* what csan writes is not read: then it is as if the program wrote it */
    csan_context_stats(session_context(), stats);
    learning_finish();
    operator_summary_finish();
    kernel_reads_finish();
    if (session_all_options()->print_summary && !recorder_only_records())
        report_occurrences(session_report(), session_context());
    if (session_all_options()->print_summary && !recorder_only_records())
        summary_print(session_report(), stats, session_options()->verbosity);
    report_suppressions(session_report());
    recorder_finish(session_all_options()->print_summary, false);
}

int process_finish(bool *decided)
{
    struct csan_stats stats;
    deferred_disable(); /* no driver's call is made once the driver goes */
    deferred_flush();
    failure_finish();
    out_of_memory_finish(process_exit_end());
    run_log_finish_device();
    summarize(&stats);
    process_publish();
    run_log_close();
    injection_summarize();
    added_order_summarize();
    const int error = report_finish(session_report());
    process_tree_summed_up(error == 0);
    __atomic_store_n(&process.failed,
                     stats.races > 0 || stats.errors > 0 || (stats.possible > 0 && fails(true)),
                     __ATOMIC_RELAXED);
    *decided = session_all_options()->verify_ranges && range_verifier_summarize();
    return *decided ? RANGE_VERIFIER_EXIT_CODE : process_exit_code();
}

void process_publish(void)
{
    char device[DEVICE_NAME_BYTES];
    struct csan_stats stats;
    if (!process_tree_attached())
        return;
    context_counts(session_context(), &stats);
    device_name_describe(device);
    process_tree_counts(device, &stats);
}

bool process_aborts(void)
{
    return session_all_options()->abort_on_error && session_all_options()->exitcode &&
           __atomic_load_n(&process.failed, __ATOMIC_RELAXED);
}

int process_exit_code(void)
{
    const bool failed = __atomic_load_n(&process.failed, __ATOMIC_RELAXED);
    return failed && !process_tree_attached() ? session_all_options()->exitcode : 0;
}

static void races_cleared(void)
{
    __atomic_store_n(&process.failed, false, __ATOMIC_RELAXED);
    process_tree_races_cleared();
}

bool process_summarizes(void)
{
    return session_all_options()->print_summary && !process.restarted && !process_tree_attached();
}

void process_finish_unused(void)
{
    if (process_summarizes() && !recorder_only_records())
        session_note("no CUDA call was made, so nothing was checked");
    else if (process_summarizes())
        session_note("no CUDA call was made, so nothing was recorded");
    report_finish(session_report());
}

SESSION_LIFE static const struct session_life life = {decide_once,   begin_once,
                                                      forked_call,   fatal_signal_watch,
                                                      races_cleared, fatal_signal_watch_faults};

/* As early as can be: on_exit handlers run last to first, and csan's is to run after the program's.
 */
__attribute__((constructor)) static void loaded(void)
{
    session_start();
}
