/* A range of addresses handed out in units of some bytes, first fit, with neighbours joined on
 * free. The driver has two: device memory, which the program cannot touch, and host memory, which
 * it can.
 *
 * So that wrong addresses hit no other allocation, an unused red zone lies behind each block, and
 * freed blocks wait in a quarantine before their addresses are given out again. Neither counts as
 * handed out. The quarantine is emptied, and blocks go without a zone, before an allocation fails.
 *
 * Device memory is two ranges of equal size: one without access, whose addresses the program sees,
 * and one `delta` bytes further that holds the bytes, where only the device looks. Pages cost
 * nothing until they are touched. */
#ifndef RUNTIME_DEVICE_MEMORY_ARENA_H
#define RUNTIME_DEVICE_MEMORY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    uint64_t base, bytes; /* the range; base 0: the mapping failed */
    uint64_t opened;      /* from base on so many bytes can be touched: tools that look through a
                             process's memory, as valgrind at its end, go through all of them */
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

/* What one block says of itself; `tag` and `flags` are the owner's. */
struct arena_info {
    uint64_t base, bytes; /* bytes as asked for */
    uint32_t tag, flags;
    uint64_t span;  /* bytes it could hold, without its red zone */
    uint64_t id;    /* grows with every allocation and reuse */
    bool attribute; /* the owner's, off until it is set */
};

/* Reserve `bytes` of addresses at `hint` or, when something is there, anywhere. `hidden`: the
 * program must not touch it. False with errno set when the system refuses. */
bool arena_open(struct arena *arena, uint64_t hint, uint64_t bytes, uint64_t unit, uint64_t limit,
                bool hidden);
void arena_close(struct arena *arena);

/* Blocks from now on have a red zone of at least `redzone` bytes, larger ones a larger one, and up
 * to `quarantine` bytes of freed ones wait. Without this call there is neither. */
void arena_guard(struct arena *arena, uint64_t redzone, uint64_t quarantine);

/* 0 when there is no room. */
uint64_t arena_allocate(struct arena *arena, uint64_t bytes, uint32_t tag, uint32_t flags);
/* The same for addresses alone, which the limit does not count, at a multiple of `alignment` (a
 * power of two). They have no red zone and never wait. */
uint64_t arena_reserve(struct arena *arena, uint64_t bytes, uint64_t alignment, uint32_t tag);
/* False when no block starts there. Large blocks give their pages back to the system. */
bool arena_free(struct arena *arena, uint64_t base);
/* The same of a block whose address the program never had: it does not wait. */
bool arena_free_now(struct arena *arena, uint64_t base);
/* The live block of whose bytes, as asked for, address is one. */
bool arena_find(const struct arena *arena, uint64_t address, struct arena_info *info);
/* The first live block that starts at or after `address`. */
bool arena_next(const struct arena *arena, uint64_t address, struct arena_info *info);
/* Give a live block a new owner without moving it: a new size (at most its own), tag and flags. */
bool arena_reuse(struct arena *arena, uint64_t base, uint64_t bytes, uint32_t tag, uint32_t flags);

/* Set the attribute of the live block that contains the address. */
bool arena_set_attribute(struct arena *arena, uint64_t address, bool on);

static inline bool arena_owns(const struct arena *arena, uint64_t address)
{
    return address - arena->base < arena->bytes;
}

#endif
