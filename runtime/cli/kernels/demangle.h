/* Demangles C++ names, by the C++ runtime's own demangler. It is opened for the first name; without
 * it names stay mangled. */
#ifndef RUNTIME_CLI_KERNELS_DEMANGLE_H
#define RUNTIME_CLI_KERNELS_DEMANGLE_H

/* malloc'd; NULL: the name is not mangled, or there is no demangler. One thread only. */
char *demangle(const char *name);

/* The text with every mangled name demangled; malloc'd; NULL when memory is short. */
char *demangle_words(const char *text);

#endif
