// verdict: none
// Local arrays, constant memory, dynamic shared memory, vectors, bytes, and a generic pointer.
#include "program.h"

__constant__ int factors[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int offsets[4] = {10, 20, 30, 40};

__device__ __noinline__ int through_pointer(const int *p, int i)
{
    return p[i];
}

__global__ void spaces(int4 *out, const int4 *in, char *bytes, short *halves, int shift)
{
    extern __shared__ int tile[];
    int i = threadIdx.x, local[8];
    for (int k = 0; k < 8; k++)
        local[(k + shift) % 8] = factors[k] * i;
    int4 v = in[i];
    tile[i] = v.x;
    __syncthreads();
    v.y += tile[blockDim.x - 1 - i];
    v.z += local[(i + 3) % 8] + through_pointer(i % 2 ? tile : offsets, i % 4);
    v.w += offsets[i % 4];
    out[i] = v;
    bytes[i] = (char)(v.x - 3);
    halves[i] = (short)(v.w * 7);
}

int main()
{
    enum { THREADS = 64, SHIFT = 3 };
    static int4 in[THREADS], out[THREADS];
    static char bytes[THREADS];
    static short halves[THREADS];
    for (int i = 0; i < THREADS; i++)
        in[i] = make_int4(i, 2 * i, 3 * i, 4 * i);
    int4 *din = device_array<int4>(THREADS), *dout = device_array<int4>(THREADS);
    char *dbytes = device_array<char>(THREADS);
    short *dhalves = device_array<short>(THREADS);
    CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    spaces<<<1, THREADS, THREADS * sizeof(int)>>>(dout, din, dbytes, dhalves, SHIFT);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bytes, dbytes, sizeof bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(halves, dhalves, sizeof halves, cudaMemcpyDeviceToHost));
    static const int offset[4] = {10, 20, 30, 40};
    for (int i = 0; i < THREADS; i++) {
        int local = ((i + 3 - SHIFT + 8) % 8 + 1) * i;
        int4 expected =
            make_int4(i, 2 * i + THREADS - 1 - i,
                      3 * i + local + (i % 2 ? in[i % 4].x : offset[i % 4]), 4 * i + offset[i % 4]);
        if (memcmp(&out[i], &expected, sizeof expected) != 0 || bytes[i] != (char)(i - 3) ||
            halves[i] != (short)(expected.w * 7))
            printf("wrong: %d is %d %d %d %d\n", i, out[i].x, out[i].y, out[i].z, out[i].w);
    }
    return finish();
}
