/* What a call of csan's own cuBLAS accesses, by the rows of runtime/hook/library/library.table:
 * gen/device/cublas_extents.c, made from them, calls the functions here. The hooks say by the same
 * rows what the call touches (runtime/hook/library/touch.h), so neither can say less than the
 * other.
 *
 * A row is evaluated twice. At the call, the values of scalars on the host are copied, and leading
 * dimensions are checked. When the work runs, each range must be memory that kernels may touch. */
#ifndef RUNTIME_DEVICE_LIBRARY_EXTENT_H
#define RUNTIME_DEVICE_LIBRARY_EXTENT_H

#include "runtime/device/driver/native.h"

#include <csan/csan.h>

#include <stdbool.h>
#include <stdint.h>

enum { EXTENT_UPDATE = 100 }; /* beside CSAN_READ and CSAN_WRITE: read, then written */
enum { EXTENT_ARGUMENTS = 24, EXTENT_SCALAR_BYTES = 40 };

struct extent;

struct extent_function {
    const char *symbol;
    const char *kinds;            /* a character an argument: p pointer, 4 or 8 bytes */
    const char *const *arguments; /* their names; ends with NULL */
    void (*extents)(struct extent *call);
    char letter; /* type of elements: S, D, C, Z, H */
    uint8_t wide;
};
extern const struct extent_function extent_functions[];

enum extent_when { EXTENT_NEVER, EXTENT_ALWAYS };
struct extent_type {
    uint32_t bytes, part;
    bool integer;
};

/* The values of scalars on the host, by their argument. */
struct extent_scalars {
    _Alignas(16) unsigned char values[EXTENT_ARGUMENTS][EXTENT_SCALAR_BYTES];
};

struct extent {
    const struct extent_function *function;
    const uint64_t *arguments;
    bool on_device;                 /* scalars are on the device (pointer mode) */
    struct extent_scalars *scalars; /* at the call: copied there; later: are there */
    struct device_native *native;   /* NULL: at the call */
    /* Results. */
    void *places[EXTENT_ARGUMENTS]; /* where this process can touch what each argument points to */
    uint32_t written[EXTENT_ARGUMENTS]; /* bytes of a scalar on the host that the call writes */
    bool wrong; /* at the call: an argument cannot be; later: an access failed */
    /* The access at hand. */
    unsigned kind, argument;
    struct extent_type type;
};

/* Evaluates the row. */
void extent_evaluate(struct extent *call);

/* The index of an argument by its name, or -1. */
int extent_argument(const struct extent_function *function, const char *name);
/* Its value as an integer of its size; `otherwise` if there is none of that name. */
int64_t extent_integer(const struct extent_function *function, const uint64_t *arguments,
                       const char *name, int64_t otherwise);

/* For the generated rows; as in touch.h. */
bool extent_begin(struct extent *call, unsigned kind, unsigned argument, struct extent_type type,
                  enum extent_when when);
uint64_t extent_argument_pointer(const struct extent *call, unsigned place);
int64_t extent_argument_integer(const struct extent *call, unsigned place);
int64_t extent_argument_size(const struct extent *call, unsigned place);
int64_t extent_argument_long(const struct extent *call, unsigned place);

void extent_buffer(struct extent *call, uint64_t base, int64_t n);
void extent_vector(struct extent *call, uint64_t base, int64_t n, int64_t increment);
void extent_vectors(struct extent *call, uint64_t base, int64_t n, int64_t increment, int64_t step,
                    int64_t batches);
void extent_matrix(struct extent *call, uint64_t base, int64_t rows, int64_t columns,
                   int64_t leading);
void extent_matrices(struct extent *call, uint64_t base, int64_t rows, int64_t columns,
                     int64_t leading, int64_t step, int64_t batches);
void extent_triangle(struct extent *call, uint64_t base, int64_t n, int64_t leading);
void extent_band(struct extent *call, uint64_t base, int64_t rows, int64_t columns,
                 int64_t leading);
void extent_packed(struct extent *call, uint64_t base, int64_t n);
void extent_addresses(struct extent *call, uint64_t array, int64_t batches);
void extent_vector_each(struct extent *call, uint64_t array, int64_t batches, int64_t n,
                        int64_t increment);
void extent_matrix_each(struct extent *call, uint64_t array, int64_t batches, int64_t rows,
                        int64_t columns, int64_t leading);
void extent_triangle_each(struct extent *call, uint64_t array, int64_t batches, int64_t n,
                          int64_t leading);
void extent_scalar(struct extent *call, uint64_t pointer);
void extent_scalars(struct extent *call, uint64_t pointer, int64_t n);

