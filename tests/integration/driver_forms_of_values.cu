// verdict: race
// expect: , (6|12) races
// options: dedup=0
// flags: -std=c++17
// link: -lcuda
// ways: run
// Each form of a write of a word and of a wait for one, in stream 0, after or before work of a
// blocking stream: ordered with it where stream 0 is the legacy stream, and not where it is the
// thread's own. (The first versions are an option of the driver's: "CAN_USE_STREAM_MEM_OPS_V1".)
#include "driver_forms.h"

static CUstream other, blocking;

template <typename BATCH> static CUresult write_by(BATCH *batch, CUdeviceptr word)
{
    CUstreamBatchMemOpParams one = {};
    one.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    one.writeValue.address = word;
    one.writeValue.value = 1;
    return batch(0, 1, &one, 0);
}

template <typename BATCH> static CUresult wait_by(BATCH *batch, CUdeviceptr word)
{
    CUstreamBatchMemOpParams one = {};
    one.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    one.waitValue.address = word;
    one.waitValue.value = 1;
    one.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    return batch(0, 1, &one, 0);
}

#define BATCH_FORMS(by, symbol)                                                                    \
    {#symbol, [](const operands &on) { return by(symbol, on.q); }},                                \
    {                                                                                              \
#symbol "_ptsz", [](const operands &on) { return by(symbol##_ptsz, on.q); }                \
    }

// `q` is the word.
static const form writes[] = {
    BOTH_FORMS(cuStreamWriteValue32, _ptsz, 0, on.q, 1, 0),
    BOTH_FORMS(cuStreamWriteValue32_v2, _ptsz, 0, on.q, 1, 0),
    BOTH_FORMS(cuStreamWriteValue64, _ptsz, 0, on.q, 1, 0),
    BOTH_FORMS(cuStreamWriteValue64_v2, _ptsz, 0, on.q, 1, 0),
    BATCH_FORMS(write_by, cuStreamBatchMemOp),
    BATCH_FORMS(write_by, cuStreamBatchMemOp_v2),
};
static const form waits[] = {
    BOTH_FORMS(cuStreamWaitValue32, _ptsz, 0, on.q, 1, CU_STREAM_WAIT_VALUE_EQ),
    BOTH_FORMS(cuStreamWaitValue32_v2, _ptsz, 0, on.q, 1, CU_STREAM_WAIT_VALUE_EQ),
    BOTH_FORMS(cuStreamWaitValue64, _ptsz, 0, on.q, 1, CU_STREAM_WAIT_VALUE_EQ),
    BOTH_FORMS(cuStreamWaitValue64_v2, _ptsz, 0, on.q, 1, CU_STREAM_WAIT_VALUE_EQ),
    BATCH_FORMS(wait_by, cuStreamBatchMemOp),
    BATCH_FORMS(wait_by, cuStreamBatchMemOp_v2),
};

static void set(CUdeviceptr p, CUstream in)
{
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, in));
}

static operands word_and_memory()
{
    operands on = {};
    on.p = device_bytes();
    on.q = device_bytes();
    DRIVER_CHECK(cuMemsetD8_v2(on.q, 0, BYTES));
    DRIVER_CHECK(cuCtxSynchronize());
    return on;
}

// False: this driver has the later version only.
static bool called(const form &form, const operands &on)
{
    CUresult result = form.call(on);
    if (result == CUDA_ERROR_NOT_SUPPORTED && !strstr(form.name, "_v2"))
        return false;
    DRIVER_CHECK(result);
    return true;
}

int main()
{
    context_make_current();
    other = nonblocking_stream();
    DRIVER_CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    for (const form &form : writes) {
        operands on = word_and_memory();
        set(on.p, blocking);
        if (!called(form, on))
            continue;
        DRIVER_CHECK(cuStreamWaitValue32_v2(other, on.q, 1, CU_STREAM_WAIT_VALUE_EQ));
        set(on.p, other);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    for (const form &form : waits) {
        operands on = word_and_memory();
        set(on.p, other);
        DRIVER_CHECK(cuStreamWriteValue64_v2(other, on.q, 1, 0));
        if (!called(form, on))
            continue;
        set(on.p, blocking);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    printf("done\n");
    return 0;
}
