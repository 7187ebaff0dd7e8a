/* Named ranges: what a thread of the program says that it is doing, as by NVTX's push and pop
 * ("forward", and in it "layer 3").
 *
 * A push copies a name onto the thread's own stack, and a pop removes it; they do nothing else.
 * When an op needs the open ranges, they become one text, a path: 'forward' > 'layer 3'. Paths are
 * immutable and counted. So work that another thread does later keeps the path in which it was
 * enqueued. */
#ifndef CSAN_DETECTOR_NAMED_RANGE_H
#define CSAN_DETECTOR_NAMED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* At most RANGE_NAME_MAX - 1 bytes of a name are kept, and the RANGES_SHOWN innermost ranges. */
enum { RANGE_NAME_MAX = 64, RANGES_SHOWN = 4, RANGES_DEEP = 64 };

struct range_path {
    uint32_t references; /* atomic */
    char text[];         /* not empty */
};

/* Whether any thread ever opened a range. If not, nothing else needs to be asked. */
extern bool named_range_any;

/* The calling thread opens a range of `domain` (any pointer); `name` may be NULL. */
void named_range_push(const void *domain, const char *name);
/* ... and closes its newest one of that domain, if there is one. */
void named_range_pop(const void *domain);

/* The ranges that are open in the calling thread, or in the thread that it acts for; NULL: none.
 * The thread owns it, and it is valid until its next push, pop or act. */
struct range_path *named_range_now(void);

/* The calling thread acts for a thread that has these ranges open; `acts` false: for no other.
 * Returns for whom it acted before; takes no references. */
struct range_actor {
    bool acts;
    struct range_path *path; /* or NULL */
};
struct range_actor named_range_act(struct range_actor actor);

/* What is said of one call alone stands in its path behind this mark. */
#define RANGE_DETAIL_MARK '\x1f'
/* The thread's ranges with that text behind the mark; NULL when memory is short. */
struct range_path *range_path_with_detail(const char *detail);

/* NULL where `text` is empty, or memory is short. */
struct range_path *range_path_create(const char *text);
/* Both take NULL. */
struct range_path *range_path_share(struct range_path *path);
void range_path_release(struct range_path *path);

#endif
