/* How this library stands in front of a function: under its own name, and under the name that MPI
 * has for tools. Fortran's bindings of Open MPI call that one. */
#ifndef RUNTIME_MPI_EXPORTED_H
#define RUNTIME_MPI_EXPORTED_H

#define EXPORTED __attribute__((visibility("default")))

/* Behind the definition of MPI_NAME, in the same file. */
#define ALSO_PMPI(name) ALSO_BEHIND(MPI_##name)
#define ALSO_BEHIND(function)                                                                      \
    extern EXPORTED __typeof__(function) P##function __attribute__((alias(#function)));

#endif
