/* Where NVIDIA's Sanitizer API is: for the tracer, and for csan doctor, which needs none of its
 * headers. */
#ifndef RUNTIME_TRACER_LIBRARY_PLACE_H
#define RUNTIME_TRACER_LIBRARY_PLACE_H

#define SANITIZER_LIBRARY "libsanitizer-public.so"

/* Opened by dlopen(3), from where CUDA_HOME or CUDA_PATH say, where the loader looks, where the
 * program's CUDA runtime is, or where toolkits usually are. NULL: it is in none of them. Takes the
 * loader's lock. */
void *sanitizer_library_open(void);

#endif
