// verdict: none
// options: trace=0
// expect: 1 unknown
// A table of pointers is copied from pinned memory that a host function fills, just before the copy
// runs: what the source held at the call is not what the table will hold.
#include "program.h"

__global__ void fill_entry(int *const *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[0][i] = i;
}

struct late {
    int **source, *value;
};

static void fill_source(void *user)
{
    late *l = (late *)user;
    *l->source = l->value;
}

int main()
{
    int **table = device_array<int *>(1), **source = nullptr;
    int *early = device_array<int>(), *right = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMallocHost((void **)&source, sizeof *source));
    *source = early;
    late l = {source, right};
    CHECK(cudaLaunchHostFunc(a, fill_source, &l));
    CHECK(cudaMemcpyAsync(table, source, sizeof *source, cudaMemcpyHostToDevice, a));
    fill_entry<<<GRID, BLOCK, 0, a>>>(table, N);
    launch_fill(b, early); // no race: the table never pointed here
    CHECK(cudaGetLastError());
    return finish();
}
