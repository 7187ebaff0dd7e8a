/* C++ names as they were written, by the C++ run-time's own demangler. It is opened when the first
 * name asks for it; where it is missing names stay mangled. */
#ifndef RUNTIME_CLI_DEMANGLE_H
#define RUNTIME_CLI_DEMANGLE_H

/* malloc'd; NULL: the name is no mangled one, or there is no demangler. One thread only. */
char *demangle(const char *name);

#endif
