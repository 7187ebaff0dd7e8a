// verdict: none
// flags: -std=c++17
// Layers, the faces of cubes, levels and gathered texels: each texel's value says where it lies.
#include "texture_kinds.h"

enum { W = 8, LAYERS = 3, FACES = 6 };

__global__ void layers(float *out, cudaTextureObject_t lines, cudaTextureObject_t images)
{
    int layer = (int)threadIdx.x; // two too many are clamped
    out[2 * threadIdx.x] = tex1DLayered<float>(lines, 2.5f, layer);
    out[2 * threadIdx.x + 1] = tex2DLayered<float>(images, 2.5f, 3.5f, layer);
}
__global__ void faces(float *out, cudaTextureObject_t cube, cudaTextureObject_t cubes)
{
    const float3 axes[FACES] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    float3 d = axes[threadIdx.x];
    // a quarter of the face from its middle
    d.x += d.x == 0 ? 0.5f : 0, d.y += d.y == 0 ? 0.5f : 0, d.z += d.z == 0 ? 0.5f : 0;
    out[2 * threadIdx.x] = texCubemap<float>(cube, d.x, d.y, d.z);
    out[2 * threadIdx.x + 1] = texCubemapLayered<float>(cubes, d.x, d.y, d.z, 1);
}
__global__ void levels(float *out, cudaTextureObject_t nearest, cudaTextureObject_t between)
{
    float level = 0.25f * threadIdx.x;
    out[3 * threadIdx.x] = tex2DLod<float>(nearest, 0.5f, 0.5f, level);
    out[3 * threadIdx.x + 1] = tex2DLod<float>(between, 0.5f, 0.5f, level);
    float step = exp2f(level) / W; // crosses 2^level texels
    out[3 * threadIdx.x + 2] =
        tex2DGrad<float>(between, 0.5f, 0.5f, make_float2(step, 0), make_float2(0, step));
}
__global__ void gather(float4 *out, cudaTextureObject_t image)
{
    out[0] = tex2Dgather<float4>(image, 3.f, 4.f, 0);
    out[1] = tex2Dgather<float4>(image, 3.f, 4.f, 1);
}

static float value[2 * FACES][W][W]; // slice * 100 + row * 10 + column

static void check_layers()
{
    cudaArray_t lines = make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, 0, LAYERS),
                                   cudaArrayLayered),
                images = make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, W, LAYERS),
                                    cudaArrayLayered);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(value, sizeof(float[W]), W, W);
    p.dstArray = lines;
    p.extent = make_cudaExtent(W, 1, LAYERS);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    fill_array(images, value, sizeof(float), make_cudaExtent(W, W, LAYERS));
    const cudaTextureDesc how = reading(cudaFilterModePoint, false);
    cudaTextureObject_t a = make_texture(lines, how), b = make_texture(images, how);
    const float *got =
        results<float>(2 * (LAYERS + 2), [=](float *out) { layers<<<1, LAYERS + 2>>>(out, a, b); });
    for (int i = 0; i < LAYERS + 2; i++) {
        int layer = i < LAYERS ? i : LAYERS - 1;
        demand("lines", i, got[2 * i], layer * 100 + 2);
        demand("images", i, got[2 * i + 1], layer * 100 + 32);
    }
}

static void check_faces()
{
    cudaArray_t cube = make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, W, FACES),
                                  cudaArrayCubemap),
                cubes = make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(W, W, 2 * FACES),
                                   cudaArrayCubemap | cudaArrayLayered);
    fill_array(cube, value, sizeof(float), make_cudaExtent(W, W, FACES));
    fill_array(cubes, value, sizeof(float), make_cudaExtent(W, W, 2 * FACES));
    const cudaTextureDesc how = reading(cudaFilterModePoint, true);
    cudaTextureObject_t a = make_texture(cube, how), b = make_texture(cubes, how);
    const float *got =
        results<float>(2 * FACES, [=](float *out) { faces<<<1, FACES>>>(out, a, b); });
    // (s, t) by the guide's table, of 0.5 or -0.5 each: column and row 6 or 2
    static const int where[FACES] = {22, 26, 66, 26, 26, 22};
    for (int i = 0; i < FACES; i++) {
        demand("cube", i, got[2 * i], 100 * i + where[i]);
        demand("cubes", i, got[2 * i + 1], 100 * (FACES + i) + where[i]);
    }
}

static void check_levels()
{
    enum { LEVELS = 4, COUNT = 16 };
    cudaMipmappedArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(W, W, 0), LEVELS));
    for (int i = 0; i < LEVELS; i++) {
        cudaArray_t level;
        float same[W * W];
        for (float &v : same)
            v = (float)(i * i);
        CHECK(cudaGetMipmappedArrayLevel(&level, array, i));
        fill_array(level, same, sizeof(float), make_cudaExtent(W >> i, W >> i, 1));
    }
    cudaTextureDesc how = reading(cudaFilterModeLinear, true);
    how.maxMipmapLevelClamp = LEVELS - 1;
    cudaTextureObject_t nearest = make_texture(array, how);
    how.mipmapFilterMode = cudaFilterModeLinear;
    cudaTextureObject_t between = make_texture(array, how);
    const float *got =
        results<float>(3 * COUNT, [=](float *out) { levels<<<1, COUNT>>>(out, nearest, between); });
    for (int i = 0; i < COUNT; i++) {
        double level = fmin(0.25 * i, LEVELS - 1), low = floor(level), part = level - low;
        double mixed = (1 - part) * low * low + part * (low + 1) * (low + 1);
        if (i % 4 != 2) // half way, either level is the nearest
            demand("nearest level", i, got[3 * i], round(level) * round(level));
        demand("between levels", i, got[3 * i + 1], mixed);
        if (fabs(got[3 * i + 2] - mixed) > 0.05) {
            fprintf(stderr, "gradient %d: %g, not %g\n", i, got[3 * i + 2], mixed);
            exit(101);
        }
    }
    CHECK(cudaDestroyTextureObject(nearest));
    CHECK(cudaDestroyTextureObject(between));
    CHECK(cudaFreeMipmappedArray(array));
}

static void check_gather()
{
    float2 pairs[W][W];
    for (int y = 0; y < W; y++)
        for (int x = 0; x < W; x++)
            pairs[y][x] = make_float2((float)(y * 10 + x), (float)(-y * 10 - x));
    cudaArray_t array = make_array(cudaCreateChannelDesc<float2>(), make_cudaExtent(W, W, 0),
                                   cudaArrayTextureGather);
    fill_array(array, pairs, sizeof(float2), make_cudaExtent(W, W, 1));
    cudaTextureObject_t texture = make_texture(array, reading(cudaFilterModePoint, false));
    const float4 *got = results<float4>(2, [=](float4 *out) { gather<<<1, 1>>>(out, texture); });
    // the texels around (3, 4), counter-clockwise from the lower left
    static const float want[4] = {42, 43, 33, 32};
    for (int c = 0; c < 4; c++) {
        demand("gather x", c, (&got[0].x)[c], want[c]);
        demand("gather y", c, (&got[1].x)[c], -want[c]);
    }
}

int main()
{
    for (int slice = 0; slice < 2 * FACES; slice++)
        for (int y = 0; y < W; y++)
            for (int x = 0; x < W; x++)
                value[slice][y][x] = (float)(slice * 100 + y * 10 + x);
    check_layers();
    check_faces();
    check_levels();
    check_gather();
    return finish();
}
