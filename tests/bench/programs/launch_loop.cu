// What checking costs the host per launch: launches a kernel with three pointers again and again,
// from a given depth of the stack, and prints the time of each launch.
//
//     launch_loop [LAUNCHES [FRAMES [STREAMS]]]      defaults: 200000 26 1
//
// With several streams each has its own arrays and they take turns.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(status));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MAX_STREAMS = 64, COUNT = 32 };

struct lane {
    cudaStream_t stream;
    float *out, *a, *b;
};

static lane lanes[MAX_STREAMS];

__global__ void add(float *out, const float *a, const float *b)
{
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static double launch_all(long launches, int streams)
{
    auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < launches; i++) {
        const lane *lane = &lanes[i % streams];
        add<<<1, COUNT, 0, lane->stream>>>(lane->out, lane->a, lane->b);
    }
    CHECK(cudaDeviceSynchronize());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Frames of the stack are what is counted here: each level must be a real call.
static __attribute__((noinline)) double at_depth(int frames, long launches, int streams)
{
    double seconds =
        frames > 2 ? at_depth(frames - 1, launches, streams) : launch_all(launches, streams);
    asm volatile("" ::: "memory"); // no tail call
    return seconds;
}

int main(int argc, char **argv)
{
    long launches = argc > 1 ? atol(argv[1]) : 200000;
    int frames = argc > 2 ? atoi(argv[2]) : 26;
    int streams = argc > 3 ? atoi(argv[3]) : 1;
    if (launches < 1 || streams < 1 || streams > MAX_STREAMS) {
        fprintf(stderr, "launches: at least 1; streams: 1 to %d\n", MAX_STREAMS);
        return 2;
    }
    for (int i = 0; i < streams; i++) {
        CHECK(cudaStreamCreateWithFlags(&lanes[i].stream, cudaStreamNonBlocking));
        CHECK(cudaMalloc(&lanes[i].out, COUNT * sizeof(float)));
        CHECK(cudaMalloc(&lanes[i].a, COUNT * sizeof(float)));
        CHECK(cudaMalloc(&lanes[i].b, COUNT * sizeof(float)));
        CHECK(cudaMemset(lanes[i].a, 0, COUNT * sizeof(float)));
        CHECK(cudaMemset(lanes[i].b, 0, COUNT * sizeof(float)));
    }
    CHECK(cudaDeviceSynchronize());
    at_depth(frames, launches / 10 + 1, streams); // warm up
    double seconds = at_depth(frames, launches, streams);
    printf("launches %ld frames %d streams %d ns_per_launch %.1f\n", launches, frames, streams,
           seconds / launches * 1e9);
    return 0;
}
