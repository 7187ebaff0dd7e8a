/* csan's own threads. libcsan interposes pthread_create, so within the library that name is
 * libcsan's own function. This module calls the process' first other definition of it, for example
 * a sanitizer's, which must know every thread. */
#ifndef CSAN_BASE_INTERNAL_THREAD_H
#define CSAN_BASE_INTERNAL_THREAD_H

#include <pthread.h>

/* As pthread_create. Any thread. */
int internal_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                           void *(*run)(void *), void *argument);

#endif
