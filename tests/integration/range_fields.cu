// verdict: none
// options: trace=0
// An array of structs: each stream writes one field of all of them, a third reads a fourth field.
#include "program.h"

struct body {
    float place, speed;
    double mass;
    int kind;
};

__global__ void set_places(body *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bodies[i].place = 0;
}

__global__ void set_speeds(body *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bodies[i].speed = 0;
}

__global__ void copy_kinds(int *out, const body *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = bodies[i].kind;
}

int main()
{
    body *bodies = device_array<body>();
    CHECK(cudaMemset(bodies, 0, N * sizeof(body)));
    CHECK(cudaDeviceSynchronize());
    set_places<<<GRID, BLOCK, 0, nonblocking_stream()>>>(bodies, N);
    set_speeds<<<GRID, BLOCK, 0, nonblocking_stream()>>>(bodies, N - 1);
    copy_kinds<<<GRID, BLOCK, 0, nonblocking_stream()>>>(device_array<int>(), bodies, N);
    CHECK(cudaGetLastError());
    return finish();
}
