// Prefix sums and maxima: blocks scan their part, the block sums are scanned, offsets are added.
#include "../corpus.h"

enum { BLOCK = 64 };

__global__ void scan_blocks(int *out, int *sums, const int *in, int n)
{
    __shared__ int part[2][BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;
    part[0][threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        int sum = part[from][threadIdx.x];
        if (threadIdx.x >= offset)
            sum += part[from][threadIdx.x - offset];
        part[1 - from][threadIdx.x] = sum;
        from = 1 - from;
        __syncthreads();
    }
    if (i < n)
        out[i] = part[from][threadIdx.x];
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = part[from][threadIdx.x];
}

__global__ void add_offsets(int *out, const int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}

// Up-sweep and down-sweep over two elements a thread: the exclusive scan of one block.
__global__ void scan_sweeps(int *out, const int *in, int n)
{
    extern __shared__ int tree[];
    int t = threadIdx.x, offset = 1;
    tree[2 * t] = 2 * t < n ? in[2 * t] : 0;
    tree[2 * t + 1] = 2 * t + 1 < n ? in[2 * t + 1] : 0;
    for (int d = blockDim.x; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        tree[2 * blockDim.x - 1] = 0;
    for (int d = 1; d < 2 * blockDim.x; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int value = tree[left];
            tree[left] = tree[right];
            tree[right] += value;
        }
    }
    __syncthreads();
    if (2 * t < n)
        out[2 * t] = tree[2 * t];
    if (2 * t + 1 < n)
        out[2 * t + 1] = tree[2 * t + 1];
}

// One block walks over the whole array, with the maximum so far in a register.
__global__ void prefix_maximum(int *out, const int *in, int n)
{
    __shared__ int carry;
    int lane = threadIdx.x;
    if (lane == 0)
        carry = INT32_MIN;
    __syncthreads();
    for (int base = 0; base < n; base += 32) {
        int value = base + lane < n ? in[base + lane] : INT32_MIN;
        for (int offset = 1; offset < 32; offset <<= 1) {
            int other = __shfl_up_sync(0xffffffff, value, offset);
            if (lane >= offset)
                value = max(value, other);
        }
        value = max(value, carry);
        if (base + lane < n)
            out[base + lane] = value;
        __syncwarp();
        if (lane == 31)
            carry = value;
        __syncwarp();
    }
}

// A step of the naive scan in global memory: from one array into the other.
__global__ void scan_step(int *out, const int *in, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i >= offset ? in[i] + in[i - offset] : in[i];
}

static std::vector<int> sums_of(const std::vector<int> &in)
{
    std::vector<int> out(in);
    for (size_t i = 1; i < out.size(); i++)
        out[i] += out[i - 1];
    return out;
}

static void run_shape(int n)
{
    std::vector<int> host = numbers<int>(n, 100), wanted = sums_of(host);
    int blocks = blocks_for(n, BLOCK), outer = blocks_for(blocks, BLOCK);
    array<int> in(host), out(n), sums(blocks), scanned(blocks), rest(outer);
    scan_blocks<<<blocks, BLOCK>>>(out, sums, in, n);
    scan_blocks<<<outer, BLOCK>>>(scanned, rest, sums, blocks);
    add_offsets<<<blocks, BLOCK>>>(out, scanned, n);
    expect("scan_blocks", n, out.get(), wanted);

    array<int> a(host), b(n);
    int *from = a, *to = b;
    for (int offset = 1; offset < n; offset *= 2) {
        scan_step<<<blocks, BLOCK>>>(to, from, n, offset);
        std::swap(from, to);
    }
    expect("scan_step", n, from == a ? a.get() : b.get(), wanted);

    array<int> best(n);
    prefix_maximum<<<1, 32>>>(best, in, n);
    for (int i = 0; i < n; i++)
        wanted[i] = i ? std::max(wanted[i - 1], host[i]) : host[i];
    expect("prefix_maximum", n, best.get(), wanted);
}

static void run_sweeps(int n, int threads)
{
    std::vector<int> host = numbers<int>(n, 100), wanted = sums_of(host);
    for (int i = 0; i < n; i++)
        wanted[i] -= host[i];
    array<int> in(host), out(n);
    scan_sweeps<<<1, threads, 2 * threads * sizeof(int)>>>(out, in, n);
    expect("scan_sweeps", n, out.get(), wanted);
}

int main()
{
    for (int n : {1, 31, 257, 1000})
        run_shape(n);
    run_sweeps(64, 32);
    run_sweeps(99, 64);
    return finish();
}
