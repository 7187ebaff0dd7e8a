// Matrices through nvcuda::wmma, and the instructions that move 8 x 8 matrices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// d = a * b + c: a by rows, b by columns, each line with one element more than the tile has and
// some more for alignment; c and d by rows.
template <int M, int N, int K, typename T, typename S, typename Kind>
__device__ void multiply(S *d, const T *a, const T *b, const S *c, int more)
{
    wmma::fragment<wmma::matrix_a, M, N, K, Kind, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Kind, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, S> fc;
    wmma::load_matrix_sync(fa, a, K + more);
    wmma::load_matrix_sync(fb, b, K + more);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}

extern "C" __global__ void wmma_f16(float *d, const half *a, const half *b, const float *c)
{
    multiply<16, 16, 16, half, float, half>(d, a, b, c, 8);
}
extern "C" __global__ void wmma_f16_wide(float *d, const half *a, const half *b, const float *c)
{
    multiply<8, 32, 16, half, float, half>(d, a, b, c, 8);
}
extern "C" __global__ void wmma_f16_high(half *d, const half *a, const half *b, const half *c)
{
    multiply<32, 8, 16, half, half, half>(d, a, b, c, 8);
}
extern "C" __global__ void wmma_bf16(float *d, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                     const float *c)
{
    multiply<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>(d, a, b, c, 8);
}
extern "C" __global__ void wmma_tf32(float *d, const float *a, const float *b, const float *c)
{
    multiply<16, 16, 8, float, float, wmma::precision::tf32>(d, a, b, c, 4);
}
extern "C" __global__ void wmma_f64(double *d, const double *a, const double *b, const double *c)
{
    multiply<8, 8, 4, double, double, double>(d, a, b, c, 2);
}
extern "C" __global__ void wmma_s8(int *d, const signed char *a, const signed char *b, const int *c)
{
    multiply<16, 16, 16, signed char, int, signed char>(d, a, b, c, 16);
}
extern "C" __global__ void wmma_u8(int *d, const unsigned char *a, const unsigned char *b,
                                   const int *c)
{
    multiply<32, 8, 16, unsigned char, int, unsigned char>(d, a, b, c, 16);
}

// The other layouts, scaling element by element, through shared memory.
extern "C" __global__ void wmma_turned(float *d, const half *a, const half *b)
{
    __shared__ float tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2;
    wmma::store_matrix_sync(tile, fc, 16, wmma::mem_col_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 32)
        d[i] = tile[i];
}

__device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

// Four 8 x 8 matrices one after the other, of which each lane's two elements are written; then the
// same transposed; then one of them transposed in registers; then stored back by stmatrix.
extern "C" __global__ void eight_by_eight(unsigned *out, const unsigned short *in)
{
    __shared__ __align__(16) unsigned short tile[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32)
        tile[i] = in[i];
    __syncthreads();
    unsigned r[4], s[4], moved, address = shared_address(tile + 8 * t);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];"
                 : "=r"(s[0]), "=r"(s[1])
                 : "r"(address));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1+128];"
                 : "=r"(s[2])
                 : "r"(address));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(r[3]));
    __syncthreads();
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(address), "r"(r[2]), "r"(r[3])
                 : "memory");
    __syncthreads();
    for (int k = 0; k < 4; k++)
        out[k * 32 + t] = r[k];
    for (int k = 0; k < 3; k++)
        out[(4 + k) * 32 + t] = s[k];
    out[7 * 32 + t] = moved;
    for (int k = 0; k < 2; k++)
        out[(8 + k) * 32 + t] = ((const unsigned *)tile)[k * 32 + t];
}
