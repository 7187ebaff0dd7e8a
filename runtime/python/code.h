/* The code objects that Python's frames run. Each has a number, by which code_text finds its text.
 */
#ifndef RUNTIME_PYTHON_CODE_H
#define RUNTIME_PYTHON_CODE_H

#include "runtime/python/interpreter.h"

#include <stddef.h>

enum { PYTHON_CODE_NUMBER_BITS = 18 };

/* The number of a code object that a frame of the calling thread holds. Numbers start at 1 and have
 * PYTHON_CODE_NUMBER_BITS; equal code has an equal number. All code that is new after 64 MiB of
 * text, or when memory is short, shares one number. 0: it is no code object, or the interpreter's
 * own, which has no source. A number stays valid after its code object is freed. Any thread,
 * without the interpreter's lock; the first call for an object takes a lock of csan's own. */
uint32_t python_code_number(const struct python_interpreter *python, const void *object);

#endif
