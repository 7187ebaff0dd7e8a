/* The entry points of copies: each for the legacy and for the per-thread default stream. copy.c
 * says what they wait for. */
#include "runtime/device/memory/copy.h"

CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy_linear(dst, src, ByteCount, NULL, false, true);
}

CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy_linear(dst, src, ByteCount, NULL, true, true);
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return copy_linear(dst, src, ByteCount, hStream, false, false);
}

CUresult CUDAAPI cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                                    CUstream hStream)
{
    return copy_linear(dst, src, ByteCount, hStream, true, false);
}

CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy_linear(dstDevice, (uint64_t)srcHost, ByteCount, NULL, false, true);
}

CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy_linear(dstDevice, (uint64_t)srcHost, ByteCount, NULL, true, true);
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                      CUstream hStream)
{
    return copy_linear(dstDevice, (uint64_t)srcHost, ByteCount, hStream, false, false);
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void *srcHost,
                                           size_t ByteCount, CUstream hStream)
{
    return copy_linear(dstDevice, (uint64_t)srcHost, ByteCount, hStream, true, false);
}

CUresult CUDAAPI cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_linear((uint64_t)dstHost, srcDevice, ByteCount, NULL, false, true);
}

CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_linear((uint64_t)dstHost, srcDevice, ByteCount, NULL, true, true);
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                      CUstream hStream)
{
    return copy_linear((uint64_t)dstHost, srcDevice, ByteCount, hStream, false, false);
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                           CUstream hStream)
{
    return copy_linear((uint64_t)dstHost, srcDevice, ByteCount, hStream, true, false);
}

CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_linear(dstDevice, srcDevice, ByteCount, NULL, false, true);
}

CUresult CUDAAPI cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                                      size_t ByteCount)
{
    return copy_linear(dstDevice, srcDevice, ByteCount, NULL, true, true);
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                                      size_t ByteCount, CUstream hStream)
{
    return copy_linear(dstDevice, srcDevice, ByteCount, hStream, false, false);
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                                           size_t ByteCount, CUstream hStream)
{
    return copy_linear(dstDevice, srcDevice, ByteCount, hStream, true, false);
}

CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                              CUcontext srcContext, size_t ByteCount)
{
    return copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, false, true);
}

CUresult CUDAAPI cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount)
{
    return copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, true, true);
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                                   CUstream hStream)
{
    return copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, false,
                     false);
}

CUresult CUDAAPI cuMemcpyPeerAsync_ptsz(CUdeviceptr dstDevice, CUcontext dstContext,
                                        CUdeviceptr srcDevice, CUcontext srcContext,
                                        size_t ByteCount, CUstream hStream)
{
    return copy_peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true, false);
}

static struct copy_operand at_address(uint64_t address)
{
    return (struct copy_operand){.address = address};
}

/* Copies of rows, in their two forms. */
#define ROWS(name, suffix, parameters, to, from, stream, synchronous)                              \
    CUresult CUDAAPI name parameters                                                               \
    {                                                                                              \
        return copy_row(to, from, ByteCount, stream, false, synchronous);                          \
    }                                                                                              \
    CUresult CUDAAPI name##suffix parameters                                                       \
    {                                                                                              \
        return copy_row(to, from, ByteCount, stream, true, synchronous);                           \
    }

ROWS(cuMemcpyDtoA_v2, _ptds,
     (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
     copy_in_array(dstArray, dstOffset, 0, 0), at_address(srcDevice), NULL, true)
ROWS(cuMemcpyAtoD_v2, _ptds,
     (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     at_address(dstDevice), copy_in_array(srcArray, srcOffset, 0, 0), NULL, true)
ROWS(cuMemcpyHtoA_v2, _ptds,
     (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
     copy_in_array(dstArray, dstOffset, 0, 0), at_address((uint64_t)srcHost), NULL, true)
ROWS(cuMemcpyAtoH_v2, _ptds, (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     at_address((uint64_t)dstHost), copy_in_array(srcArray, srcOffset, 0, 0), NULL, true)
ROWS(cuMemcpyAtoA_v2, _ptds,
     (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     copy_in_array(dstArray, dstOffset, 0, 0), copy_in_array(srcArray, srcOffset, 0, 0), NULL, true)
ROWS(cuMemcpyHtoAAsync_v2, _ptsz,
     (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream),
     copy_in_array(dstArray, dstOffset, 0, 0), at_address((uint64_t)srcHost), hStream, false)
ROWS(cuMemcpyAtoHAsync_v2, _ptsz,
     (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream),
     at_address((uint64_t)dstHost), copy_in_array(srcArray, srcOffset, 0, 0), hStream, false)

/* Copies of boxes: at once, and on a stream. */
#define COPIES(at_once, on_stream, copy, type)                                                     \
    CUresult CUDAAPI at_once(const type *what)                                                     \
    {                                                                                              \
        return copy(what, NULL, false, true);                                                      \
    }                                                                                              \
    CUresult CUDAAPI at_once##_ptds(const type *what)                                              \
    {                                                                                              \
        return copy(what, NULL, true, true);                                                       \
    }                                                                                              \
    CUresult CUDAAPI on_stream(const type *what, CUstream stream)                                  \
    {                                                                                              \
        return copy(what, stream, false, false);                                                   \
    }                                                                                              \
    CUresult CUDAAPI on_stream##_ptsz(const type *what, CUstream stream)                           \
    {                                                                                              \
        return copy(what, stream, true, false);                                                    \
    }

COPIES(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, copy_2d, CUDA_MEMCPY2D)
COPIES(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, copy_3d, CUDA_MEMCPY3D)
COPIES(cuMemcpy3DPeer, cuMemcpy3DPeerAsync, copy_3d_peer, CUDA_MEMCPY3D_PEER)

CUresult CUDAAPI cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, false, true);
}

CUresult CUDAAPI cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, true, true);
}
