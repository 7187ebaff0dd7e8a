/* What a GPU writes when a kernel fails, as the source of failures there: the driver is asked for a
 * core dump of the device, into a FIFO that a thread of csan's reads ("CUDA-GDB", GPU core dump
 * support; CUDA Driver API, "Coredump Attributes Control API"). A launch costs nothing more, and
 * nothing is written to a disk.
 *
 * The driver is told not to end the process. It then lets waiting calls return as if nothing had
 * been, and comes out with its error some 50 to 400 ms later (driver 580): until then calls that
 * wait are held, so that the program learns of the error where it would have without a dump. */
#ifndef RUNTIME_HOOK_DUMP_H
#define RUNTIME_HOOK_DUMP_H

#include "runtime/hook/driver.h"

/* Before a context is made, within a hook. Does nothing where there is no GPU, where option errors is
 * off, and where the user has set CUDA_ENABLE_COREDUMP_ON_EXCEPTION or another of the driver's own. */
void dump_prepare(void);

/* A call returned that result, and a dump is or was being read: what it is to return. */
CUresult dump_call_ended(const struct driver_entry *entry, CUresult result);

/* Whether a kernel failed of which a dump came, or is coming. */
bool dump_came(void);

/* Removes the FIFO. */
void dump_finish(void);

#endif
