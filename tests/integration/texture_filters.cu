// verdict: none
// flags: -std=c++17
// Linear filtering in one, two and three dimensions by each address mode, checked against the
// formulas of the CUDA C++ Programming Guide, "Texture Fetching". Coordinates are multiples of
// 1/256 texel, so that 8 bits of fraction hold them. Weights have 8 bits, too: one is split along
// z, then x, then y, and rounded each time (measured on an H200).
#include "texture_kinds.h"

enum { W = 8, H = 4, D = 4, COUNT = 512, STEPS = 256 }; // a texel's steps
static float texels[D][H][W];

__global__ void sample1(float *out, cudaTextureObject_t texture, const float *at)
{
    out[threadIdx.x] = tex1D<float>(texture, at[threadIdx.x]);
}
__global__ void sample2(float *out, cudaTextureObject_t texture, const float *at)
{
    out[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x], at[threadIdx.x + COUNT]);
}
__global__ void sample3(float *out, cudaTextureObject_t texture, const float *at)
{
    out[threadIdx.x] = tex3D<float>(texture, at[threadIdx.x], at[threadIdx.x + COUNT],
                                    at[threadIdx.x + 2 * COUNT]);
}

// The texel of an index, or -1 for the border.
static int wanted_index(int i, int n, cudaTextureAddressMode mode)
{
    switch (mode) {
    case cudaAddressModeWrap:
        return ((i % n) + n) % n;
    case cudaAddressModeMirror:
        i = ((i % (2 * n)) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case cudaAddressModeBorder:
        return i < 0 || i >= n ? -1 : i;
    default:
        return i < 0 ? 0 : i < n ? i : n - 1;
    }
}

static double texel_at(int x, int y, int z)
{
    return x < 0 || y < 0 || z < 0 ? 5 : texels[z][y][x]; // 5: the border's colour
}

static int rounded(int numerator)
{
    return (numerator + 128) / 256;
}

// What a corner of the cube between eight texels weighs, of 256. `part`: fractions.
static int corner_weight(const int part[3], int corner)
{
    const int all = corner & 4 ? part[2] : 256 - part[2];
    const int right = rounded(all * part[0]), left = all - right;
    const int lower_right = rounded(right * part[1]), upper_left = rounded(left * (256 - part[1]));
    if (corner & 1)
        return corner & 2 ? lower_right : right - lower_right;
    return corner & 2 ? left - upper_left : upper_left;
}

// A line is an image of one row at y = 0, so half of it lies beyond the border.
static double wanted(const double at[3], int dimensions, cudaTextureAddressMode mode)
{
    const int size[3] = {W, dimensions > 1 ? H : 1, D};
    double sum = 0;
    int low[3] = {0}, part[3] = {0};
    for (int d = 0; d < 3 && d < dimensions + (dimensions == 1); d++) {
        double where = (d < dimensions ? at[d] : 0) - 0.5;
        low[d] = (int)floor(where);
        part[d] = (int)((where - low[d]) * 256);
        if (mode == cudaAddressModeClamp && (low[d] < 0 || low[d] >= size[d] - 1))
            part[d] = 0; // a clamped point is the center of a texel
    }
    for (int corner = 0; corner < 8; corner++) {
        const int weight = corner_weight(part, corner);
        int index[3];
        for (int d = 0; d < 3; d++)
            index[d] = wanted_index(low[d] + (corner >> d & 1), size[d], mode);
        sum += weight ? weight * texel_at(index[0], index[1], index[2]) : 0;
    }
    return sum / 256;
}

static void check(int dimensions, cudaArray_t array, cudaTextureAddressMode mode, bool normalized)
{
    static const int size[3] = {W, H, D};
    static float at[3 * COUNT];
    static float *device = device_array<float>(3 * COUNT);
    static double in_texels[COUNT][3];
    for (int i = 0; i < COUNT; i++)
        for (int d = 0; d < 3; d++) {
            in_texels[i][d] = (rand() % (3 * size[d] * STEPS) - size[d] * STEPS) / (double)STEPS;
            at[i + d * COUNT] = (float)(normalized ? in_texels[i][d] / size[d] : in_texels[i][d]);
        }
    CHECK(cudaMemcpy(device, at, sizeof at, cudaMemcpyHostToDevice));
    cudaTextureDesc how = reading(cudaFilterModeLinear, normalized, mode);
    how.borderColor[0] = 5;
    cudaTextureObject_t texture = make_texture(array, how);
    const float *got = results<float>(COUNT, [=](float *out) {
        if (dimensions == 1)
            sample1<<<1, COUNT>>>(out, texture, device);
        else if (dimensions == 2)
            sample2<<<1, COUNT>>>(out, texture, device);
        else
            sample3<<<1, COUNT>>>(out, texture, device);
    });
    char name[64];
    snprintf(name, sizeof name, "%dD, mode %d, normalized %d", dimensions, mode, normalized);
    for (int i = 0; i < COUNT; i++)
        demand(name, i, got[i], wanted(in_texels[i], dimensions, mode));
    CHECK(cudaDestroyTextureObject(texture));
}

int main()
{
    for (int i = 0; i < W * H * D; i++)
        (&texels[0][0][0])[i] = (float)(rand() % 100);
    cudaArray_t arrays[3] = {
        make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, 0, 0)),
        make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, H, 0)),
        make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, H, D)),
    };
    fill_array(arrays[0], texels, sizeof(float), make_cudaExtent(W, 1, 1));
    fill_array(arrays[1], texels, sizeof(float), make_cudaExtent(W, H, 1));
    fill_array(arrays[2], texels, sizeof(float), make_cudaExtent(W, H, D));
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        cudaArray_t array = arrays[dimensions - 1];
        check(dimensions, array, cudaAddressModeClamp, false);
        check(dimensions, array, cudaAddressModeBorder, false);
        check(dimensions, array, cudaAddressModeClamp, true);
        check(dimensions, array, cudaAddressModeBorder, true);
        check(dimensions, array, cudaAddressModeWrap, true);
        check(dimensions, array, cudaAddressModeMirror, true);
    }
    return finish();
}
