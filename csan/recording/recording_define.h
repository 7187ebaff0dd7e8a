/* What a recording says of each site, once: the site's stack, the lines of an interpreted language
 * in that stack, and the objects that were loaded when it was taken. Not thread-safe. */
#ifndef CSAN_RECORDING_RECORDING_DEFINE_H
#define CSAN_RECORDING_RECORDING_DEFINE_H

#include "csan/stack/module_map.h"
#include "csan/recording/number_pool.h"
#include "csan/recording/recording_format.h"
#include "csan/stack/site.h"
#include "csan/stack/stack.h"

/* Frames of an interpreted language whose lines have been written. Open addressing; 0 is an empty
 * slot. */
struct frame_set {
    uintptr_t *frames;
    size_t count, capacity;
};

struct recording_definitions {
    const struct site_table *sites;
    const struct stack_depot *stacks;
    struct module_map modules;
    size_t modules_written;
    struct number_set stacks_written;
    struct frame_set frames;
};

/* Writes the site, and whatever it refers to that was not written yet. When memory is short, the
 * buffer has failed. */
void recording_definitions_put(struct recording_definitions *definitions,
                               struct byte_buffer *buffer, csan_site number);
void recording_definitions_clear(struct recording_definitions *definitions);

#endif
