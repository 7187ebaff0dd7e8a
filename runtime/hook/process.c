/* csan's life in the process. See process.h. */
#include "runtime/hook/process.h"
#include "csan/context.h"
#include "csan/environment.h"
#include "csan/options.h"
#include "csan/output.h"
#include "csan/report.h"
#include "csan/stack_source.h"
#include "csan/text.h"
#include "runtime/hook/added_order.h"
#include "runtime/hook/backlog.h"
#include "runtime/hook/call_watch.h"
#include "runtime/hook/delivery.h"
#include "runtime/hook/device_name.h"
#include "runtime/hook/driver.h"
#include "runtime/hook/ending.h"
#include "runtime/hook/failure.h"
#include "runtime/hook/fatal_signal.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/implicit_wait.h"
#include "runtime/hook/injection.h"
#include "runtime/hook/learning.h"
#include "runtime/hook/learning_program.h"
#include "runtime/hook/library/library.h"
#include "runtime/hook/judge.h"
#include "runtime/hook/process_tree.h"
#include "runtime/hook/recorder.h"
#include "runtime/hook/run_log.h"
#include "runtime/hook/summary.h"
#include "runtime/hook/thread.h"
#include "runtime/hook/trace.h"
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
    struct process_options options;
    uint32_t backlog; /* as process_puts_off; atomic */
    struct options all;
    struct report_sink *report;
    struct race_handler handler; /* of a framework's adapter */
    bool failed;                 /* a race was found that makes the program fail */
    bool forked;                 /* from a process that had not used CUDA; it says what that said */
} process = {.once = PTHREAD_ONCE_INIT, .begun = PTHREAD_ONCE_INIT};

