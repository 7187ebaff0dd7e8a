// What the corpus programs share: device arrays that know their length, numbers to fill them with,
// and the comparison with what the host computed. A program runs every kernel with several shapes,
// checks each result, and ends with finish(), which prints "done" when all of them were right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call,                   \
                    cudaGetErrorString(status_));                                                  \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

static int wrong_results;

// Device memory of `count` elements, freed with the object; converts to the pointer kernels take.
template <typename T> struct array {
    T *data = nullptr;
    size_t count;

    explicit array(size_t elements) : count(elements)
    {
        CHECK(cudaMalloc((void **)&data, std::max<size_t>(count, 1) * sizeof(T)));
        CHECK(cudaMemset(data, 0, count * sizeof(T)));
    }
    explicit array(const std::vector<T> &host) : array(host.size())
    {
        put(host);
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array()
    {
        CHECK(cudaFree(data));
    }
    operator T *() const
    {
        return data;
    }
    void put(const std::vector<T> &host)
    {
        CHECK(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get() const
    {
        std::vector<T> host(count);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
};

// Numbers that look random and are the same in every run: small whole ones, so that sums of
// products are exact in float too, whatever their order.
template <typename T>
static std::vector<T> numbers(size_t count, unsigned range = 8, unsigned seed = 1)
{
    std::vector<T> values(count);
    uint32_t state = seed * 2654435761u + 12345;
    for (T &value : values) {
        state = state * 1664525u + 1013904223u;
        value = (T)((state >> 16) % range);
    }
    return values;
}

static inline unsigned blocks_for(size_t count, unsigned block)
{
    return (unsigned)((count + block - 1) / block);
}

// Compares element by element, within `tolerance` of the wanted value's size.
template <typename T>
static void expect(const char *what, size_t shape, const std::vector<T> &found,
                   const std::vector<T> &wanted, double tolerance = 0)
{
    CHECK(cudaGetLastError());
    for (size_t i = 0; i < wanted.size(); i++) {
        double difference = std::fabs((double)found[i] - (double)wanted[i]);
        if (!(difference <= tolerance * (1 + std::fabs((double)wanted[i])))) {
            printf("%s, shape %zu: element %zu is %g, expected %g\n", what, shape, i,
                   (double)found[i], (double)wanted[i]);
            wrong_results++;
            return;
        }
    }
}

static inline int finish()
{
    CHECK(cudaDeviceSynchronize());
    if (!wrong_results)
        printf("done\n");
    return wrong_results != 0;
}
