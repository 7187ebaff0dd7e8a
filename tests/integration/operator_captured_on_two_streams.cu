// verdict: none
// As operator_part_is_known, captured: the graph's branches are parts of one operator.
#include "graph.h"
#include "operators.h"

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    begin_capture(a);
    stream_follows(b, a);
    {
        Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
        scatter<<<1, 32, 0, a>>>(p, where);
        launch_fill(b, p + N / 2, 1, N / 2);
        scatter<<<1, 32, 0, b>>>(p + N / 2, where);
    }
    stream_follows(a, b);
    CHECK(cudaGraphLaunch(instantiate(end_capture(a)), a));
    return finish();
}
