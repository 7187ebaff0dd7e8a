/* Threads of csan's own. libcsan stands in front of pthread_create, so that the name would lead to
 * itself within the library; what the process has under that name comes first, such as that of a
 * sanitizer, which must know every thread. */
#ifndef CSAN_BASE_INTERNAL_THREAD_H
#define CSAN_BASE_INTERNAL_THREAD_H

#include <pthread.h>

/* As pthread_create. Any thread. */
int internal_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                           void *(*run)(void *), void *argument);

#endif
