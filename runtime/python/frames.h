/* The stack of the Python code that runs on a thread, read without the interpreter's lock: what
 * launches GPU work has often given it up. A thread's own frames cannot change while it is in
 * native code, nor the code objects that they hold. A frame is told as a number: which code, and
 * which instruction of it; a line of the source only when a report asks.
 *
 * A thread whose state another one runs (an embedding program may hand it on) must not call CUDA
 * meanwhile. Of sub-interpreters up to 3.11 the main one's frames are told. */
#ifndef RUNTIME_PYTHON_FRAMES_H
#define RUNTIME_PYTHON_FRAMES_H

#include <csan/csan.h>

#include <stdbool.h>

#include <stdbool.h>

/* Makes Python's stacks part of the process' own, where an interpreter is in it that is known.
 * Once, before other threads call csan. `read`: whether that is wanted; else only the interpreter's
 * code is known. `note` says once that stacks are left out, and why. */
void python_frames_start(bool read, void (*note)(const char *line));

/* For csan.h's table; looks again, where there was none. */
const struct csan_python_stacks *python_frames(const void *in);

#endif
