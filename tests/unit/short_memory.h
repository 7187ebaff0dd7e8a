/* A test program whose memory is short where it says so: its malloc goes before the C library's in
 * all libraries. Sanitizers bring their own, and memory is never short there. */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_IS_NEVER_SHORT
#endif

/* Of so many bytes there is no piece, for this thread, but those that come before the one of that
 * number: counted from 1, down to 0, when there are no more at all. */
static __thread size_t short_of __attribute__((unused));
static __thread unsigned short_from __attribute__((unused));

/* The same of cleared pieces: of so many bytes there is none. */
static __thread size_t short_of_cleared __attribute__((unused));

/* uthash's first piece of each table. */
enum { TABLE_BYTES = 64 };

#ifndef MEMORY_IS_NEVER_SHORT
void *__libc_malloc(size_t bytes);
__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (bytes != short_of || !bytes)
        return __libc_malloc(bytes);
    short_from -= short_from > 0;
    return short_from > 0 ? __libc_malloc(bytes) : NULL;
}

void *__libc_calloc(size_t count, size_t bytes);
__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    const bool is_short = short_of_cleared && count == 1 && bytes == short_of_cleared;
    return is_short ? NULL : __libc_calloc(count, bytes);
}
#endif

#endif
