/* Access sets: which bytes one launch of a kernel reads, writes and atomically updates. The
 * analysis derives them from the kernel's PTX and the launch's grid, block and parameter bytes,
 * without running anything.
 *
 * A set is relative to the pointers that the kernel was given. So it serves every launch that
 * differs only in pointers. The set remembers which parameter bytes the analysis used: two launches
 * that agree in grid, block and those bytes have the same set. See docs/internals/ptx-ranges.md.
 *
 * Not thread-safe: one caller at a time for one struct access_kernel. */
#ifndef RUNTIME_ACCESS_ACCESS_SET_H
#define RUNTIME_ACCESS_ACCESS_SET_H

#include "runtime/access/instruction_accesses.h"
#include "runtime/access/dependent_launch.h"

enum access_base_kind {
    ACCESS_BASE_PARAM,    /* the 8 bytes at param_offset of the parameters */
    ACCESS_BASE_VARIABLE, /* a .global or .const variable of the module */
    ACCESS_BASE_ADDRESS,  /* an address that was read from memory: see access_read */
    ACCESS_BASE_OBJECT    /* the memory under the texture, surface or tensor map at param_offset */
};

#define ACCESS_NO_PARAM UINT32_MAX

struct access_base {
    uint8_t kind;   /* enum access_base_kind */
    uint8_t object; /* OBJECT: enum instruction_access_object */
    bool guessed;   /* PARAM: these 8 bytes are a pointer only if they point into an allocation;
                       OBJECT: there is an object only if one is known by that handle */
    uint32_t param_index,
        param_offset; /* for PARAM, OBJECT; for ADDRESS: where its table came from */
    const struct ptx_variable *variable;
    uint64_t address;
};

enum access_kind { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_ATOMIC = 3 };

/* Why a range is not exact, that is, it holds every byte touched, and perhaps others. */
enum access_bound {
    ACCESS_EXACT,           /* every such launch touches every byte of it */
    ACCESS_BOUND_DIRECTION, /* only the pointer is known, not the offset from it */
    ACCESS_BOUND_DATA,      /* the address depends on data in memory */
    ACCESS_BOUND_GUARD,     /* whether the access happens depends on data in memory */
    ACCESS_BOUND_SHAPE,     /* the touched bytes have no shape that the analysis can describe */
    ACCESS_BOUND_BUDGET     /* the analysis stopped at its budget */
};

struct access_dim {
    int64_t stride; /* bytes */
    uint64_t count;
};

enum { ACCESS_MAX_DIMS = 6 };
#define ACCESS_TO_END UINT64_MAX /* bytes: from base + offset to the end of the allocation */
#define ACCESS_WHOLE                                                                               \
    (UINT64_MAX - 1) /* bytes: the whole allocation that base points into; of an                   \
                        object: all the memory under it */

/* Touches [base + offset + sum(i_k * stride_k), + bytes), 0 <= i_k < count_k. A range that is not
 * exact must be cut to the allocation that its base points into. */
struct access_range {
    uint32_t base; /* index into the set's bases */
    uint8_t kind;  /* enum access_kind */
    uint8_t bound; /* enum access_bound */
    uint8_t width; /* ATOMIC: bytes of one operation; 0: several */
    uint8_t dim_count;
    bool early;     /* may happen before griddepcontrol.wait: see dependent_launch.h */
    int64_t offset; /* bytes */
    uint64_t bytes; /* or ACCESS_TO_END, ACCESS_WHOLE */
    const struct access_dim *dims;
    uint32_t line; /* in the PTX text, of the first instruction it stands for */
};

struct access_set {
    const struct access_base *bases;
    const struct access_range *ranges;
    uint32_t base_count, range_count;
    bool complete;      /* false: there are, or may be, accesses that `ranges` lacks */
    bool exact;         /* complete, and every range is exact */
    bool reads_memory;  /* made with access_read: valid only while that memory has the same contents
                         */
    const char *reason; /* if not complete, or the first range is not exact: why; else "" */
    uint32_t reason_line; /* in the PTX text; 0: no place */
};

/* Reads memory as of the launch, `bytes` bytes (at most 8) at `offset` from the base, if their
 * contents can be known without asking the device. False: they cannot. `user` is the launch's. */
typedef bool access_read(void *user, const struct access_base *base, const void *const *parameters,
                         int64_t offset, uint32_t bytes, void *to);

struct access_launch {
    uint32_t grid[3], block[3]; /* blocks and threads, each at least 1 */
    uint32_t cluster[3];        /* 0, 0, 0: none */
    uint32_t dynamic_shared;    /* bytes */
    const void *const
        *parameters;   /* for each parameter the address of its bytes; NULL: not known */
    access_read *read; /* may be NULL */
    void *user;
    uint64_t memory_version; /* a set made with `read` is used again only while this is the same */
};

struct access_kernel;

/* The analysis of a kernel (a function with a body), and the sets made so far. The first launch
 * does the work. The function's module must outlive it. NULL when memory is short. */
struct access_kernel *access_kernel_create(const struct ptx_function *function);
void access_kernel_release(struct access_kernel *kernel);

/* The launch's access set. If an equal launch was asked for before, this costs a look-up. It never
 * fails: beyond its budgets the set is bounded or incomplete. Valid until the next call for the
 * same kernel. */
const struct access_set *access_set_find(struct access_kernel *kernel,
                                         const struct access_launch *launch);

/* The memory that the look-up read and its caller will read: at most ACCESS_PIECES. */
enum { ACCESS_PIECES = 5 };
struct access_piece {
    const void *start;
    size_t bytes;
};
size_t access_set_pieces(const struct access_kernel *kernel, const struct access_set *set,
                         struct access_piece *pieces);

/* Whether it may run beside its neighbours in the stream. Analyses the kernel if necessary. */
struct dependent_launch access_dependent_launch(struct access_kernel *kernel);

struct access_statistics {
    uint64_t hits, misses, evictions;
};
struct access_statistics access_statistics_of(const struct access_kernel *kernel);

#endif
