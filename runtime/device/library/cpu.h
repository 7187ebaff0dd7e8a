/* The CPU libraries that do the work: OpenBLAS (with its LAPACK) and FFTW, which are opened when
 * the first handle or plan is made. Nothing of them is linked. */
#ifndef RUNTIME_DEVICE_LIBRARY_CPU_H
#define RUNTIME_DEVICE_LIBRARY_CPU_H

#include <stdbool.h>

enum cpu_library { CPU_OPENBLAS, CPU_FFTW, CPU_FFTW_SINGLE, CPU_LIBRARIES };

/* The file that is opened, what people call it, and Debian's package. */
struct cpu_library_name {
    const char *file, *name, *package;
};
#define CPU_LIBRARY_NAMES                                                                          \
    {                                                                                              \
        [CPU_OPENBLAS] = {"libopenblas.so.0", "OpenBLAS", "libopenblas0"},                         \
        [CPU_FFTW] = {"libfftw3.so.3", "FFTW", "libfftw3-double3"},                                \
        [CPU_FFTW_SINGLE] = {"libfftw3f.so.3", "FFTW", "libfftw3-single3"},                        \
    }

/* Opens it. False: it is not there, and a line on standard error has said once which package has
 * it; `user` is the library that needs it. Must not be called by a native kernel, as it takes the
 * loader's lock. Thread-safe. */
bool cpu_open(enum cpu_library library, const char *user);

/* A function of an open library, or NULL. Thread-safe. */
void *cpu_function(enum cpu_library library, const char *name);

#endif
