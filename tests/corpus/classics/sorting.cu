// Sorting networks and merging: bitonic steps in global and in shared memory, odd-even
// transposition, merge path, rank sort.
#include "../corpus.h"

__global__ void bitonic_step(int *values, int j, int k)
{
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x, partner = i ^ j;
    if (partner > i) {
        if ((i & k) == 0 && values[i] > values[partner]) {
            int other = values[i];
            values[i] = values[partner];
            values[partner] = other;
        }
        if ((i & k) != 0 && values[i] < values[partner]) {
            int other = values[i];
            values[i] = values[partner];
            values[partner] = other;
        }
    }
}

// The same without branches on data: both elements are always written.
__global__ void bitonic_step_always(int *values, int j, int k)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 2 * thread - (thread & (j - 1)), high = low + j;
    int a = values[low], b = values[high];
    bool up = (low & k) == 0;
    values[low] = up ? min(a, b) : max(a, b);
    values[high] = up ? max(a, b) : min(a, b);
}

__global__ void bitonic_block(int *values)
{
    extern __shared__ int part[];
    int t = threadIdx.x, n = blockDim.x;
    part[t] = values[blockIdx.x * n + t];
    __syncthreads();
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int partner = t ^ j;
            if (partner > t && ((t & k) == 0) == (part[t] > part[partner])) {
                int other = part[t];
                part[t] = part[partner];
                part[partner] = other;
            }
            __syncthreads();
        }
    values[blockIdx.x * n + t] = part[t];
}

__global__ void odd_even_step(int *values, int n, int parity)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + parity;
    if (i + 1 < n) {
        int a = values[i], b = values[i + 1];
        values[i] = min(a, b);
        values[i + 1] = max(a, b);
    }
}

__global__ void rank_sort(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = in[i], rank = 0;
    for (int j = 0; j < n; j++)
        rank += in[j] < value || (in[j] == value && j < i);
    out[rank] = value;
}

// Each thread merges `each` outputs; a binary search on its diagonal finds where it starts.
__global__ void merge_path(int *out, const int *a, int na, const int *b, int nb, int each)
{
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    if (diagonal >= na + nb)
        return;
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    int i = low, j = diagonal - low;
    for (int k = diagonal; k < min(diagonal + each, na + nb); k++)
        out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

static void run_bitonic(int n, int block)
{
    std::vector<int> host = numbers<int>(n, 1000), wanted(host);
    std::sort(wanted.begin(), wanted.end());
    array<int> values(host), always(host);
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            bitonic_step<<<n / block, block>>>(values, j, k);
            bitonic_step_always<<<n / block, block / 2>>>(always, j, k);
        }
    expect("bitonic_step", n, values.get(), wanted);
    expect("bitonic_step_always", n, always.get(), wanted);
    array<int> parts(host);
    bitonic_block<<<n / block, block, block * sizeof(int)>>>(parts);
    wanted = host;
    for (int start = 0; start < n; start += block)
        std::sort(wanted.begin() + start, wanted.begin() + start + block);
    expect("bitonic_block", n, parts.get(), wanted);
}

static void run_others(int n)
{
    std::vector<int> host = numbers<int>(n, 1000), wanted(host);
    std::sort(wanted.begin(), wanted.end());
    array<int> values(host), in(host), out(n);
    for (int step = 0; step < n; step++)
        odd_even_step<<<blocks_for(n / 2 + 1, 32), 32>>>(values, n, step & 1);
    expect("odd_even_step", n, values.get(), wanted);
    rank_sort<<<blocks_for(n, 32), 32>>>(out, in, n);
    expect("rank_sort", n, out.get(), wanted);

    int half = n / 3;
    std::sort(host.begin(), host.begin() + half);
    std::sort(host.begin() + half, host.end());
    array<int> parts(host), merged(n);
    merge_path<<<blocks_for(n, 32 * 5), 32>>>(merged, parts, half, parts + half, n - half, 5);
    expect("merge_path", n, merged.get(), wanted);
}

int main()
{
    run_bitonic(32, 32);
    run_bitonic(256, 64);
    for (int n : {1, 31, 100})
        run_others(n);
    return finish();
}
