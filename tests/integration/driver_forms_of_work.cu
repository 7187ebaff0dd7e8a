// verdict: race
// expect: , 94 races
// flags: -std=c++17
// link: -lcuda
// ways: run
// Each form of a copy, a set and a launch, in stream 0, against two others: a set in a non-blocking
// stream, which races with all; and a set in another thread's per-thread default stream, which
// races with the per-thread forms alone, less copies between contexts, which are work of legacy
// streams.
#include "driver_forms.h"

static CUDA_MEMCPY2D_v2 rows(const operands &on)
{
    CUDA_MEMCPY2D_v2 what = {};
    what.srcMemoryType = what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    what.srcDevice = on.q;
    what.dstDevice = on.p;
    what.srcPitch = what.dstPitch = what.WidthInBytes = ROW;
    what.Height = ROWS;
    return what;
}

template <typename COPY> static COPY box(const operands &on)
{
    COPY what = {};
    what.srcMemoryType = what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    what.srcDevice = on.q;
    what.dstDevice = on.p;
    what.srcPitch = what.dstPitch = what.WidthInBytes = ROW;
    what.srcHeight = what.dstHeight = what.Height = ROWS;
    what.Depth = 1;
    return what;
}

template <typename COPY, typename... MORE>
static CUresult given(CUresult (*copy)(const COPY *, MORE...), const COPY &what, MORE... more)
{
    return copy(&what, more...);
}

static CUDA_MEMCPY3D_PEER peers(const operands &on)
{
    CUDA_MEMCPY3D_PEER what = box<CUDA_MEMCPY3D_PEER>(on);
    what.srcContext = what.dstContext = on.context;
    return what;
}

static int value = 3;
static CUdeviceptr target;
static void *arguments[] = {&target, &value};

static CUfunction launched(const operands &on)
{
    target = on.p;
    return on.fill;
}

template <typename LAUNCH> static CUresult extended(LAUNCH *launch, const operands &on)
{
    CUlaunchConfig config = {};
    config.gridDimX = BYTES / 4 / 128;
    config.blockDimX = 128;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    return launch(&config, launched(on), arguments, nullptr);
}

static const unsigned WORDS = BYTES / 4, GRID = WORDS / 128;

