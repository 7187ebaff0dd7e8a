/* csan's own cuSOLVER, its dense part: calls and sizes of workspaces (solver.c), and the routines
 * of LAPACK that do the work (solver_run.c). The entries are made from library.table, as cuBLAS'.
 */
#ifndef RUNTIME_DEVICE_LIBRARY_SOLVER_H
#define RUNTIME_DEVICE_LIBRARY_SOLVER_H

#include "runtime/device/library/extent.h"
#include "runtime/device/library/number.h"
#include "runtime/device/library/work.h"

/* cusolverStatus_t */
enum {
    SOLVER_SUCCESS = 0,
    SOLVER_NOT_INITIALIZED = 1,
    SOLVER_ALLOC_FAILED = 2,
    SOLVER_INVALID_VALUE = 3,
    SOLVER_EXECUTION_FAILED = 6,
    SOLVER_NOT_SUPPORTED = 9
};

struct solver_job {
    uint32_t function; /* index in extent_functions */
    uint64_t arguments[EXTENT_ARGUMENTS];
};

/* The kernel. */
void solver_run(struct device_native *native, const void *job);

/* From the generated entries. */
int cusolver_call(uint32_t number, const uint64_t *registers, const uint64_t *stack);

#endif
