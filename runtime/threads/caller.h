/* Finds out who called a pthread function: the program, or a library whose locks do not order the
 * program's threads.
 *
 * CUDA's libraries and csan's lock mutexes in most of their calls. If csan took those for an order,
 * it would order any two threads that use CUDA at all. An allocator's locks would order any two
 * threads that allocate. csan would also allocate while it handles such a lock, and the lock is
 * still held. */
#ifndef RUNTIME_THREADS_CALLER_H
#define RUNTIME_THREADS_CALLER_H

#include <stdbool.h>

/* 1 if the code at that return address belongs to CUDA, csan or an allocator. Cached: a few loads.
 */
bool caller_is_aside(const void *caller);

#endif
