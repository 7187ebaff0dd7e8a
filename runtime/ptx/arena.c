/* The arena behind modules and the parser's scratch data: a list of chunks, the first one open.
 * Requests larger than a chunk get a chunk of their own, so their pages stay untouched until used.
 */
#include "runtime/ptx/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, capacity;
    _Alignas(ALIGNMENT) unsigned char data[];
};

static struct arena_chunk *chunk_create(struct arena *arena, size_t capacity)
{
    struct arena_chunk *chunk =
        capacity > SIZE_MAX / 2 ? NULL : calloc(1, sizeof(struct arena_chunk) + capacity);
    if (!chunk)
        longjmp(*arena->out_of_memory, 1);
    chunk->capacity = capacity;
    return chunk;
}

static void *allocate_slow(struct arena *arena, size_t bytes)
{
    bool large = bytes > CHUNK_BYTES / 4;
    struct arena_chunk *chunk = chunk_create(arena, large ? bytes : CHUNK_BYTES);
    chunk->used = bytes;
    if (large && arena->chunks) { /* the open chunk stays open */
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk->data;
}

void *ptx_arena_allocate(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->chunks;
    if (bytes > SIZE_MAX / 4)
        longjmp(*arena->out_of_memory, 1);
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!chunk || chunk->capacity - chunk->used < bytes)
        return allocate_slow(arena, bytes);
    void *memory = chunk->data + chunk->used;
    chunk->used += bytes;
    return memory;
}

void *ptx_arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 4 / size)
        longjmp(*arena->out_of_memory, 1);
    return ptx_arena_allocate(arena, count * size);
}

char *ptx_arena_text(struct arena *arena, const char *text, size_t bytes)
{
    char *copy = ptx_arena_array(arena, bytes + 1, 1);
    memcpy(copy, text, bytes);
    return copy;
}

void *ptx_arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = ptx_arena_array(arena, larger, size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}

void ptx_arena_release(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    arena->chunks = NULL;
}
