// verdict: race
// expect: ^Access by stream 'copy' \(created at .*nvtx_names.cu:{create}\)
// expect: ^Previous access by stream 'compute'
// expect: ^In NVTX range 'step' > 'upload'$
// expect: ^In NVTX range 'step' > 'sum'$
// expect: the event 'done' that stream 'copy' waits for \(.*nvtx_names.cu:{wait}\) had not been recorded
// reject: stream [0-9A-Z]
// cuda: 13
// Names that a program gives by NVTX, in each of its forms, and the ranges open at the calls.
#include "program.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

static void push_in(nvtxDomainHandle_t domain, nvtxStringHandle_t name)
{
    nvtxEventAttributes_t is = {};
    is.version = NVTX_VERSION;
    is.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    is.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    is.message.registered = name;
    nvtxDomainRangePushEx(domain, &is);
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t compute = nonblocking_stream(), copy;
    CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking)); // at: create
    cudaEvent_t done = event_create();
    nvtxNameCudaStreamA(compute, "compute");
    nvtxNameCudaStreamW(copy, L"copy");
    nvtxNameCudaEventA(done, "done");
    nvtxDomainHandle_t domain = nvtxDomainCreateA("net");
    nvtxStringHandle_t sum = nvtxDomainRegisterStringA(domain, "sum");

    nvtxRangePushA("step");
    push_in(domain, sum);
    fill<<<GRID, BLOCK, 0, compute>>>(p, 1, N);
    nvtxDomainRangePop(domain);
    CHECK(cudaStreamWaitEvent(copy, done, 0)); // at: wait
    nvtxRangePushW(L"upload");
    CHECK(cudaMemsetAsync(p, 0, BYTES, copy));
    nvtxRangePop();
    nvtxRangePop();
    CHECK(cudaDeviceSynchronize());
    puts("done");
}
