/* Breaks the long lines of a report for a terminal. */
#ifndef CSAN_BASE_WRAP_H
#define CSAN_BASE_WRAP_H

#include "csan/base/text.h"

#include <stddef.h>

/* Adds `bytes` with each line that is wider than `columns` broken at blanks, and what follows
 * indented by two. Left whole are lines that begin with a blank (stacks, which people copy and
 * click), words that are wider, and all lines if `columns` is less than 20. Escapes of colours have
 * no width, and each UTF-8 character has one. */
void wrap_add(struct text *text, const char *bytes, size_t count, size_t columns);

/* The same for text in which lines that begin with blanks are prose, too: what follows is indented
 * as they are, and by two. */
void wrap_indented_add(struct text *text, const char *bytes, size_t count, size_t columns);

/* The width of the terminal behind a descriptor, in characters (tty_ioctl(4), TIOCGWINSZ); 0: it is
 * no terminal, or does not know. */
size_t wrap_columns(int descriptor);

#endif
