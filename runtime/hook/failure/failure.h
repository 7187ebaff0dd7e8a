/* Kernels that failed. The embedded device, or the reader of a GPU's core dump, describes the
 * failure. It becomes a finding as soon as a call has returned an error to the program, or at the
 * end.
 *
 * CUDA reports such errors late and at any call ("CUDA Driver API, Error Handling": an error of an
 * earlier asynchronous launch may be returned). */
#ifndef RUNTIME_HOOK_FAILURE_FAILURE_H
#define RUNTIME_HOOK_FAILURE_FAILURE_H

#include "runtime/device/driver/failure.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/interpose/driver.h"

/* Not 0: a kernel failed. Each wrapper reads it when its hook has returned. */
extern uint32_t failures_seen;

/* Once, before the first launch: subscribes to failures. */
void failure_start(void);

/* A kernel failed; the description is copied. Any thread, with any lock but csan's. `ordinal` is as
 * in launch_ring_find. */
void failure_add(const struct device_failure *failure, uint64_t ordinal);

/* Whether it is an error that a failed kernel leaves in its context. */
bool failure_is_lasting(CUresult result);

/* A call of the program that waits for work is over; without locks. Returns what the program gets.
 */
CUresult failure_call_ended(const struct driver_entry *entry, CUresult result, enum dump_wait wait);

/* What csan found of the kernel that failed with that error (0: with any), for the text of a
 * framework's exception: "failed assert in aten::scatter_ (train.py:15), block (0,0,0), thread
 * (9,0,0)". NULL: nothing, or the program uses no such framework. The text stays valid. */
const char *failure_text(int code);

/* Reports failures that no call has returned. */
void failure_finish(void);

#endif
