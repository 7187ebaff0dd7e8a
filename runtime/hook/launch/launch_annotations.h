/* What the program itself declares that the calling thread's next launch touches. */
#ifndef RUNTIME_HOOK_LAUNCH_LAUNCH_ANNOTATIONS_H
#define RUNTIME_HOOK_LAUNCH_LAUNCH_ANNOTATIONS_H

#include <csan/csan.h>

#include <stdbool.h>

/* So many ranges can be declared for a launch; further ones are not checked. */
void launch_annotations_add(const struct csan_access *access);

/* The accesses declared for this thread's next launch, and how many. They apply to that launch
 * only. Valid until the thread's next annotation. */
const struct csan_access *launch_annotations_take(size_t *count);
/* Whether any are named. */
bool launch_annotations_any(void);
/* The one argument name of such accesses. */
extern const char *const launch_annotations_arguments[1];

#endif
