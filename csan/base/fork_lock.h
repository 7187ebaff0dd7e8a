/* Mutexes that must be free in a forked child, because it goes on with the tables that they guard.
 *
 * Another thread may hold such a mutex while the process forks. That thread does not exist in the
 * child, so it can neither give the mutex back nor complete its change. So csan takes these mutexes
 * before each fork, waits a moment at most, and gives them back on both sides. If one could not be
 * taken, as when a signal handler forks within csan, the child still gets it free.
 *
 * Use it for mutexes that are held briefly, and with which nothing else is waited for. */
#ifndef CSAN_BASE_FORK_LOCK_H
#define CSAN_BASE_FORK_LOCK_H

#include <pthread.h>

/* Registers the mutex. Any thread may call it, as often as it likes. The mutex must stay for ever.
 */
void fork_lock_keep(pthread_mutex_t *mutex);

#endif
