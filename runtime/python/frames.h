/* The stack of the Python code that runs on a thread. csan reads it without the interpreter's lock,
 * because code that launches GPU work has often released that lock. A thread's own frames and their
 * code objects cannot change while the thread is in native code. csan stores a frame as a number
 * that encodes the code object and the instruction. It looks up the source line only when a report
 * needs it.
 *
 * A thread whose Python state another thread runs must not call CUDA meanwhile (an embedding
 * program may pass the state on). With sub-interpreters up to 3.11, csan reads the main
 * interpreter's frames. */
#ifndef RUNTIME_PYTHON_FRAMES_H
#define RUNTIME_PYTHON_FRAMES_H

#include <csan/csan.h>

#include <stdbool.h>

#include <stdbool.h>

/* Adds Python's frames to the process' stacks if it has an interpreter that csan knows. Call it
 * once, before other threads call csan. Without `read`, csan finds only the range of the
 * interpreter's code. `note` prints once why csan leaves out Python's frames. */
void python_frames_start(bool read, void (*note)(const char *line));

/* For the table in csan.h. It looks for the interpreter again if it found none before. */
const struct csan_python_stacks *python_frames(const void *in);

#endif
