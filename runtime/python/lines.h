/* Which line of the source an instruction of a code object comes from. */
#ifndef RUNTIME_PYTHON_LINES_H
#define RUNTIME_PYTHON_LINES_H

#include "runtime/python/interpreter.h"

#include <stddef.h>

/* `table` is co_lnotab or co_linetable, of `bytes`; `instruction` a byte offset into the code. 0:
 * the table has no entry, or its entry says that there is no line. */
unsigned python_line(enum python_lines kind, const unsigned char *table, size_t bytes,
                     int first_line, size_t instruction);

#endif
