/* Where the embedded device asks for the PTX of machine code that was made in this process, by
 * NVRTC for example. It runs PTX, and such a cubin has none. Like trace.h it knows nothing of csan.
 * The embedded libcuda.so.1 exports the function. */
#ifndef RUNTIME_DEVICE_MODULE_TEXT_SOURCE_H
#define RUNTIME_DEVICE_MODULE_TEXT_SOURCE_H

#include <stddef.h>

/* A copy of the PTX of a cubin, *bytes without its final NUL; the device frees it. NULL: there is
 * none. It must not call the CUDA API. */
typedef char *device_text_source(const void *cubin, size_t *bytes);

/* One source for the process; NULL: none. Symbol: device_text_source_set. */
void device_text_source_set(device_text_source *source);

#endif
