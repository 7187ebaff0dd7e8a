/* From the driver's descriptions of textures and surfaces to what kernels fetch through (CUDA
 * Driver API, cuTexObjectCreate and cuSurfObjectCreate). Called with the device's lock held, by
 * texture.c and by its fuzzer. */
#ifndef RUNTIME_DEVICE_MEMORY_TEXTURE_DESCRIPTION_H
#define RUNTIME_DEVICE_MEMORY_TEXTURE_DESCRIPTION_H

#include "runtime/device/driver/driver.h"
#include "runtime/device/exec/exec.h"

/* Fills *texture. `view` may be NULL. CUDA_ERROR_INVALID_VALUE: descriptions that contradict
 * themselves; CUDA_ERROR_NOT_SUPPORTED, which says once what is missing. */
CUresult texture_describe(struct exec_texture *texture, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view);
CUresult surface_describe(struct exec_texture *surface, const CUDA_RESOURCE_DESC *resource);

#endif
