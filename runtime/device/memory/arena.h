/* A range of addresses that is handed out in units of some bytes, first fit; neighbours are joined
 * on free. The driver has two: device memory, which the program cannot touch, and host memory,
 * which it can.
 *
 * So that wrong addresses hit no other allocation, an unused red zone lies behind each block, and
 * freed blocks wait in a quarantine before their addresses are given out again. Neither counts as
 * handed out. Before an allocation fails, the quarantine is emptied and the block gets no red zone.
 *
 * Device memory is two ranges of equal size. The program sees the addresses of the first, which
 * cannot be accessed. The second, `delta` bytes further, holds the bytes, and only the device uses
 * it. Pages cost nothing until they are touched. */
#ifndef RUNTIME_DEVICE_MEMORY_ARENA_H
#define RUNTIME_DEVICE_MEMORY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    uint64_t base, bytes; /* the range; base 0: the mapping failed */
    uint64_t opened;      /* so many bytes from base on can be touched: tools that read a process's
                             memory, as valgrind does at its end, read all of them */
    uint64_t delta;       /* added to an address to touch it; 0 for host memory */
    uint64_t unit;        /* every block starts at a multiple and is one; a power of two */
    uint64_t limit;       /* how much may be handed out at once */
    uint64_t used;        /* handed out */
    uint64_t redzone;     /* least bytes behind each block; 0: none */
    uint64_t zones;       /* bytes behind those that are handed out */
    uint64_t quarantine;  /* most bytes of freed blocks that wait; 0: none do */
    uint64_t held;        /* bytes that wait now */
    struct arena_block *held_first, *held_last; /* the longest waiting first */
    uint64_t births;                            /* allocations ever made */
    struct arena_block *root;
};

/* The description of one block; `tag` and `flags` belong to the owner. */
struct arena_info {
    uint64_t base, bytes; /* bytes as asked for */
    uint32_t tag, flags;
    uint64_t span;  /* bytes it could hold, without its red zone */
    uint64_t id;    /* grows with every allocation and reuse */
    bool attribute; /* the owner's, off until it is set */
};

/* Reserves `bytes` of addresses at `hint` or, if that is taken, anywhere. `hidden`: the program
 * must not touch it. False with errno set if the system refuses. */
bool arena_open(struct arena *arena, uint64_t hint, uint64_t bytes, uint64_t unit, uint64_t limit,
                bool hidden);
void arena_close(struct arena *arena);

/* From now on blocks have a red zone of at least `redzone` bytes, larger blocks a larger one, and
 * up to `quarantine` bytes of freed blocks wait. Without this call there is neither. */
void arena_guard(struct arena *arena, uint64_t redzone, uint64_t quarantine);

/* 0 when there is no room. */
uint64_t arena_allocate(struct arena *arena, uint64_t bytes, uint32_t tag, uint32_t flags);
/* The same for addresses only, which do not count against the limit, at a multiple of `alignment`
 * (a power of two). They have no red zone and never wait. */
uint64_t arena_reserve(struct arena *arena, uint64_t bytes, uint64_t alignment, uint32_t tag);
/* False when no block starts there. Large blocks give their pages back to the system. */
bool arena_free(struct arena *arena, uint64_t base);
/* The same for a block whose address the program never got: it does not wait. */
bool arena_free_now(struct arena *arena, uint64_t base);
/* The live block that contains the address in the bytes that were asked for. */
bool arena_find(const struct arena *arena, uint64_t address, struct arena_info *info);
/* The first live block that starts at or after `address`. */
bool arena_next(const struct arena *arena, uint64_t address, struct arena_info *info);
/* Changes a live block without moving it: its size (not above its own), tag and flags. */
bool arena_reuse(struct arena *arena, uint64_t base, uint64_t bytes, uint32_t tag, uint32_t flags);

/* Sets the attribute of the live block that contains the address. */
bool arena_set_attribute(struct arena *arena, uint64_t address, bool on);

static inline bool arena_owns(const struct arena *arena, uint64_t address)
{
    return address - arena->base < arena->bytes;
}

#endif
