/* See receives.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/receives.h"
#include "csan/base/array.h"
#include "csan/replay/replay_define.h"

#include <csan/csan.h>

#include <stdlib.h>
#include <uthash.h>

struct receive {
    uint64_t key;
    uint32_t serial, number; /* number: of the TAKE or LOOK in the recording */
    uint32_t message, source;
    bool looks;
};

struct posted {
    uint32_t serial, source;
};

/* ---- Receives ---- */

static bool post_take(struct receives *receives, uint64_t serial, uint32_t source)
{
    if (!array_room(&receives->posted, receives->posted_count, &receives->posted_capacity, 256,
                    SIZE_MAX, sizeof *receives->posted))
        return false;
    receives->posted[receives->posted_count++] = (struct posted){(uint32_t)serial, source};
    return true;
}

bool receives_take(struct receives *receives, const struct recorded *recorded, uint32_t source)
{
    const uint64_t serial = recorded->value[FIELD_FIRST];
    const bool looks = recorded->value[FIELD_FLAGS] == CSAN_LINK_LOOK;
    if (recorded->value[FIELD_FLAGS] == CSAN_LINK_POST)
        return post_take(receives, serial, source);
    if (!array_room(&receives->items, receives->count, &receives->capacity, 256, SIZE_MAX,
                    sizeof *receives->items))
        return false;
    const uint32_t number = (uint32_t)receives->count++;
    receives->items[number] = (struct receive){.key = recorded->value[FIELD_HANDLE],
                                               .serial = (uint32_t)serial,
                                               .number = number,
                                               .source = source,
                                               .looks = looks};
    receives->ended += !looks;
    if (!looks && serial > receives->last)
        receives->last = serial;
    receives->passed |= recorded->value[FIELD_LAST] != 0;
    return true;
}

/* By channel, and there in the order in which receives were posted; a look comes before the receive
 * with its number. */
static int compare_receives(const void *a, const void *b)
{
    const struct receive *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->serial != other->serial)
        return one->serial < other->serial ? -1 : 1;
    return other->looks - one->looks;
}

static int compare_posted(const void *a, const void *b)
{
    const struct posted *one = a, *other = b;
    return (one->serial > other->serial) - (one->serial < other->serial);
}

/* The n-th receive of a channel has its n-th message. */
uint32_t *receives_number(struct receives *receives)
{
    uint32_t *messages = calloc(receives->count + 1, sizeof *messages), number = 0;
    if (!messages)
        return NULL;
    if (receives->count)
        qsort(receives->items, receives->count, sizeof *receives->items, compare_receives);
    if (receives->posted_count)
        qsort(receives->posted, receives->posted_count, sizeof *receives->posted, compare_posted);
    for (size_t i = 0; i < receives->count; i++) {
        struct receive *receive = &receives->items[i];
        if (i && receive->key != receives->items[i - 1].key)
            number = 0;
        receive->message = number + 1;
        messages[receive->number] = receive->message;
        number += !receive->looks;
    }
    return messages;
}

static const struct posted *posted_of(const struct receives *receives, uint32_t serial)
{
    const struct posted wanted = {.serial = serial};
    return receives->posted_count ? bsearch(&wanted, receives->posted, receives->posted_count,
                                            sizeof wanted, compare_posted)
                                  : NULL;
}

bool receives_find(const struct receives *receives, uint64_t key, uint32_t message,
                   uint32_t *source)
{
    size_t low = 0, high = receives->count;
    while (low < high) { /* behind the last of that message */
        const size_t middle = low + (high - low) / 2;
        const struct receive *at = &receives->items[middle];
        if (at->key < key || (at->key == key && at->message <= message))
            low = middle + 1;
        else
            high = middle;
    }
    const struct receive *found = low ? &receives->items[low - 1] : NULL;
    if (!found || found->key != key || found->message != message || found->looks)
        return false;
    const struct posted *posted = posted_of(receives, found->serial);
    *source = posted ? posted->source : found->source;
    return true;
}

bool receives_uncertain(const struct receives *receives)
{
    return receives->passed && receives->ended < receives->last;
}

void receives_clear(struct receives *receives)
{
    free(receives->items);
    free(receives->posted);
    *receives = (struct receives){0};
}

/* ---- Sends ---- */

bool sends_take(struct sends *sends, struct synchronous_sends *synchronous,
                const struct recorded *recorded)
{
    const uint64_t number = recorded->value[FIELD_FIRST];
    const uint64_t key = recorded->value[FIELD_HANDLE];
    const uint64_t message = channel_next(&sends->channels, key);
    if (!message)
        return false;
    if (!number)
        return true;
    if (!replay_grow((void **)&synchronous->items, &synchronous->capacity,
                     sizeof *synchronous->items, number))
        return false;
    synchronous->items[number] = (struct synchronous_send){key, (uint32_t)message};
    return true;
}

const struct synchronous_send *synchronous_sends_find(const struct synchronous_sends *synchronous,
                                                      uint64_t number)
{
    return number < synchronous->capacity && synchronous->items[number].message
               ? &synchronous->items[number]
               : NULL;
}

void sends_clear(struct sends *sends)
{
    channels_free(&sends->channels);
}

void synchronous_sends_clear(struct synchronous_sends *synchronous)
{
    free(synchronous->items);
    *synchronous = (struct synchronous_sends){0};
}
