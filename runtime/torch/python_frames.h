/* The stack of the Python code that runs on the calling thread, taken without the interpreter's
 * lock: PyTorch gives it up before it launches anything. A thread's own frames cannot change while
 * it is in native code, so reading them is safe; a frame is a code object and an instruction of it,
 * and a line of the source only when a report asks.
 *
 * Code objects met are kept alive for ever, so that a frame stays what it was. Taking a reference
 * needs the interpreter's lock; where the thread may not wait for it, the reference is taken by
 * python_frames_settle, while the frames are still on the stack. */
#ifndef RUNTIME_TORCH_PYTHON_FRAMES_H
#define RUNTIME_TORCH_PYTHON_FRAMES_H

#include "csan/csan.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the thread may do about code objects that it meets for the first time. */
enum python_frames_mode {
    PYTHON_FRAMES_WAIT,  /* wait for the interpreter's lock */
    PYTHON_FRAMES_LATER, /* it will call python_frames_settle before it goes back to Python */
    PYTHON_FRAMES_KNOWN  /* neither: frames from the first such one on are left out */
};

/* 1 where capturing waits for the interpreter's lock each time: CPython before 3.11 and after 3.12.
 */
extern const int PYTHON_FRAMES_NEED_LOCK;

/* Innermost first; 0 in a thread that runs no Python. */
size_t python_frames_capture(const void **frames, size_t capacity, enum python_frames_mode mode);
/* The innermost frame, to tell whether Python was called since; NULL: none, or not known. */
const void *python_frames_top(void);

/* Before a thread with PYTHON_FRAMES_LATER returns to Python. Cheap when there is nothing to do. */
void python_frames_settle(void);

/* As csan_stack_source's. */
int python_frames_describe(const void *frame, struct csan_source_line *line);

/* A frame that stands for a heading between two stacks: `number` < 16. */
const void *python_frames_heading(unsigned number);
/* The number, or -1. */
int python_frames_heading_number(const void *frame);

#ifdef __cplusplus
}
#endif

#endif
