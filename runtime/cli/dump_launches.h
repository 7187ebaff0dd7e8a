/* The traced launches of a recording, without addresses. `csan dump --launches` prints them, one a
 * line, in the order in which their traces came. Two runs of a program that does the same in both
 * print the same lines once these are sorted, on whatever devices. */
#ifndef RUNTIME_CLI_DUMP_LAUNCHES_H
#define RUNTIME_CLI_DUMP_LAUNCHES_H

#include "csan/recording/recording_read.h"

/* Reads to the end. Three fields with tabs between: the kernel, all that it touched, and that by
 * kind. The second is "bounded" where the trace is a bound. Memory is named by its bytes and by
 * which allocation of so many bytes it was, from 1. Returns RECORDED_END or RECORDED_DAMAGED. */
enum recorded_status launches_dump(struct recording_reader *reader);

#endif
