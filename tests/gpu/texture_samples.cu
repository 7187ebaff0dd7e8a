// Samples textures of every mode at a thousand random points and prints what comes, as data: one
// line a sample, "MODE INDEX VALUE VALUE VALUE VALUE", each value by its bits. Points and texels
// come from a generator of the program's own, so that two devices sample the same.
// tests/gpu/texture_samples.sh compares a GPU's with the embedded device's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

enum { COUNT = 1000, SIDE = 16, LAYERS = 3, FACES = 6, LEVELS = 5 };
enum kind { LINE, IMAGE, BOX, LINES, IMAGES, CUBE, CUBES, MIPMAP, GRADIENT, GATHER, KINDS };
static const char *const kinds[] = {"1d",   "2d",    "3d",     "a1d",      "a2d",
                                    "cube", "acube", "mipmap", "gradient", "gather"};

struct point {
    float x, y, z, level, step; // step: what crosses 2^level texels
    int layer;
};

static uint64_t state = 88172645463325252u;

static uint64_t draw()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

static float between(float low, float high)
{
    return low + (high - low) * (float)(draw() % (1 << 20)) / (1 << 20);
}

__global__ void sample(float4 *out, const point *points, cudaTextureObject_t t, int kind)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT)
        return;
    point p = points[i];
    float4 v = {};
    switch (kind) {
    case LINE:
        v = tex1D<float4>(t, p.x);
        break;
    case IMAGE:
        v = tex2D<float4>(t, p.x, p.y);
        break;
    case BOX:
        v = tex3D<float4>(t, p.x, p.y, p.z);
        break;
    case LINES:
        v = tex1DLayered<float4>(t, p.x, p.layer);
        break;
    case IMAGES:
        v = tex2DLayered<float4>(t, p.x, p.y, p.layer);
        break;
    case CUBE:
        v = texCubemap<float4>(t, p.x, p.y, p.z);
        break;
    case CUBES:
        v = texCubemapLayered<float4>(t, p.x, p.y, p.z, p.layer);
        break;
    case MIPMAP:
        v = tex2DLod<float4>(t, p.x, p.y, p.level);
        break;
    case GRADIENT:
        v = tex2DGrad<float4>(t, p.x, p.y, make_float2(p.step, 0), make_float2(0, p.step));
        break;
    default:
        v = tex2Dgather<float4>(t, p.x, p.y, 1);
    }
    out[i] = v;
}

// ---- Arrays ----

struct format {
    const char *name;
    cudaChannelFormatDesc desc;
    bool scaled;
};

static cudaExtent extent_of(int kind)
{
    switch (kind) {
    case LINE:
        return make_cudaExtent(SIDE, 0, 0);
    case LINES:
        return make_cudaExtent(SIDE, 0, LAYERS);
    case BOX:
        return make_cudaExtent(SIDE, SIDE, SIDE);
    case IMAGES:
        return make_cudaExtent(SIDE, SIDE, LAYERS);
    case CUBE:
        return make_cudaExtent(SIDE, SIDE, FACES);
    case CUBES:
        return make_cudaExtent(SIDE, SIDE, FACES * LAYERS);
    default:
        return make_cudaExtent(SIDE, SIDE, 0);
    }
}

static unsigned flags_of(int kind)
{
    return (kind == LINES || kind == IMAGES || kind == CUBES ? cudaArrayLayered : 0) |
           (kind == CUBE || kind == CUBES ? cudaArrayCubemap : 0) |
           (kind == GATHER ? cudaArrayTextureGather : 0);
}

// Numbers of few bits, so that weighted sums are exact in any order.
static void fill(cudaArray_t array, const format &format, size_t width, size_t height, size_t depth)
{
    const size_t channel = (size_t)format.desc.x / 8, texel = channel * 4;
    size_t count = width * height * depth;
    unsigned char *bytes = (unsigned char *)malloc(count * texel);
    for (size_t i = 0; i < count * 4; i++) {
        float value = (float)(draw() % 64);
        uint64_t bits = draw();
        if (format.desc.f == cudaChannelFormatKindFloat)
            memcpy(&bytes[i * channel], &value, channel);
        else
            memcpy(&bytes[i * channel], &bits, channel);
    }
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(bytes, width * texel, width, height);
    p.dstArray = array;
    p.extent = make_cudaExtent(width, height, depth);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    free(bytes);
}