static const form forms[] = {
    BOTH_FORMS(cuMemcpy, _ptds, on.p, on.q, BYTES),
    BOTH_FORMS(cuMemcpyAsync, _ptsz, on.p, on.q, BYTES, 0),
    BOTH_FORMS(cuMemcpyHtoD_v2, _ptds, on.p, on.host, BYTES),
    BOTH_FORMS(cuMemcpyHtoDAsync_v2, _ptsz, on.p, on.host, BYTES, 0),
    BOTH_FORMS(cuMemcpyDtoH_v2, _ptds, on.host, on.p, BYTES),
    BOTH_FORMS(cuMemcpyDtoHAsync_v2, _ptsz, on.host, on.p, BYTES, 0),
    BOTH_FORMS(cuMemcpyDtoD_v2, _ptds, on.p, on.q, BYTES),
    BOTH_FORMS(cuMemcpyDtoDAsync_v2, _ptsz, on.p, on.q, BYTES, 0),
    BOTH_FORMS(cuMemcpyPeer, _ptds, on.p, on.context, on.q, on.context, BYTES),
    BOTH_FORMS(cuMemcpyPeerAsync, _ptsz, on.p, on.context, on.q, on.context, BYTES, 0),
    {"cuMemcpy2D_v2", [](const operands &on) { return given(cuMemcpy2D_v2, rows(on)); }},
    {"cuMemcpy2D_v2_ptds", [](const operands &on) { return given(cuMemcpy2D_v2_ptds, rows(on)); }},
    {"cuMemcpy2DUnaligned_v2",
     [](const operands &on) { return given(cuMemcpy2DUnaligned_v2, rows(on)); }},
    {"cuMemcpy2DUnaligned_v2_ptds",
     [](const operands &on) { return given(cuMemcpy2DUnaligned_v2_ptds, rows(on)); }},
    {"cuMemcpy2DAsync_v2",
     [](const operands &on) { return given(cuMemcpy2DAsync_v2, rows(on), CUstream(0)); }},
    {"cuMemcpy2DAsync_v2_ptsz",
     [](const operands &on) { return given(cuMemcpy2DAsync_v2_ptsz, rows(on), CUstream(0)); }},
    {"cuMemcpy3D_v2",
     [](const operands &on) { return given(cuMemcpy3D_v2, box<CUDA_MEMCPY3D_v2>(on)); }},
    {"cuMemcpy3D_v2_ptds",
     [](const operands &on) { return given(cuMemcpy3D_v2_ptds, box<CUDA_MEMCPY3D_v2>(on)); }},
    {"cuMemcpy3DAsync_v2",
     [](const operands &on) {
         return given(cuMemcpy3DAsync_v2, box<CUDA_MEMCPY3D_v2>(on), CUstream(0));
     }},
    {"cuMemcpy3DAsync_v2_ptsz",
     [](const operands &on) {
         return given(cuMemcpy3DAsync_v2_ptsz, box<CUDA_MEMCPY3D_v2>(on), CUstream(0));
     }},
    {"cuMemcpy3DPeer", [](const operands &on) { return given(cuMemcpy3DPeer, peers(on)); }},
    {"cuMemcpy3DPeer_ptds",
     [](const operands &on) { return given(cuMemcpy3DPeer_ptds, peers(on)); }},
    {"cuMemcpy3DPeerAsync",
     [](const operands &on) { return given(cuMemcpy3DPeerAsync, peers(on), CUstream(0)); }},
    {"cuMemcpy3DPeerAsync_ptsz",
     [](const operands &on) { return given(cuMemcpy3DPeerAsync_ptsz, peers(on), CUstream(0)); }},
    BOTH_FORMS(cuMemsetD8_v2, _ptds, on.p, 2, BYTES),
    BOTH_FORMS(cuMemsetD16_v2, _ptds, on.p, 2, BYTES / 2),
    BOTH_FORMS(cuMemsetD32_v2, _ptds, on.p, 2, WORDS),
    BOTH_FORMS(cuMemsetD2D8_v2, _ptds, on.p, ROW, 2, ROW, ROWS),
    BOTH_FORMS(cuMemsetD2D16_v2, _ptds, on.p, ROW, 2, ROW / 2, ROWS),
    BOTH_FORMS(cuMemsetD2D32_v2, _ptds, on.p, ROW, 2, ROW / 4, ROWS),
    BOTH_FORMS(cuMemsetD8Async, _ptsz, on.p, 2, BYTES, 0),
    BOTH_FORMS(cuMemsetD16Async, _ptsz, on.p, 2, BYTES / 2, 0),
    BOTH_FORMS(cuMemsetD32Async, _ptsz, on.p, 2, WORDS, 0),
    BOTH_FORMS(cuMemsetD2D8Async, _ptsz, on.p, ROW, 2, ROW, ROWS, 0),
    BOTH_FORMS(cuMemsetD2D16Async, _ptsz, on.p, ROW, 2, ROW / 2, ROWS, 0),
    BOTH_FORMS(cuMemsetD2D32Async, _ptsz, on.p, ROW, 2, ROW / 4, ROWS, 0),
    BOTH_FORMS(cuLaunchKernel, _ptsz, launched(on), GRID, 1, 1, 128, 1, 1, 0, 0, arguments,
               nullptr),
    BOTH_FORMS(cuLaunchCooperativeKernel, _ptsz, launched(on), GRID, 1, 1, 128, 1, 1, 0, 0,
               arguments),
    {"cuLaunchKernelEx", [](const operands &on) { return extended(cuLaunchKernelEx, on); }},
    {"cuLaunchKernelEx_ptsz",
     [](const operands &on) { return extended(cuLaunchKernelEx_ptsz, on); }},
};

int main()
{
    operands on = {};
    CUmodule module;
    on.context = context_make_current();
    DRIVER_CHECK(cuModuleLoadData(&module, driver_ptx));
    DRIVER_CHECK(cuModuleGetFunction(&on.fill, module, "driver_fill"));
    DRIVER_CHECK(cuMemHostAlloc(&on.host, BYTES, 0));
    on.q = device_bytes();
    CUstream other = nonblocking_stream();
    for (const form &form : forms) {
        on.p = device_bytes();
        DRIVER_CHECK(cuMemsetD8Async(on.p, 1, BYTES, other));
        DRIVER_CHECK(form.call(on));
        DRIVER_CHECK(cuCtxSynchronize());
        on.p = device_bytes();
        set_in_another_thread(on.context, on.p);
        DRIVER_CHECK(form.call(on));
        DRIVER_CHECK(cuCtxSynchronize());
    }
    printf("done\n");
    return 0;
}
