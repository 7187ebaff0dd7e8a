// verdict: race
// libraries: cublas cufft
// expect: cublasSgemv \(.*image_filter.h:.*\) does not wait for cublasSscal
// output: -
//
// Four planes of a picture are smoothed on four streams: cuFFT forward, a kernel, cuFFT back, a
// cuBLAS call to scale. A cuBLAS call on the first stream then puts them together. It waits for the
// second and third plane; the fourth was added later, and nobody waits for it.
// image_filter_fixed.cu is the same program with the order it needs. Without a GPU both run on the
// embedded device, whose cuBLAS and cuFFT need OpenBLAS and FFTW.

#include "image_filter.h"

int main()
{
    float *picture, *weights, *brightness;
    Plane planes[PLANES];
    CHECK(cudaMalloc((void **)&picture, PLANES * PIXELS * sizeof *picture));
    CHECK(cudaMalloc((void **)&weights, sizeof plane_weights));
    CHECK(cudaMalloc((void **)&brightness, PIXELS * sizeof *brightness));
    for (int i = 0; i < PLANES; i++)
        planes[i] = plane_make(picture, i);
    picture_fill(picture);
    CHECK(cudaMemcpy(weights, plane_weights, sizeof plane_weights, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    for (const Plane &plane : planes)
        plane_smooth(plane);

    for (int i = 1; i < 3; i++) // the race: there are four planes
        CHECK(cudaStreamWaitEvent(planes[0].stream, planes[i].smoothed));
    planes_weigh(planes, picture, weights, brightness);

    CHECK(cudaDeviceSynchronize());
    brightness_is_right(brightness); // it may be
    printf("done\n");
    return 0;
}
