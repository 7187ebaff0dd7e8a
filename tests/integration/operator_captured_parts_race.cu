// verdict: race
// expect: branch [0-9]+ of a graph
// As operator_parts_race, captured.
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
        launch_fill(a, p + N / 2, 1, N / 2);
        launch_fill(b, p + N / 2, 2, N / 2);
    }
    stream_follows(a, b);
    instantiate(end_capture(a));
    return finish();
}
