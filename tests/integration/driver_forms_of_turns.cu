// verdict: race
// cuda: 13
// expect: , 17 races
// options: dedup=0
// flags: -std=c++17
// link: -lcuda
// ways: run
// Each form of what moves managed memory, between work of two blocking streams: it orders them
// where it is in the legacy stream, and not in the thread's own. And each form of a batch of copies
// against work of a blocking stream. Batches take no legacy stream: their forms that know one get
// another.
#include "driver_forms.h"

static CUdeviceptr memory; // managed
static size_t length = BYTES, first = 0;
static CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
static CUstream stream, one, two;

// In stream 0, or in another where that is the legacy stream, which no batch takes.
static const form turns[] = {
    BOTH_FORMS(cuMemPrefetchAsync, _ptsz, memory, BYTES, 0, 0),
    BOTH_FORMS(cuMemPrefetchAsync_v2, _ptsz, memory, BYTES, here, 0, 0),
    BOTH_FORMS(cuStreamAttachMemAsync, _ptsz, 0, memory, 0, CU_MEM_ATTACH_GLOBAL),
    FORM(cuMemPrefetchBatchAsync, &memory, &length, 1, &here, &first, 1, 0, stream),
    FORM(cuMemPrefetchBatchAsync_ptsz, &memory, &length, 1, &here, &first, 1, 0, 0),
    FORM(cuMemDiscardBatchAsync, &memory, &length, 1, 0, stream),
    FORM(cuMemDiscardBatchAsync_ptsz, &memory, &length, 1, 0, 0),
    FORM(cuMemDiscardAndPrefetchBatchAsync, &memory, &length, 1, &here, &first, 1, 0, stream),
    FORM(cuMemDiscardAndPrefetchBatchAsync_ptsz, &memory, &length, 1, &here, &first, 1, 0, 0),
};

static CUmemcpyAttributes attributes = {CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

static CUDA_MEMCPY3D_BATCH_OP box(const operands &on)
{
    CUDA_MEMCPY3D_BATCH_OP what = {};
    what.src.type = what.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    what.src.op.ptr.ptr = on.q;
    what.dst.op.ptr.ptr = on.p;
    what.extent.width = BYTES;
    what.extent.height = what.extent.depth = 1;
    what.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return what;
}

template <typename COPY, typename... MORE>
static CUresult linear(COPY *copy, operands on, MORE... more)
{
    return copy(&on.p, &on.q, &length, 1, &attributes, &first, 1, more...);
}

template <typename COPY, typename... MORE>
static CUresult boxes(COPY *copy, const operands &on, MORE... more)
{
    CUDA_MEMCPY3D_BATCH_OP what = box(on);
    return copy(1, &what, more...);
}

static size_t failed;
#define BATCH_FORM(copies, symbol, ...)                                                            \
    {                                                                                              \
#symbol, [](const operands &on) { return copies(symbol, on, ##__VA_ARGS__, stream); }      \
    }

// All in a stream with a handle: driver 580 refuses stream 0 of the per-thread forms.
static const form batches[] = {
    BATCH_FORM(linear, cuMemcpyBatchAsync, &failed),
    BATCH_FORM(linear, cuMemcpyBatchAsync_ptsz, &failed),
    BATCH_FORM(linear, cuMemcpyBatchAsync_v2),
    BATCH_FORM(linear, cuMemcpyBatchAsync_v2_ptsz),
    BATCH_FORM(boxes, cuMemcpy3DBatchAsync, &failed, 0ull),
    BATCH_FORM(boxes, cuMemcpy3DBatchAsync_ptsz, &failed, 0ull),
    BATCH_FORM(boxes, cuMemcpy3DBatchAsync_v2, 0ull),
    BATCH_FORM(boxes, cuMemcpy3DBatchAsync_v2_ptsz, 0ull),
};

static void set(CUdeviceptr p, CUstream in)
{
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, in));
}

int main()
{
    operands on = {};
    context_make_current();
    stream = nonblocking_stream();
    DRIVER_CHECK(cuStreamCreate(&one, CU_STREAM_DEFAULT));
    DRIVER_CHECK(cuStreamCreate(&two, CU_STREAM_DEFAULT));
    DRIVER_CHECK(cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_GLOBAL));
    on.q = device_bytes();
    for (const form &form : turns) {
        on.p = device_bytes();
        set(on.p, one);
        DRIVER_CHECK(form.call(on));
        set(on.p, two);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    for (const form &form : batches) {
        on.p = device_bytes();
        set(on.p, one);
        DRIVER_CHECK(form.call(on));
        DRIVER_CHECK(cuCtxSynchronize());
    }
    printf("done\n");
    return 0;
}
