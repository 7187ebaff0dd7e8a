// An operator of a framework whose kernel asserts that its indices are in range, and one is not.
//   index_range WAY
// WAY: where the indices come from, and what csan can know of them.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <csan/csan.h>

enum { COUNT = 12, SIZE = 16 };

__global__ void gather(float *out, const float *self, const long long *index, int size)
{
    const long long at = index[threadIdx.x];
    assert((at == -100 || (at >= 0 && at < size)) && "index out of bounds");
    out[threadIdx.x] = at == -100 ? 0 : self[at];
}
__global__ void fill(long long *index, long long value)
{
    index[threadIdx.x] = value;
}

static const char *const names[] = {"self", "index", CSAN_ARGUMENT_RETURNED};
static const csan_operator gathers = {"test::gather(Tensor self, Tensor index)", names, 3, 2};
static const csan_operator fills = {"test::fill_", names + 1, 1, 0};
static const csan_operator calls = {"test::composite", names, 3, 2};

static csan_access access(const void *base, size_t bytes, int kind, uint16_t argument)
{
    csan_access it = {};
    it.base = (uint64_t)base;
    it.bytes = bytes;
    it.kind = (uint8_t)kind;
    it.argument = argument;
    return it;
}

static void run(float *out, const float *self, const long long *index)
{
    csan_access accesses[] = {access(self, SIZE * sizeof *self, CSAN_READ, 0),
                              access(index, COUNT * sizeof *index, CSAN_READ, 1),
                              access(out, COUNT * sizeof *out, CSAN_WRITE, 2)};
    csan_operator_call call = {accesses, 3};
    csan_operator_call outer = {nullptr, 0};
    outer.composite = 1;
    csan_indices indices = {};
    indices.base = (uint64_t)index;
    indices.count = COUNT;
    indices.high = SIZE;
    indices.ignored = -100;
    indices.has_ignored = 1;
    indices.element_bytes = sizeof *index;
    indices.dim_count = 2;
    indices.argument = 1;
    indices.sizes[0] = 4;
    indices.sizes[1] = 3;
    csan_operator_begin(&calls, &outer);
    csan_operator_begin(&gathers, &call);
    csan_operator_indices(&indices, 1);
    gather<<<1, COUNT>>>(out, self, index, SIZE);
    csan_operator_end();
    csan_operator_end();
}

int main(int, char **argv)
{
    static long long host[COUNT];
    long long *pinned, *index;
    float *self, *out;
    const char *way = argv[1];
    csan_stack_source_set(nullptr); // a framework, whose exception says what csan found
    cudaMalloc(&self, SIZE * sizeof *self);
    cudaMalloc(&out, COUNT * sizeof *out);
    cudaMalloc(&index, COUNT * sizeof *index);
    cudaMallocHost(&pinned, sizeof host);
    cudaMemset(self, 0, SIZE * sizeof *self);
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    host[2] = -100;
    host[7] = 16;
    host[10] = -1;
    memcpy(pinned, host, sizeof host);
    if (!strcmp(way, "right"))
        host[7] = host[10] = 3;
    if (!strcmp(way, "pinned"))
        cudaMemcpyAsync(index, pinned, sizeof host, cudaMemcpyHostToDevice);
    else
        cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
    if (!strcmp(way, "written")) { // by an operator: what was copied is there no more
        csan_access written = access(index, COUNT * sizeof *index, CSAN_WRITE, 0);
        csan_operator_call call = {&written, 1};
        csan_operator_begin(&fills, &call);
        fill<<<1, COUNT>>>(index, 99);
        csan_operator_end();
    }
    if (!strcmp(way, "set"))
        cudaMemset(index, 0x7f, COUNT * sizeof *index);
    run(out, self, index);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    const char *text = csan_active() ? csan_active()->failure_text(0) : nullptr;
    printf("%s\n", text ? text : "no failure");
}
