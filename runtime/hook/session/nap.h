/* How long csan's thread naps between two looks for deferred work.
 *
 * The end of each nap takes processor time, some 15 us of it. What the thread comes too late for,
 * the program processes itself within its next call that is not deferred, and waits meanwhile. So
 * naps get longer while the program processes little itself, and shorter when it processes much or
 * when its batch fills. Without work each nap is twice as long as the one before, and after a few
 * the thread sleeps until there is some. */
#ifndef RUNTIME_HOOK_SESSION_NAP_H
#define RUNTIME_HOOK_SESSION_NAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NAP_LEAST_US = 60,
    NAP_MOST_US = 960,
    NAP_PIECES = 64, /* after which it is looked at who processed them */
    NAP_IDLE_MOST = 5
};

struct nap {
    uint32_t microseconds; /* behind work */
    uint32_t idle;         /* naps since there was work */
    uint64_t all, within;  /* when it was last looked at */
    uint32_t ended;        /* futex: how often a nap was to end early; atomic */
};

/* It begins as zeros. There was work, and the thread had its turn or others did it. So many pieces
 * were processed so far, and so many of them by the program's own threads; the newest batch was
 * large. */
void nap_worked(struct nap *nap, uint64_t all, uint64_t within, bool large);
/* There was none. False: it is time to sleep until there is; nap_woken then says that there is. */
bool nap_without_work(struct nap *nap);
void nap_woken(struct nap *nap);

/* Of the next one. */
uint32_t nap_microseconds(const struct nap *nap);
void nap_take(struct nap *nap);
/* Ends a nap that is taken. Any thread. */
void nap_end(struct nap *nap);

#endif
