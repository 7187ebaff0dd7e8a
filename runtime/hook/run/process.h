/* csan's life in the process: switched on by CSAN=1, one detector context, its end.
 *
 * Everything starts from whatever entry is called first: a constructor may be too late, because
 * other libraries' constructors use CUDA. A child that was forked before the first CUDA call starts
 * anew at its own first; one that was forked later is not checked, and says so. */
#ifndef RUNTIME_HOOK_RUN_PROCESS_H
#define RUNTIME_HOOK_RUN_PROCESS_H

#include <csan/csan.h>

#include <stdbool.h>

/* Decides once whether csan is on, and sets it up when it is. 1: on. Cheap after the first call. */
bool process_start(void);

/* The process uses CUDA from here on. Cheap once it does. */
void process_begin(void);
/* A CUDA call where csan is off: said once in a child that was forked too late to be checked. */
void process_forked_call(void);

/* ---- the end (process_exit.c) */

/* Decide, say and write everything. Returns what a program that would have ended with 0 is to end
 * with; `decided`: whatever it would have ended with. Within a hook, without locks of hooks. */
int process_finish(bool *decided);
/* The same in a process that has not used CUDA. */
void process_finish_unused(void);
/* Option abort_on_error, and there were races that make the program fail. */
bool process_aborts(void);
/* The exit code for the races so far: 0 where csan run sees to it. Safe in a signal handler. */
int process_exit_code(void);
/* The program took back what was reported so far (csan_races_clear). */
void process_races_cleared(void);
/* Whether this process is the one to say that nothing was checked. */
bool process_summarizes(void);
/* Tell csan run above what was checked so far. */
void process_publish(void);

/* The one detector; valid once process_start returned 1. */
csan_context *process_context(void);

/* Option access. */
enum process_access { ACCESS_BY_PTX, ACCESS_AUTO, ACCESS_LEARN, ACCESS_TRACE };

/* Option values the hooks use. */
struct process_options {
    bool strict_free;      /* report what only the wait inside cuMemFree hides */
    bool host_observed;    /* a host function's work is ordered before the host once it ran */
    uint8_t implicit_sync; /* enum implicit_sync (implicit_wait.h) */
    uint8_t access;        /* enum process_access; trace=0 makes AUTO the same as BY_PTX */
    bool errors;           /* find what else goes wrong, too: kernels that fail, bounds */
    const char *blocking;  /* kernels whose launches wait: NULL: none; "": all; else a template */
    bool verify_ranges;    /* compare the device's word with what PTX told */
    bool list_syncs;       /* name every synchronization */
    const char *add_order; /* "": none */
    bool native_stacks;    /* native frames beside an interpreter's, too */
    int learn_launches, learn_values, learn_cache_mb, learn_memory_mb, learn_warmup_ms;
    int learn_confirm_ms, learn_every;
    int drop_sync; /* the number of the one to leave out; 0: none */
    int verbosity;
    int pending_timeout_ms; /* how long an op waits for what it touches */
    int pending_limit;      /* entries that wait */
    size_t stack_depth;     /* frames of a stack; 0: no stacks */
};
const struct process_options *process_options(void);

/* How many launches and blocks may be put off (deferred.h); 0: none. They may become none at any
 * time. */
uint32_t process_puts_off(void);
void process_puts_nothing_off(void);

/* The source of a GPU's instruction: see struct symbolizer. */
bool process_device_line(const char *path, uint64_t address, char *file, size_t bytes,
                         uint32_t *line);

/* The headline of a finding, resolved at once. False: there is no memory for it. */
bool process_headline(const struct csan_race *race, char *text, size_t bytes);

/* See csan_on_race. */
typedef int process_race_handler(void *user, const struct csan_race *race, const char *report);
void process_on_race(process_race_handler *function, void *user);

/* Reports go by a thread of csan's (delivery.h). Waits until all that were found are out; or, for
 * who asks what was found, until it is decided which are suppressed. Within a hook, without locks
 * of hooks; not for ever. */
void process_reports_settle(void);
void process_races_settle(void);

/* Print one line to the log, after "csan: ". */
void process_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and after it where in the program that is. */
void process_note_stack(const void *const *frames, size_t frame_count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
