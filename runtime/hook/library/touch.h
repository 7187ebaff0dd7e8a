/* What one call of a library touches: gathered from its arguments by the rows of library.table,
 * which are calls of the functions here. A row's line begins an access (its kind, argument, type
 * and condition), then names its shape, which adds ranges.
 *
 *   touch.c       the gathering; arguments; shapes that all libraries share
 *   blas.c        cuBLAS, cuSOLVER: scalars and pointer modes, types, transposition
 *   workspace.c   cuBLAS: workspaces of handles
 *   lt.c          cuBLASLt: descriptors
 *   fft.c         cuFFT: what plans say
 *   sparse.c      cuSPARSE: descriptors, buffers
 *   communicator.c  NCCL: ranks, roots
 *   window.c      NCCL: other ranks' memory */
#ifndef RUNTIME_HOOK_LIBRARY_TOUCH_H
#define RUNTIME_HOOK_LIBRARY_TOUCH_H

#include "runtime/hook/library/library.h"

enum { TOUCH_DIMS = 5, TOUCH_INLINE = 12 };

/* An access that is TOUCH_PARTLY touches some bytes of its range. For TOUCH_MAYBE, data on the
 * device decides whether it is made. */
enum touch_when { TOUCH_NEVER, TOUCH_ALWAYS, TOUCH_MAYBE, TOUCH_PARTLY };

/* Elements. If `bytes` is 0, their size is not known, and csan says nothing of them. A complex
 * element has parts. */
struct touch_type {
    uint32_t bytes, part;
    bool integer;
};

/* Integer arguments that are passed in registers: System V ABI for AMD64, 3.2.3; Procedure Call
 * Standard for the Arm 64-bit Architecture, 6.8.2. Each of the others takes a word of the stack. */
#if defined(__x86_64__)
enum { TOUCH_REGISTERS = 6 };
#else
enum { TOUCH_REGISTERS = 8 };
#endif
#define TOUCH_STACK_WORDS(integers) ((integers) > TOUCH_REGISTERS ? (integers)-TOUCH_REGISTERS : 0)

struct touch {
    const struct library_function *function;
    struct library_home *home;
    const uint64_t *registers, *stack;

    size_t count, room;
    struct csan_access *accesses;
    struct csan_dim (*dims)[TOUCH_DIMS];
    bool incomplete;           /* something that it touches is not known */
    bool reads_content;        /* what it touches depends on contents of device memory */
    uint64_t made, made_bytes; /* the largest piece of memory that the call got; bytes 0: none */
    int pointer_mode;          /* of cuBLAS's handle; -1: not asked yet */
    struct touch_product {
        bool asked;
        int32_t pointer_mode, scale_type, epilogue;
    } product; /* of cuBLASLt: what its descriptor says */

    uint8_t kind, bound; /* of the access at hand */
    uint16_t argument;
    struct touch_type type;

    struct csan_access inline_accesses[TOUCH_INLINE];
    struct csan_dim inline_dims[TOUCH_INLINE][TOUCH_DIMS];
};

/* Fills `call` by the function's row. Release it afterwards; its ranges are valid until then. */
void touch_collect(struct touch *call, const struct library_function *function,
                   struct library_home *home, const uint64_t *registers, const uint64_t *stack);
void touch_release(struct touch *call);

/* Begins an access; false: it is not made. */
bool touch_begin(struct touch *call, uint8_t kind, uint16_t argument, struct touch_type type,
                 enum touch_when when);

/* A range of it: `bytes` at base, repeated by dims, innermost first. */
void touch_add(struct touch *call, uint64_t base, uint64_t bytes, const struct csan_dim *dims,
               size_t dim_count);

/* Arguments by their index. `size` is the library's int. */
uint64_t touch_argument_pointer(const struct touch *call, unsigned place);
int64_t touch_argument_integer(const struct touch *call, unsigned place);
int64_t touch_argument_size(const struct touch *call, unsigned place);
int64_t touch_argument_long(const struct touch *call, unsigned place);

