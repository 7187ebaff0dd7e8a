/* Calls of libraries whose kernels have no PTX: cuBLAS, cuBLASLt, cuFFT, cuRAND, cuSPARSE,
 * cuSOLVER, NCCL.
 * library.table says what each function touches; this file intercepts the calls.
 *
 * libcsan exports the functions of each version of a library under that version. So a program's
 * reference to cublasSgemm_v2 of libcublas.so.13 finds csan's stub for that version first. These
 * are not default versions, which a linker would use: the program is linked with the library
 * itself. NCCL has no versions. Its functions are exported under the first version of libcsan.
 * References without a version find that one, and no linker uses it either. Programs that open the
 * library with dlopen get the stubs from dlsym.
 *
 * While a call runs, it is an operator of the thread (operator_stack.h): the launches that it makes
 * touch what the table says. */
#ifndef RUNTIME_HOOK_LIBRARY_LIBRARY_H
#define RUNTIME_HOOK_LIBRARY_LIBRARY_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stdint.h>

struct touch;

/* A function, for all versions of its library. */
struct library_function {
    const char *symbol;
    struct csan_operator operation;    /* its name and parameters, as reports show them */
    void (*touch)(struct touch *call); /* NULL: nothing */
    void (*after)(struct touch *call,
                  int result); /* called when the real function returned; or NULL */
    void (*notes)(struct touch *call, int result); /* the same without the hooks' lock; or NULL */
    char letter;                                   /* type of elements: S, D, C, Z, H */
    uint8_t wide;                                  /* its int has 64 bits */
    uint8_t stack_words;                           /* arguments that are passed on the stack */
    int8_t stream; /* index of the argument that is the stream to enqueue on, or -1 */
    uint8_t apart; /* its accesses are an op apart from the launches that it makes */
};
extern const struct library_function library_functions[];
extern const unsigned library_function_count;

/* A function of the library itself that csan calls to understand a call. */
enum library_question {
    LIBRARY_POINTER_MODE,        /* cublasGetPointerMode_v2 */
    LIBRARY_LT_LAYOUT,           /* cublasLtMatrixLayoutGetAttribute */
    LIBRARY_LT_PRODUCT,          /* cublasLtMatmulDescGetAttribute */
    LIBRARY_WORK_BYTES,          /* cufftGetSize */
    LIBRARY_SPARSE_POINTER_MODE, /* cusparseGetPointerMode */
    LIBRARY_SPARSE_FORMAT,       /* cusparseSpMatGetFormat, and so on */
    LIBRARY_SPARSE_BATCHES,
    LIBRARY_SPARSE_CSR,
    LIBRARY_SPARSE_CSC,
    LIBRARY_SPARSE_COO,
    LIBRARY_DENSE_VECTOR, /* cusparseConstDnVecGet */
    LIBRARY_DENSE_MATRIX, /* cusparseConstDnMatGet */
    LIBRARY_DENSE_BATCHES,
    LIBRARY_SPMV_BYTES, /* cusparseSpMV_bufferSize, and so on */
    LIBRARY_SPMM_BYTES,
    LIBRARY_CSR2CSC_BYTES,
    LIBRARY_TO_SPARSE_BYTES,
    LIBRARY_TO_DENSE_BYTES,
    LIBRARY_RANK,           /* ncclCommUserRank */
    LIBRARY_RANKS,          /* ncclCommCount */
    LIBRARY_DEVICE,         /* ncclCommCuDevice */
    LIBRARY_WINDOW_ADDRESS, /* ncclGetPeerDevicePointer */
    LIBRARY_CUBIN_BYTES,    /* nvrtcGetCUBINSize */
    LIBRARY_PTX_BYTES,      /* nvrtcGetPTXSize */
    LIBRARY_PTX,            /* nvrtcGetPTX */
    LIBRARY_LINK_CREATE,    /* nvJitLinkCreate, and so on */
    LIBRARY_LINK_DESTROY,
    LIBRARY_LINK_ADD_DATA,
    LIBRARY_LINK_ADD_FILE,
    LIBRARY_LINK_COMPLETE,
    LIBRARY_LINK_CUBIN_BYTES,
    LIBRARY_LINK_PTX_BYTES,
    LIBRARY_LINK_PTX,
    LIBRARY_QUESTIONS
};

/* Whether its kernels say exactly what they touch, as those of csan's own cuSPARSE do. */
enum library_traced { LIBRARY_TRACED_UNKNOWN, LIBRARY_TRACED_NO, LIBRARY_TRACED_YES };

/* One version of a library. */
struct library_home {
    const char *name; /* libcublas.so.13: its soname, and the version of its symbols */
    bool versioned;
    uint8_t traced; /* enum library_traced */
    void *asked[LIBRARY_QUESTIONS];
};
extern struct library_home library_homes[];

/* An exported stub. */
struct library_entry {
    void *real;  /* the real function; the stubs read it at offset 0 */
    void *stub;  /* what programs are given */
    void *thunk; /* `real` at first: finds the function */
    const struct library_function *function;
    struct library_home *home;
};
/* All functions, generated from the table. Handed in before session_start returns. */
struct library_table {
    struct library_entry *entries;
    unsigned count;
};
extern struct library_table library_table;
extern struct library_entry library_entries[];
extern const unsigned library_entry_count;

/* The function that answers, or NULL. */
void *library_ask(struct library_home *home, enum library_question question);

/* Says which libraries the process found before libcsan, so that csan does not see their calls. */
void library_check_order(void);

/* The stub that a program gets for `real`, which dlsym found by that name; `real` itself if there
 * is none. */
void *library_stub_of(const char *symbol, void *real);

#endif
