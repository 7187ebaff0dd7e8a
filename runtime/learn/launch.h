/* One launch as learning sees it: its signature, its parameter bytes and its anchors. Anchors are
 * the addresses that the launch received; a learned set is relative to them. */
#ifndef RUNTIME_LEARN_LAUNCH_H
#define RUNTIME_LEARN_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of memory with one owner: an allocation, or a block of a declared pool. */
struct learn_block {
    uint64_t start, end; /* end 0: memory without a known owner */
};

/* The block that holds the address. Memory of no owner has end 0, and a `start` that changes when
 * what lies there may be another's (a module was unloaded). */
typedef struct learn_block learn_find_block(void *user, uint64_t address);

/* The blocks that several may point into, end 0 where they do not. A pointer to the end of a block
 * belongs to that block, unless another block begins there: then the pointer more likely means the
 * other block. */
typedef void learn_find_blocks(void *user, const uint64_t *addresses, uint32_t count,
                               struct learn_block *blocks);

enum learn_anchor_kind {
    LEARN_PARAMETER,  /* a pointer: eight bytes of the parameters */
    LEARN_TENSOR_MAP, /* a tensor map: 128 bytes of the parameters, or 64 */
    LEARN_VARIABLE    /* a variable of the kernel's module */
};

enum { LEARN_MAX_ANCHORS = 512 };

struct learn_anchor {
    uint8_t kind;      /* enum learn_anchor_kind */
    uint8_t bytes;     /* TENSOR_MAP: of the parameters */
    uint32_t offset;   /* of its bytes in the parameters; VARIABLE: its number */
    uint64_t identity; /* TENSOR_MAP: hash of its encoding's arguments without the address;
                          VARIABLE: hash of its name; PARAMETER: 0 */
    uint64_t address;
    struct learn_block block; /* that it points into */
};

struct learn_launch {
    uint32_t grid[3], block[3], cluster[3], shared; /* shared: bytes of dynamic shared memory */
    const uint8_t *parameters;
    uint32_t parameter_bytes;
    const struct learn_anchor *anchors;
    uint32_t anchor_count;
};

/* Adds the pointers among the parameters behind the anchors there are, whose bytes are passed over:
 * each aligned eight bytes that point into a block, or to its end; all blocks lie in `span`.
 * `anchors` has room for `capacity`, at most LEARN_MAX_ANCHORS. Returns the new count. */
uint32_t learn_find_pointers(const uint8_t *parameters, uint32_t bytes, struct learn_block span,
                             learn_find_blocks *find, void *user, struct learn_anchor *anchors,
                             uint32_t count, uint32_t capacity);

#endif
