/* Named ranges: what a thread of the program says it is doing, as NVTX's push and pop ranges do
 * ("forward", and in it "layer 3").
 *
 * A push or pop copies a name into the thread's own stack, and that is all. The open ranges become
 * one text, a path, when an op needs it: 'forward' > 'layer 3'. Paths are immutable and counted, so
 * that work which is done later, in another thread, keeps the path it was enqueued in. */
#ifndef CSAN_DETECTOR_NAMED_RANGE_H
#define CSAN_DETECTOR_NAMED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Of names at most RANGE_NAME_MAX - 1 bytes are kept, of ranges the RANGES_SHOWN innermost. */
enum { RANGE_NAME_MAX = 64, RANGES_SHOWN = 4, RANGES_DEEP = 64 };

struct range_path {
    uint32_t references; /* atomic */
    char text[];         /* not empty */
};

/* Whether any thread ever opened one: where none did nothing else needs to be asked. */
extern bool named_range_any;

/* The calling thread opens a range of `domain` (any pointer); `name` may be NULL. */
void named_range_push(const void *domain, const char *name);
/* ... and closes its newest one of that domain, if there is one. */
void named_range_pop(const void *domain);

/* The ranges that are open in the calling thread, or in the one that it acts for; NULL: none. It
 * stays the thread's, until its next push, pop or act. */
struct range_path *named_range_now(void);

/* The thread acts for one that has these ranges open, or for nobody (`acts` false). Returns whom it
 * acted for before; takes no references. */
struct range_actor {
    bool acts;
    struct range_path *path; /* or NULL */
};
struct range_actor named_range_act(struct range_actor actor);

/* NULL where `text` is empty, or memory is short. */
struct range_path *range_path_create(const char *text);
/* Both take NULL. */
struct range_path *range_path_share(struct range_path *path);
void range_path_release(struct range_path *path);

#endif
