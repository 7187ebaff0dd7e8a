/* What joins a recording to others, as moments. Both sides of a message, a collective call or a
 * shared event have one number (struct moment's meet). See surroundings_reading.h. */
#define HASH_NONFATAL_OOM 1
#include "runtime/cli/findings/surroundings_reading.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <uthash.h>

/* Where messages have numbers by their order. */
struct channel {
    uint64_t key, sent;
    UT_hash_handle hh;
};

enum { MEET_MESSAGE = 1, MEET_COLLECTIVE, MEET_SOURCE, MEET_VALUE };

static uint64_t meet_of(uint64_t what, uint64_t key, uint64_t number)
{
    const uint64_t meet = hash_mix(hash_mix(hash_mix(HASH_START, what), key), number);
    return meet + (meet == 0);
}

/* From 1; 0: memory is short. */
static uint64_t next_of(struct reading *reading, uint64_t key)
{
    struct channel *channel = NULL;
    HASH_FIND(hh, reading->channels, &key, sizeof key, channel);
    if (!channel && (channel = calloc(1, sizeof *channel))) {
        channel->key = key;
        HASH_ADD(hh, reading->channels, key, sizeof channel->key, channel);
        if (!channel->hh.tbl) {
            free(channel);
            return 0;
        }
    }
    return channel ? ++channel->sent : 0;
}

void reading_links_clear(struct reading *reading)
{
    struct channel *channel, *next;
    HASH_ITER(hh, reading->channels, channel, next)
    {
        HASH_DEL(reading->channels, channel);
        free(channel);
    }
}

/* Of a receive whose number its order gives; a receive without key had no message. */
static uint64_t taken(struct reading *reading, uint64_t key)
{
    const size_t number = reading->taken++;
    return key && number < reading->links->taken_count
               ? meet_of(MEET_MESSAGE, key, reading->links->taken[number])
               : 0;
}

static uint64_t wanted(struct reading *reading)
{
    const size_t number = reading->wanted++;
    if (number >= reading->links->wanted_count ||
        reading->links->wanted[number].process == LINK_NONE)
        return 0;
    const struct link_source *source = &reading->links->wanted[number];
    return meet_of(MEET_SOURCE, source->process, source->number);
}

void reading_link(struct reading *reading, const struct recorded *recorded)
{
    const uint64_t key = recorded->value[FIELD_HANDLE], number = recorded->value[FIELD_FIRST];
    struct moment moment = {.kind = RECORDED_LINK,
                            .link = (int)recorded->value[FIELD_FLAGS],
                            .lane = reading_lane(reading, recorded->value[FIELD_LANE]),
                            .from_lane = NO_LANE};
    switch (moment.link) {
    case CSAN_LINK_NEXT:
        moment.meet = meet_of(MEET_MESSAGE, key, next_of(reading, key));
        moment.gives = true;
        break;
    case CSAN_LINK_SEND:
        moment.meet = meet_of(MEET_MESSAGE, key, number ? number : 1);
        moment.gives = true;
        break;
    case CSAN_LINK_RECEIVE:
        moment.meet = meet_of(MEET_MESSAGE, key, number);
        break;
    case CSAN_LINK_POST: /* drawn as the message, from its sender to where it is received */
        reading->sources++;
        return;
    case CSAN_LINK_TAKEN:
        reading->wanted++;
        return;
    case CSAN_LINK_TAKE:
    case CSAN_LINK_LOOK:
        reading->sources += moment.link == CSAN_LINK_TAKE;
        moment.meet = taken(reading, key);
        break;
    case CSAN_LINK_ENTER:
    case CSAN_LINK_LEAVE:
        moment.meet = meet_of(MEET_COLLECTIVE, key, 0);
        moment.gives = moment.link == CSAN_LINK_ENTER;
        break;
    case CSAN_LINK_PUBLISH:
    case CSAN_LINK_LEARN:
        moment.meet = meet_of(MEET_VALUE, key, 0);
        moment.gives = moment.link == CSAN_LINK_PUBLISH;
        break;
    case CSAN_LINK_SHARE:
    case CSAN_LINK_RECORD:
        moment.meet = meet_of(MEET_SOURCE, reading->group, reading->sources++);
        moment.gives = true;
        if (moment.link == CSAN_LINK_RECORD && recorded->value[FIELD_LAST])
            moment.link = LINK_STARTS;
        break;
    case CSAN_LINK_OPEN:
    case CSAN_LINK_WAIT:
        moment.meet = wanted(reading);
        moment.link = recorded->value[FIELD_LAST] ? LINK_BEGINS : moment.link;
        break;
    default:
        return;
    }
    if (moment.meet)
        reading_moment(reading, moment);
}
