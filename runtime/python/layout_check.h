/* Checks whether an interpreter's structures are where its layout says. It assumes that every
 * offset may be wrong, so it reads memory through the kernel (process_vm_readv), where an invalid
 * address is only an error. */
#ifndef RUNTIME_PYTHON_LAYOUT_CHECK_H
#define RUNTIME_PYTHON_LAYOUT_CHECK_H

#include "runtime/python/interpreter.h"

/* `thread` is the calling thread's state. 1: its frames match the layout, or the kernel forbids the
 * reads and the version must suffice. 0: it runs no frame. -1: the frames do not match; a single
 * such stack may be unusual in itself. */
int python_layout_is_known(const struct python_interpreter *python, const void *thread);

#endif
