// verdict: none
// libraries: curand
// options: host=off
// own-errors: yes
// Distributions of cuRAND's host API: moments and ranges, seeds and offsets.
#include "numbers.h"

#include <curand.h>

#define RAND(call)                                                                                 \
    do {                                                                                           \
        curandStatus_t status_ = (call);                                                           \
        if (status_ != CURAND_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { COUNT = 100000 };

template <typename T> static std::vector<T> taken(const T *device)
{
    std::vector<T> host(COUNT);
    CHECK(cudaMemcpy(host.data(), device, COUNT * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Five standard errors of the mean, and 3% of the variance.
template <typename T>
static void moments(const char *what, const std::vector<T> &x, double mean, double variance)
{
    double sum = 0, squares = 0;
    for (T value : x)
        sum += (double)value;
    for (T value : x)
        squares += ((double)value - sum / COUNT) * ((double)value - sum / COUNT);
    numbers_compare<double>(what, {sum / COUNT}, {mean}, 5 * std::sqrt(variance / COUNT));
    numbers_compare<double>(what, {squares / COUNT / variance}, {1}, 0.03);
}

int main()
{
    curandGenerator_t generator, host;
    float *floats = device_array<float>(COUNT);
    double *doubles = device_array<double>(COUNT);
    unsigned *words = device_array<unsigned>(COUNT);
    RAND(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    RAND(curandSetPseudoRandomGeneratorSeed(generator, 1234));

    RAND(curandGenerateUniform(generator, floats, COUNT));
    std::vector<float> first = taken(floats);
    moments("uniform", first, 0.5, 1 / 12.0);
    for (float x : first)
        numbers_wrong += !(x > 0 && x <= 1);
    RAND(curandGenerateUniformDouble(generator, doubles, COUNT));
    moments("uniform double", taken(doubles), 0.5, 1 / 12.0);
    RAND(curandGenerateNormal(generator, floats, COUNT, 2, 3));
    moments("normal", taken(floats), 2, 9);
    RAND(curandGenerateNormalDouble(generator, doubles, COUNT, -1, 0.5));
    moments("normal double", taken(doubles), -1, 0.25);
    RAND(curandGenerateLogNormal(generator, floats, COUNT, 0, 0.25));
    const double s = 0.0625;
    moments("log-normal", taken(floats), std::exp(s / 2), (std::exp(s) - 1) * std::exp(s));
    RAND(curandGeneratePoisson(generator, words, COUNT, 4.5));
    moments("Poisson", taken(words), 4.5, 4.5);
    RAND(curandGeneratePoisson(generator, words, COUNT, 50));
    moments("Poisson of 50", taken(words), 50, 50);
    RAND(curandGenerate(generator, words, COUNT));
    moments("words", taken(words), 2147483648.0, std::pow(2.0, 64) / 12);

    RAND(curandSetPseudoRandomGeneratorSeed(generator, 1234)); // which keeps the offset
    RAND(curandSetGeneratorOffset(generator, 0));
    RAND(curandGenerateUniform(generator, floats, COUNT));
    numbers_compare("the same seed", taken(floats), first, 0);
    if (curandGenerateNormal(generator, floats, 3, 0, 1) != CURAND_STATUS_LENGTH_NOT_MULTIPLE)
        numbers_wrong++;
    RAND(curandDestroyGenerator(generator));

    std::vector<float> on_host(COUNT);
    RAND(curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    RAND(curandGenerateNormal(host, on_host.data(), COUNT, 0, 1));
    moments("normal on the host", on_host, 0, 1);
    RAND(curandDestroyGenerator(host));
    return numbers_end();
}
