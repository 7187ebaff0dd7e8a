/* What csan's own CUDA libraries on the embedded device share: how their work gets on a stream, and
 * the line that says what is missing. The libraries are built without NVIDIA's headers, so that a
 * build of csan needs the toolkit's compiler and runtime only. Numbers are those of the headers.
 *
 *   work.c      launches, memory and streams, by the driver API; what a library lacks
 *   cpu.c       OpenBLAS and FFTW, opened at run time
 *   number.c    numbers of every cudaDataType
 *   extent.c    the shapes of runtime/hook/library/library.table: what a call accesses
 *   blas*.c     cuBLAS        lt.c       cuBLASLt      fft.c      cuFFT
 *   rand*.c     cuRAND        sparse*.c  cuSPARSE      solver*.c  cuSOLVER
 *
 * A call copies its arguments into a job and launches a native kernel (driver/native.h) with it.
 * The kernel does the work on the device's memory when its turn comes. */
#ifndef RUNTIME_DEVICE_LIBRARY_WORK_H
#define RUNTIME_DEVICE_LIBRARY_WORK_H

#include "runtime/device/driver/native.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_EXPORT __attribute__((visibility("default")))

/* A CUstream. */
typedef void *library_stream;

/* A kernel of a library, made at its first launch. Static storage. */
struct library_kernel {
    const char *name; /* as reports show it */
    device_native_run *run;
    bool traced; /* false: library.table says what it touches */
    void *kernel;
};

/* Initialises the driver and makes device 0's primary context current, if none is. False: it
 * failed. Thread-safe. */
bool library_begin(void);

/* Enqueues a launch whose parameter is the job of `bytes` bytes, which is copied. False: it was
 * refused. Thread-safe. */
bool library_launch(struct library_kernel *kernel, library_stream stream, const void *job,
                    size_t bytes);

/* Waits for the stream; false if it or the context has failed, or the stream is captured. */
bool library_wait(library_stream stream);
bool library_is_captured(library_stream stream);

/* Device memory of the library's own, e.g. a default work area; 0: there is no room. */
uint64_t library_allocate(size_t bytes);
void library_free(uint64_t address);

/* A copy in two dimensions between any two kinds of memory; pitches in bytes. `waits`: as
 * cuMemcpy2D, and the stream is not looked at. */
bool library_copy(uint64_t target, size_t target_pitch, uint64_t source, size_t source_pitch,
                  size_t width, size_t height, library_stream stream, bool waits);

/* Says once for each text, on standard error, what csan's library cannot do. Texts in static
 * storage. */
void library_lacks(const char *what) __attribute__((cold));
void library_lacks_of(const char *what, const char *why) __attribute__((cold));

/* A function that is not built: names it once, and returns `code`. */
int library_lacks_function(const char *name, uint8_t *said, int code) __attribute__((cold));

/* Defined by a library whose kernels are traced though library.table has rows for its functions:
 * which elements they touch depends on data, so that a row is a bound. The hooks look for it. */
extern const char csan_library_traces;

/* Of the version that is built. */
extern const int library_major;

/* Arguments are not looked at, so none are declared. */
#define LIBRARY_MISSING(name, code)                                                                \
    LIBRARY_EXPORT int name(void);                                                                 \
    int name(void)                                                                                 \
    {                                                                                              \
        static uint8_t said;                                                                       \
        return library_lacks_function(#name, &said, code);                                         \
    }

#endif
