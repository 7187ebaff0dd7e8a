/* csan merge --order: the recordings of several processes in one detector, for a set that has the
 * processes already. */
#ifndef RUNTIME_CLI_FINDINGS_LINKED_RUN_H
#define RUNTIME_CLI_FINDINGS_LINKED_RUN_H

#include "runtime/cli/findings/finding_set.h"

/* Adds the races between the processes of the set's recordings, and keeps their interleaving if the
 * set is drawn. 0, or an exit code with a message printed. What is missing is said on standard
 * error. */
int linked_run_add(struct finding_set *set);

#endif
