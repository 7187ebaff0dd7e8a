/* What the program itself tells of its accesses, for the thread that tells it. */
#ifndef RUNTIME_HOOK_API_ANNOTATE_H
#define RUNTIME_HOOK_API_ANNOTATE_H

#include <csan/csan.h>

#include <stdbool.h>

/* The accesses named for this thread's next launch, and how many; the launch has them from now on.
 * Valid until the thread's next annotation. */
const struct csan_access *annotate_take_launch(size_t *count);
/* Whether any are named. */
bool annotate_has_launch(void);
/* The one argument name of such accesses. */
extern const char *const annotate_arguments[1];

#endif
