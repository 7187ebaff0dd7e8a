#!/bin/bash
# On a GPU: what watching for kernels that fail costs. A launch-bound loop, in turns, with errors=off and errors=auto, beside
# CUDA_LAUNCH_BLOCKING=1 and compute-sanitizer: microseconds a launch, the median of so many slices each, and ratios.
#
#   failure_cost.sh CSAN_ROOT [SLICES]
set -eu
root=$(cd "$1" && pwd) slices=${2:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >loop.cu <<'SOURCE'
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>
__global__ void step(int *p) { p[threadIdx.x] = 1; }
static double now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}
int main(int, char **argv)
{
    const int launches = atoi(argv[1]);
    int *p;
    cudaStream_t stream;
    cudaMalloc(&p, 4096);
    cudaStreamCreate(&stream);
    for (int i = 0; i < 1000; i++)
        step<<<1, 32, 0, stream>>>(p);
    cudaStreamSynchronize(stream);
    const double begin = now();
    for (int i = 0; i < launches; i++)
        step<<<1, 32, 0, stream>>>(p);
    cudaStreamSynchronize(stream);
    printf("%.3f\n", (now() - begin) / launches);
}
SOURCE
nvcc -arch=native -cudart shared -o loop loop.cu
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
for ((i = 0; i < slices; i++)); do
    ./loop 200000 >>plain
    CSAN_OPTIONS=access=ptx:errors=off:print_summary=0 "$root/bin/csan" run ./loop 200000 >>off
    CSAN_OPTIONS=access=ptx:print_summary=0 "$root/bin/csan" run ./loop 200000 >>auto
    CUDA_LAUNCH_BLOCKING=1 ./loop 50000 >>blocking
    [ $i -ge 3 ] || compute-sanitizer ./loop 5000 2>/dev/null | grep -v ==== >>memcheck
done
for way in plain off auto blocking memcheck; do
    echo "$way: $(median $way) us a launch, $(awk -v a="$(median $way)" -v b="$(median plain)" 'BEGIN { printf "%.2f", a / b }') times plain"
done
awk -v a="$(median auto)" -v b="$(median off)" 'BEGIN { printf "errors=auto / errors=off: %.3f\n", a / b }'
