/* The sites of a recording, as recording_define writes them. They are kept by number, for the
 * entries that refer to them, and for the symbolizer. Not thread-safe. */
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

/* Takes an entry of kind site, stack, module or source line. NULL, or the reason why it cannot be
 * one. */
const char *replay_definitions_take(struct replay_definitions *definitions, csan_context *context,
                                    const struct recorded *recorded);

/* The context's number for a site of the recording. False: the site is not defined. */
bool replay_definitions_site(const struct replay_definitions *definitions, uint64_t number,
                             csan_site *site);
/* The frames of a stack; none: it is not defined. Valid until cleared. */
void replay_definitions_stack(const struct replay_definitions *definitions, uint64_t number,
                              const void *const **frames, size_t *count);
int replay_definitions_describe(const struct replay_definitions *definitions, const void *frame,
                                struct csan_source_line *line);
void replay_definitions_clear(struct replay_definitions *definitions);

/* Makes room for item `number` in a table; new items are 0. A recording uses numbers again, so they
 * are small. False: the number is not small, or memory is short. */
bool replay_grow(void **items, size_t *capacity, size_t item_bytes, uint64_t number);

#endif
