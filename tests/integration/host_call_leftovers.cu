// verdict: race
// expect: host_call_leftovers.cu:{access}
// expect: the host's store .* does not wait for cudaMemcpyAsync
// options: host=guard
// Who calls syscall(2) sets the registers that the system call has. The others may hold the address
// of memory that a copy still reads, and its page stays guarded all the same.
#include "host_memory.h"
#include <sys/syscall.h>
#include <unistd.h>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    if (syscall(SYS_gettid, host, host, host, host, host, host) <= 0)
        return 102;
    host[0] = 1; // at: access
    return finish();
}
