/* The launches of a recording that were traced, without addresses: what `csan dump --launches`
 * prints, one a line, in the order in which their traces came. Two runs of a program that does the
 * same in both, on whatever devices, print the same lines once they are sorted. */
#ifndef RUNTIME_CLI_DUMP_LAUNCHES_H
#define RUNTIME_CLI_DUMP_LAUNCHES_H

#include "csan/recording/recording_read.h"

/* Reads to the end. Three fields with tabs between: the kernel, all that it touched, and that by
 * kind. The second is "bounded" where the trace is a bound. Memory is named by its bytes and by
 * which allocation of so many bytes it was, from 1. Returns RECORDED_END or RECORDED_DAMAGED. */
enum recorded_status launches_dump(struct recording_reader *reader);

#endif
