// Thrust's algorithms over device pointers: element by element, reductions, scans, by key,
// gather and scatter, and those whose output depends on data.
#include "../corpus.h"
#include <numeric>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct axpy {
    int a;
    __host__ __device__ int operator()(int x, int y) const
    {
        return a * x + y;
    }
};

struct square {
    __host__ __device__ int operator()(int x) const
    {
        return x * x;
    }
};

struct add_one {
    __host__ __device__ void operator()(int &x) const
    {
        x++;
    }
};

struct store_index {
    int *to;
    __host__ __device__ void operator()(int i) const
    {
        to[i] = 3 * i;
    }
};

struct is_large {
    __host__ __device__ bool operator()(int x) const
    {
        return x > 50;
    }
};

static void run_elements(int n)
{
    std::vector<int> left = numbers<int>(n, 100), right = numbers<int>(n, 100, 2), wanted(n);
    array<int> x(left), y(right), out(n);
    thrust::transform(thrust::device, x.data, x.data + n, y.data, out.data, axpy{3});
    for (int i = 0; i < n; i++)
        wanted[i] = 3 * left[i] + right[i];
    expect("thrust::transform, two inputs", n, out.get(), wanted);
    thrust::transform(thrust::device, x.data, x.data + n, out.data, square());
    for (int i = 0; i < n; i++)
        wanted[i] = left[i] * left[i];
    expect("thrust::transform", n, out.get(), wanted);
    thrust::for_each(thrust::device, out.data, out.data + n, add_one());
    for (int &value : wanted)
        value++;
    expect("thrust::for_each", n, out.get(), wanted);
    thrust::for_each(thrust::device, thrust::counting_iterator<int>(0),
                     thrust::counting_iterator<int>(n), store_index{out.data});
    for (int i = 0; i < n; i++)
        wanted[i] = 3 * i;
    expect("thrust::for_each, by index", n, out.get(), wanted);
    thrust::fill(thrust::device, out.data, out.data + n, 7);
    expect("thrust::fill", n, out.get(), std::vector<int>(n, 7));
    thrust::sequence(thrust::device, out.data, out.data + n);
    std::iota(wanted.begin(), wanted.end(), 0);
    expect("thrust::sequence", n, out.get(), wanted);
    thrust::copy(thrust::device, x.data, x.data + n, out.data);
    expect("thrust::copy", n, out.get(), left);
}

static void run_sums(int n)
{
    std::vector<int> host = numbers<int>(n, 100), wanted(n);
    array<int> in(host), out(n), by_key(n), distinct(n);
    int total = std::accumulate(host.begin(), host.end(), 0), squares = 0;
    for (int value : host)
        squares += value * value;
    expect("thrust::reduce", n,
           std::vector<int>{thrust::reduce(thrust::device, in.data, in.data + n)}, {total});
    expect("thrust::transform_reduce", n,
           std::vector<int>{thrust::transform_reduce(thrust::device, in.data, in.data + n, square(),
                                                     0, ::cuda::std::plus<int>())},
           {squares});
    expect(
        "thrust::inner_product", n,
        std::vector<int>{thrust::inner_product(thrust::device, in.data, in.data + n, in.data, 0)},
        {squares});
    expect("thrust::max_element", n,
           std::vector<int>{
               (int)(thrust::max_element(thrust::device, in.data, in.data + n) - in.data)},
           {(int)(std::max_element(host.begin(), host.end()) - host.begin())});
    thrust::inclusive_scan(thrust::device, in.data, in.data + n, out.data);
    std::partial_sum(host.begin(), host.end(), wanted.begin());
    expect("thrust::inclusive_scan", n, out.get(), wanted);

    std::vector<int> keys(n), sums;
    for (int i = 0; i < n; i++) {
        keys[i] = i / 7;
        if (i % 7 == 0)
            sums.push_back(0);
        sums.back() += host[i];
    }
    array<int> keys_in(keys);
    thrust::reduce_by_key(thrust::device, keys_in.data, keys_in.data + n, in.data, distinct.data,
                          by_key.data);
    expect("thrust::reduce_by_key", n, by_key.get(), sums);
}

static void run_moves(int n)
{
    std::vector<int> host = numbers<int>(n, 100), index(n), gathered(n), scattered(n), large, kept;
    for (int i = 0; i < n; i++)
        index[i] = n - 1 - (i + n / 3) % n;
    for (int i = 0; i < n; i++) {
        gathered[i] = host[index[i]];
        scattered[index[i]] = host[i];
        if (host[i] > 50)
            large.push_back(host[i]);
    }
    array<int> in(host), indices(index), out(n);
    thrust::gather(thrust::device, indices.data, indices.data + n, in.data, out.data);
    expect("thrust::gather", n, out.get(), gathered);
    thrust::scatter(thrust::device, in.data, in.data + n, indices.data, out.data);
    expect("thrust::scatter", n, out.get(), scattered);
    int *end = thrust::copy_if(thrust::device, in.data, in.data + n, out.data, is_large());
    expect("thrust::copy_if", n, std::vector<int>{(int)(end - out.data)}, {(int)large.size()});
    expect("thrust::copy_if", n, out.get(), large);
    for (int &value : host)
        value /= 30;
    in.put(host);
    kept = host;
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    end = thrust::unique(thrust::device, in.data, in.data + n);
    expect("thrust::unique", n, std::vector<int>{(int)(end - in.data)}, {(int)kept.size()});
    expect("thrust::unique", n, in.get(), kept);
}

int main()
{
    for (int n : {1, 31, 257, 5000}) {
        run_elements(n);
        run_sums(n);
        run_moves(n);
    }
    return finish();
}
