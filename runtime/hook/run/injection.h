/* Numbers the program's synchronizations, so that one of them can be left out (fault injection:
 * options drop_sync and list_syncs; csan mutate uses both).
 *
 * Stream waits for an event count, and synchronize calls of events, streams and contexts. They are
 * numbered from 1 in the order in which they reach csan. These do not count: a call that would
 * fail, a call under stream capture (a wait forks the capture there), a call made inside another
 * driver call, queries, and the waits inside copies, sets and frees.
 *
 * This is for the embedded device only: csan must not take away from a program what it does on a
 * GPU. */
#ifndef RUNTIME_HOOK_RUN_INJECTION_H
#define RUNTIME_HOOK_RUN_INJECTION_H

/* Call it once, before any hook is entered. The hooks ask it from then on, if options say so. */
void injection_start(void);

/* At exit: says where the dropped synchronization is, or that its number was never reached. */
void injection_summarize(void);

#endif
