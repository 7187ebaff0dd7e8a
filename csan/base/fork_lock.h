/* Mutexes whose tables a forked child goes on with. Another thread may hold one while the process
 * forks, and is not there in the child to give it back; nor is what it changes complete. So they
 * are taken before each fork, for a moment at most, and given back on both sides. Where one could
 * not be had, as by a signal handler that forks within csan, the child gets it free all the same.
 *
 * For what is taken briefly, and with which nothing else is waited for. */
#ifndef CSAN_BASE_FORK_LOCK_H
#define CSAN_BASE_FORK_LOCK_H

#include <pthread.h>

/* From then on. Any thread, as often as it likes. The mutex stays for ever. */
void fork_lock_keep(pthread_mutex_t *mutex);

#endif
