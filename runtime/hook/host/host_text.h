/* Functions of the C library that read and write text: printf and its kind. What they touch is the
 * program's access, though it is the C library's code that touches it. */
#ifndef RUNTIME_HOOK_HOST_HOST_TEXT_H
#define RUNTIME_HOOK_HOST_HOST_TEXT_H

#include <stdint.h>

/* If the thread's stack has come to `stack` within such a function: the return address into its
 * caller; 0: it has not. For signal handlers. */
uint64_t host_text_caller(uint64_t stack);

#endif