static cudaResourceDesc make_levels(const format &format)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    CHECK(cudaMallocMipmappedArray(&resource.res.mipmap.mipmap, &format.desc,
                                   make_cudaExtent(SIDE, SIDE, 0), LEVELS));
    for (int i = 0; i < LEVELS; i++) {
        cudaArray_t level;
        CHECK(cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, i));
        fill(level, format, SIDE >> i, SIDE >> i, 1);
    }
    return resource;
}

static cudaResourceDesc make_array(int kind, const format &format)
{
    cudaResourceDesc resource = {};
    const cudaExtent extent = extent_of(kind);
    resource.resType = cudaResourceTypeArray;
    CHECK(cudaMalloc3DArray(&resource.res.array.array, &format.desc, extent, flags_of(kind)));
    fill(resource.res.array.array, format, extent.width, extent.height ? extent.height : 1,
         extent.depth ? extent.depth : 1);
    return resource;
}

// ---- Modes ----

static void run(int kind, const format &format, cudaTextureDesc how, const char *name)
{
    static point points[COUNT];
    static float4 got[COUNT];
    static point *on_device;
    static float4 *out;
    const bool cube = kind == CUBE || kind == CUBES, levels = kind == MIPMAP || kind == GRADIENT;
    const float reach = how.normalizedCoords ? 1 : SIDE;
    if (!out) {
        CHECK(cudaMalloc((void **)&on_device, sizeof points));
        CHECK(cudaMalloc((void **)&out, sizeof got));
    }
    for (point &p : points) {
        float low = cube ? -1 : -reach, high = cube ? 1 : 2 * reach;
        p = {between(low, high),    between(low, high), between(low, high), between(-1, LEVELS), 0,
             (int)(draw() % LAYERS)};
        p.step = exp2f(p.level) / SIDE; // a GPU's function is approximate
    }
    how.maxMipmapLevelClamp = LEVELS - 1;
    cudaResourceDesc resource = levels ? make_levels(format) : make_array(kind, format);
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMemcpy(on_device, points, sizeof points, cudaMemcpyHostToDevice));
    sample<<<(COUNT + 127) / 128, 128>>>(out, on_device, texture, kind);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits[4];
        memcpy(bits, &got[i], sizeof bits);
        printf("%s-%s-%s %d %08x %08x %08x %08x\n", kinds[kind], format.name, name, i, bits[0],
               bits[1], bits[2], bits[3]);
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(levels ? cudaFreeMipmappedArray(resource.res.mipmap.mipmap)
                 : cudaFreeArray(resource.res.array.array));
}

static void run_modes(int kind, const format &format)
{
    static const char *const names[] = {"wrap", "clamp", "mirror", "border"};
    const bool cube = kind == CUBE || kind == CUBES, levels = kind == MIPMAP || kind == GRADIENT;
    for (int linear = 0; linear < 2; linear++)
        for (int normalized = cube || levels; normalized < 2; normalized++)
            for (int mode = 0; mode < 4; mode++) {
                char name[64];
                cudaTextureDesc how = {};
                if ((cube || !normalized) && mode != cudaAddressModeClamp &&
                    (cube || mode != cudaAddressModeBorder))
                    continue;
                for (cudaTextureAddressMode &m : how.addressMode)
                    m = (cudaTextureAddressMode)mode;
                how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                how.mipmapFilterMode = how.filterMode;
                how.normalizedCoords = normalized;
                how.readMode =
                    format.scaled ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
                how.borderColor[0] = how.borderColor[3] = 0.5f;
                how.seamlessCubemap = cube;
                snprintf(name, sizeof name, "%s-%s-%s", names[mode],
                         normalized ? "normalized" : "texels", linear ? "linear" : "point");
                run(kind, format, how, name);
                how.sRGB = format.scaled && format.desc.x == 8;
                if (!how.sRGB || kind != IMAGE)
                    continue;
                snprintf(name, sizeof name, "%s-%s-%s-srgb", names[mode],
                         normalized ? "normalized" : "texels", linear ? "linear" : "point");
                run(kind, format, how, name);
            }
}

int main()
{
    const format formats[] = {
        {"float", cudaCreateChannelDesc<float4>(), false},
        {"uchar", cudaCreateChannelDesc<uchar4>(), true},
        {"char", cudaCreateChannelDesc<char4>(), true},
        {"ushort", cudaCreateChannelDesc<ushort4>(), true},
        {"short", cudaCreateChannelDesc<short4>(), true},
    };
    for (const format &format : formats)
        for (int kind = 0; kind < KINDS; kind++)
            run_modes(kind, format);
    return 0;
}