struct extent_type extent_element(const struct extent *call);
struct extent_type extent_real(const struct extent *call);
struct extent_type extent_single(const struct extent *call);
struct extent_type extent_index(const struct extent *call);
struct extent_type extent_bytes(const struct extent *call, int64_t bytes);
struct extent_type extent_data(const struct extent *call, int64_t cuda_data_type);
struct extent_type extent_real_part(const struct extent *call, int64_t cuda_data_type);
struct extent_type extent_scale(const struct extent *call, int64_t compute_type,
                                int64_t cuda_data_type);

enum extent_when extent_nonzero(const struct extent *call, uint64_t scalar,
                                struct extent_type type);
enum extent_when extent_positive(const struct extent *call, int64_t number);
enum extent_when extent_given(const struct extent *call, uint64_t pointer);
enum extent_when extent_partly(const struct extent *call);
enum extent_when extent_with_diagonal(const struct extent *call, int64_t diagonal);
int64_t extent_op(const struct extent *call, int64_t operation, int64_t plain, int64_t transposed);
int64_t extent_side(const struct extent *call, int64_t side, int64_t left, int64_t right);
/* Of two sizes the lesser; and how many singular vectors gesvd gives out of `size`, by its job: all
 * ('A'), as many as there are singular values ('S'), or none. */
int64_t extent_lesser(const struct extent *call, int64_t one, int64_t other);
int64_t extent_singular(const struct extent *call, int64_t job, int64_t size, int64_t other);

/* Integer arguments that are passed in registers: System V ABI for AMD64, 3.2.3; Procedure Call
 * Standard for the Arm 64-bit Architecture, 6.8.2. Each of the others takes a word of the stack. */
#if defined(__x86_64__)
enum { EXTENT_REGISTERS = 6 };
#else
enum { EXTENT_REGISTERS = 8 };
#endif
static inline uint64_t extent_passed(const uint64_t *registers, const uint64_t *stack,
                                     unsigned place)
{
    return place < EXTENT_REGISTERS ? registers[place] : stack[place - EXTENT_REGISTERS];
}

/* An exported function: copies its arguments to C, so that none needs a prototype, and returns what
 * ENTER(number, registers, stack) does. */
#if defined(__x86_64__)
#define LIBRARY_ENTRY(number, symbol, enter)                                                       \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", @function\n" symbol ":\n"                                           \
            "    .cfi_startproc\n"                                                                 \
            "    pushq %rbp\n"                                                                     \
            "    .cfi_def_cfa_offset 16\n"                                                         \
            "    .cfi_offset %rbp, -16\n"                                                          \
            "    movq %rsp, %rbp\n"                                                                \
            "    .cfi_def_cfa_register %rbp\n"                                                     \
            "    pushq %r9\n"                                                                      \
            "    pushq %r8\n"                                                                      \
            "    pushq %rcx\n"                                                                     \
            "    pushq %rdx\n"                                                                     \
            "    pushq %rsi\n"                                                                     \
            "    pushq %rdi\n"                                                                     \
            "    movl $" #number ", %edi\n"                                                        \
            "    movq %rsp, %rsi\n"                                                                \
            "    leaq 16(%rbp), %rdx\n"                                                            \
            "    call " enter "\n"                                                                 \
            "    leave\n"                                                                          \
            "    .cfi_def_cfa %rsp, 8\n"                                                           \
            "    ret\n"                                                                            \
            "    .cfi_endproc\n"                                                                   \
            ".size " symbol ", .-" symbol "\n"                                                     \
            ".popsection\n");
#else
#define LIBRARY_ENTRY(number, symbol, enter)                                                       \
    __asm__(".pushsection .text\n"                                                                 \
            ".balign 4\n"                                                                          \
            ".globl " symbol "\n"                                                                  \
            ".type " symbol ", %function\n" symbol ":\n"                                           \
            "    .cfi_startproc\n"                                                                 \
            "    stp x29, x30, [sp, #-16]!\n"                                                      \
            "    .cfi_def_cfa_offset 16\n"                                                         \
            "    .cfi_offset x29, -16\n"                                                           \
            "    .cfi_offset x30, -8\n"                                                            \
            "    mov x29, sp\n"                                                                    \
            "    .cfi_def_cfa_register x29\n"                                                      \
            "    stp x6, x7, [sp, #-16]!\n"                                                        \
            "    stp x4, x5, [sp, #-16]!\n"                                                        \
            "    stp x2, x3, [sp, #-16]!\n"                                                        \
            "    stp x0, x1, [sp, #-16]!\n"                                                        \
            "    mov w0, #" #number "\n"                                                           \
            "    mov x1, sp\n"                                                                     \
            "    add x2, x29, #16\n"                                                               \
            "    bl " enter "\n"                                                                   \
            "    mov sp, x29\n"                                                                    \
            "    ldp x29, x30, [sp], #16\n"                                                        \
            "    .cfi_def_cfa sp, 0\n"                                                             \
            "    ret\n"                                                                            \
            "    .cfi_endproc\n"                                                                   \
            ".size " symbol ", .-" symbol "\n"                                                     \
            ".popsection\n");
#endif

#endif
