/* See channel.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/channel.h"

#include <stdlib.h>
#include <uthash.h>

struct channel {
    uint64_t key, count;
    UT_hash_handle hh;
};

static struct channel *find_or_make(struct channel **channels, uint64_t key)
{
    struct channel *channel = NULL;
    HASH_FIND(hh, *channels, &key, sizeof key, channel);
    if (channel || !(channel = calloc(1, sizeof *channel)))
        return channel;
    channel->key = key;
    HASH_ADD(hh, *channels, key, sizeof channel->key, channel);
    if (channel->hh.tbl)
        return channel;
    free(channel);
    return NULL;
}

uint64_t channel_next(struct channel **channels, uint64_t key)
{
    struct channel *channel = find_or_make(channels, key);
    return channel ? ++channel->count : 0;
}

void channels_free(struct channel **channels)
{
    struct channel *channel, *next;
    HASH_ITER(hh, *channels, channel, next)
    {
        HASH_DEL(*channels, channel);
        free(channel);
    }
}
