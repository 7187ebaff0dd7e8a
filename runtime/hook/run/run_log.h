/* What csan saw of one run, for csan explore: with CSAN_RUN_LOG=FILE, in FILE.PID each op with the
 * embedded device's number for it, and each race in a form that can be recognised in another run:
 *
 *   csan run 1
 *   site 5 KEY            what names the site in every run: its name and stack, wherever the
 *                         objects lie. Sites that differ in their arguments only share it
 *   op 12 7 31 5          op 12, of site 5, is the device's item 7 (0: the host's own access), and
 *                         was enqueued when the device had made 31 steps
 *   change 12 40 6        the host changed what op 12 reads (option host=content), before the call
 *                         of site 6, which began when the device had made 40 steps
 *   race 1 0 12 KEY 14 KEY    kind, possible, and for both sides: op and key; " suppressed" behind
 *                         it when it has no report, since suppressions or a baseline name it
 *   end                       the program is ending; threads that are left may still write
 *
 * Races come in the order in which they are found, as their reports do. */
#ifndef RUNTIME_HOOK_RUN_RUN_LOG_H
#define RUNTIME_HOOK_RUN_RUN_LOG_H

#include <csan/csan.h>

#include <stdbool.h>

void run_log_start(void);
/* Whether the log is kept. Then each node of a graph's launch is an op of its own. */
bool run_log_wanted(void);
void run_log_race(const struct csan_race *race, bool suppressed);
/* At the program's end: lets the device run what is pending, so that the log has all of it. */
void run_log_finish_device(void);
/* Call it before a fork: otherwise the child would also write what is not in the file yet. */
void run_log_flush(void);
void run_log_close(void);

#endif
