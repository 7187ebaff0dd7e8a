// A kernel that fails, and the calls by which a program learns of it: what each returns is printed,
// to be compared with and without csan.
//   failure KIND CALL
// clang-format off
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <unistd.h>

enum { N = 256 };
typedef void (*function)(int *);

__global__ void good(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void write_at(int *p, long at) { if (blockIdx.x * blockDim.x + threadIdx.x == 77) p[at] = 7; }
__global__ void read_at(int *p, const int *q) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i == 40) p[0] = *q; }
__global__ void add_at(int *p) { atomicAdd(p + (threadIdx.x == 5 ? (1l << 40) : 0), 1); }
__global__ void misaligned(char *p) { if (threadIdx.x == 3) *(int *)(p + 2) = 1; }
__global__ void shared_far(int *p, int n) { extern __shared__ int s[]; s[threadIdx.x * n] = 1; __syncthreads(); p[threadIdx.x] = s[0]; }
__global__ void trapped() { if (blockIdx.x == 1 && threadIdx.x == 9) __trap(); }
__global__ void asserts_and_writes(int *p, long at) { if (threadIdx.x == 6) { assert(at < 100); p[at] = 1; } }
__global__ void traps_and_writes(int *p, long at) { if (threadIdx.x == 6) { if (at > 100) __trap(); p[at] = 1; } }
__global__ void asserts(int n) { if (threadIdx.x == 6) assert(n < 3); }
__device__ __noinline__ int deep(volatile int *p, int n) { volatile int a[64]; a[n % 64] = *p; return n > 100000000 ? 0 : deep(p, n + 1) + a[(n + 1) % 64]; }
__global__ void stack(int *p) { if (threadIdx.x == 0) p[0] = deep(p, 0); }
__global__ void jumps(int *p, function f) { if (threadIdx.x == 2) f(p); }
__global__ void late(int *p, long at) { long long t = clock64(); while (clock64() - t < 200000000ll) ; p[at] = 1; }

static void say(const char *what, cudaError_t code) { printf("%s %d\n", what, (int)code); }

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    const char *kind = argv[1], *call = argv[2];
    setvbuf(stdout, NULL, _IOLBF, 0);
    cudaStream_t s; cudaEvent_t e; int *p, *q, host[4];
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    cudaMalloc(&p, N * sizeof *p);
    cudaMalloc(&q, N * sizeof *q);
    for (int i = 0; i < 5; i++) good<<<N / 64, 64, 0, s>>>(p);
    cudaStreamSynchronize(s);
    if (!strcmp(kind, "none")) good<<<4, 64, 0, s>>>(p);
    if (!strcmp(kind, "far")) write_at<<<4, 64, 0, s>>>(p, 1l << 40);
    if (!strcmp(kind, "near")) write_at<<<4, 64, 0, s>>>(p, 1l << 25);
    if (!strcmp(kind, "null")) read_at<<<4, 64, 0, s>>>(p, (int *)16);
    if (!strcmp(kind, "host")) { static int h[4]; read_at<<<4, 64, 0, s>>>(p, h); }
    if (!strcmp(kind, "freed")) { cudaFree(q); q = 0; int *big; cudaMalloc(&big, 64 << 20); cudaFree(big); write_at<<<4, 64, 0, s>>>(big, 5); }
    if (!strcmp(kind, "atomic")) add_at<<<1, 32, 0, s>>>(p);
    if (!strcmp(kind, "misaligned")) misaligned<<<1, 32, 0, s>>>((char *)p);
    if (!strcmp(kind, "shared")) shared_far<<<1, 64, 256, s>>>(p, 1 << 16);
    if (!strcmp(kind, "trap")) trapped<<<2, 32, 0, s>>>();
    if (!strcmp(kind, "assert")) asserts<<<1, 32, 0, s>>>(5);
    if (!strcmp(kind, "assert_far")) asserts_and_writes<<<1, 32, 0, s>>>(p, 1l << 40);
    if (!strcmp(kind, "trap_far")) traps_and_writes<<<1, 32, 0, s>>>(p, 1l << 40);
    if (!strcmp(kind, "stack")) stack<<<1, 32, 0, s>>>(p);
    if (!strcmp(kind, "jump")) jumps<<<1, 32, 0, s>>>(p, (function)0x123456789ab0ul);
    if (!strcmp(kind, "late")) late<<<1, 32, 0, s>>>(p, 1l << 40);
    say("launch", cudaGetLastError());
    if (!strcmp(call, "stream")) say(call, cudaStreamSynchronize(s));
    if (!strcmp(call, "device")) say(call, cudaDeviceSynchronize());
    if (!strcmp(call, "event")) { cudaEventRecord(e, s); say(call, cudaEventSynchronize(e)); }
    if (!strcmp(call, "copy")) say(call, cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    if (!strcmp(call, "async")) { cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s); say(call, cudaStreamSynchronize(s)); }
    if (!strcmp(call, "query")) { cudaError_t r; int n = 0; while ((r = cudaStreamQuery(s)) == cudaErrorNotReady && n++ < 20000) usleep(100); say(call, r); }
    if (!strcmp(call, "later")) { usleep(2000000); void *m = 0; say(call, cudaMalloc(&m, 64)); }
    if (!strcmp(call, "launches")) { cudaError_t r = cudaSuccess; for (int i = 0; i < 400000 && r == cudaSuccess; i++) { good<<<1, 32, 0, s>>>(q ? q : p); r = cudaGetLastError(); } say(call, r); }
    if (!strcmp(call, "free")) say(call, cudaFree(p));
    say("then stream", cudaStreamSynchronize(s));
    say("then device", cudaDeviceSynchronize());
    say("then copy", cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    say("then last", cudaGetLastError());
    void *m; say("then malloc", cudaMalloc(&m, 64));
    say("then query", cudaStreamQuery(s));
    good<<<1, 32, 0, s>>>(p); say("then launch", cudaGetLastError());
    say("then event", cudaEventRecord(e, s));
    cudaStreamCaptureStatus status; cudaPointerAttributes attributes; cudaFuncAttributes function_attributes; size_t some, all; int number;
    say("then capturing", cudaStreamIsCapturing(s, &status));
    say("then pointer", cudaPointerGetAttributes(&attributes, p));
    say("then memory", cudaMemGetInfo(&some, &all));
    say("then function", cudaFuncGetAttributes(&function_attributes, good));
    say("then occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, good, 64, 0));
    say("then priority", cudaStreamGetPriority(s, &number));
    say("then async copy", cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s));
    say("then async set", cudaMemsetAsync(p, 0, 64, s));
    say("then async malloc", cudaMallocAsync(&m, 64, s));
    say("then host", cudaMallocHost(&m, 64));
    say("then stream made", cudaStreamCreate(&s));
    return 0;
}
