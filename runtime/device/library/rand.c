/* csan's own cuRAND: its host API. Every pseudo-random generator is Philox 4x32-10 (Salmon, Moraes,
 * Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). The distributions are those
 * of the documentation, the numbers are not NVIDIA's, and a line says so once. There are no
 * quasi-random generators.
 *
 * Number p of a generator depends on its seed and on p alone. A call takes the next positions, so
 * each launch says by itself which numbers it writes. */
#include "runtime/device/library/work.h"

#include <math.h>
#include <stdlib.h>

/* curandStatus_t */
enum {
    RAND_SUCCESS = 0,
    RAND_NOT_INITIALIZED = 101,
    RAND_ALLOCATION_FAILED = 102,
    RAND_TYPE_ERROR = 103,
    RAND_OUT_OF_RANGE = 104,
    RAND_LENGTH_NOT_MULTIPLE = 105,
    RAND_LAUNCH_FAILURE = 201
};
enum { FIRST_QUASI = 200 }; /* curandRngType_t */

#define MAGIC 0x6373616e72616e64ull

struct generator {
    uint64_t magic, seed, position;
    bool on_host;
    library_stream stream;
};

enum distribution {
    WORDS,
    UNIFORM,
    UNIFORM_DOUBLE,
    NORMAL,
    NORMAL_DOUBLE,
    LOG_NORMAL,
    LOG_NORMAL_DOUBLE,
    POISSON,
    DISTRIBUTIONS
};

struct rand_job {
    uint32_t distribution;
    uint64_t seed, position, output, count;
    double mean, deviation; /* of Poisson the mean alone */
};

static const uint8_t element_bytes[DISTRIBUTIONS] = {4, 4, 8, 4, 8, 4, 8, 4};

/* ---- Philox ---- */

struct block {
    uint32_t words[4];
};

