/* Pointers among parameters. See launch.h. */
#include "runtime/learn/launch.h"

#include <string.h>

enum { WORDS = 64 };

static bool is_taken(const struct learn_anchor *anchors, uint32_t count, uint32_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (anchors[i].kind == LEARN_TENSOR_MAP && offset - anchors[i].offset < anchors[i].bytes)
            return true;
    return false;
}

/* What may be pointers, until their blocks are asked for. */
struct words {
    uint32_t count;
    uint32_t offsets[WORDS];
    uint64_t values[WORDS];
    struct learn_block blocks[WORDS];
};

/* Those that are pointers become anchors. */
static uint32_t words_take(struct words *words, learn_find_blocks *find, void *user,
                           struct learn_anchor *anchors, uint32_t count, uint32_t capacity)
{
    if (!words->count)
        return count;
    find(user, words->values, words->count, words->blocks);
    for (uint32_t i = 0; i < words->count && count < capacity; i++)
        if (words->blocks[i].end)
            anchors[count++] = (struct learn_anchor){.kind = LEARN_PARAMETER,
                                                     .offset = words->offsets[i],
                                                     .address = words->values[i],
                                                     .block = words->blocks[i]};
    words->count = 0;
    return count;
}

/* Most words are none by `span` alone. */
uint32_t learn_find_pointers(const uint8_t *parameters, uint32_t bytes, struct learn_block span,
                             learn_find_blocks *find, void *user, struct learn_anchor *anchors,
                             uint32_t count, uint32_t capacity)
{
    uint32_t maps = count;
    struct words words;
    words.count = 0;
    for (uint32_t at = 0; at + 8 <= bytes; at += 8) {
        uint64_t value;
        memcpy(&value, parameters + at, sizeof value);
        if (value - span.start > span.end - span.start || !value || is_taken(anchors, maps, at))
            continue;
        words.offsets[words.count] = at;
        words.values[words.count++] = value;
        if (words.count == WORDS)
            count = words_take(&words, find, user, anchors, count, capacity);
    }
    return words_take(&words, find, user, anchors, count, capacity);
}
