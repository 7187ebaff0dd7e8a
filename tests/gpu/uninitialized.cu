// Reads of memory that nothing has written, and of memory that something has, or may have.
//   uninitialized CASE
// clang-format off
#include <csan/csan.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 1024 };
__global__ void add(float *out, const float *in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] + 1; }
__global__ void fill(float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 1; }
__global__ void scratch(float *p) { int i = threadIdx.x; p[i] = i; __syncthreads(); p[i + 256] = p[255 - i]; }
__global__ void scatter(float *out, const int *index) { out[index[threadIdx.x]] = 1; }
__global__ void through(float **out) { out[1][threadIdx.x] = 1; }
__global__ void vectors(float *out, const float4 *in) { out[threadIdx.x] = in[threadIdx.x].x; }
__global__ void maybe(float *out, const float *in, const int *when) { if (*when) out[threadIdx.x] = in[threadIdx.x]; }

static bool is(char **argv, const char *what) { return !strcmp(argv[1], what); }

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    float *in, *out, **pointers; int *zeros; cudaStream_t s; float host[N] = {0};
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&in, N * sizeof *in); // in
    cudaMalloc(&out, N * sizeof *out);
    cudaMalloc(&zeros, N * sizeof *zeros); cudaMalloc(&pointers, 2 * sizeof *pointers);
    cudaMemset(zeros, 0, N * sizeof *zeros);
    cudaDeviceSynchronize();
    // Findings:
    if (is(argv, "plain")) add<<<4, 256, 0, s>>>(out, in, N); // plain
    if (is(argv, "half")) { fill<<<2, 256, 0, s>>>(in, N / 2); add<<<4, 256, 0, s>>>(out, in, N); }
    if (is(argv, "twice")) for (int i = 0; i < 3; i++) add<<<4, 256, 0, s>>>(out, in, N);
    if (is(argv, "again")) {
        cudaMallocAsync(&in, N * 4, s); fill<<<4, 256, 0, s>>>(in, N); cudaFreeAsync(in, s);
        cudaMallocAsync(&in, N * 4, s); add<<<4, 256, 0, s>>>(out, in, N);
    }
    // None:
    if (is(argv, "set")) { cudaMemsetAsync(in, 0, N * 4, s); add<<<4, 256, 0, s>>>(out, in, N); }
    if (is(argv, "copied")) { cudaMemcpyAsync(in, host, N * 4, cudaMemcpyHostToDevice, s); add<<<4, 256, 0, s>>>(out, in, N); }
    if (is(argv, "filled")) { fill<<<4, 256, 0, s>>>(in, N); add<<<4, 256, 0, s>>>(out, in, N); }
    if (is(argv, "scratch")) scratch<<<1, 256, 0, s>>>(in);
    if (is(argv, "scatter")) { scatter<<<1, 256, 0, s>>>(in, zeros); add<<<4, 256, 0, s>>>(out, in, 1); }
    if (is(argv, "through")) {
        float *list[2] = {0, in};
        cudaMemcpyAsync(pointers, list, sizeof list, cudaMemcpyHostToDevice, s);
        through<<<1, 256, 0, s>>>(pointers); add<<<1, 256, 0, s>>>(out, in, 256);
    }
    if (is(argv, "vectors")) { cudaMemsetAsync(in, 0, 4 * 1021, s); vectors<<<1, 256, 0, s>>>(out, (float4 *)in); }
    if (is(argv, "maybe")) maybe<<<1, 256, 0, s>>>(out, in, zeros);
    if (is(argv, "copy")) cudaMemcpyAsync(out, in, N * 4, cudaMemcpyDeviceToDevice, s);
    if (is(argv, "managed")) { float *m; cudaMallocManaged(&m, N * 4); for (int i = 0; i < N; i++) m[i] = 1; add<<<4, 256, 0, s>>>(out, m, N); cudaDeviceSynchronize(); }
    if (is(argv, "pinned")) { float *m; cudaMallocHost(&m, N * 4); for (int i = 0; i < N; i++) m[i] = 1; add<<<4, 256, 0, s>>>(out, m, N); cudaDeviceSynchronize(); }
    if (is(argv, "graph")) {
        cudaGraph_t graph; cudaGraphExec_t exec;
        cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
        fill<<<4, 256, 0, s>>>(in, N); add<<<4, 256, 0, s>>>(out, in, N);
        cudaStreamEndCapture(s, &graph);
        cudaGraphInstantiate(&exec, graph, 0); cudaGraphLaunch(exec, s);
        add<<<4, 256, 0, s>>>(in, out, N);
    }
    if (is(argv, "ignored")) { csan_ignore_begin(); fill<<<4, 256, 0, s>>>(in, N); csan_ignore_end(); add<<<4, 256, 0, s>>>(out, in, N); }
    if (is(argv, "pool")) { csan_pool_alloc(in, N * 4, s); add<<<4, 256, 0, s>>>(out, in, N); }
    if (is(argv, "pitch")) {
        float *p; size_t pitch; cudaMallocPitch(&p, &pitch, 100 * 4, 8);
        cudaMemcpy2DAsync(p, pitch, host, 100 * 4, 100 * 4, 8, cudaMemcpyHostToDevice, s);
        add<<<1, 256, 0, s>>>(out, p + 3 * pitch / 4, 100);
    }
    printf("%d\n", (int)cudaStreamSynchronize(s));
    return 0;
}
