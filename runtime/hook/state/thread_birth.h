/* Where the program created its threads. libcsan interposes pthread_create, notes the stack of the
 * call, and passes it to the new thread. Reports identify per-thread default streams by it.
 *
 * If csan is off, or if libcsan_threads.so interposes pthread_create and reports to csan, the call
 * goes straight to the next pthread_create, with the caller's return address. */
#ifndef RUNTIME_HOOK_STATE_THREAD_BIRTH_H
#define RUNTIME_HOOK_STATE_THREAD_BIRTH_H

#include <csan/csan.h>

#include <stdbool.h>

struct thread_birth;

/* Call it once csan is on. `reports`: libcsan_threads reports births, so calls pass through. */
void thread_birth_start(bool reports);

/* The calling thread is about to create a thread. NULL if its stack is not known, or memory is
 * short. The new thread calls thread_birth_is with the result; otherwise thread_birth_free frees
 * it. */
struct thread_birth *thread_birth_take(void);
void thread_birth_is(struct thread_birth *birth);
void thread_birth_free(struct thread_birth *birth);

/* The site of the call that created the calling thread; 0: csan did not see it. */
csan_site thread_birth_site(void);

#endif
