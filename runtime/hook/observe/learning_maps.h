/* The tensor maps among a launch's parameters: anchors of its key, and the memory under those that
 * a trace does not see. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_MAPS_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_MAPS_H

#include "runtime/learn/launch.h"

struct learning;
struct map_use;

/* Anchors for maps that were seen to be encoded, `capacity` at most; returns how many. */
uint32_t learning_maps_find(const uint8_t *parameters, uint32_t bytes, struct learn_anchor *anchors,
                            uint32_t capacity);
/* Puts an anchor for each of the maps that the kernel copies through behind the launch's `*count`,
 * of which there may be `capacity`, and what it copies into `mapped`. False: one cannot be read, or
 * is of more memory than there is. */
bool learning_maps_place(struct learning *learning, const struct map_use *maps, uint32_t map_count,
                         uint32_t capacity, uint32_t *count);

#endif
