/* Delivers reports beside the program's threads. To print a race, a helper process looks its
 * addresses up. That may take seconds in a large library, or never end. So a thread of the program
 * only keeps what was found. A thread of csan's resolves and prints it, in the order in which it
 * came. Notes that come meanwhile wait for their turn, too.
 *
 * A caller that must see a report first waits for it (delivery_wait). Races that must be delivered
 * at once never come here (run/process.c says which). In a forked child nothing is outstanding. */
#ifndef RUNTIME_HOOK_SESSION_DELIVERY_H
#define RUNTIME_HOOK_SESSION_DELIVERY_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions that deliver. One at a time is called, on csan's thread, or on any thread if there
 * can be none. */
struct delivery_face {
    void (*race)(const struct csan_race *race);
    void (*note)(const char *line);
    void (*note_stack)(const void *const *frames, size_t frame_count, const char *line);
    /* From now on nothing may take long: do without symbols that are not there yet. */
    void (*hurry)(void);
};
/* Once, before anything is put. */
void delivery_start(const struct delivery_face *face);

/* Any thread; it waits for nothing but other puts. The race must stay where it is. */
void delivery_race(const struct csan_race *race);
/* The same, if others wait before it. False: none does, and the caller prints it itself. After
 * delivery_finish nothing else would write it. */
bool delivery_note(const char *line);
bool delivery_note_stack(const void *const *frames, size_t frame_count, const char *line);

/* True: what was put before the call is delivered. False: not within so many milliseconds, or the
 * calling thread itself is delivering or putting (it is a signal handler that interrupted that).
 * Takes no lock. */
bool delivery_wait(int milliseconds);

/* How long the end of a process waits: as long as no more than so many milliseconds pass from one
 * report to the next. A large library's symbols are read within PATIENCE. After that, symbols are
 * done without, and GRACE is for writing. */
enum { DELIVERY_PATIENCE_MS = 20000, DELIVERY_GRACE_MS = 2000 };
/* Waits by that rule. False: something is left (nobody reads what csan writes), or the calling
 * thread is as above. Takes no lock. */
bool delivery_finish(void);
/* A number that changes at each delivery. For a thread that waits for the one that finishes. Takes
 * no lock. */
uint64_t delivery_progress(void);
/* Says on standard error how many reports the end of the process loses, if any. Takes no lock. */
void delivery_say_lost(void);

#endif
