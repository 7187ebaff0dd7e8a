/* What the tests of the hooks share: driver calls as a program makes them, against the fake driver
 * (fake_cuda.c), and the races that csan found since the test began. */
#ifndef TESTS_UNIT_HOOK_TEST_HOOK_H
#define TESTS_UNIT_HOOK_TEST_HOOK_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <csan/csan.h>

/* The fake driver's controls. */
extern void (*fake_fail_next)(int result);
extern uint64_t (*fake_calls)(void);
extern void (*fake_reuse_handle)(void *handle);
extern void (*fake_capture)(int status);
extern void (*fake_set_context)(void *context);
/* Other threads have no context but what they push. */
extern void (*fake_context_is_of_this_thread)(int alone);
extern void (*fake_gate)(int *gate); /* the thread's next call: see fake_cuda.c */
extern void (*fake_set_primary_active)(int active);
extern void (*fake_run_host_functions)(void);
extern void (*fake_run_at_once)(int on);
extern void (*fake_move_variables)(uint64_t by);
extern void (*fake_set_parameters)(int count);
extern void (*fake_set_architecture)(int architecture); /* 90: compute capability 9.0 */

/* Runs the test program again with the fake driver on the library path and csan on, unless it is
 * that run already. Call it first in main. */
void hook_test_start(char **argv);
/* The same with the fake driver of that directory. */
void hook_test_start_on(const char *directory, char **argv);

/* Forgets the races that the tests provoked, so that the exit code is the tests' own. */
int hook_finish(int failed);

/* A fresh start: what earlier tests left is ordered and forgotten. */
int hook_setup(void **state);

/* Streams, events, memory of a test. */
CUstream blocking(void);
CUstream non_blocking(void);
CUevent event(void);
CUdeviceptr device(size_t bytes);

/* Distinct races found since hook_setup; `kind` of the first one. */
uint64_t hook_mark(void);
size_t races(void);
int first_kind(void);

#endif
