/* What a recording says of sites, as recording_define writes it: kept by number for the entries
 * that refer to it, and for the symbolizer. Not thread-safe. */
#ifndef CSAN_REPLAY_REPLAY_DEFINE_H
#define CSAN_REPLAY_REPLAY_DEFINE_H

#include "csan/stack/module_map.h"
#include "csan/recording/recording_read.h"

struct replay_definitions {
    csan_site *sites; /* by their number in the recording; 0: there is none */
    size_t site_capacity;
    struct stack_copy *stacks;
    size_t stack_capacity;
    struct source_line *lines; /* uthash by frame */
    struct module_map modules;
};

/* Take an entry of kind site, stack, module or source line. NULL, or why it cannot be one. */
const char *replay_definitions_take(struct replay_definitions *definitions, csan_context *context,
                                    const struct recorded *recorded);

/* What the context calls a site of the recording. False: it is not defined. */
bool replay_definitions_site(const struct replay_definitions *definitions, uint64_t number,
                             csan_site *site);
/* The frames of a stack; none: it is not defined. Valid until cleared. */
void replay_definitions_stack(const struct replay_definitions *definitions, uint64_t number,
                              const void *const **frames, size_t *count);
int replay_definitions_describe(const struct replay_definitions *definitions, const void *frame,
                                struct csan_source_line *line);
void replay_definitions_clear(struct replay_definitions *definitions);

/* Room in a table for item `number`, the new ones 0: numbers are small, for a recording uses them
 * again. False: it is not small, or there is no memory. */
bool replay_grow(void **items, size_t *capacity, size_t item_bytes, uint64_t number);

#endif