csan_context *process_context(void)
{
    return process.context;
}
const struct process_options *process_options(void)
{
    return &process.options;
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

static void note_line(const char *line)
{
    process_note("%s", line);
}

/* ---- Races ---- */

/* 1 when races of this kind make the program fail. */
static bool fails(bool possible)
{
    return !possible || strcmp(process.all.fail_on, "possible") == 0;
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
    if (process.options.drop_sync || process.options.list_syncs)
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
    return process.all.abort_on_error && process.all.halt_on_error == 1;
}

static bool has_handler(void)
{
    return process.handler.function && process.all.halt_on_error && !aborts_at_once();
}

/* The handler, which may end the program; else halt_on_error=1 does. */
static void race_ends(const struct csan_race *race, const char *report)
{
    const bool ends = has_handler() && process.handler.function(process.handler.user, race, report);
    if (ends || process.all.halt_on_error != 1)
        return;
    recorder_finish(true, true);
    report_finish(process.report);
    if (aborts_at_once())
        ending_abort();
    ending_now(process.all.exitcode);
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
    const struct options *all = &process.all;
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
    if (function && process.all.halt_on_error) {
        process_puts_nothing_off();
        backlog_work_off(); /* on csan's thread, that finds no handler yet */
        process_reports_settle();
    }
    process.handler = (struct race_handler){function, user};
}

/* ---- The start ---- */

/* Before there is a report to write to. The process that this one was forked from has said it. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    if (process.forked)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_make_plain(line);
    fprintf(stderr, "csan: %s\n", line);
}

/* What is neither yes nor no is taken as yes: a program that is silently not checked is worse. */
static bool wanted(void)
{
    const char *value = environment_get("CSAN");
    const enum environment_switch choice = environment_switch_of(value);
    if (choice == ENVIRONMENT_UNCLEAR)
        say("CSAN is '%.32s', which is neither yes nor no; it is taken as yes. Set CSAN=1 to check "
            "the program, CSAN=0 not to",
            value);
    return choice != ENVIRONMENT_OFF;
}

static uint8_t access_option(void)
{
    static const struct {
        const char *word;
        uint8_t access;
    } words[] = {{"ptx", ACCESS_BY_PTX}, {"learn", ACCESS_LEARN}, {"exact", ACCESS_TRACE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(process.all.access, words[i].word) == 0)
            return words[i].access;
    return process.all.trace ? ACCESS_AUTO : ACCESS_BY_PTX;
}

static uint8_t implicit_option(void)
{
    return strcmp(process.all.implicit_sync, "none") == 0       ? IMPLICIT_NONE
           : strcmp(process.all.implicit_sync, "promised") == 0 ? IMPLICIT_PROMISED
                                                                : IMPLICIT_OBSERVED;
}

/* Nothing is put off where it matters when a race is found, or when an op is told; nor where csan's
 * thread would take its time from the program's. */
static uint32_t backlog_option(void)
{
    const struct options *all = &process.all;
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

/* A setting that is wrong costs itself and what follows it, never the check or the program. */
static void read_options(void)
{
    char message[256];
    const char *text = environment_get("CSAN_OPTIONS");
    options_default(&process.all);
    if (text && options_parse(&process.all, text, message, sizeof message) != 0)
        say("CSAN_OPTIONS: %s; the rest of CSAN_OPTIONS is ignored", message);
    if (process.all.help && !process.forked) {
        size_t bytes = options_help(NULL, 0) + 1;
        char *help = malloc(bytes);
        if (help) {
            options_help(help, bytes);
            fputs(help, stderr);
        }
        free(help);
    }
    process.options = (struct process_options){
        .strict_free = process.all.strict_free != 0,
        .host_observed = strcmp(process.all.host_order, "observed") == 0,
        .implicit_sync = implicit_option(),
        .access = access_option(),
        .errors = strcmp(process.all.errors, "off") != 0,
        .learn_launches = process.all.learn_launches,
        .learn_values = process.all.learn_values,
        .learn_cache_mb = process.all.learn_cache_mb,
        .learn_memory_mb = process.all.learn_memory_mb,
        .learn_warmup_ms = process.all.learn_warmup_ms,
        .learn_confirm_ms = process.all.learn_confirm_ms,
        .learn_every = process.all.learn_every,
        .verify_ranges = process.all.verify_ranges != 0,
        .list_syncs = process.all.list_syncs != 0,
        .drop_sync = process.all.drop_sync,
        .add_order = process.all.add_order,
        .verbosity = process.all.verbosity,
        .pending_timeout_ms = process.all.pending_timeout_ms,
        .pending_limit = process.all.pending_limit,
        .native_stacks = process.all.native_stacks != 0,
        .stack_depth = process.all.stacks ? (size_t)process.all.stack_depth : 0};
}

/* The detector takes its own options by text; these are the ones that are its. */
static csan_context *make_context(void)
{
    char text[512], message[256];
    snprintf(text, sizeof text,
             "pending_limit=%d:pending_timeout_ms=%d:strided_cap=%d:dedup=%d:count_unordered=%d:"
             "errors=%s:init_check=%d",
             process.all.pending_limit, process.all.pending_timeout_ms, process.all.strided_cap,
             process.all.dedup, process.all.count_unordered,
             process.options.errors ? "auto" : "off", process.all.init_check);
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
    ending_start();
}

static void decide(void)
{
    bool on = wanted();
    if (on) {
        read_options();
        process.report =
            process.forked ? report_open_hushed(&process.all) : report_open(&process.all, NULL);
        delivery_start(&delivery_face);
        process.context = process.report ? make_context() : NULL;
        on = process.context != NULL;
    }
    if (on) {
        process_tree_attach();
        learning_program_identify();
        report_hush(process.report, false); /* each process has a recording of its own */
        on = recorder_start(process.context, &process.all);
        if (!on)
            report_finish(process.report);
        report_hush(process.report, process.forked);
    }
    if (on) {
        run_log_start();
        process.backlog = backlog_option();
        call_watch_start();
        python_frames_start(process.all.python_stacks, note_line);
        if (!process.forked)
            start_first();
    } else {
        ending_start_off();
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
    ending_begin();
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
        process.forked = true;
        thread_forked();
        ending_forked();
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
    if (!delivery_finish())
        while (!guard_self.locked && !delivery_wait(SETTLE_MS))
            ; /* what csan writes is not read: then it is as if the program wrote it */
    csan_context_stats(process.context, stats);
    learning_finish();
    if (process.all.print_summary && !recorder_only_records())
        report_occurrences(process.report, process.context);
    if (process.all.print_summary && !recorder_only_records())
        summary_print(process.report, stats, process.options.verbosity);
    report_suppressions(process.report);
    recorder_finish(process.all.print_summary, false);
}

int process_finish(bool *decided)
{
    struct csan_stats stats;
    process_puts_nothing_off(); /* no driver's call is made once the driver goes */
    backlog_work_off();
    failure_finish();
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
    *decided = process.all.verify_ranges && judge_summarize();
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
    return process.all.abort_on_error && process.all.exitcode &&
           __atomic_load_n(&process.failed, __ATOMIC_RELAXED);
}

int process_exit_code(void)
{
    const bool failed = __atomic_load_n(&process.failed, __ATOMIC_RELAXED);
    return failed && !process_tree_attached() ? process.all.exitcode : 0;
}

void process_races_cleared(void)
{
    __atomic_store_n(&process.failed, false, __ATOMIC_RELAXED);
    process_tree_races_cleared();
}

bool process_summarizes(void)
{
    return process.all.print_summary && !process.forked && !process_tree_attached();
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
