/* Naps of csan's thread. See nap.h. */
#include "runtime/hook/session/nap.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the pieces, the program's own threads are to process between these parts of them. */
enum { LITTLE = 16, MUCH = 8 };

static uint32_t between(uint32_t microseconds)
{
    return microseconds < NAP_LEAST_US  ? NAP_LEAST_US
           : microseconds > NAP_MOST_US ? NAP_MOST_US
                                        : microseconds;
}

void nap_worked(struct nap *nap, uint64_t all, uint64_t within, bool large)
{
    const uint64_t pieces = all - nap->all, own = within - nap->within;
    nap->idle = 0;
    if (large || (pieces >= NAP_PIECES && own > pieces / MUCH))
        nap->microseconds = between(nap->microseconds / 2);
    else if (pieces >= NAP_PIECES && own < pieces / LITTLE)
        nap->microseconds = between(2 * between(nap->microseconds));
    if (!large && pieces < NAP_PIECES)
        return;
    nap->all = all;
    nap->within = within;
}

bool nap_without_work(struct nap *nap)
{
    if (nap->idle == NAP_IDLE_MOST)
        return false;
    nap->idle++;
    return true;
}

void nap_woken(struct nap *nap)
{
    nap->idle = 0;
}

uint32_t nap_microseconds(const struct nap *nap)
{
    return between(between(nap->microseconds) << nap->idle);
}

void nap_take(struct nap *nap)
{
    const uint32_t ended = __atomic_load_n(&nap->ended, __ATOMIC_ACQUIRE);
    const struct timespec time = {.tv_nsec = nap_microseconds(nap) * 1000L};
    syscall(SYS_futex, &nap->ended, FUTEX_WAIT_PRIVATE, ended, &time, NULL, 0);
}

void nap_end(struct nap *nap)
{
    __atomic_fetch_add(&nap->ended, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &nap->ended, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
