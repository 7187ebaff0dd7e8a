/* How many messages each channel had so far, where messages have numbers by their order. A channel
 * is what sender, receiver and tag have in common; its key stands for it. One thread at a time. */
#ifndef CSAN_REPLAY_CHANNEL_H
#define CSAN_REPLAY_CHANNEL_H

#include <stdint.h>

struct channel; /* a table of them by key; NULL: it is empty */

/* The number of the channel's next message, from 1; 0: memory is short. */
uint64_t channel_next(struct channel **channels, uint64_t key);
void channels_free(struct channel **channels);

#endif
