// What image_filter.cu and image_filter_fixed.cu share: a picture of four planes, each smoothed on
// a stream of its own by cuFFT, and put together by cuBLAS.
#pragma once

#include "check.h"

#include <cublas_v2.h>
#include <cufft.h>

enum { PLANES = 4, WIDTH = 64, HEIGHT = 32, PIXELS = WIDTH * HEIGHT, ROW = WIDTH / 2 + 1 };

#define BLAS(call) DONE(call, CUBLAS_STATUS_SUCCESS)
#define FFT(call)  DONE(call, CUFFT_SUCCESS)
#define DONE(call, success)                                                                        \
    do {                                                                                           \
        if ((call) != (success)) {                                                                 \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Only the low frequencies stay.
__global__ void low_pass(cufftComplex *spectrum, int cut)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROW * HEIGHT)
        return;
    int x = i % ROW, y = i / ROW < HEIGHT / 2 ? i / ROW : HEIGHT - i / ROW;
    if (x > cut || y > cut)
        spectrum[i] = make_cuComplex(0, 0);
}

struct Plane {
    cudaStream_t stream;
    cudaEvent_t smoothed;
    cufftHandle forward, back;
    cublasHandle_t blas;
    cufftComplex *spectrum;
    float *pixels; // PIXELS of them, in a picture of all planes
};

static Plane plane_make(float *picture, int number)
{
    Plane plane;
    CHECK(cudaStreamCreateWithFlags(&plane.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&plane.smoothed, cudaEventDisableTiming));
    FFT(cufftPlan2d(&plane.forward, HEIGHT, WIDTH, CUFFT_R2C));
    FFT(cufftPlan2d(&plane.back, HEIGHT, WIDTH, CUFFT_C2R));
    FFT(cufftSetStream(plane.forward, plane.stream));
    FFT(cufftSetStream(plane.back, plane.stream));
    BLAS(cublasCreate(&plane.blas));
    BLAS(cublasSetStream(plane.blas, plane.stream));
    CHECK(cudaMalloc((void **)&plane.spectrum, ROW * HEIGHT * sizeof(cufftComplex)));
    plane.pixels = picture + number * PIXELS;
    return plane;
}

// Into the frequencies and back, on the plane's stream.
static void plane_smooth(const Plane &plane)
{
    const float scale = 1.0f / PIXELS; // cuFFT's transforms are not normalised
    FFT(cufftExecR2C(plane.forward, plane.pixels, plane.spectrum));
    low_pass<<<(ROW * HEIGHT + 255) / 256, 256, 0, plane.stream>>>(plane.spectrum, 4);
    CHECK(cudaGetLastError());
    FFT(cufftExecC2R(plane.back, plane.spectrum, plane.pixels));
    BLAS(cublasSscal(plane.blas, PIXELS, &scale, plane.pixels, 1));
    CHECK(cudaEventRecord(plane.smoothed, plane.stream));
}

// Brightness of each pixel: the planes' sum, weighted, on the stream of the first.
static void planes_weigh(const Plane *planes, const float *picture, const float *weights,
                         float *brightness)
{
    const float one = 1, zero = 0;
    BLAS(cublasSgemv(planes[0].blas, CUBLAS_OP_N, PIXELS, PLANES, &one, picture, PIXELS, weights, 1,
                     &zero, brightness, 1));
}

// Every other pixel is brighter, which is the highest frequency there is: smoothed, a plane has one
// value.
static void picture_fill(float *picture)
{
    float *host = (float *)malloc(PLANES * PIXELS * sizeof *host);
    for (int i = 0; i < PLANES * PIXELS; i++)
        host[i] = (float)(i / PIXELS + 1) + ((i % PIXELS) % 2 ? 0.5f : -0.5f);
    CHECK(cudaMemcpy(picture, host, PLANES * PIXELS * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
}

static const float plane_weights[PLANES] = {0.3f, 0.6f, 0.1f, 1.0f};
static const float brightness_expected = 0.3f * 1 + 0.6f * 2 + 0.1f * 3 + 1.0f * 4;

static bool brightness_is_right(const float *brightness)
{
    float host[PIXELS];
    CHECK(cudaMemcpy(host, brightness, sizeof host, cudaMemcpyDeviceToHost));
    for (float x : host)
        if (x < brightness_expected - 1e-3f || x > brightness_expected + 1e-3f)
            return false;
    return true;
}
