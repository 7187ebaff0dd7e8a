/* Begins the text of a compiled kernel: see lower.c. No file is included there, so that nothing has
 * to be read or found. Behind it come exec_compiled.h and alu_lane.h, then the kernel. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef short int16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long uint64_t;
typedef long int64_t;
typedef _Bool bool;
/* tcc compiles 60 times as fast as gcc -O0: for random kernels (make fuzz-compiled). */
#ifdef __TINYC__
void *memcpy(void *to, const void *from, unsigned long bytes);
float fabsf(float a), copysignf(float a, float b), fmaf(float a, float b, float c), sqrtf(float a);
double fma(double a, double b, double c), sqrt(double a);
#define __builtin_nanf(text)            float_from_bits(0x7fc00000u)
#define __builtin_memcpy                memcpy
#define __builtin_signbit(a)            ((bool)(float_bits(a) >> 31))
#define __builtin_fabsf                 fabsf
#define __builtin_copysignf             copysignf
#define __builtin_fmaf                  fmaf
#define __builtin_fma                   fma
#define __builtin_sqrtf                 sqrtf
#define __builtin_sqrt                  sqrt
#define __builtin_assume_aligned(p, to) (p)
static inline uint64_t __builtin_bswap64(uint64_t a)
{
    a = (a >> 8 & 0x00ff00ff00ff00ff) | (a & 0x00ff00ff00ff00ff) << 8;
    a = (a >> 16 & 0x0000ffff0000ffff) | (a & 0x0000ffff0000ffff) << 16;
    return a >> 32 | a << 32;
}
#endif
#define NAN        __builtin_nanf("")
#define memcpy     __builtin_memcpy
#define signbit    __builtin_signbit
#define fabsf      __builtin_fabsf
#define copysignf  __builtin_copysignf
#define INT32_MAX  2147483647
#define INT32_MIN  (-2147483647 - 1)
#define UINT32_MAX 4294967295u
#define KERNEL     __attribute__((optimize("O0")))
#define LOOP       static __attribute__((noinline)) void
#define STRONG     (((const unsigned char *)c->warp)[c->strong])
#define SPINS      (*(unsigned *)((unsigned char *)c->warp + c->spins))
#define THREADS(k) ((const unsigned *)((unsigned char *)c->warp + c->threads) + 32 * (k))
#define WORD(at)   (*(uint32_t *)(at))
#define LANE2(at)  (((uint16_t *)(at))[l])
#define LANE4(at)  (((uint32_t *)(at))[l])
#define LANE8(at)  (((uint64_t *)(at))[l])
/* Upper halves of vector registers that are not zero make the rest of the process slow, which has
 * no AVX. gcc sees to that by itself from -O2 on. */
#if defined(__AVX__) && !defined(__TINYC__)
#define CLEAN __builtin_ia32_vzeroupper()
#else
#define CLEAN (void)0
#endif
/* a where the condition is 1, b where it is 0. A branch would not always become vectors, nor would
 * what the compiler takes for one. */
#define SELECT(type, c, a, b)        (type)((b) ^ (((a) ^ (b)) & -(type)(c)))
#define CHOOSE_BITS(condition, a, b) SELECT(uint32_t, condition, a, b)
/* Lanes outside the mask keep their values. */
#define KEEP2(at, r) LANE2(at) = SELECT(uint16_t, n >> l & 1, r, LANE2(at))
#define KEEP4(at, r) LANE4(at) = SELECT(uint32_t, n >> l & 1, r, LANE4(at))
#define KEEP8(at, r) LANE8(at) = SELECT(uint64_t, n >> l & 1, r, LANE8(at))
/* The top bits of 32 lanes. */
static inline uint32_t collect(const uint32_t *lanes)
{
    uint32_t word = 0;
#ifdef __TINYC__
    for (int k = 0; k < 32; k++)
        word |= lanes[k] >> 31 << k;
#elif defined(__AVX512DQ__)
    typedef int vector __attribute__((vector_size(64), may_alias));
    const vector *at = (const vector *)lanes;
    word = __builtin_ia32_cvtd2mask512(at[0]) | (uint32_t)__builtin_ia32_cvtd2mask512(at[1]) << 16;
#elif defined(__AVX2__)
    typedef float vector __attribute__((vector_size(32), may_alias));
    const vector *at = (const vector *)lanes;
    word = (uint32_t)__builtin_ia32_movmskps256(at[0]) |
           (uint32_t)__builtin_ia32_movmskps256(at[1]) << 8 |
           (uint32_t)__builtin_ia32_movmskps256(at[2]) << 16 |
           (uint32_t)__builtin_ia32_movmskps256(at[3]) << 24;
#elif defined(__SSE__)
    typedef float vector __attribute__((vector_size(16), may_alias));
    for (int k = 0; k < 8; k++)
        word |= (uint32_t)__builtin_ia32_movmskps(((const vector *)lanes)[k]) << (4 * k);
#else
    for (int k = 0; k < 32; k++)
        word |= lanes[k] >> 31 << k;
#endif
    return word;
}
