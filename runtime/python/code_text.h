/* What reports say about Python code: its file, function and lines. They are copied from a code
 * object and kept until the process ends, equal texts once, at most 64 MiB in all. */
#ifndef RUNTIME_PYTHON_CODE_TEXT_H
#define RUNTIME_PYTHON_CODE_TEXT_H

#include "runtime/python/interpreter.h"

#include <stddef.h>

struct csan_source_line;

enum { PYTHON_TEXT_NUMBER_MAX = (1 << 18) - 1 };

/* The number of the code object's text, from 1 to PYTHON_TEXT_NUMBER_MAX. All texts for which there
 * is no room share one number. One thread at a time. */
uint32_t python_code_text(const struct python_layout *layout, const void *object);

/* File, function and line of the instruction, `instruction` a byte offset. False: no such number.
 * The strings live as long as the process. Any thread. */
bool python_code_line(uint32_t number, size_t instruction, struct csan_source_line *line);

#endif
