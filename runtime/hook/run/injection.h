/* Synchronizations of the program, numbered, so that one of them can be left out (fault injection:
 * options drop_sync and list_syncs; csan mutate uses both).
 *
 * Counted are stream waits for an event, and synchronize calls of events, streams and contexts,
 * from 1 in the order in which they reach csan. Not counted: a call that would fail, one under
 * stream capture (a wait forks the capture there), one made inside another driver call, queries,
 * and what copies, sets and frees wait for by themselves.
 *
 * On the embedded device only: what a program loses on a GPU is not csan's to take. */
#ifndef RUNTIME_HOOK_RUN_INJECTION_H
#define RUNTIME_HOOK_RUN_INJECTION_H

/* Once, before any hook is entered: the hooks ask it from then on, if options say so. */
void injection_start(void);

/* At exit: say where the one left out is, or that its number was never reached. */
void injection_summarize(void);

#endif
