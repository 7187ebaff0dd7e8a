/* An arena: memory that is handed out piece by piece and given back all at once. A PTX module and
 * everything in it lives in one, the parser's and linker's scratch data in another. Memory comes
 * zeroed. When memory is short the arena jumps to `out_of_memory`, so that callers need no checks.
 */
#ifndef RUNTIME_PTX_ARENA_H
#define RUNTIME_PTX_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    jmp_buf *out_of_memory; /* target of longjmp(.., 1); must be set while allocating */
};

/* Zeroed memory, aligned for any type. Never returns NULL. */
void *ptx_arena_allocate(struct arena *arena, size_t bytes);
/* Room for `count` items of `size` bytes; a product that wraps counts as memory being short. */
void *ptx_arena_array(struct arena *arena, size_t count, size_t size);
/* A copy of `bytes` bytes with a terminating NUL. */
char *ptx_arena_text(struct arena *arena, const char *text, size_t bytes);
void ptx_arena_release(struct arena *arena);

/* Makes room for one more item in an array that grows by doubling inside the arena: returns the
 * array, moved when `count` has reached `*capacity`. */
void *ptx_arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size);

#endif
