// CUB algorithms whose output depends on data: selection, partition, run lengths, histograms.
#include "scratch.h"
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

struct is_even {
    __host__ __device__ bool operator()(int value) const
    {
        return value % 2 == 0;
    }
};

static void run_select(int n)
{
    std::vector<int> host = numbers<int>(n, 10), even, distinct, flagged, lengths;
    std::vector<char> flags = numbers<char>(n, 2, 2);
    for (int i = 0; i < n; i++) {
        if (host[i] % 2 == 0)
            even.push_back(host[i]);
        if (flags[i])
            flagged.push_back(host[i]);
        if (i == 0 || host[i] != host[i - 1]) {
            distinct.push_back(host[i]);
            lengths.push_back(0);
        }
        lengths.back()++;
    }
    array<int> in(host), out(n), count(1), runs(n);
    array<char> flags_in(flags);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceSelect::If(scratch, bytes, in.data, out.data, count.data, n, is_even());
    });
    expect("DeviceSelect::If", n, count.get(), {(int)even.size()});
    expect("DeviceSelect::If", n, out.get(), even);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceSelect::Flagged(scratch, bytes, in.data, flags_in.data, out.data,
                                          count.data, n);
    });
    expect("DeviceSelect::Flagged", n, out.get(), flagged);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceSelect::Unique(scratch, bytes, in.data, out.data, count.data, n);
    });
    expect("DeviceSelect::Unique", n, out.get(), distinct);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceRunLengthEncode::Encode(scratch, bytes, in.data, out.data, runs.data,
                                                  count.data, n);
    });
    expect("DeviceRunLengthEncode::Encode", n, runs.get(), lengths);
}

static void run_histogram(int n)
{
    std::vector<unsigned char> host = numbers<unsigned char>(n, 64);
    std::vector<int> even(16), ranges(3);
    for (unsigned char value : host) {
        even[value / 4]++;
        ranges[value < 5 ? 0 : value < 50 ? 1 : 2]++;
    }
    array<unsigned char> in(host);
    array<int> bins(16), wide(3);
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(scratch, bytes, in.data, bins.data, 17, 0, 64,
                                                   n);
    });
    expect("DeviceHistogram::HistogramEven", n, bins.get(), even);
    array<int> levels(std::vector<int>{0, 5, 50, 64});
    with_scratch([&](void *scratch, size_t &bytes) {
        return cub::DeviceHistogram::HistogramRange(scratch, bytes, in.data, wide.data, 4,
                                                    levels.data, n);
    });
    expect("DeviceHistogram::HistogramRange", n, wide.get(), ranges);
}

int main()
{
    for (int n : {1, 31, 257, 10000}) {
        run_select(n);
        run_histogram(n);
    }
    return finish();
}
