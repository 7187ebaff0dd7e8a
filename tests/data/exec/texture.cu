// Fetches of every kind that the engine has: test_exec_texture.c says what each must give.
extern "C" {
__global__ void fetch_float(cudaTextureObject_t texture, float *out, const int *index)
{
    out[threadIdx.x] = tex1Dfetch<float>(texture, index[threadIdx.x]);
}
__global__ void fetch_int(cudaTextureObject_t texture, int *out, const int *index)
{
    out[threadIdx.x] = tex1Dfetch<int>(texture, index[threadIdx.x]);
}
__global__ void fetch_short2(cudaTextureObject_t texture, int2 *out, const int *index)
{
    short2 texel = tex1Dfetch<short2>(texture, index[threadIdx.x]);
    out[threadIdx.x] = make_int2(texel.x, texel.y);
}
__global__ void fetch_uchar4(cudaTextureObject_t texture, uint4 *out, const int *index)
{
    uchar4 texel = tex1Dfetch<uchar4>(texture, index[threadIdx.x]);
    out[threadIdx.x] = make_uint4(texel.x, texel.y, texel.z, texel.w);
}
__global__ void fetch_float4(cudaTextureObject_t texture, float4 *out, const int *index)
{
    out[threadIdx.x] = tex1Dfetch<float4>(texture, index[threadIdx.x]);
}
// Odd lanes alone, each pair from another texture.
__global__ void fetch_some(cudaTextureObject_t a, cudaTextureObject_t b, float *out)
{
    if (threadIdx.x & 1)
        out[threadIdx.x] = tex1Dfetch<float>(threadIdx.x & 2 ? a : b, threadIdx.x);
}
__global__ void point(cudaTextureObject_t texture, float *out, const float2 *at)
{
    float2 p = at[threadIdx.x];
    out[threadIdx.x] = tex2D<float>(texture, p.x, p.y);
}
}
