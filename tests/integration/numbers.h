// What the programs that compare a library's numbers with a plain reference share.
#pragma once

#include "program.h"

#include <cmath>
#include <complex>
#include <vector>

static int numbers_wrong;

static double numbers_next()
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 8388608.0 - 1;
}

template <typename T> struct Number {
    typedef T real;
    static T next()
    {
        return (T)numbers_next();
    }
    static T conj(T x)
    {
        return x;
    }
};
template <typename T> struct Number<std::complex<T>> {
    typedef T real;
    static std::complex<T> next()
    {
        T re = (T)numbers_next();
        return std::complex<T>(re, (T)numbers_next());
    }
    static std::complex<T> conj(std::complex<T> x)
    {
        return std::conj(x);
    }
};

// An array on both sides.
template <typename T> struct Both {
    std::vector<T> host;
    T *device;
    explicit Both(size_t n, bool random = true) : host(n), device(device_array<T>(n))
    {
        for (T &x : host)
            x = random ? Number<T>::next() : T(0);
        put();
    }
    void put()
    {
        CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get() const
    {
        std::vector<T> out(host.size());
        CHECK(cudaMemcpy(out.data(), device, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};

// Relative to the largest number that is expected.
template <typename T>
static void numbers_compare(const char *what, const std::vector<T> &got,
                            const std::vector<T> &wanted, double tolerance)
{
    double largest = 1, difference = 0;
    for (size_t i = 0; i < wanted.size(); i++) {
        largest = std::max(largest, (double)std::abs(wanted[i]));
        double off = (double)std::abs(got[i] - wanted[i]);
        difference = off >= difference ? off : off == off ? difference : INFINITY;
    }
    if (got.size() == wanted.size() && difference <= tolerance * largest)
        return;
    fprintf(stderr, "%s: off by %g of %g\n", what, difference, largest);
    numbers_wrong++;
}

static inline int numbers_end()
{
    if (numbers_wrong)
        printf("%d wrong\n", numbers_wrong);
    else
        printf("done\n");
    return numbers_wrong != 0;
}
