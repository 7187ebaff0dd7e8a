// What it costs to see the host's own loads and stores: a step of a pinned double-buffered
// pipeline, of a stencil of the host on managed memory, and of a loop of the host on its own
// memory. Prints nanoseconds a step. Right: nothing is to be found.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_));                       \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

__global__ void scale(float *p, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] *= 1.5f;
}

// The host fills one buffer while the device works on the other.
static double pipeline(size_t bytes, int steps)
{
    float *host[2], *device[2];
    cudaStream_t stream;
    cudaEvent_t done[2];
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMallocHost((void **)&host[i], bytes));
        CHECK(cudaMalloc((void **)&device[i], bytes));
        CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
        CHECK(cudaEventRecord(done[i], stream));
    }
    // The median of some 50 parts: a moment in which the machine does something else does not
    // count.
    std::vector<double> parts;
    const int part = steps / 50 + 1;
    double start = now();
    for (int step = 0; step < steps; step++) {
        const int i = step & 1;
        if (step && step % part == 0) {
            parts.push_back((now() - start) / part);
            start = now();
        }
        CHECK(cudaEventSynchronize(done[i]));
        memset(host[i], step & 63, bytes);
        CHECK(cudaMemcpyAsync(device[i], host[i], bytes, cudaMemcpyHostToDevice, stream));
        scale<<<64, 256, 0, stream>>>(device[i], bytes / sizeof(float));
        CHECK(cudaMemcpyAsync(host[i], device[i], bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaEventRecord(done[i], stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    std::sort(parts.begin(), parts.end());
    return parts.empty() ? (now() - start) / steps : parts[parts.size() / 2];
}

static void stencil_once(float *to, const float *from, int n)
{
    for (int i = 1; i < n - 1; i++)
        to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
}

static double stencil(bool managed, int n, int steps)
{
    float *a, *b;
    if (managed) {
        CHECK(cudaMallocManaged((void **)&a, n * sizeof *a));
        CHECK(cudaMallocManaged((void **)&b, n * sizeof *b));
    } else {
        a = (float *)malloc(n * sizeof *a);
        b = (float *)malloc(n * sizeof *b);
    }
    for (int i = 0; i < n; i++)
        a[i] = b[i] = i % 7;
    const double start = now();
    for (int step = 0; step < steps; step++) {
        stencil_once(step & 1 ? a : b, step & 1 ? b : a, n);
        if (managed && step % 16 == 15) {
            scale<<<64, 256>>>(a, n);
            CHECK(cudaDeviceSynchronize());
        }
    }
    const double spent = now() - start;
    CHECK(cudaDeviceSynchronize());
    return spent / steps;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "pipeline";
    const int size = argc > 2 ? atoi(argv[2]) : 65536, steps = argc > 3 ? atoi(argv[3]) : 1000;
    CHECK(cudaFree(nullptr));
    const double spent = strcmp(mode, "pipeline") == 0
                             ? pipeline(size, steps)
                             : stencil(strcmp(mode, "managed") == 0, size, steps);
    printf("ns_per_step %.1f\n", spent);
    return 0;
}