/* ---- Shapes ---- */

/* n elements in a row, |increment| elements apart; a negative increment goes backwards. All this
 * `batches` times, `step` elements apart. */
void touch_buffer(struct touch *call, uint64_t base, int64_t n);
void touch_vector(struct touch *call, uint64_t base, int64_t n, int64_t increment);
void touch_vectors(struct touch *call, uint64_t base, int64_t n, int64_t increment, int64_t step,
                   int64_t batches);
/* Columns of `rows` elements, `leading` elements apart. A triangle, and the columns of a band, lie
 * somewhere within: bounded. */
void touch_matrix(struct touch *call, uint64_t base, int64_t rows, int64_t columns,
                  int64_t leading);
void touch_matrices(struct touch *call, uint64_t base, int64_t rows, int64_t columns,
                    int64_t leading, int64_t step, int64_t batches);
void touch_triangle(struct touch *call, uint64_t base, int64_t n, int64_t leading);
void touch_band(struct touch *call, uint64_t base, int64_t rows, int64_t columns, int64_t leading);
/* A triangle without gaps. */
void touch_packed(struct touch *call, uint64_t base, int64_t n);
/* An array of addresses in device memory, and what lies at each of them. The addresses are known if
 * the host copied the array there and nothing can have written to it since. */
void touch_addresses(struct touch *call, uint64_t array, int64_t batches);
void touch_vector_each(struct touch *call, uint64_t array, int64_t batches, int64_t n,
                       int64_t increment);
void touch_matrix_each(struct touch *call, uint64_t array, int64_t batches, int64_t rows,
                       int64_t columns, int64_t leading);
void touch_triangle_each(struct touch *call, uint64_t array, int64_t batches, int64_t n,
                         int64_t leading);
/* The same in groups: arrays with a number for each are on the host. Of a group whose factor is 0
 * nothing is touched; `factors` and `operations` may be 0. */
void touch_group_addresses(struct touch *call, uint64_t array, int64_t groups, uint64_t sizes);
void touch_group_matrices(struct touch *call, uint64_t array, int64_t groups, uint64_t sizes,
                          uint64_t factors, int64_t compute_type, uint64_t operations,
                          uint64_t rows, uint64_t columns, uint64_t leading);

/* ---- cuBLAS ---- */

struct touch_type touch_element(const struct touch *call); /* by the function's letter */
struct touch_type touch_real(const struct touch *call);    /* one part of that */
struct touch_type touch_single(const struct touch *call);
struct touch_type touch_index(const struct touch *call); /* the library's int */
struct touch_type touch_bytes(const struct touch *call, int64_t bytes);
struct touch_type touch_data(const struct touch *call, int64_t cuda_data_type);
struct touch_type touch_real_part(const struct touch *call, int64_t cuda_data_type);
struct touch_type touch_scale(const struct touch *call, int64_t compute_type,
                              int64_t cuda_data_type);

/* A scalar argument. It is an access only if the handle's pointer mode says that it is on the
 * device. */
void touch_scalar(struct touch *call, uint64_t pointer);
void touch_scalars(struct touch *call, uint64_t pointer, int64_t n);

/* BLAS does not read operands whose factor is zero. */
enum touch_when touch_nonzero(struct touch *call, uint64_t scalar, struct touch_type type);
enum touch_when touch_value_nonzero(uint64_t scalar, struct touch_type type); /* at the host */
enum touch_when touch_positive(const struct touch *call, int64_t number);
/* Pointers that may be NULL. */
enum touch_when touch_given(const struct touch *call, uint64_t pointer);
enum touch_when touch_partly(const struct touch *call);
enum touch_when touch_with_diagonal(const struct touch *call, int64_t diagonal);
/* The first size, or the second one if the matrix is transposed; and if it stands on the right. */
int64_t touch_op(const struct touch *call, int64_t operation, int64_t plain, int64_t transposed);
int64_t touch_side(const struct touch *call, int64_t side, int64_t left, int64_t right);
/* Of two sizes the lesser; and how many singular vectors gesvd gives out of `size`, by its job: all
 * ('A'), as many as there are singular values ('S'), or none. */
