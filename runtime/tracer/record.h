/* What one traced launch leaves in device memory: a bit for each granule of memory that it read,
 * wrote or atomically updated. The kernel's patch (patch.cu) fills it in, and buffer.c clears it.
 *
 * The bits lie in chunks of the address space, each for one kind of access. A hash table finds
 * them. So a launch needs room for what it touches, whatever the program has. Records come in three
 * sizes: most launches touch little, and many are under way at once. */
#ifndef RUNTIME_TRACER_RECORD_H
#define RUNTIME_TRACER_RECORD_H

#include <stdint.h>

#ifdef __CUDACC__
#define RECORD_INLINE static __device__ inline
#else
#define RECORD_INLINE static inline
#endif

enum {
    RECORD_KINDS = 3, /* as enum device_trace_kind: read, write, atomic */
    RECORD_CHUNK_SHIFT = 16,
    RECORD_CHUNK_WORDS = (1 << RECORD_CHUNK_SHIFT) / 32,
    RECORD_PROBES = 64 /* how far a chunk may be from its place in the table */
};

/* The record's own flags: RECORD_... */
enum {
    RECORD_NARROW = 1, /* an access did not begin and end at granules */
    RECORD_FULL = 2    /* there was no room for an access: the record is incomplete */
};

struct record_chunk {
    uint32_t bits[RECORD_CHUNK_WORDS];
};

/* A chunk in use: its place in the table, and its key. */
struct record_use {
    uint64_t key;
    uint64_t slot;
};

/* The chunk of those granules, counted from address 0 in chunks, and of that kind. */
RECORD_INLINE uint64_t record_key(uint64_t number, unsigned kind)
{
    return number << 2 | kind;
}
RECORD_INLINE uint64_t record_key_number(uint64_t key)
{
    return key >> 2;
}
RECORD_INLINE unsigned record_key_kind(uint64_t key)
{
    return (unsigned)(key & 3);
}

/* Sizes by their number of chunks: 128, 1,024 and 8,192, of 256 KiB of memory each in granules of
 * four bytes. */
enum { RECORD_SIZES = 3 };
RECORD_INLINE uint32_t record_slot_shift(uint32_t size)
{
    return 7 + 3 * size;
}

/* Offsets of the parts of a record from its beginning, in bytes. */
enum { RECORD_ALIGNMENT = 256, RECORD_KEYS_AT = 256 }; /* a uint64_t a slot: key + 1; 0: free */
RECORD_INLINE uint64_t record_uses_at(uint32_t size)
{
    return RECORD_KEYS_AT + ((uint64_t)8 << record_slot_shift(size));
}
RECORD_INLINE uint64_t record_chunks_at(uint32_t size)
{
    return record_uses_at(size) + ((uint64_t)16 << record_slot_shift(size));
}
RECORD_INLINE uint64_t record_bytes(uint32_t size)
{
    return record_chunks_at(size) +
           ((uint64_t)sizeof(struct record_chunk) << record_slot_shift(size));
}

/* At its beginning. All of a record is zero before a launch. */
struct record {
    uint32_t use_count;
    uint32_t flags;
};

/* The argument of the patch: the record's address, and in its low bits log2 of a granule's bytes
 * and the record's size. */
enum { RECORD_GRANULE_MASK = 31, RECORD_SIZE_SHIFT = 5 };
RECORD_INLINE uint64_t record_userdata(uint64_t record, uint32_t granule_shift, uint32_t size)
{
    return record | size << RECORD_SIZE_SHIFT | granule_shift;
}

#endif
