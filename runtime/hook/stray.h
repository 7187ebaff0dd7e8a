/* Exact accesses of a launch that lie in no memory csan knows.
 *
 * Which pointer they go through decides what they are. A parameter that points into an allocation:
 * they are out of its bounds, wherever they lie. One that points into the host's memory: the kernel
 * got a pointer that its device cannot use. Any other: nothing is known.
 *
 * The detector says that there are such accesses (context_unplaced), so that a launch without them
 * pays one comparison. A place in the program is asked about once. */
#ifndef RUNTIME_HOOK_STRAY_H
#define RUNTIME_HOOK_STRAY_H

#include "runtime/hook/direct.h"

enum { STRAY_MOST = 8 };

struct stray {
    struct csan_access access; /* what it spans */
    uint64_t pointer;          /* the parameter's value */
    bool placed;               /* the pointer points into memory that csan knows */
};

struct strays {
    struct stray items[STRAY_MOST];
    size_t count;
};

/* Those among a launch's accesses, while the kernel is locked. */
void strays_gather(const struct direct_touched *touched, struct strays *strays);

/* Reports them, of the launch at `site`. Without any lock. */
void strays_report(const struct strays *strays, csan_lane lane, csan_site site,
                   enum csan_level level);

#endif
