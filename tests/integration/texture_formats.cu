// verdict: none
// flags: -std=c++17
// Every channel format, with one, two and four channels: read as it is and, of 8 and 16 bits, as a
// number up to 1; and sRGB.
#include "texture_kinds.h"
#include <cuda_fp16.h>

enum { COUNT = 16 };

template <typename T> __global__ void read_as_is(long long *out, cudaTextureObject_t texture)
{
    T texel = tex1D<T>(texture, threadIdx.x + 0.5f);
    out[threadIdx.x] = (long long)texel;
}
template <typename T> __global__ void read_pair(long long *out, cudaTextureObject_t texture)
{
    T texel = tex1D<T>(texture, threadIdx.x + 0.5f);
    out[2 * threadIdx.x] = texel.x;
    out[2 * threadIdx.x + 1] = texel.y;
}
template <typename T> __global__ void read_four(long long *out, cudaTextureObject_t texture)
{
    T texel = tex1D<T>(texture, threadIdx.x + 0.5f);
    out[4 * threadIdx.x] = texel.x;
    out[4 * threadIdx.x + 1] = texel.y;
    out[4 * threadIdx.x + 2] = texel.z;
    out[4 * threadIdx.x + 3] = texel.w;
}
__global__ void read_numbers(float *out, cudaTextureObject_t texture)
{
    float4 texel = tex1D<float4>(texture, threadIdx.x + 0.5f);
    out[4 * threadIdx.x] = texel.x;
    out[4 * threadIdx.x + 1] = texel.y;
    out[4 * threadIdx.x + 2] = texel.z;
    out[4 * threadIdx.x + 3] = texel.w;
}

template <typename Channel, int channels>
static cudaTextureObject_t over(const Channel *from, cudaChannelFormatDesc format,
                                const cudaTextureDesc &how)
{
    cudaArray_t array = make_array(format, make_cudaExtent(COUNT, 0, 0));
    fill_array(array, from, channels * sizeof(Channel), make_cudaExtent(COUNT, 1, 1));
    return make_texture(array, how);
}

template <typename Channel> static void fill_random(Channel *to)
{
    for (int i = 0; i < 4 * COUNT; i++)
        to[i] = (Channel)(rand() * 65537ll + rand());
    to[0] = (Channel)((Channel)-1 < 0 ? 1ll << (8 * sizeof(Channel) - 1) : -1);
}

template <typename T, typename Pair, typename Four> static void integers(const char *name)
{
    T from[4 * COUNT];
    const cudaTextureDesc how = reading(cudaFilterModePoint, false);
    fill_random(from);
    cudaTextureObject_t one = over<T, 1>(from, cudaCreateChannelDesc<T>(), how),
                        two = over<T, 2>(from, cudaCreateChannelDesc<Pair>(), how),
                        four = over<T, 4>(from, cudaCreateChannelDesc<Four>(), how);
    const long long *got =
        results<long long>(COUNT, [=](long long *out) { read_as_is<T><<<1, COUNT>>>(out, one); });
    for (int i = 0; i < COUNT; i++)
        demand(name, i, (double)got[i], (double)from[i]);
    got = results<long long>(2 * COUNT,
                             [=](long long *out) { read_pair<Pair><<<1, COUNT>>>(out, two); });
    for (int i = 0; i < 2 * COUNT; i++)
        demand(name, i, (double)got[i], (double)from[i]);
    got = results<long long>(4 * COUNT,
                             [=](long long *out) { read_four<Four><<<1, COUNT>>>(out, four); });
    for (int i = 0; i < 4 * COUNT; i++)
        demand(name, i, (double)got[i], (double)from[i]);
}

// To 1 for the greatest value; the least signed one is -1, too.
template <typename T, typename Four> static void scaled(const char *name, double greatest)
{
    T from[4 * COUNT];
    fill_random(from);
    cudaTextureObject_t texture = over<T, 4>(
        from, cudaCreateChannelDesc<Four>(),
        reading(cudaFilterModePoint, false, cudaAddressModeClamp, cudaReadModeNormalizedFloat));
    const float *got =
        results<float>(4 * COUNT, [=](float *out) { read_numbers<<<1, COUNT>>>(out, texture); });
    for (int i = 0; i < 4 * COUNT; i++)
        demand(name, i, got[i], fmax(-1, from[i] / greatest));
}

static void floats()
{
    float from[4 * COUNT];
    __half halves[4 * COUNT];
    for (int i = 0; i < 4 * COUNT; i++) {
        from[i] = (float)(rand() % 2000 - 1000) / 8;
        halves[i] = __float2half(from[i]);
    }
    const cudaTextureDesc how = reading(cudaFilterModePoint, false);
    cudaTextureObject_t wide = over<float, 4>(from, cudaCreateChannelDesc<float4>(), how),
                        narrow = over<__half, 4>(halves, cudaCreateChannelDescHalf4(), how);
    for (cudaTextureObject_t texture : {wide, narrow}) {
        const float *got = results<float>(
            4 * COUNT, [=](float *out) { read_numbers<<<1, COUNT>>>(out, texture); });
        for (int i = 0; i < 4 * COUNT; i++)
            demand("floats", i, got[i], from[i]);
    }
}

// What an sRGB channel is to a texture unit: the standard's number in 8 bits. Their unit grows by a
// factor of two at each of the listed channels (measured on an H200).
static double eight_bits(int channel)
{
    double share = channel / 255.0;
    double linear = share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
    double unit = 1 / 16384.0;
    for (int start : {32, 48, 64, 96, 136, 184, 248})
        unit *= channel >= start ? 2 : 1;
    return floor(linear / unit + 0.5) * unit;
}

static void colours()
{
    unsigned char from[4 * COUNT];
    for (int i = 0; i < 4 * COUNT; i++)
        from[i] = (unsigned char)(i * 4 + 3);
    cudaTextureDesc how =
        reading(cudaFilterModePoint, false, cudaAddressModeClamp, cudaReadModeNormalizedFloat);
    how.sRGB = 1;
    cudaTextureObject_t texture =
        over<unsigned char, 4>(from, cudaCreateChannelDesc<uchar4>(), how);
    const float *got =
        results<float>(4 * COUNT, [=](float *out) { read_numbers<<<1, COUNT>>>(out, texture); });
    for (int i = 0; i < 4 * COUNT; i++) {
        double share = from[i] / 255.0;
        double linear = eight_bits(from[i]);
        if (fabs(got[i] - (i % 4 == 3 ? share : linear)) > 1e-7) {
            fprintf(stderr, "sRGB %d: %g, not %g\n", i, got[i], linear);
            exit(101);
        }
    }
}

int main()
{
    integers<signed char, char2, char4>("signed char");
    integers<unsigned char, uchar2, uchar4>("unsigned char");
    integers<short, short2, short4>("short");
    integers<unsigned short, ushort2, ushort4>("unsigned short");
    integers<int, int2, int4>("int");
    integers<unsigned, uint2, uint4>("unsigned");
    scaled<signed char, char4>("scaled signed char", 127);
    scaled<unsigned char, uchar4>("scaled unsigned char", 255);
    scaled<short, short4>("scaled short", 32767);
    scaled<unsigned short, ushort4>("scaled unsigned short", 65535);
    floats();
    colours();
    return finish();
}
