// verdict: race
// expect: branch [0-9]+ of a graph
// As operator_inner_ones_race, captured.
#include "graph.h"
#include "operators.h"

static void scatter_in(cudaStream_t stream, int *p, const int *where)
{
    Operator running(in_place, 2, access_to(p, CSAN_WRITE, 0), access_to(where, CSAN_READ, 1));
    scatter<<<1, 32, 0, stream>>>(p, where);
}

int main()
{
    int *p = device_array<int>(), *where = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset(where, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    begin_capture(a);
    stream_follows(b, a);
    {
        Operator outer(composite, 1, access_to(p, CSAN_WRITE, 0));
        scatter_in(a, p, where);
        scatter_in(b, p, where);
    }
    stream_follows(a, b);
    instantiate(end_capture(a));
    return finish();
}
