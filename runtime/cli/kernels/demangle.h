/* C++ names as they were written, by the C++ run-time's own demangler. It is opened when the first
 * name asks for it; where it is missing names stay mangled. */
#ifndef RUNTIME_CLI_KERNELS_DEMANGLE_H
#define RUNTIME_CLI_KERNELS_DEMANGLE_H

/* malloc'd; NULL: the name is no mangled one, or there is no demangler. One thread only. */
char *demangle(const char *name);

/* The text with every mangled name in it as it was written; malloc'd, NULL when memory is short. */
char *demangle_words(const char *text);

#endif
