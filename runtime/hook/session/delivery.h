/* Reports, off the program's threads. To print a race its addresses are looked up in a helper
 * process, which may take seconds in a large library, or for ever. So a thread of the program only
 * keeps what was found; a thread of csan's resolves and prints it, in the order in which it came.
 * Notes that come meanwhile wait for their turn, too.
 *
 * Who must see a report first waits for it (delivery_wait), or has it delivered at once and never
 * comes here (run/process.c says who). In a forked child nothing is outstanding. */
#ifndef RUNTIME_HOOK_SESSION_DELIVERY_H
#define RUNTIME_HOOK_SESSION_DELIVERY_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What delivers; called one at a time, on csan's thread, or on any where there can be none. */
struct delivery_face {
    void (*race)(const struct csan_race *race);
    void (*note)(const char *line);
    void (*note_stack)(const void *const *frames, size_t frame_count, const char *line);
    /* From now on nothing may take long: symbols that are not there yet are done without. */
    void (*hurry)(void);
};
/* Once, before anything is put. */
void delivery_start(const struct delivery_face *face);

/* Any thread; returns without waiting for anything but other puts. The race stays where it is. */
void delivery_race(const struct csan_race *race);
/* The same, while others wait before them. False: none does, and the caller prints it itself: what
 * is said after delivery_finish has no later moment to be written. */
bool delivery_note(const char *line);
bool delivery_note_stack(const void *const *frames, size_t frame_count, const char *line);

/* What was put before the call is delivered when it returns true. False: not within so many
 * milliseconds, or the calling thread is itself at delivering or putting, as a signal handler that
 * interrupted it. Takes no lock. */
bool delivery_wait(int milliseconds);

/* How long the end of a process waits, whichever end it is: as long as csan gets on, with no more
 * than so many milliseconds from one report to the next. A large library's symbols are read within
 * PATIENCE; then symbols are done without, and GRACE is for writing. */
enum { DELIVERY_PATIENCE_MS = 20000, DELIVERY_GRACE_MS = 2000 };
/* Waits by that rule. False: something is left all the same (nobody reads what csan writes), or the
 * calling thread is as above. Takes no lock. */
bool delivery_finish(void);
/* A number that changes whenever csan gets on, for who waits for the thread that finishes. Takes no
 * lock. */
uint64_t delivery_progress(void);
/* On standard error: how many reports the end of the process loses, if any. Takes no lock. */
void delivery_say_lost(void);

#endif
