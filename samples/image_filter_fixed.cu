// verdict: none
// libraries: cublas cufft
//
// image_filter.cu with the order it needs: what puts the planes together waits for all of them.

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

    for (int i = 1; i < PLANES; i++) // the fix
        CHECK(cudaStreamWaitEvent(planes[0].stream, planes[i].smoothed));
    planes_weigh(planes, picture, weights, brightness);

    CHECK(cudaDeviceSynchronize());
    if (!brightness_is_right(brightness))
        printf("wrong, ");
    printf("done\n");
    return 0;
}
