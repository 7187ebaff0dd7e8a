// verdict: none
// flags: -std=c++17
// Surfaces are written and read back by each geometry and width; beyond their edges accesses are
// clamped or read zero, and stores are dropped.
#include "texture_kinds.h"

enum { W = 8, H = 4, D = 3 };

template <typename T> __global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x * sizeof(T), y = threadIdx.y;
    surf2Dwrite(surf2Dread<T>(from, x, y), to, x, y);
}
__global__ void write_line(cudaSurfaceObject_t line, cudaSurfaceObject_t lines)
{
    surf1Dwrite((int)threadIdx.x, line, threadIdx.x * sizeof(int));
    surf1DLayeredwrite((int)(threadIdx.x + 10 * blockIdx.x), lines, threadIdx.x * sizeof(int),
                       blockIdx.x);
}
__global__ void write_box(cudaSurfaceObject_t box, cudaSurfaceObject_t layers,
                          cudaSurfaceObject_t cube)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    surf3Dwrite(100 * z + 10 * y + x, box, x * (int)sizeof(int), y, z);
    surf2DLayeredwrite(100 * z + 10 * y + x, layers, x * (int)sizeof(int), y, z);
    surfCubemapwrite(100 * z + 10 * y + x, cube, x * (int)sizeof(int), y, z);
}
__global__ void edges(int *out, cudaSurfaceObject_t image)
{
    out[0] = surf2Dread<int>(image, -4, 0, cudaBoundaryModeClamp);
    out[1] = surf2Dread<int>(image, W * 4, H, cudaBoundaryModeClamp);
    out[2] = surf2Dread<int>(image, 0, -1, cudaBoundaryModeZero);
    out[3] = surf2Dread<int>(image, W * 4, 0, cudaBoundaryModeZero);
    surf2Dwrite(77, image, 0, H, cudaBoundaryModeZero);
    surf2Dwrite(88, image, 4 * W + 4, 1, cudaBoundaryModeClamp);
    out[4] = surf2Dread<int>(image, (W - 1) * 4, 1);
}

static void read_back(cudaArray_t array, void *to, size_t texel, cudaExtent extent)
{
    cudaMemcpy3DParms p = {};
    p.srcArray = array;
    p.dstPtr = make_cudaPitchedPtr(to, extent.width * texel, extent.width, extent.height);
    p.extent = extent;
    p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
}

template <typename T> static void moves(const char *name)
{
    unsigned char from[H][W * sizeof(T)], to[H][W * sizeof(T)] = {};
    for (unsigned char &byte : *(unsigned char(*)[sizeof from]) & from)
        byte = (unsigned char)rand();
    const cudaExtent extent = make_cudaExtent(W, H, 0);
    cudaArray_t a = make_array(cudaCreateChannelDesc<T>(), extent, cudaArraySurfaceLoadStore),
                b = make_array(cudaCreateChannelDesc<T>(), extent, cudaArraySurfaceLoadStore);
    fill_array(a, from, sizeof(T), make_cudaExtent(W, H, 1));
    move<T><<<1, dim3(W, H)>>>(make_surface(a), make_surface(b));
    CHECK(cudaGetLastError());
    read_back(b, to, sizeof(T), make_cudaExtent(W, H, 1));
    if (memcmp(from, to, sizeof to)) {
        fprintf(stderr, "%s: other bytes\n", name);
        exit(101);
    }
}

static void check_geometries()
{
    int got[6][W][W];
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaArray_t line = make_array(ints, make_cudaExtent(W, 0, 0), cudaArraySurfaceLoadStore),
                lines = make_array(ints, make_cudaExtent(W, 0, D),
                                   cudaArraySurfaceLoadStore | cudaArrayLayered),
                box = make_array(ints, make_cudaExtent(W, W, 6), cudaArraySurfaceLoadStore),
                layers = make_array(ints, make_cudaExtent(W, W, 6),
                                    cudaArraySurfaceLoadStore | cudaArrayLayered),
                cube = make_array(ints, make_cudaExtent(W, W, 6),
                                  cudaArraySurfaceLoadStore | cudaArrayCubemap);
    write_line<<<D, W>>>(make_surface(line), make_surface(lines));
    write_box<<<6, dim3(W, W)>>>(make_surface(box), make_surface(layers), make_surface(cube));
    CHECK(cudaGetLastError());
    read_back(line, got, sizeof(int), make_cudaExtent(W, 1, 1));
    for (int i = 0; i < W; i++)
        demand("line", i, got[0][0][i], i);
    read_back(lines, got, sizeof(int), make_cudaExtent(W, 1, D));
    for (int i = 0; i < W * D; i++)
        demand("lines", i, got[0][i / W][i % W], i % W + 10 * (i / W));
    for (cudaArray_t array : {box, layers, cube}) {
        read_back(array, got, sizeof(int), make_cudaExtent(W, W, 6));
        for (int i = 0; i < 6 * W * W; i++)
            demand("box", i, got[i / W / W][i / W % W][i % W],
                   100 * (i / W / W) + 10 * (i / W % W) + i % W);
    }
}

static void check_edges()
{
    int from[H][W];
    for (int i = 0; i < W * H; i++)
        from[i / W][i % W] = 100 + i;
    cudaArray_t array = make_array(cudaCreateChannelDesc<int>(), make_cudaExtent(W, H, 0),
                                   cudaArraySurfaceLoadStore);
    fill_array(array, from, sizeof(int), make_cudaExtent(W, H, 1));
    cudaSurfaceObject_t surface = make_surface(array);
    const int *got = results<int>(5, [=](int *out) { edges<<<1, 1>>>(out, surface); });
    const int want[5] = {100, 100 + W * H - 1, 0, 0, 88};
    for (int i = 0; i < 5; i++)
        demand("edges", i, got[i], want[i]);
    CHECK(cudaDestroySurfaceObject(surface));
}

int main()
{
    moves<unsigned char>("unsigned char");
    moves<uchar4>("uchar4");
    moves<short2>("short2");
    moves<ushort4>("ushort4");
    moves<float>("float");
    moves<float2>("float2");
    moves<int4>("int4");
    check_geometries();
    check_edges();
    return finish();
}
