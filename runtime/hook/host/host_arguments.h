/* Arguments of a call that the kernel looks at: any of them may be the address of a path or of a
 * structure. Guarded pages of these are opened, and stay open until the call is over. */
#ifndef RUNTIME_HOOK_HOST_HOST_ARGUMENTS_H
#define RUNTIME_HOOK_HOST_HOST_ARGUMENTS_H

#include "runtime/hook/host/lent_memory.h"

enum { HOST_ARGUMENTS = 6 };

struct host_arguments {
    struct lent_memory each[HOST_ARGUMENTS];
};

/* `values` are as many words; what is no address does no harm. Both keep errno. */
void host_arguments_begin(struct host_arguments *arguments, const long *values);
void host_arguments_end(struct host_arguments *arguments);

#endif
