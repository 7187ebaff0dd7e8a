// verdict: race
// expect: Access by the host during call:
// expect: demo::add_
// An operator that works on the host reads pinned memory that a copy may still be writing.
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *pinned;
    CHECK(cudaMallocHost((void **)&pinned, BYTES));
    CHECK(cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, nonblocking_stream()));
    csan_access reads = access_to(pinned, CSAN_READ, 1);
    csan_operator_call call = {};
    call.host_accesses = &reads;
    call.host_count = 1;
    csan_operator_begin(&in_place, &call);
    csan_operator_end();
    return finish();
}
