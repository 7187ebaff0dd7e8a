/* Copies of all kinds, as the driver's calls describe them; copy_calls.c has the calls.
 * `per_thread`: the default stream is the thread's own. Each takes the device's lock. */
#ifndef RUNTIME_DEVICE_MEMORY_COPY_H
#define RUNTIME_DEVICE_MEMORY_COPY_H

#include "runtime/device/memory/copy_operand.h"

CUresult copy_linear(uint64_t to, uint64_t from, size_t bytes, CUstream stream, bool per_thread,
                     bool synchronous);
/* Of one row: arrays by an offset in bytes, memory by an address. */
CUresult copy_row(struct copy_operand to, struct copy_operand from, size_t bytes, CUstream stream,
                  bool per_thread, bool synchronous);
CUresult copy_2d(const CUDA_MEMCPY2D *copy2d, CUstream stream, bool per_thread, bool synchronous);
CUresult copy_3d(const CUDA_MEMCPY3D *copy3d, CUstream stream, bool per_thread, bool synchronous);
CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *peer, CUstream stream, bool per_thread,
                      bool synchronous);
CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   size_t bytes, CUstream stream, bool per_thread, bool synchronous);

/* What lies at byte x of row y of slice z of an array. */
struct copy_operand copy_in_array(CUarray array, size_t x, size_t y, size_t z);

#endif
