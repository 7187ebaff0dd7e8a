// Functions of the driver that came after CUDA 13.0, asked of cuGetProcAddress with types of the
// program's own: the headers that it is built with may lack them.
#pragma once

#include "driver_check.h"
#include "program.h"

#include <cstring>

struct fabric_side {
    unsigned type; // 1: a pointer; 2: a place in a logical endpoint
    CUdeviceptr pointer;
    CUmemLocation hint;
};
struct fabric_copy {
    fabric_side source, target;
    size_t bytes;
    unsigned flags;
};

typedef CUresult (*copy_with_attributes_t)(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *,
                                           CUstream);
typedef CUresult (*copy_3d_with_attributes_t)(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long,
                                              CUstream);
typedef CUresult (*fabric_copy_t)(size_t, fabric_copy *, unsigned long long, CUstream);
typedef CUresult (*launch_host_t)(CUstream, CUhostFn, void *, unsigned);
typedef CUresult (*add_node_t)(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *,
                               size_t, CUgraphNodeParams *);
typedef CUresult (*node_params_t)(CUgraphNode, CUgraphNodeParams *);

template <typename T> static T newer(const char *name, int version, bool per_thread = false)
{
    void *address = nullptr;
    CUdriverProcAddressQueryResult result;
    CHECK(cudaFree(nullptr));
    DRIVER_CHECK(cuGetProcAddress(name, &address, version,
                                  per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                             : CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                                  &result));
    if (!address) {
        fprintf(stderr, "cuGetProcAddress does not know %s of %d\n", name, version);
        exit(101);
    }
    return (T)address;
}

static inline CUdeviceptr device_address(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

// Each of the functions that copy BYTES from `from` to `to` in the stream.
static inline void
copy_linear_newer(int *to, const int *from, CUstream stream, bool per_thread,
                  CUmemcpySrcAccessOrder order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)
{
    CUmemcpyAttributes attributes = {};
    attributes.srcAccessOrder = order;
    DRIVER_CHECK(newer<copy_with_attributes_t>("cuMemcpyWithAttributesAsync", 13020, per_thread)(
        device_address(to), device_address(from), BYTES, &attributes, stream));
}

static inline void copy_box_newer(int *to, const int *from, CUstream stream, bool per_thread)
{
    CUDA_MEMCPY3D_BATCH_OP what = {};
    what.src.type = what.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    what.src.op.ptr.ptr = device_address(from);
    what.dst.op.ptr.ptr = device_address(to);
    what.extent.width = BYTES;
    what.extent.height = what.extent.depth = 1;
    what.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    DRIVER_CHECK(newer<copy_3d_with_attributes_t>("cuMemcpy3DWithAttributesAsync", 13020,
                                                  per_thread)(&what, 0, stream));
}

static inline void copy_fabric_newer(int *to, const int *from, CUstream stream, bool per_thread)
{
    fabric_copy copies[2] = {};
    for (int i = 0; i < 2; i++) { // two halves
        copies[i].source.type = copies[i].target.type = 1;
        copies[i].source.pointer = device_address(from) + i * BYTES / 2;
        copies[i].target.pointer = device_address(to) + i * BYTES / 2;
        copies[i].bytes = BYTES / 2;
    }
    DRIVER_CHECK(
        newer<fabric_copy_t>("cuFabricCpyBatchAsync", 13050, per_thread)(2, copies, 0, stream));
}
