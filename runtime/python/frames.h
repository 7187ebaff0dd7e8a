/* The stack of the Python code that runs on a thread, read without the interpreter's lock: what
 * launches GPU work has often given it up. A thread's own frames cannot change while it is in
 * native code, nor the code objects that they hold. A frame is told as a number: which code, and
 * which instruction of it; a line of the source only when a report asks. */
#ifndef RUNTIME_PYTHON_FRAMES_H
#define RUNTIME_PYTHON_FRAMES_H

#include "include/csan/csan.h"

/* Makes Python's stacks part of the process' own, where an interpreter is in it that is known.
 * Once, before other threads call csan. */
void python_frames_start(void);

/* For csan.h's table: NULL where python_frames_start found none. */
const struct csan_python_stacks *python_frames(void);

#endif
