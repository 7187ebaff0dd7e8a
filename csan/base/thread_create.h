/* The process' pthread_create, for csan's own threads. libcsan interposes that function, so within
 * the library its name is libcsan's own. This module calls the process' first other definition of
 * it, for example a sanitizer's, which must know every thread. */
#ifndef CSAN_BASE_THREAD_CREATE_H
#define CSAN_BASE_THREAD_CREATE_H

#include <pthread.h>

/* As pthread_create. Any thread. */
int thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                  void *argument);

#endif
