// CUB's DeviceScan and DeviceReduce.
#include "scratch.h"
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>

static void run_shape(int n)
{
    std::vector<int> host = numbers<int>(n, 100), inclusive(n), exclusive(n);
    std::partial_sum(host.begin(), host.end(), inclusive.begin());
    for (int i = 0; i < n; i++)
        exclusive[i] = inclusive[i] - host[i];
    array<int> in(host), out(n), total(1), largest(1);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(scratch, bytes, in.data, out.data, n);
    });
    expect("DeviceScan::InclusiveSum", n, out.get(), inclusive);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, in.data, out.data, n);
    });
    expect("DeviceScan::ExclusiveSum", n, out.get(), exclusive);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, in.data, total.data, n);
    });
    expect("DeviceReduce::Sum", n, total.get(), {inclusive[n - 1]});
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceReduce::Max(scratch, bytes, in.data, largest.data, n);
    });
    expect("DeviceReduce::Max", n, largest.get(), {*std::max_element(host.begin(), host.end())});
}

int main()
{
    for (int n : {1, 31, 257, 20000})
        run_shape(n);
    return finish();
}