int64_t touch_lesser(const struct touch *call, int64_t one, int64_t other);
int64_t touch_singular(const struct touch *call, int64_t job, int64_t size, int64_t other);

/* The workspace that the program gave the handle, all of it; nothing if it gave none. Two handles
 * with one workspace must not work on two streams at once. */
void touch_workspace(struct touch *call, uint64_t handle);

/* ---- cuBLASLt ---- */

void touch_lt_matrix(struct touch *call, uint64_t base, uint64_t descriptor);
/* The factors, if they are on the device. `target` is the result's layout. */
void touch_lt_alpha(struct touch *call, uint64_t alpha, uint64_t product, uint64_t target);
void touch_lt_beta(struct touch *call, uint64_t beta, uint64_t product);
enum touch_when touch_lt_alpha_nonzero(struct touch *call, uint64_t alpha, uint64_t product);
enum touch_when touch_lt_beta_nonzero(struct touch *call, uint64_t beta, uint64_t product);
/* What an epilogue reads, and scales of operands; and what it writes beside D. */
void touch_lt_additions(struct touch *call, uint64_t product, uint64_t target);
void touch_lt_results(struct touch *call, uint64_t product, uint64_t target);

/* ---- cuFFT ---- */

void touch_fft_input(struct touch *call, uint64_t input, uint64_t output, int64_t plan);
void touch_fft_output(struct touch *call, uint64_t output, uint64_t input, int64_t plan);
/* The documentation does not say what a complex-to-real transform leaves of its input. */
void touch_fft_spoilt_input(struct touch *call, uint64_t input, uint64_t output, int64_t plan);
/* Its work area: its own, or the one of cufftSetWorkArea. It is an error to execute one plan, or
 * plans that share a work area, on two streams at once. */
void touch_fft_work_area(struct touch *call, int64_t plan);

/* ---- cuSPARSE ---- */

/* By their descriptors. Offsets of rows or columns are bounded; entries are indices and values. */
void touch_sparse_matrix(struct touch *call, uint64_t descriptor);
void touch_sparse_offsets(struct touch *call, uint64_t descriptor);
void touch_sparse_entries(struct touch *call, uint64_t descriptor);
void touch_dense_vector(struct touch *call, uint64_t descriptor);
void touch_dense_matrix(struct touch *call, uint64_t descriptor);
/* The buffer of a call, as large as the library says. */
void touch_sparse_buffer(struct touch *call, uint64_t buffer);
/* Nothing says that operands whose factor is zero are not read. */
enum touch_when touch_sparse_factor(struct touch *call, uint64_t scalar, struct touch_type type);

/* ---- NCCL ---- */

struct touch_type touch_nccl(const struct touch *call, int64_t nccl_data_type);
int64_t touch_ranks(const struct touch *call, uint64_t communicator);
enum touch_when touch_is_root(const struct touch *call, uint64_t communicator, int64_t root);
enum touch_when touch_is_not_root(const struct touch *call, uint64_t communicator, int64_t root);
enum touch_when touch_receives_broadcast(const struct touch *call, uint64_t communicator,
                                         int64_t root, uint64_t source, uint64_t target);
/* n elements for each rank, but not this rank's own ones if the source lies in their place. */
void touch_gathered(struct touch *call, uint64_t target, uint64_t source, int64_t n,
                    uint64_t communicator);
/* n elements; none if the target is their place in the source. */
/* n elements of a rank's window, `offset` bytes in it. */
void touch_window(struct touch *call, uint64_t handle, int64_t offset, int64_t n, int64_t rank,
                  uint64_t communicator);
void touch_scattered(struct touch *call, uint64_t target, uint64_t source, int64_t n,
                     uint64_t communicator);

#endif
