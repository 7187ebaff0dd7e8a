/* Kernels that touch memory through textures, surfaces and tensor maps: test_access_direction.c
 * lists what each must give. The tensor copies are those of the PTX ISA, section "Data Movement and
 * Conversion Instructions: Tensor copy", as inline assembly: what they move is of no interest. */
#include <cstdint>
#include <cuda.h>

struct views {
    int n;
    cudaTextureObject_t textures[3];
    float *out;
};
struct maps {
    int n;
    CUtensorMap a, b;
};
struct several {
    CUtensorMap map[2];
};
__constant__ cudaTextureObject_t handle;

__device__ __noinline__ float fetch_of(cudaTextureObject_t texture, int i)
{
    return tex1Dfetch<float>(texture, i);
}

extern "C" {
__global__ void fetch(cudaTextureObject_t texture, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<float>(texture, i);
}
__global__ void image(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}
__global__ void gather(cudaTextureObject_t texture, float4 *out)
{
    out[threadIdx.x] = tex2Dgather<float4>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f, 0);
}
__global__ void level(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f, 1.0f);
}
__global__ void surface_write(cudaSurfaceObject_t surface)
{
    surf2Dwrite<float>(1.0f, surface, threadIdx.x * 4, blockIdx.x);
}
__global__ void surface_read(cudaSurfaceObject_t surface, float *out)
{
    surf2Dread<float>(out + threadIdx.x, surface, threadIdx.x * 4, blockIdx.x);
}
__global__ void surface_reduce(cudaSurfaceObject_t surface)
{
    asm volatile("sured.b.1d.add.u32.clamp [%0, {%1}], %2;" ::"l"(surface), "r"(threadIdx.x),
                 "r"(1));
}
__global__ void texture_of_struct(views v)
{
    v.out[threadIdx.x] = tex1Dfetch<float>(v.textures[1], threadIdx.x);
}
__global__ void texture_by_index(views v, int k)
{
    v.out[threadIdx.x] = tex1Dfetch<float>(v.textures[k], threadIdx.x);
}
__global__ void texture_select(cudaTextureObject_t a, cudaTextureObject_t b, float *out, int k)
{
    out[threadIdx.x] = tex1Dfetch<float>(k ? a : b, threadIdx.x);
}
__global__ void texture_to_call(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = fetch_of(texture, threadIdx.x);
}
__global__ void texture_loaded(const cudaTextureObject_t *textures, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(textures[blockIdx.x], threadIdx.x);
}
__global__ void texture_constant(float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(handle, threadIdx.x);
}

#if __CUDA_ARCH__ >= 900
__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void store(const CUtensorMap *map)
{
    __shared__ alignas(128) float tile[256];
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], "
                 "[%3];" ::"l"(map),
                 "r"(0), "r"(threadIdx.x), "r"(shared_address(tile))
                 : "memory");
}
__global__ void tensor_load(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) float tile[256];
    __shared__ uint64_t arrived;
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
                 "l"(&map), "r"(0), "r"(threadIdx.x), "r"(shared_address(&arrived))
                 : "memory");
}
__global__ void tensor_store(const __grid_constant__ CUtensorMap map)
{
    store(&map);
}
__global__ void tensor_reduce(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) float tile[256];
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(&map),
                 "r"(0), "r"(threadIdx.x), "r"(shared_address(tile))
                 : "memory");
}
__global__ void tensor_prefetch(const __grid_constant__ CUtensorMap map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
                 "r"(0), "r"(threadIdx.x)
                 : "memory");
}
/* The cache policy stands where other copies have their size. */
__global__ void tensor_policy(const __grid_constant__ CUtensorMap map, uint64_t policy)
{
    __shared__ alignas(128) float tile[256];
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
                 "[%0, {%1, %2}], [%3], %4;" ::"l"(&map),
                 "r"(0), "r"(threadIdx.x), "r"(shared_address(tile)), "l"(policy)
                 : "memory");
}
__global__ void tensor_of_struct(const __grid_constant__ maps m)
{
    store(&m.b);
}
__global__ void tensor_select(const __grid_constant__ maps m, int k)
{
    store(k ? &m.a : &m.b);
}
__global__ void tensor_by_index(const __grid_constant__ several m, int k)
{
    store(&m.map[k]);
}
__global__ void tensor_pointer(const CUtensorMap *map)
{
    store(map);
}
__constant__ CUtensorMap constant_map;
__global__ void tensor_constant()
{
    store(&constant_map);
}
#endif
}
