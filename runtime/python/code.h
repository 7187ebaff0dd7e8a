/* The code that Python's frames run: a number for each, under which code_text has what it says. */
#ifndef RUNTIME_PYTHON_CODE_H
#define RUNTIME_PYTHON_CODE_H

#include "runtime/python/interpreter.h"

#include <stddef.h>

/* The number of a code object that a frame of the calling thread holds: from 1, equal for equal
 * code, and for all that is met once 64 MiB of it are kept, or memory is short. 0: it is no code
 * object. A number stays what it is after its code object has gone. Any thread, without the
 * interpreter's lock; the first time under one of csan's own. */
uint32_t python_code_number(const struct python_interpreter *python, const void *object);
/* What that will read is brought near. */
void python_code_prefetch(const struct python_interpreter *python, const void *object);

#endif
