// verdict: race
// expect: , 10 races
// options: dedup=0
// flags: -std=c++17
// link: -lcuda
// ways: run
// Each form of what makes or needs order, in stream 0, after or before work of a blocking stream:
// ordered with it where stream 0 is the legacy stream, and not where it is the thread's own.
#include "driver_forms.h"

#include <atomic>

static CUevent event;
static std::atomic<int> reached;

static void host_function(void *)
{
    reached = 1;
}

static void callback(CUstream, CUresult, void *)
{
    reached = 1;
}

static CUresult until_success(CUresult (*query)(CUstream))
{
    CUresult result;
    do
        result = query(0);
    while (result == CUDA_ERROR_NOT_READY);
    return result;
}

static CUresult then_wait_for_event(CUresult recorded)
{
    return recorded == CUDA_SUCCESS ? cuEventSynchronize(event) : recorded;
}

static CUresult then_wait_for_function(CUresult enqueued)
{
    while (enqueued == CUDA_SUCCESS && !reached)
        ;
    reached = 0;
    return enqueued;
}

// The host waits for stream 0.
static const form waits[] = {
    BOTH_FORMS(cuStreamSynchronize, _ptsz, 0),
    {"cuStreamQuery", [](const operands &) { return until_success(cuStreamQuery); }},
    {"cuStreamQuery_ptsz", [](const operands &) { return until_success(cuStreamQuery_ptsz); }},
    {"cuEventRecord",
     [](const operands &) { return then_wait_for_event(cuEventRecord(event, 0)); }},
    {"cuEventRecord_ptsz",
     [](const operands &) { return then_wait_for_event(cuEventRecord_ptsz(event, 0)); }},
    {"cuEventRecordWithFlags",
     [](const operands &) {
         return then_wait_for_event(cuEventRecordWithFlags(event, 0, CU_EVENT_RECORD_DEFAULT));
     }},
    {"cuEventRecordWithFlags_ptsz",
     [](const operands &) {
         return then_wait_for_event(cuEventRecordWithFlags_ptsz(event, 0, CU_EVENT_RECORD_DEFAULT));
     }},
    {"cuLaunchHostFunc",
     [](const operands &) {
         return then_wait_for_function(cuLaunchHostFunc(0, host_function, nullptr));
     }},
    {"cuLaunchHostFunc_ptsz",
     [](const operands &) {
         return then_wait_for_function(cuLaunchHostFunc_ptsz(0, host_function, nullptr));
     }},
    {"cuStreamAddCallback",
     [](const operands &) {
         return then_wait_for_function(cuStreamAddCallback(0, callback, nullptr, 0));
     }},
    {"cuStreamAddCallback_ptsz",
     [](const operands &) {
         return then_wait_for_function(cuStreamAddCallback_ptsz(0, callback, nullptr, 0));
     }},
};

// Stream 0 waits for the event.
static const form holds[] = {BOTH_FORMS(cuStreamWaitEvent, _ptsz, 0, event, 0)};

static CUdeviceptr born;
static CUmemoryPool pool;
static const form births[] = {
    BOTH_FORMS(cuMemAllocAsync, _ptsz, &born, BYTES, 0),
    BOTH_FORMS(cuMemAllocFromPoolAsync, _ptsz, &born, BYTES, pool, 0),
};
static const form deaths[] = {BOTH_FORMS(cuMemFreeAsync, _ptsz, on.p, 0)};

static void set(CUdeviceptr p, CUstream stream)
{
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, stream));
}

static void call(const form &form, CUdeviceptr p)
{
    operands on = {};
    on.p = p;
    DRIVER_CHECK(form.call(on));
}

int main()
{
    CUstream blocking, other;
    CUdevice device;
    context_make_current();
    other = nonblocking_stream();
    DRIVER_CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    DRIVER_CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    DRIVER_CHECK(cuCtxGetDevice(&device));
    DRIVER_CHECK(cuDeviceGetDefaultMemPool(&pool, device));
    for (const form &form : waits) {
        CUdeviceptr p = device_bytes(), own = device_bytes();
        set(p, blocking);
        DRIVER_CHECK(
            (is_per_thread(form) ? cuMemsetD8Async_ptsz : cuMemsetD8Async)(own, 1, BYTES, 0));
        call(form, p);
        set(own, other);
        set(p, other);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    for (const form &form : holds) {
        CUdeviceptr p = device_bytes();
        set(p, other);
        DRIVER_CHECK(cuEventRecord(event, other));
        call(form, p);
        set(p, blocking);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    for (const form &form : births) {
        call(form, 0);
        set(born, blocking);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    for (const form &form : deaths) {
        CUdeviceptr p;
        DRIVER_CHECK(cuMemAllocAsync(&p, BYTES, blocking));
        DRIVER_CHECK(cuCtxSynchronize());
        set(p, blocking);
        call(form, p);
        DRIVER_CHECK(cuCtxSynchronize());
    }
    printf("done\n");
    return 0;
}
