/* Who called a pthread function: the program, or a library whose own locks say nothing of it.
 *
 * CUDA's libraries and csan's lock mutexes in most of their calls. To take those for an order would
 * order any two threads that use CUDA at all. An allocator's would order any two that allocate, and
 * csan, told of one, allocates, while it is held. */
#ifndef RUNTIME_THREADS_CALLER_H
#define RUNTIME_THREADS_CALLER_H

#include <stdbool.h>

/* 1 when the code at that return address is CUDA's, csan's or an allocator's. Cached: a few loads.
 */
bool caller_is_aside(const void *caller);

#endif
