/* The core dump that a GPU writes when a kernel fails, as the source of failures. csan asks the
 * driver for a core dump of the device, into a FIFO that a thread of csan's reads ("CUDA-GDB", GPU
 * core dump support; CUDA Driver API, "Coredump Attributes Control API"). This costs a launch
 * nothing, and no disk is written.
 *
 * An option keeps the driver from ending the process. Then calls that wait return as if nothing had
 * happened, and the driver reports its error some 50 to 400 ms later (driver 580). So csan holds
 * such calls until then, and the program learns of the error where it would have without a dump.
 * Such a call may return even before the dump begins. The device does no work until the dump has
 * begun. So csan has a stream of its own write a word, which shows whether the device still works.
 * It does so while the host has not waited for some launch that may fail (unverified.h).
 */
#ifndef RUNTIME_HOOK_FAILURE_DUMP_H
#define RUNTIME_HOOK_FAILURE_DUMP_H

#include "runtime/hook/interpose/driver.h"
#include <csan/csan.h>

/* Call it before a context is made, within a hook. Does nothing without a GPU, with option errors
 * off, and if the user has set CUDA_ENABLE_COREDUMP_ON_EXCEPTION or another such variable of the
 * driver's. */
void dump_prepare(void);

/* What a call waits for. */
enum dump_wait { DUMP_NO_WAIT, DUMP_WAITED, DUMP_WAITED_FOR_ALL };

/* Within a hook's guard: a call that waits returned that result. Returns what the program gets. */
CUresult dump_call_ended(CUresult result, enum dump_wait wait);

/* The context is gone, with all in it. */
void dump_context_ended(CUcontext context);

/* A kernel was launched on the lane: whether to call unverified_launched, if it may fail. With the
 * hooks' lock. */
bool dump_wants(csan_lane lane);

/* Whether a kernel failed whose dump has come, or is coming. */
bool dump_came(void);

/* Removes the FIFO. */
void dump_finish(void);
/* At the end: a dump that the user asked for, and that nobody has read yet. */
void dump_look_for_users(void);

#endif
