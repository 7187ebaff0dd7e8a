/* See session.h. */
#include "runtime/hook/session/session.h"
#include "csan/report/finding.h"
#include "csan/report/report.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/delivery.h"
#include "runtime/hook/session/session_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint8_t session_state = SESSION_UNDECIDED;

static struct {
    csan_context *context;
    struct report_sink *report;
    struct session_race_watcher watcher; /* a framework's adapter */
    bool operators_rest;                 /* atomic */
} session;

/* ---- The life cycle ---- */

/* The linker names where the section of SESSION_LIFE begins. */
extern const struct session_life __start_csan_session_life[] __attribute__((visibility("hidden")));

static const struct session_life *life(void)
{
    return __start_csan_session_life;
}

bool session_start(void)
{
    uint8_t state = __atomic_load_n(&session_state, __ATOMIC_ACQUIRE);
    if (__builtin_expect(state == SESSION_UNDECIDED, 0)) {
        life()->decide();
        state = __atomic_load_n(&session_state, __ATOMIC_ACQUIRE);
    }
    return state == SESSION_ON || state == SESSION_READY;
}

void session_begin(void)
{
    if (__atomic_load_n(&session_state, __ATOMIC_ACQUIRE) == SESSION_READY)
        life()->begin();
}

void session_forked_call(void)
{
    life()->forked_call();
}

void session_watch_signals(void)
{
    life()->watch_signals();
}

void session_watch_faults(void)
{
    life()->watch_faults();
}

/* ---- The detector and the report ---- */

csan_context *session_context(void)
{
    return session.context;
}

struct report_sink *session_report(void)
{
    return session.report;
}

void session_set(csan_context *context, struct report_sink *report)
{
    session.context = context;
    session.report = report;
}

void session_note(const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!delivery_note(line))
        report_note(session.report, "%s", line);
}

void session_note_stack(const void *const *frames, size_t frame_count, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!delivery_note_stack(frames, frame_count, line))
        report_note_stack(session.report, frames, frame_count, line);
}

bool session_device_line(const char *path, uint64_t address, char *file, size_t bytes,
                         uint32_t *line)
{
    return report_device_line(session.report, path, address, file, bytes, line);
}

bool session_headline(const struct csan_race *race, char *text, size_t bytes)
{
    struct finding *finding = report_finding(session.report, race);
    if (finding)
        snprintf(text, bytes, "%s", finding->headline);
    finding_destroy(finding);
    return finding != NULL;
}

size_t session_report_text(const struct csan_race *race, char *text, size_t bytes)
{
    struct finding *finding = report_finding(session.report, race);
    const size_t length = finding && finding->text ? strlen(finding->text) : 0;
    if (length && bytes)
        snprintf(text, bytes, "%s", finding->text);
    finding_destroy(finding);
    return length;
}

/* ---- Races ---- */

void session_reports_settle(void)
{
    delivery_wait(SESSION_SETTLE_MS);
}

void session_races_settle(void)
{
    if (report_has_suppressions(session.report))
        delivery_wait(SESSION_SETTLE_MS);
}

/* While operators are followed, who ends the program at a race ends it at the operator that made
 * the race. While they rest the race is found within the deferred work, up to 1 ms later. */
static void deferral_decide(void)
{
    if (session.watcher.function && session_all_options()->halt_on_error &&
        !__atomic_load_n(&session.operators_rest, __ATOMIC_ACQUIRE))
        deferred_pause();
    else
        deferred_resume();
}

void session_on_race(session_race_handler *function, void *user)
{
    if (function && session_all_options()->halt_on_error) {
        deferred_pause();
        deferred_flush(); /* on csan's thread, that finds no handler yet */
        session_reports_settle();
    }
    session.watcher = (struct session_race_watcher){function, user};
    deferral_decide();
}

void session_operators_rest(bool rest)
{
    __atomic_store_n(&session.operators_rest, rest, __ATOMIC_RELEASE);
    deferral_decide();
}

struct session_race_watcher session_race_watcher(void)
{
    return session.watcher;
}

void session_races_cleared(void)
{
    life()->races_cleared();
}
