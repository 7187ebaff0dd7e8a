// verdict: race
// expect: Fix: make cu(da)?Memset(D8)? \(.*fix_brings_race.cu:{set}\) in stream
// A set in the legacy default stream is ordered with a blocking stream, and not with a non-blocking
// one. In the latter it would not be ordered with the former.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>(2 * N);
    cudaStream_t blocking = blocking_stream(), s = nonblocking_stream();
    CHECK(cudaMemset(p, 0, BYTES)); // at: set
    launch_copy(blocking, out, p);
    launch_copy(s, out + N, p);
    return finish();
}
