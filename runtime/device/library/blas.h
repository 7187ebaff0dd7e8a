/* csan's own cuBLAS: a handle, the job that a call becomes, and the routines that run it.
 *
 *   blas.c          the way of a call: arguments, scalars, launch, results on the host
 *   blas_handle.c   handles and settings; copy helpers
 *   blas_run.c      a job's turn: its accesses, then OpenBLAS or one of the routines below
 *   blas_product.c  all forms of gemm; gemv and trsm in batches
 *   blas_grouped.c  products in groups, which have sizes of their own
 *   multiply.c      one product
 *   blas_vector.c   level 1 with types of their own (the Ex forms)
 *   blas_lapack.c   factors, solutions and inverses in batches
 *   lu.h            factors without exchanges of rows
 *   blas_matrix.c   what BLAS has not: geam, dgmm, syrkx, trmm out of place */
#ifndef RUNTIME_DEVICE_LIBRARY_BLAS_H
#define RUNTIME_DEVICE_LIBRARY_BLAS_H

#include "runtime/device/library/extent.h"
#include "runtime/device/library/number.h"
#include "runtime/device/library/work.h"

/* cublasStatus_t */
enum {
    BLAS_SUCCESS = 0,
    BLAS_NOT_INITIALIZED = 1,
    BLAS_ALLOC_FAILED = 3,
    BLAS_INVALID_VALUE = 7,
    BLAS_MAPPING_ERROR = 11,
    BLAS_EXECUTION_FAILED = 13,
    BLAS_NOT_SUPPORTED = 15
};

enum { BLAS_OP_N = 0, BLAS_OP_T = 1, BLAS_OP_C = 2, BLAS_LOWER = 0, BLAS_LEFT = 0 };

struct blas_handle {
    uint64_t magic;
    library_stream stream;
    int pointer_mode; /* 1: on the device */
    int atomics_mode, math_mode, sm_count;
    uint64_t workspace, workspace_bytes;
};

/* cublasGetStatusName and cublasGetStatusString. Static storage. */
const char *blas_status_name(int status);
const char *blas_status_text(int status);

/* NULL: it is no handle. */
struct blas_handle *blas_handle(const void *handle);

/* A call, as its kernel gets it. */
struct blas_job {
    uint32_t function; /* index in extent_functions */
    bool on_device;
    struct extent_scalars *results; /* of a call that waits for results on the host; or NULL */
    uint64_t arguments[EXTENT_ARGUMENTS];
    struct extent_scalars scalars;
};

/* A job whose turn has come. */
struct blas_run {
    const struct extent_function *function;
    const uint64_t *arguments;
    struct extent *extent; /* places of the arguments */
    struct device_native *native;
    char name[48]; /* "sgemm": without cublas, _v2 and _64, in lower case */
};

/* ---- Arguments of a run ---- */

int64_t blas_integer(const struct blas_run *run, const char *name, int64_t otherwise);
/* Where the argument's memory or value is; NULL: it is not accessed. */
void *blas_place(const struct blas_run *run, const char *name);
/* The element type of an operand: of its type's argument, else of the function's letter. */
int blas_type(const struct blas_run *run, const char *type_name);
/* Batch i of an operand that is one matrix, strided, or an array of addresses. NULL when it is not
 * accessed. */
void *blas_batch(const struct blas_run *run, const char *operand, int type, int64_t i);

/* A routine of OpenBLAS by its name in Fortran without the underscore; or NULL. */
void *blas_routine(const char *name);

/* ---- Routines; each returns whether it knows the function of the run ---- */

bool blas_product(const struct blas_run *run);
bool blas_vector(const struct blas_run *run);
bool blas_matrix(const struct blas_run *run);
bool blas_lapack(const struct blas_run *run);
/* With the arguments as they are, in Fortran's order; `letter` and pointers of one batch. */
bool blas_fortran(const struct blas_run *run, const char *name, int64_t batch);

/* ---- From the generated entries ---- */

int cublas_call(uint32_t number, const uint64_t *registers, const uint64_t *stack);
/* cublasSetMatrix and its kin. */
int blas_copy_helper(const struct extent_function *function, const uint64_t *arguments);

/* The kernel of blas_run.c. */
void blas_run_job(struct device_native *native, const void *job);

#endif
