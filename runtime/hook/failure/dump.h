/* What a GPU writes when a kernel fails, as the source of failures there: the driver is asked for a
 * core dump of the device, into a FIFO that a thread of csan's reads ("CUDA-GDB", GPU core dump
 * support; CUDA Driver API, "Coredump Attributes Control API"). A launch costs nothing more, and
 * nothing is written to a disk.
 *
 * An option keeps the driver from ending the process. It then lets waiting calls return as if
 * nothing had been, and comes out with its error some 50 to 400 ms later (driver 580): until then
 * calls that wait are held, so that the program learns of the error where it would have without a
 * dump. Even before the dump begins such a call may return: a word that a stream of csan's writes
 * then shows whether the device still works, since it does not until the dump has begun. */
#ifndef RUNTIME_HOOK_FAILURE_DUMP_H
#define RUNTIME_HOOK_FAILURE_DUMP_H

#include "runtime/hook/interpose/driver.h"

/* Before a context is made, within a hook. Does nothing where there is no GPU, where option errors
 * is off, and where the user has set CUDA_ENABLE_COREDUMP_ON_EXCEPTION or another of the driver's
 * own. */
void dump_prepare(void);

/* What a call waits for. */
enum dump_wait { DUMP_NO_WAIT, DUMP_WAITED, DUMP_WAITED_FOR_ALL };

/* Within a hook's guard: such a call returned that result. What it is to return. */
CUresult dump_call_ended(CUresult result, enum dump_wait wait);

/* The context is gone, with all in it. */
void dump_context_ended(CUcontext context);

/* A kernel was launched since the last call that waited for all work. */
void dump_launched(void);

/* Not 0: launches have not been waited for yet, and dumps are on. Read by the wrappers of calls
 * that wait. */
extern uint32_t dump_unverified;

/* Whether a kernel failed of which a dump came, or is coming. */
bool dump_came(void);

/* Removes the FIFO. */
void dump_finish(void);

#endif
