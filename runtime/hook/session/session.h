/* csan in this process, as its hooks know it: whether it is on, the one detector, and how to print
 * a line. Nothing here knows a hook.
 *
 * The life cycle, run/process.c, stands above all hooks and hands its functions in. A call of CUDA
 * may come before any constructor of libcsan, so the linker does it: see SESSION_LIFE. */
#ifndef RUNTIME_HOOK_SESSION_SESSION_H
#define RUNTIME_HOOK_SESSION_SESSION_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_sink;

/* What the stubs test. 0: pass every call through. In all other states calls go to the hooks; in
 * all but SESSION_ON they take guard.h's slow way in. READY: csan is on, and no hook was entered
 * yet. FORKED: this is a child whose parent was on. */
enum {
    SESSION_OFF = 0,
    SESSION_ON = 1,
    SESSION_UNDECIDED = 2,
    SESSION_READY = 3,
    SESSION_FORKED = 4
};
extern uint8_t session_state;

/* The functions of the life cycle. */
struct session_life {
    void (*decide)(void);        /* once: leaves SESSION_UNDECIDED */
    void (*begin)(void);         /* leaves SESSION_READY */
    void (*forked_call)(void);   /* see session_forked_call */
    void (*watch_signals)(void); /* see session_watch_signals */
    void (*races_cleared)(void); /* see session_races_cleared */
    void (*watch_faults)(void);  /* see session_watch_faults */
};
/* Marks the one struct of that kind; it has a section of its own in libcsan. */
#define SESSION_LIFE __attribute__((used, section("csan_session_life")))

/* Decides once whether csan is on, and sets it up when it is. 1: on. Cheap after the first call. */
bool session_start(void);
/* The process uses CUDA from now on. Cheap after the first call. */
void session_begin(void);
/* A call of CUDA while csan is off. In a child that was forked too late to be checked, that is said
 * once. */
void session_forked_call(void);
/* From now on no report is lost by a signal that ends the process. */
void session_watch_signals(void);
/* From now on a segmentation fault that nobody handles is explained, if it can be. */
void session_watch_faults(void);

/* The one detector, valid once session_start returned 1, and the report. */
csan_context *session_context(void);
struct report_sink *session_report(void);
/* By the life cycle. */
void session_set(csan_context *context, struct report_sink *report);

/* Print one line to the log, after "csan: ". */
void session_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and after it where in the program that is. */
void session_note_stack(const void *const *frames, size_t frame_count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The source of a GPU's instruction: see struct symbolizer. */
bool session_device_line(const char *path, uint64_t address, char *file, size_t bytes,
                         uint32_t *line);

/* The headline of a finding, resolved at once. False: memory is short. */
bool session_headline(const struct csan_race *race, char *text, size_t bytes);
/* The whole report, printed or not. Fills at most `bytes`, with NUL behind it; returns its length.
 * 0: memory is short. */
size_t session_report_text(const struct csan_race *race, char *text, size_t bytes);

/* A handler that gets each race at once, and may end the program; see csan_on_race. */
typedef int session_race_handler(void *user, const struct csan_race *race, const char *report);
struct session_race_watcher {
    session_race_handler *function; /* NULL: nobody */
    void *user;
};
void session_on_race(session_race_handler *function, void *user);
/* Whether a framework's operators are declared, or summaries are used in their place. Then work may
 * be deferred although there is a handler. Any thread. */
void session_operators_rest(bool rest);
struct session_race_watcher session_race_watcher(void);

/* A thread of csan's delivers reports (delivery.h). This waits until all that were found are
 * printed. A caller that only asks which races were found waits until it is decided which are
 * suppressed. Within a hook, without locks of hooks; it does not wait for ever. */
enum { SESSION_SETTLE_MS = 30000 }; /* longer than the helper may take to start and to answer */
void session_reports_settle(void);
void session_races_settle(void);
/* The program discarded what was reported so far (csan_races_clear). */
void session_races_cleared(void);

/* How the process ends. The life cycle sets it before it calls what finishes. */
enum session_end_way {
    SESSION_END_EXIT, /* exit: the functions that the program and its libraries run at exit have run
                       */
    SESSION_END_LEFT, /* _exit, quick_exit and the like */
    SESSION_END_KILLED, /* abort, or a signal */
    SESSION_END_EXEC    /* another program takes its place */
};
struct session_end {
    enum session_end_way way;
    int status; /* of EXIT and LEFT */
};

#endif
