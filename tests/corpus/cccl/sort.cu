// Sorting by CUB and Thrust: radix sort of keys and of pairs, merge sort with a comparison.
#include "scratch.h"
#include <cub/device/device_radix_sort.cuh>
#include <numeric>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/sort.h>

struct by_last_digit {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return a % 10 < b % 10 || (a % 10 == b % 10 && a < b);
    }
};

static void run_shape(int n)
{
    std::vector<unsigned> host = numbers<unsigned>(n, 5000), sorted(host);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return host[a] < host[b]; });
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> indices(n);
    std::iota(indices.begin(), indices.end(), 0);

    array<unsigned> in(host), out(n);
    array<int> values(indices), values_out(n);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, in.data, out.data, n);
    });
    expect("DeviceRadixSort::SortKeys", n, out.get(), sorted);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, in.data, out.data, values.data,
                                               values_out.data, n);
    });
    expect("DeviceRadixSort::SortPairs", n, out.get(), sorted);
    expect("DeviceRadixSort::SortPairs", n, values_out.get(), order);

    array<unsigned> keys(host);
    thrust::sort(thrust::device, keys.data, keys.data + n);
    expect("thrust::sort", n, keys.get(), sorted);
    keys.put(host);
    thrust::stable_sort_by_key(thrust::device, keys.data, keys.data + n, values.data);
    expect("thrust::sort_by_key", n, values.get(), order);

    std::vector<int> plain(host.begin(), host.end());
    array<int> compared(plain);
    thrust::sort(thrust::device, compared.data, compared.data + n, by_last_digit());
    std::sort(plain.begin(), plain.end(), by_last_digit());
    expect("thrust::sort with a comparison", n, compared.get(), plain);
}

int main()
{
    for (int n : {1, 31, 257, 5000, 20000})
        run_shape(n);
    return finish();
}
