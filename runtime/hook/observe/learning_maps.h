/* The tensor maps among a launch's parameters. They are anchors of its key. For maps that a trace
 * does not see, the memory under them is found here. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_MAPS_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_MAPS_H

#include "runtime/learn/launch.h"

struct learning;
struct map_use;

/* Makes anchors for maps whose encoding csan saw, `capacity` at most; returns how many. */
uint32_t learning_maps_find(const uint8_t *parameters, uint32_t bytes, struct learn_anchor *anchors,
                            uint32_t capacity);
/* Adds an anchor for each map that the kernel copies through behind the launch's `*count`, up to
 * `capacity`, and adds what it copies to `mapped`. False: a map cannot be read, or has more memory
 * than there is. */
bool learning_maps_place(struct learning *learning, const struct map_use *maps, uint32_t map_count,
                         uint32_t capacity, uint32_t *count);

#endif
