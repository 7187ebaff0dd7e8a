// Accesses of surfaces that C++ has no functions for, and queries: test_exec_surface.c says what
// each must give.
extern "C" {
__global__ void reduce(cudaSurfaceObject_t s, const int *value)
{
    int x = 4 * (threadIdx.x & 1), v = value[threadIdx.x];
    asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(0), "r"(v));
    asm volatile("sured.b.min.2d.s32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(1), "r"(v));
    asm volatile("sured.b.max.2d.s32.zero [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(2), "r"(v));
    asm volatile("sured.b.or.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(3), "r"(v));
    asm volatile("sured.b.max.2d.s32.zero [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(9), "r"(v));
}
__global__ void formatted(cudaSurfaceObject_t s, const int *value)
{
    asm volatile("sust.p.1d.v4.b32.trap [%0, {%1}], {%2, %3, %4, %5};" ::"l"(s), "r"(threadIdx.x),
                 "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]));
}
__global__ void query(cudaTextureObject_t t, cudaSurfaceObject_t s, int *out)
{
    asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
    asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
    asm("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
    asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(out[3]) : "l"(t));
    asm("txq.array_size.b32 %0, [%1];" : "=r"(out[4]) : "l"(t));
    asm("txq.normalized_coords.b32 %0, [%1];" : "=r"(out[5]) : "l"(t));
    asm("suq.width.b32 %0, [%1];" : "=r"(out[6]) : "l"(s));
    asm("suq.height.b32 %0, [%1];" : "=r"(out[7]) : "l"(s));
}
__global__ void trapping(cudaSurfaceObject_t s, int x, int y)
{
    surf2Dwrite(1, s, x, y);
}
}
