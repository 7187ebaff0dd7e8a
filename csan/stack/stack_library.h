/* Whose code a frame is: the program's own, or that of a well-known library, which nobody who looks
 * for a race wants to read. */
#ifndef CSAN_STACK_STACK_LIBRARY_H
#define CSAN_STACK_STACK_LIBRARY_H

/* The library's name as reports show it, "Thrust". NULL: the program's own code, or not known.
 * `function` is as in the source, `file` the source's path, `module` the path of the executable or
 * library; each may be NULL. A file without a module belongs to an interpreted language. The name
 * lives as long as the process. */
const char *stack_library(const char *function, const char *file, const char *module);

#endif