static struct block philox(uint64_t seed, uint64_t position, uint32_t draw)
{
    uint32_t x[] = {(uint32_t)position, (uint32_t)(position >> 32), draw, 0};
    uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
        const uint32_t next[] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b,
                                 (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
        for (int i = 0; i < 4; i++)
            x[i] = next[i];
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return (struct block){{x[0], x[1], x[2], x[3]}};
}

/* ---- Distributions: 0 is left out and 1 is not (cuRAND documentation, "Generation Functions")
 * ---- */

static double uniform(const uint32_t words[2])
{
    const uint64_t bits = ((uint64_t)words[0] << 32 | words[1]) >> 11;
    return ((double)bits + 1) * 0x1p-53;
}

/* Box and Muller. */
static double normal(const struct block *block)
{
    return sqrt(-2 * log(uniform(block->words))) * cos(2 * M_PI * uniform(block->words + 2));
}

/* By products of uniform numbers (Knuth), in parts whose means add up; a mean above 4000 is taken
 * for normal, as cuRAND does. */
enum { POISSON_PART = 16, POISSON_MOST = 4000 };

static uint32_t poisson(uint64_t seed, uint64_t position, double mean)
{
    struct block block = philox(seed, position, 0);
    uint32_t draw = 0, total = 0;
    if (mean > POISSON_MOST)
        return (uint32_t)fmax(0, floor(mean + sqrt(mean) * normal(&block) + 0.5));
    for (int part = 0; part * POISSON_PART < mean; part++) {
        const double limit = exp(-fmin(mean - part * POISSON_PART, POISSON_PART));
        double product = 1;
        for (;; total++) {
            block = philox(seed, position, ++draw);
            product *= uniform(block.words);
            if (product <= limit)
                break;
        }
    }
    return total;
}

static void generate(const struct rand_job *job, void *output)
{
    float *floats = output;
    double *doubles = output;
    uint32_t *words = output;
    for (uint64_t i = 0; i < job->count; i++) {
        const struct block block = philox(job->seed, job->position + i, 0);
        const double value = job->distribution >= NORMAL && job->distribution != POISSON
                                 ? job->mean + job->deviation * normal(&block)
                                 : 0;
        switch (job->distribution) {
        case WORDS:
            words[i] = block.words[0];
            break;
        case UNIFORM: /* 24 bits, so that it is not rounded to 0 */
            floats[i] = (float)((block.words[0] >> 8) + 1) * 0x1p-24f;
            break;
        case UNIFORM_DOUBLE:
            doubles[i] = uniform(block.words);
            break;
        case NORMAL:
            floats[i] = (float)value;
            break;
        case NORMAL_DOUBLE:
            doubles[i] = value;
            break;
        case LOG_NORMAL:
            floats[i] = (float)exp(value);
            break;
        case LOG_NORMAL_DOUBLE:
            doubles[i] = exp(value);
            break;
        default:
            words[i] = poisson(job->seed, job->position + i, job->mean);
        }
    }
}

static void run_generate(struct device_native *native, const void *data)
{
    const struct rand_job *job = data;
    void *output = device_native_memory(
        native, job->output, job->count * element_bytes[job->distribution], DEVICE_NATIVE_WRITE);
    if (output)
        generate(job, output);
}

/* ---- Calls ---- */

static struct generator *generator_of(void *handle)
{
    struct generator *generator = handle;
    return generator && generator->magic == MAGIC ? generator : NULL;
}

static int request(void *handle, void *output, size_t count, enum distribution distribution,
                   double mean, double deviation)
{
    static struct library_kernel kernels[DISTRIBUTIONS] = {
        {"curandGenerate", run_generate, false, NULL},
        {"curandGenerateUniform", run_generate, false, NULL},
        {"curandGenerateUniformDouble", run_generate, false, NULL},
        {"curandGenerateNormal", run_generate, false, NULL},
        {"curandGenerateNormalDouble", run_generate, false, NULL},
        {"curandGenerateLogNormal", run_generate, false, NULL},
        {"curandGenerateLogNormalDouble", run_generate, false, NULL},
        {"curandGeneratePoisson", run_generate, false, NULL},
    };
    struct generator *generator = generator_of(handle);
    if (!generator)
        return RAND_NOT_INITIALIZED;
    if (distribution >= NORMAL && distribution != POISSON && count % 2)
        return RAND_LENGTH_NOT_MULTIPLE; /* pairs, as documented */
    if (count > SIZE_MAX / sizeof(double))
        return RAND_ALLOCATION_FAILED;
    const struct rand_job job = {distribution,      generator->seed, generator->position,
                                 (uintptr_t)output, count,           mean,
                                 deviation};
    generator->position += count;
    if (!count)
        return RAND_SUCCESS;
    if (generator->on_host) {
        generate(&job, output);
        return RAND_SUCCESS;
    }
    return library_launch(&kernels[distribution], generator->stream, &job, sizeof job)
               ? RAND_SUCCESS
               : RAND_LAUNCH_FAILURE;
}

LIBRARY_EXPORT int curandGenerate(void *generator, unsigned *output, size_t count);
LIBRARY_EXPORT int curandGenerate(void *generator, unsigned *output, size_t count)
{
    return request(generator, output, count, WORDS, 0, 0);
}
LIBRARY_EXPORT int curandGenerateUniform(void *generator, float *output, size_t count);
LIBRARY_EXPORT int curandGenerateUniform(void *generator, float *output, size_t count)
{
    return request(generator, output, count, UNIFORM, 0, 0);
}
LIBRARY_EXPORT int curandGenerateUniformDouble(void *generator, double *output, size_t count);
LIBRARY_EXPORT int curandGenerateUniformDouble(void *generator, double *output, size_t count)
{
    return request(generator, output, count, UNIFORM_DOUBLE, 0, 0);
}
LIBRARY_EXPORT int curandGenerateNormal(void *generator, float *output, size_t count, float mean,
                                        float deviation);
LIBRARY_EXPORT int curandGenerateNormal(void *generator, float *output, size_t count, float mean,
                                        float deviation)
{
    return request(generator, output, count, NORMAL, (double)mean, (double)deviation);
}
LIBRARY_EXPORT int curandGenerateNormalDouble(void *generator, double *output, size_t count,
                                              double mean, double deviation);
LIBRARY_EXPORT int curandGenerateNormalDouble(void *generator, double *output, size_t count,
                                              double mean, double deviation)
{
    return request(generator, output, count, NORMAL_DOUBLE, mean, deviation);
}
LIBRARY_EXPORT int curandGenerateLogNormal(void *generator, float *output, size_t count, float mean,
                                           float deviation);
LIBRARY_EXPORT int curandGenerateLogNormal(void *generator, float *output, size_t count, float mean,
                                           float deviation)
{
    return request(generator, output, count, LOG_NORMAL, (double)mean, (double)deviation);
}
LIBRARY_EXPORT int curandGenerateLogNormalDouble(void *generator, double *output, size_t count,
                                                 double mean, double deviation);
LIBRARY_EXPORT int curandGenerateLogNormalDouble(void *generator, double *output, size_t count,
                                                 double mean, double deviation)
{
    return request(generator, output, count, LOG_NORMAL_DOUBLE, mean, deviation);
}
LIBRARY_EXPORT int curandGeneratePoisson(void *generator, unsigned *output, size_t count,
                                         double mean);
LIBRARY_EXPORT int curandGeneratePoisson(void *generator, unsigned *output, size_t count,
                                         double mean)
{
    return mean > 0 ? request(generator, output, count, POISSON, mean, 0) : RAND_OUT_OF_RANGE;
}

/* ---- Generators ---- */

static int create(void **handle, int type, bool on_host)
{
    if (!handle)
        return RAND_TYPE_ERROR;
    if (type >= FIRST_QUASI) {
        library_lacks("a quasi-random generator of cuRAND");
        return RAND_TYPE_ERROR;
    }
    if (!on_host && !library_begin())
        return RAND_NOT_INITIALIZED;
    struct generator *made = calloc(1, sizeof *made);
    if (!made)
        return RAND_ALLOCATION_FAILED;
    library_lacks_of("cuRAND", "on the embedded device is csan's own: its distributions are right, "
                               "its numbers are others than NVIDIA's");
    made->magic = MAGIC;
    made->on_host = on_host;
    *handle = made;
    return RAND_SUCCESS;
}

LIBRARY_EXPORT int curandCreateGenerator(void **generator, int type);
LIBRARY_EXPORT int curandCreateGenerator(void **generator, int type)
{
    return create(generator, type, false);
}
LIBRARY_EXPORT int curandCreateGeneratorHost(void **generator, int type);
LIBRARY_EXPORT int curandCreateGeneratorHost(void **generator, int type)
{
    return create(generator, type, true);
}
LIBRARY_EXPORT int curandDestroyGenerator(void *handle);
LIBRARY_EXPORT int curandDestroyGenerator(void *handle)
{
    struct generator *generator = generator_of(handle);
    if (!generator)
        return RAND_NOT_INITIALIZED;
    generator->magic = 0;
    free(generator);
    return RAND_SUCCESS;
}

LIBRARY_EXPORT int curandSetStream(void *handle, library_stream stream);
LIBRARY_EXPORT int curandSetStream(void *handle, library_stream stream)
{
    struct generator *generator = generator_of(handle);
    if (generator)
        generator->stream = stream;
    return generator ? RAND_SUCCESS : RAND_NOT_INITIALIZED;
}
LIBRARY_EXPORT int curandSetPseudoRandomGeneratorSeed(void *handle, unsigned long long seed);
LIBRARY_EXPORT int curandSetPseudoRandomGeneratorSeed(void *handle, unsigned long long seed)
{
    struct generator *generator = generator_of(handle);
    if (!generator)
        return RAND_NOT_INITIALIZED;
    generator->seed = seed;
    generator->position = 0;
    return RAND_SUCCESS;
}
LIBRARY_EXPORT int curandSetGeneratorOffset(void *handle, unsigned long long offset);
LIBRARY_EXPORT int curandSetGeneratorOffset(void *handle, unsigned long long offset)
{
    struct generator *generator = generator_of(handle);
    if (generator)
        generator->position = offset;
    return generator ? RAND_SUCCESS : RAND_NOT_INITIALIZED;
}

/* There is one order, and no state on the device to prepare. */
LIBRARY_EXPORT int curandSetGeneratorOrdering(void *handle, int order);
LIBRARY_EXPORT int curandSetGeneratorOrdering(void *handle, int order)
{
    (void)order;
    return generator_of(handle) ? RAND_SUCCESS : RAND_NOT_INITIALIZED;
}
LIBRARY_EXPORT int curandGenerateSeeds(void *handle);
LIBRARY_EXPORT int curandGenerateSeeds(void *handle)
{
    return generator_of(handle) ? RAND_SUCCESS : RAND_NOT_INITIALIZED;
}
/* "CURAND_STATUS_TYPE_ERROR if the generator is not a 64 bit quasirandom generator" */
LIBRARY_EXPORT int curandGenerateLongLong(void *handle, unsigned long long *output, size_t count);
LIBRARY_EXPORT int curandGenerateLongLong(void *handle, unsigned long long *output, size_t count)
{
    (void)output, (void)count;
    return generator_of(handle) ? RAND_TYPE_ERROR : RAND_NOT_INITIALIZED;
}
LIBRARY_EXPORT int curandSetQuasiRandomGeneratorDimensions(void *handle, unsigned count);
LIBRARY_EXPORT int curandSetQuasiRandomGeneratorDimensions(void *handle, unsigned count)
{
    (void)count;
    return generator_of(handle) ? RAND_TYPE_ERROR : RAND_NOT_INITIALIZED;
}

LIBRARY_EXPORT int curandGetVersion(int *version);
LIBRARY_EXPORT int curandGetVersion(int *version)
{
    if (!version)
        return RAND_OUT_OF_RANGE;
    *version = library_major * 1000;
    return RAND_SUCCESS;
}
LIBRARY_EXPORT int curandGetProperty(int type, int *value);
LIBRARY_EXPORT int curandGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return RAND_OUT_OF_RANGE;
    *value = type == 0 ? library_major : 0;
    return RAND_SUCCESS;
}
