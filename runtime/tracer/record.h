/* What one traced launch leaves in device memory: a bit for each granule of memory that it read,
 * wrote or atomically updated. The kernel's patch (patch.cu) fills it, buffer.c empties it.
 *
 * The bits lie in chunks of the address space, found through a hash table, so that what a launch
 * needs grows with what it touches and not with what the program has. */
#ifndef RUNTIME_TRACER_RECORD_H
#define RUNTIME_TRACER_RECORD_H

#include <stdint.h>

enum {
    RECORD_KINDS = 3, /* as enum device_trace_kind: read, write, atomic */
    RECORD_CHUNK_SHIFT = 10,
    RECORD_CHUNK_WORDS = (1 << RECORD_CHUNK_SHIFT) / 32,
    RECORD_PROBES = 64 /* how far a chunk may be from its place in the table */
};

/* What the record says of itself: RECORD_... */
enum {
    RECORD_NARROW = 1, /* an access did not begin and end with granules */
    RECORD_FULL = 2    /* an access had no room: the record is not all */
};

struct record_chunk {
    uint32_t bits[RECORD_KINDS][RECORD_CHUNK_WORDS];
};

/* A chunk in use: its place in the table, and the address of its first granule. */
struct record_use {
    uint64_t address;
    uint64_t slot;
};

/* Where the parts of a record lie, in bytes from its beginning, which is aligned to 256 bytes. */
enum {
    RECORD_SLOT_SHIFT = 15, /* 32,768 chunks: 128 MiB of memory in granules of four bytes */
    RECORD_SLOTS = 1 << RECORD_SLOT_SHIFT,
    RECORD_KEYS_AT = 256, /* a uint64_t a slot: the chunk's number + 1; 0: free */
    RECORD_USES_AT = RECORD_KEYS_AT + RECORD_SLOTS * 8,
    RECORD_CHUNKS_AT = RECORD_USES_AT + RECORD_SLOTS * 16,
    RECORD_BYTES = RECORD_CHUNKS_AT + RECORD_SLOTS * RECORD_KINDS * RECORD_CHUNK_WORDS * 4
};

/* At its beginning. All of a record is zero before a launch. */
struct record {
    uint32_t use_count;
    uint32_t flags;
};

/* What the patch is given: the record's address, and in its low bits log2 of a granule's bytes. */
enum { RECORD_GRANULE_MASK = 63 };

#endif
