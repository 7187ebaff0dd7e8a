/* Whether an interpreter's structures are where its layout says: looked at as if all that is known
 * of it were wrong, through the kernel, so that no address is touched that is none. */
#ifndef RUNTIME_PYTHON_LAYOUT_CHECK_H
#define RUNTIME_PYTHON_LAYOUT_CHECK_H

#include "runtime/python/interpreter.h"

/* `thread` is the calling thread's state. 1: its frames are of code that is laid out as it should
 * be, or the kernel lets nobody look (process_vm_readv), and the version must do. 0: it runs none.
 * -1: they are not; one such stack may be strange in itself. */
int python_layout_is_known(const struct python_interpreter *python, const void *thread);

#endif
