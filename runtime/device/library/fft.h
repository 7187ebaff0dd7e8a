/* csan's own cuFFT: plans (fft.c) and the transforms that they describe (fft_run.c). */
#ifndef RUNTIME_DEVICE_LIBRARY_FFT_H
#define RUNTIME_DEVICE_LIBRARY_FFT_H

#include "runtime/device/library/work.h"

/* cufftResult */
enum {
    FFT_SUCCESS = 0,
    FFT_INVALID_PLAN = 1,
    FFT_ALLOC_FAILED = 2,
    FFT_INVALID_TYPE = 3,
    FFT_INVALID_VALUE = 4,
    FFT_EXEC_FAILED = 6,
    FFT_SETUP_FAILED = 7,
    FFT_INVALID_SIZE = 8,
    FFT_NOT_SUPPORTED = 16
};

/* cufftType: the low bits say what becomes what, 0x40 that it is double. */
enum { FFT_C2C = 0x29, FFT_R2C = 0x2a, FFT_C2R = 0x2c, FFT_DOUBLE = 0x40 };
enum { FFT_RANK_MAX = 3 };

/* How the elements of one side lie; counted in elements, outermost dimension first. */
struct fft_side {
    bool basic; /* one transform after the other, without gaps */
    int64_t stride, distance, embedded[FFT_RANK_MAX];
};

/* What a plan says of every transform, without pointers: it is part of a job. */
struct fft_shape {
    int type, rank;
    int64_t sizes[FFT_RANK_MAX], batches;
    struct fft_side input, output;
};

static inline bool fft_is_double(const struct fft_shape *shape)
{
    return shape->type & FFT_DOUBLE;
}
static inline int fft_kind(const struct fft_shape *shape)
{
    return shape->type & ~FFT_DOUBLE;
}

/* Enqueues a transform; a cufftResult. */
int fft_launch(const struct fft_shape *shape, uint64_t input, uint64_t output, int direction,
               library_stream stream);

#endif
