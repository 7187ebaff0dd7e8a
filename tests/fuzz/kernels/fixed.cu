// Written by generate.py 41 90
struct rgb { unsigned char r, g, b; };
struct record { double weight; int id; short tag; };
__device__ inline double sum(float2 v) { return v.x + v.y; }
__device__ inline double sum(float4 v) { return v.x + v.y + v.z + v.w; }
__device__ inline double sum(int4 v) { return (double)v.x + v.y + v.z + v.w; }
__device__ int scratch[4096];
__device__ float weights[64][32];
__constant__ int steps[16] = {1, 2, 3, 5, 8, 13, 21, 34, 1, 1, 2, 2, 3, 3, 4, 4};
__device__ __noinline__ void put_int(int *to, long long at, int value) { to[at] = value; }
__device__ __noinline__ float get_float(const float *from, int at) { return from[at]; }
__device__ __noinline__ int scaled(int a, int b) { return a * b + 3; }
__device__ __noinline__ int descend(int *to, int at, int depth)
{
    to[at] = depth;
    return depth > 0 ? descend(to, at + 2, depth - 1) + 1 : 0;
}

// kernel k0
extern "C" __global__ void k0(int4 *__restrict__ p1, long long *__restrict__ p2, unsigned n3, unsigned n4, int n5, unsigned *p8)
{
    int sum_ = 1;
    #pragma unroll 4
    for (unsigned k6 = blockDim.y; k6 < (unsigned)5; k6 += 1) {
        for (long long k7 = 0; k7 < (long long)1; k7 += 3) {
            sum_ += atomicCAS_system(&p8[(((size_t)blockIdx.z * blockDim.z + threadIdx.z) % 100)], 1, (unsigned)3);
            p2[blockDim.z] = (long long)1;
        }
    }
    int4 &r9 = p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) - max((long long)(threadIdx.z), (long long)(blockDim.y)))];
    r9 = make_int4((int)sum_, 1, 2, 3);
}
// end

// kernel k1
extern "C" __global__ void k1(const double *p1, short *p2, const double *p3, short n4, unsigned n5)
{
    long long sum_ = 1;
    long long l6 = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (max((int)((threadIdx.x * n4)), (int)(((n5 <= gridDim.x) ? gridDim.x : n4))) < n4) {
        (*(volatile short *)&p2[l6]) = (short)sum_;
    }
    const double *q7 = (((threadIdx.x * gridDim.x) + ((size_t)n5 | gridDim.x)) == 64) ? p1 : p1;
    if ((short)l6 == (unsigned)n4) {
        if (threadIdx.x > threadIdx.x) {
            double v8 = p1[n5];
            sum_ += v8;
        }
    } else {
        switch (((short)l6) & 7) {
        case 0: {
            p2[(size_t)gridDim.x] = (short)(sum_ + 1);
        }
        case 1: {
            sum_ += p2[blockIdx.x];
        } break;
        case 2: {
            p2[((min((long long)((int)(blockIdx.x * blockDim.x + threadIdx.x)), (long long)((n5 * 100))) - threadIdx.x) & 2047)] = (short)sum_;
            sum_ = 1;
        } break;
        case 3: {
            sum_ += steps[((((blockIdx.x * blockDim.x + threadIdx.x) / gridDim.x)) & 63) & 15];
        } break;
        case 4: {
            if (blockIdx.x < (int)n4) return;
        } break;
        }
    }
    short &r9 = p2[((n4 / 10) + (31 * threadIdx.x))];
    r9 = (short)sum_;
}
// end

// kernel k2
extern "C" __global__ void k2(char *p1, record *__restrict__ p2, char *__restrict__ p3, int n8, int n9, int n10)
{
    int sum_ = 1;
    record *q4 = p2 + 3;
    for (int k5 = (int)threadIdx.y - 1; k5 >= 0; k5 -= 2) {
        q4[(long long)(blockIdx.y * blockDim.y + threadIdx.y)].weight = sum_;
        sum_ += (((unsigned)blockDim.y <= blockIdx.y) ? p1 : p3)[(((blockIdx.x != blockIdx.y) ? k5 : 8) >> 4)];
    }
    unsigned x6 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y7 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x6 < n8 && y7 < n9) {
        record &r11 = p2[y7 * n10 + x6];
        r11.weight = sum_;
        sum_ += p2[y7 * n10 + x6].tag;
    }
    for (int g12 = 1; g12 < (int)100; g12 <<= 1) {
        if (((blockIdx.y * (int)threadIdx.y) * g12) > blockDim.x) return;
        record &r13 = q4[((min((unsigned)(threadIdx.y), (unsigned)(g12)) / 16) * 64)];
        r13.id = 1, r13.tag = 2;
        if (g12 < (long long)blockIdx.y) break;
        char v14 = (*(p1 + ((blockIdx.y >= (size_t)threadIdx.y) ? (int)(blockIdx.x * blockDim.x + threadIdx.x) : (g12 + n8))));
        sum_ += v14;
    }
    p2[(((unsigned char)((long long)blockIdx.x) + (n9 - threadIdx.y)) & 32767)].weight = 1;
    char &r15 = p1[((int)n9 & ~12)];
    r15 = (char)sum_;
}
// end

// kernel k3
extern "C" __global__ void k3(double *p1, float *p2, const int *__restrict__ p4, int n10, int n11, int n12)
{
    int sum_ = 1;
    if (((((short)blockDim.z / 100u) + (size_t)(blockIdx.x)) != threadIdx.y) || (blockDim.y < (unsigned)blockIdx.z)) {
        for (int k3 = 1; k3 < (int)10; k3 += 1) {
            sum_ += (*(p2 + (long long)((k3 + 0))));
            sum_ += atomicAdd_block(&p2[(p4[blockDim.x] & 63)], (float)1);
        }
    }
    ((blockIdx.y < threadIdx.x) ? p2 : p2)[(threadIdx.z * blockDim.y)] = (float)1;
    double v5 = p1[(threadIdx.y & 1023)];
    sum_ += v5;
    switch (((64 & threadIdx.y)) & 7) {
    case 0: {
    }
    case 1: {
        double *q7 = p1 + gridDim.z;
    }
    case 2: {
        unsigned x8 = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned y9 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x8 < n10 && y9 < n11) {
            float &r13 = p2[y9 * n12 + x8];
            r13 = (float)sum_;
            sum_ += p4[y9 * n12 + x8];
        }
    } break;
    case 3: {
        double v14 = p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
        sum_ += v14;
    } break;
    }
    float &r15 = p2[(int)((float)(int)(n11 & 1023) * 0.8f)];
    r15 = (float)sum_;
}
// end

// kernel k4
extern "C" __global__ void k4(short2 *p1, int n2)
{
    float sum_ = 1;
    scratch[(((steps[(threadIdx.z) & 15] | 255)) & 63)] = 3;
    short2 &r3 = p1[((((unsigned)blockIdx.y % blockDim.x) - ((gridDim.x < (size_t)threadIdx.y) ? threadIdx.x : blockIdx.x)) & 1)];
    r3 = make_short2((short)sum_, 3);
}
// end

// kernel k5
extern "C" __global__ void k5(char *p1, double *__restrict__ p2, int n3, int n4, const int *__restrict__ p9)
{
    int sum_ = 1;
    switch (((long long)(blockIdx.y * blockDim.y + threadIdx.y)) & 7) {
    case 0: {
    }
    case 1: {
    } break;
    case 2: {
        char *q7 = p1 + ((long long)blockIdx.y * blockDim.y + threadIdx.y);
    } break;
    case 3: {
    } break;
    case 4: {
        p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)] = (char)(sum_ + 1);
    } break;
    }
    atomicAdd(&p2[(p9[__popc((unsigned)(n4))] & 63)], (double)1);
    double &r10 = p2[(blockIdx.y * blockDim.y + threadIdx.y)];
    r10 = sum_;
}
// end

// kernel k6
extern "C" __global__ void k6(int4 *p1, short *p2, int n3, unsigned long long n4, signed char n5, int n6)
{
    long long sum_ = 1;
    p2[(p2[(min((int)(n4), (int)(blockIdx.y)) * n3)] & 1023)] = (short)sum_;
    short &r7 = p2[1];
    r7 = (short)sum_;
}
// end

// kernel k7
extern "C" __global__ void k7(double *p1, unsigned long long n2, int n3, unsigned long long n4, int n7, unsigned n8)
{
    int sum_ = 1;
    int x5 = blockIdx.x * blockDim.x + threadIdx.x;
    int y6 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x5 < n7 && y6 < n8) {
        double &r9 = p1[(y6 + 1) * n7 + x5 + 1];
        r9 = sum_;
        sum_ += p1[(y6 + 2) * n7 + x5];
    }
    for (short k10 = 1; k10 < (short)gridDim.x; k10 += 1) {
        sum_ += p1[(((n2 >> 6) + ((!(blockIdx.x < k10)) ? n7 : k10)) & 127)];
    }
    double &r11 = p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r11 = sum_;
}
// end

// kernel k8
extern "C" __global__ void k8(const short *__restrict__ p1, unsigned n2, signed char n3, float2 *p4)
{
    long long sum_ = 1;
    float2 &r5 = p4[abs((int)(((!(n2 == threadIdx.x)) ? blockIdx.z : gridDim.z)))];
    r5 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k9
extern "C" __global__ void k9(const unsigned *p1, char *__restrict__ p2, long long n3, int n4)
{
    int sum_ = 1;
    int l5 = blockDim.z;
    char &r6 = p2[(int)blockDim.x];
    r6 = (char)sum_;
}
// end

// kernel k10
extern "C" __global__ void k10(double *p1, record *p2, unsigned char n3, const int *p8)
{
    int sum_ = 1;
    for (int k4 = 1; k4 < (int)blockDim.x; k4 += 1) {
        #pragma unroll 1
        for (int k5 = (int)2 - 1; k5 >= 0; k5 -= 1) {
            if (!(blockDim.x < gridDim.x)) {
                sum_ += ((((64 + k4) * n3) == 64) ? p1 : p1)[(k5 / 16u)];
                record &r6 = p2[(((max((int)((blockDim.x * k4)), (int)(max((int)(3), (int)(blockIdx.y)))) < 16) ? k5 : gridDim.x) + (blockIdx.y * blockDim.y + threadIdx.y))];
                r6.id = 1, r6.tag = 2;
            } else if (((((unsigned long long)((int)(blockIdx.x * blockDim.x + threadIdx.x)) != blockIdx.y) ? k5 : (long long)gridDim.y) + gridDim.y) < 32) {
                sum_ += __ldg(&p1[(size_t)gridDim.y]);
            }
            if (n3 != gridDim.x) continue;
            record *q7 = p2 + (p8[k5] & 1023);
        }
    }
    record &r9 = p2[(2 + gridDim.y)];
    r9.id = 1, r9.tag = 2;
}
// end

// kernel k11
extern "C" __global__ void k11(const float *p1, const int *p2, unsigned n3, long long n4, unsigned n5, size_t n6, short2 *__restrict__ p8, int n11, int n12)
{
    int sum_ = 1;
    for (unsigned i7 = threadIdx.x; i7 < n3; i7 += blockDim.x) {
        p8[(short)n4] = make_short2((short)1, 3);
        p8[((unsigned)((i7 * (int)n4)) % 1024u)] = make_short2((short)(sum_ + 1), 3);
    }
    unsigned x9 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y10 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x9 < n11 && y10 < n12) {
        short2 &r13 = p8[(n11 * y10 + x9) * 3 + 2];
        r13 = make_short2((short)sum_, 3);
        sum_ += p1[y10 * n11 + x9 - 1];
    }
    short2 &r14 = p8[(size_t)(blockIdx.y * blockDim.y + threadIdx.y)];
    r14 = make_short2((short)sum_, 3);
}
// end

// kernel k12
extern "C" __global__ void k12(long long *__restrict__ p1, int n4, int n5, unsigned *__restrict__ p11)
{
    float sum_ = 1;
    int x2 = blockIdx.x * blockDim.x + threadIdx.x;
    int y3 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x2 < n4 && y3 < n5) {
        long long &r6 = p1[x2 * n4 + y3];
        r6 = (long long)sum_;
        sum_ += p1[y3 * n4 + x2 - 1];
    }
    if (gridDim.x != n5) {
        long long *x7 = p1, *y8 = p1;
        for (int k10 = 0; k10 < 8; k10++) {
            x7[((size_t)(blockDim.z) * (short)blockIdx.y)] = y8[((unsigned)(((0 % 2) - (-blockDim.z))) % 4096u) ];
            long long *z9 = x7; x7 = y8; y8 = z9;
        }
        (p1 + ((long long)blockIdx.x * blockDim.x + threadIdx.x))[2] = (long long)sum_;
    } else if (n5 > blockIdx.x) {
        p1[gridDim.x] = (long long)sum_;
    }
    if (threadIdx.x >= n4) {
        sum_ += atomicAdd(&p11[min((int)((blockIdx.y + (int)blockDim.z)), (int)(__umulhi((unsigned)(threadIdx.x), 0x40000000u)))], (unsigned)3);
    } else {
        if (gridDim.x < gridDim.x) {
            unsigned *w12 = p11 + blockDim.x;
            unsigned *e14 = w12 + 3;
            for (; w12 < e14; w12 += 1) { (*w12) = (unsigned)1; }
            sum_ += atomicOr_system(&p11[(p11[threadIdx.z] & 1023)], (unsigned)3);
        }
    }
    p11[((((size_t)(blockIdx.x * blockDim.x + threadIdx.x) < (size_t)blockIdx.y) ? blockIdx.x : (size_t)gridDim.x) + (blockDim.x * threadIdx.x))] = (unsigned)sum_;
    unsigned &r15 = p11[__clz((int)((16 + gridDim.y)))];
    r15 = (unsigned)sum_;
}
// end

// kernel k13
extern "C" __global__ void k13(const float *__restrict__ p1, long long *p2, const long long *p3, signed char n4, unsigned long long n5)
{
    float sum_ = 1;
    (p2 + (unsigned)(n4))[8] = (long long)sum_;
    sum_ = sum_ * 0.5;
    long long &r6 = p2[((int)blockIdx.x & 1023)];
    r6 = (long long)sum_;
}
// end

// kernel k14
extern "C" __global__ void k14(float2 *__restrict__ p1, char *p2, signed char n3, unsigned char n4, int n5, long long n6, int *__restrict__ p8, int n16, int n17)
{
    int sum_ = 1;
    float2 v7 = (((n4 ^ n5) < threadIdx.x) ? p1 : p1)[(short)((blockIdx.y * blockDim.y + threadIdx.y))];
    sum_ += v7.x;
    atomicOr(&p8[((unsigned)(scaled((int)(blockIdx.z), (int)((size_t)gridDim.y))) % 4096u)], (int)3);
    char *x9 = p2, *y10 = p2;
    for (int k12 = 0; k12 < blockDim.x; k12++) {
        x9[(p8[blockIdx.z] & 63)] = y10[n3 ];
        char *z11 = x9; x9 = y10; y10 = z11;
    }
    switch ((n6) & 7) {
    case 0: {
        float2 v13 = p1[((((threadIdx.x + blockIdx.y) + (blockIdx.x - n6)) ^ blockIdx.z) & 1023)];
        sum_ += sum(v13);
    } break;
    case 1: {
        if (threadIdx.x < 64) {
            sum_ += descend(p8, (int)(unsigned char)(max((unsigned)(threadIdx.x), (unsigned)(n4))), 5);
            unsigned x14 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y15 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x14 < n16 && y15 < n17) {
                float2 &r18 = p1[(y15 + 1) * n16 + x14 + 1];
                r18.x = (float)sum_;
                sum_ += p8[(y15 + 2) * n16 + x14];
            }
        }
    } break;
    case 2: {
        put_int(p8, ((short)((3 * threadIdx.x)) + (blockIdx.x * n17)), 5);
    } break;
    case 3: {
        if (n17 < gridDim.y) return;
    } break;
    case 4: {
        float2 *q19 = p1 + ((int)blockIdx.x * gridDim.y);
    }
    }
    float2 &r20 = p1[threadIdx.x];
    r20 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k15
extern "C" __global__ void k15(unsigned *__restrict__ p1, const float4 *p2, unsigned n3, unsigned n4)
{
    int sum_ = 1;
    unsigned *w5 = p1 + (int)(threadIdx.x);
    for (int c6 = 0; c6 < 16; c6++, w5++) { (*w5) = (unsigned)1; }
    sum_ += p1[n3];
    unsigned &r7 = p1[(size_t)blockIdx.x];
    r7 = (unsigned)sum_;
}
// end

// kernel k16
extern "C" __global__ void k16(unsigned *p1, char *p2)
{
    int sum_ = 1;
    int b4 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * 4, e5 = min(b4 + (int)4, 100000);
    for (int k3 = b4; k3 < e5; k3++) {
        if (__popc((unsigned)((k3 << 3))) != blockIdx.x) return;
        (*(p2 + ((unsigned)(((short)(k3) * k3)) % 30000u))) = (char)sum_;
    }
    char &r6 = p2[((blockDim.x > blockDim.x) ? blockDim.x : blockIdx.y)];
    r6 = (char)sum_;
}
// end

// kernel k17
extern "C" __global__ void k17(short *p1, int n2, float **t3)
{
    int sum_ = 1;
    (p1 + ((unsigned)(((~blockDim.x) / 1u)) % 4096u))[8] = (short)(sum_ + 1);
    t3[(unsigned)((int)(blockIdx.x * blockDim.x + threadIdx.x)) % 2u][4] = (float)(sum_ + 1);
    float *q4 = t3[(unsigned)((int)(blockIdx.x * blockDim.x + threadIdx.x)) % 2u] + ((p1 + gridDim.x)[8] & 1023);
    q4[blockIdx.z] = (float)(sum_ + 1);
    sum_ = 0;
    size_t l5 = min((int)(threadIdx.z), (int)((((int)blockIdx.y + threadIdx.y) + threadIdx.x)));
    float &r6 = q4[blockDim.x];
    r6 = (float)sum_;
}
// end

// kernel k18
struct k18_struct7 { short f8; double *f9; int f10; long long *f11[2]; };
extern "C" __global__ void k18(long long *p1, const short *p2, const rgb *p3, int n4, size_t n5, unsigned n6, k18_struct7 s7, int n13)
{
    int sum_ = 1;
    for (int i12 = blockIdx.x * blockDim.x + threadIdx.x; i12 < n13; i12 += gridDim.x * blockDim.x) {
        s7.f9[((long long)blockIdx.x * blockDim.x + threadIdx.x)] = sum_;
    }
    long long &r14 = s7.f11[(unsigned)((((long long)s7.f10 > (unsigned)n4) ? s7.f10 : s7.f8)) % 2u][(((100 * n4) != gridDim.x) ? (int)s7.f10 : (int)s7.f10)];
    r14 = (long long)sum_;
}
// end

// kernel k19
struct k19_struct5 { char *f6; unsigned *f7[3]; rgb *f8; };
extern "C" __global__ void k19(long long *p1, float4 *p2, double *__restrict__ p3, unsigned long long n4, k19_struct5 s5)
{
    int sum_ = 1;
    int l9 = ((long long)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * threadIdx.x);
    char &r10 = s5.f6[(size_t)(blockIdx.y * blockDim.y + threadIdx.y)];
    r10 = (char)sum_;
}
// end

// kernel k20
extern "C" __global__ void k20(short *p1)
{
    int sum_ = 1;
    p1[32] = (short)(sum_ + 1);
    for (unsigned g2 = blockDim.x / 2; g2 > 0; g2 >>= 1) {
        short v3 = p1[(signed char)(((size_t)blockIdx.y * blockDim.y + threadIdx.y))];
        sum_ += v3;
        sum_ += p1[(signed char)((~(int)(blockDim.y)))];
        if (blockDim.x < blockDim.x) continue;
        short *x4 = p1, *y5 = p1;
        for (int k7 = 0; k7 < gridDim.x; k7++) {
            x4[((g2 + (int)(blockIdx.y * blockDim.y + threadIdx.y)) & 7)] = y5[max((int)((g2 * gridDim.x)), (int)((g2 + 100))) ];
            short *z6 = x4; x4 = y5; y5 = z6;
        }
    }
    short &r8 = p1[((threadIdx.x < blockIdx.y) ? blockDim.x : threadIdx.x)];
    r8 = (short)sum_;
}
// end

// kernel k21
extern "C" __global__ void k21(unsigned *p1, unsigned long long n2, unsigned n3, unsigned char n4)
{
    int sum_ = 1;
    unsigned *x5 = p1, *y6 = p1;
    for (int k8 = 0; k8 < 2; k8++) {
        x5[min((long long)(16), (long long)(((unsigned)n3 * threadIdx.x)))] = y6[((((short)gridDim.x + n3) + n4) >> 2) ];
        unsigned *z7 = x5; x5 = y6; y6 = z7;
    }
    unsigned v9 = p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)];
    sum_ += v9;
    unsigned &r10 = p1[((*(p1 + (blockIdx.x * blockDim.x + threadIdx.x))) & 63)];
    r10 = (unsigned)sum_;
}
// end

// kernel k22
struct k22_struct8 { short f9; double *f10[4]; };
extern "C" __global__ void k22(float *p1, const float4 *p2, double *p3, int n4, int n5, unsigned n6, unsigned long long n7, k22_struct8 s8, int n13, int n14, int n15, int n19, int n20, const int *p22, int n25, int n26, int n32, unsigned n33, int n34)
{
    int sum_ = 1;
    sum_ += p2[(-31)].x;
    unsigned x11 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y12 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x11 < n13 && y12 < n14) {
        double &r16 = p3[x11 * n15 + y12];
        r16 = sum_;
        sum_ += p2[y12 * n15 + x11 - 1].w;
    }
    if ((int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) >= n14) {
        ((n7 > threadIdx.x) ? s8.f10[(unsigned)(64) % 4u] : s8.f10[(unsigned)(64) % 4u])[n6] = sum_;
        sum_ = 1;
        unsigned x17 = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned y18 = blockIdx.x * blockDim.x + threadIdx.x;
        if (x17 < n19 && y18 < n20) {
            double &r21 = p3[(n19 * y18 + x17) * 3 + 2];
            r21 = sum_;
            sum_ += p1[(n19 * y18 + x17) * 3 + 2];
        }
    } else if (((size_t)n5 == n19) && (n19 < n6)) {
        if ((p22[((size_t)((long long)threadIdx.z) % 5u)] & 1023) > 3) {
            (*(volatile double *)&s8.f10[(unsigned)(64) % 4u][steps[(n20) & 15]]) = (sum_ + 1);
        } else {
            if ((blockDim.x != (int)blockIdx.x) && ((int)(blockIdx.x * blockDim.x + threadIdx.x) <= (short)n20)) {
                unsigned x23 = blockIdx.x * blockDim.x + threadIdx.x;
                unsigned y24 = blockIdx.x * blockDim.x + threadIdx.x;
                if (x23 < n25 && y24 < n26) {
                    double &r27 = s8.f10[(unsigned)(64) % 4u][y24 * n25 + x23];
                    r27 = sum_;
                    sum_ += p2[(y24 + 2) * n25 + x23].w;
                }
            } else if (((int)(blockIdx.x * blockDim.x + threadIdx.x) >> 2) != threadIdx.z) {
                ((n4 <= s8.f9) ? s8.f10[(unsigned)(64) % 4u] : s8.f10[(unsigned)(64) % 4u])[((blockIdx.x * blockDim.x + threadIdx.x) * threadIdx.z)] = sum_;
            } else if (!(s8.f9 == n19)) {
                for (unsigned i28 = blockIdx.x * blockDim.x + threadIdx.x; i28 < n25; i28 += gridDim.x * blockDim.x) {
                    p1[((i28 % 3u) << (n20 & 7))] = (float)sum_;
                    (*(volatile float *)&p1[i28]) = (float)sum_;
                    if (16 < 64) continue;
                    p1[(size_t)(n14)] = (float)sum_;
                }
            } else if (n14 < (unsigned)n5) {
            } else {
                int x30 = blockIdx.x * blockDim.x + threadIdx.x;
                int y31 = blockIdx.x * blockDim.x + threadIdx.x;
                if (x30 < n32 && y31 < n33) {
                    float &r35 = p1[y31 * n34 + x30];
                    r35 = (float)sum_;
                    sum_ += p3[y31 * n34 + x30 - 1];
                }
            }
        }
    } else {
        double *w36 = p3 + ((n15 * blockDim.x) >> (n4 & 7));
        double *e38 = w36 + 1;
        for (; w36 < e38; w36++) { (*w36) = 1; }
    }
    int l39 = (long long)n33;
    double &r40 = s8.f10[(unsigned)(64) % 4u][(blockIdx.x * blockDim.x + threadIdx.x)];
    r40 = sum_;
}
// end

// kernel k23
extern "C" __global__ void k23(const long long *p1, long long *__restrict__ p2, double *p3, short n4)
{
    float sum_ = 1;
    const long long *q5 = p1 + (31 >> 5);
    long long &r6 = p2[blockDim.x];
    r6 = (long long)sum_;
}
// end

// kernel k24
extern "C" __global__ void k24(double *__restrict__ p1, double *p2, char *p3, int n4)
{
    int sum_ = 1;
    double v5 = p2[(max((unsigned)((scaled((int)((unsigned)threadIdx.x), (int)(n4)) * blockDim.x)), (unsigned)(n4)) & 127)];
    sum_ += v5;
    double &r6 = p2[min((unsigned)((((unsigned short)(((int)threadIdx.x << 4)) != blockIdx.x) ? (int)(blockIdx.x * blockDim.x + threadIdx.x) : (blockDim.x & 1023))), (unsigned)(((gridDim.x << 0) + blockDim.x)))];
    r6 = sum_;
}
// end

// kernel k25
extern "C" __global__ void k25(float2 *__restrict__ p1, unsigned n2, unsigned n3, unsigned char n4, int n5)
{
    float sum_ = 1;
    int b7 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * 8, e8 = min(b7 + (int)8, 100000);
    for (int k6 = b7; k6 < e8; k6++) {
        (*(p1 + k6)) = make_float2((float)sum_, 1.0f);
    }
    long long l9 = (((blockIdx.x * blockDim.x + threadIdx.x) >> 0) * (size_t)n4);
    for (int k10 = blockIdx.x; k10 < (int)n3; k10 += 1) {
        if (k10 > k10) {
            if ((long long)((8 + (short)n5)) > (size_t)threadIdx.x) {
                for (size_t i11 = threadIdx.x; i11 < n4; i11 += blockDim.x) {
                    p1[(k10 * k10)].x = (float)sum_;
                    p1[min((unsigned)(gridDim.y), (unsigned)((unsigned)l9))] = make_float2((float)1, 1.0f);
                }
            } else {
                float2 v12 = p1[(blockIdx.x * blockDim.x + threadIdx.x)];
                sum_ += v12.y;
            }
        }
        if (k10 <= k10) break;
        sum_ += ((k10 < (long long)threadIdx.y) ? p1 : p1)[(k10 << 1)].y;
    }
    p1[__popc((unsigned)(n3))] = make_float2((float)sum_, 1.0f);
    float2 &r13 = p1[max((unsigned)(((int)blockDim.x << 4)), (unsigned)(((!(l9 < 8)) ? l9 : n5)))];
    r13 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k26
struct k26_struct6 { short f7; long long f8; int f9; };
extern "C" __global__ void k26(const float *__restrict__ p1, unsigned char *p2, unsigned *p3, unsigned long long n4, unsigned n5, k26_struct6 s6, int n16, int n17)
{
    long long sum_ = 1;
    unsigned *x10 = p3, *y11 = p3;
    for (int k13 = 0; k13 < 10; k13++) {
        x10[blockIdx.x] = y11[max((long long)((n5 + n4)), (long long)((blockIdx.x * blockDim.x + threadIdx.x))) ];
        unsigned *z12 = x10; x10 = y11; y11 = z12;
    }
    (*(p3 + max((unsigned)(threadIdx.x), (unsigned)(n4)))) = (unsigned)1;
    sum_ = 1;
    int x14 = blockIdx.x * blockDim.x + threadIdx.x;
    int y15 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x14 < n16 && y15 < n17) {
        unsigned char &r18 = p2[(y15 + 1) * n16 + x14 + 1];
        r18 = (unsigned char)sum_;
        sum_ += p1[(y15 + 2) * n16 + x14];
    }
    unsigned char &r19 = p2[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r19 = (unsigned char)sum_;
}
// end

// kernel k27
extern "C" __global__ void k27(const int *p1, float2 *__restrict__ p2, int n3, int n4, unsigned n5, unsigned long long n6)
{
    long long sum_ = 1;
    if ((size_t)n5 < (short)n6) {
        scratch[((((blockIdx.y - (short)blockDim.x) & 12)) & 2047)] = 3;
    } else if ((threadIdx.y < n4) && (!(8 > (int)blockDim.y))) {
        sum_ += steps[(((short)(min((unsigned)(31), (unsigned)(1)))) & 255) & 15];
    }
    float2 &r7 = p2[threadIdx.x];
    r7 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k28
extern "C" __global__ void k28(long long *p1)
{
    int sum_ = 1;
    if ((size_t)blockIdx.x < 4) {
        if (blockDim.x < (int)blockIdx.x) {
            if ((threadIdx.x != threadIdx.x) && (64 < 8)) return;
            (((size_t)blockIdx.x >= 3) ? p1 : p1)[blockDim.x] = (long long)sum_;
        } else if (!(blockIdx.x >= (int)threadIdx.x)) {
        } else {
            #pragma unroll 2
            for (int k3 = (int)10 - 1; k3 >= 0; k3 -= 1) {
                scratch[((((k3 * blockDim.x) / 32u)) & 255)] = 3;
                long long v4 = p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) * blockIdx.x)];
                sum_ += v4;
            }
        }
    }
    sum_ += p1[blockDim.x];
    long long l5 = 16;
    for (int k6 = (int)blockIdx.x - 1; k6 >= 0; k6 -= 2) {
        p1[(short)blockDim.x] = (long long)(sum_ + 1);
        sum_ = 1;
        long long v7 = (p1 + (((k6 * k6) % 32u) * (size_t)threadIdx.x))[1];
        sum_ += v7;
    }
    #pragma unroll 2
    for (int k8 = (int)blockIdx.x - 1; k8 >= 0; k8 -= 1) {
        long long v9 = (p1 + ((blockIdx.x * threadIdx.x) + (l5 | (short)threadIdx.x)))[2];
        sum_ += v9;
        p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (long long)(sum_ + 1);
    }
    long long &r10 = p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)];
    r10 = (long long)sum_;
}
// end

// kernel k29
extern "C" __global__ void k29(rgb *p1, int n2, unsigned *p3)
{
    extern __shared__ float dynamic[];
    long long sum_ = 1;
    sum_ += atomicMax(&p3[(p3[((short)blockIdx.x * blockDim.z)] & 1023)], (unsigned)3);
    dynamic[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 255] = (float)sum_;
    __syncthreads();
    sum_ += dynamic[(steps[((blockDim.z + blockDim.z)) & 15]) & 255];
    unsigned &r5 = p3[32];
    r5 = (unsigned)sum_;
}
// end

// kernel k30
extern "C" __global__ void k30(float4 *p1, char *__restrict__ p2, float *p3, int n4, int n5, int n6)
{
    int sum_ = 1;
    for (unsigned i7 = threadIdx.x; i7 < n6; i7 += blockDim.x) {
        sum_ += p2[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
        p3[(i7 * blockIdx.y)] = (float)sum_;
    }
    float *q8 = p3 + blockDim.x;
    sum_ += atomicAdd_block(&q8[min((unsigned)(((blockIdx.y + blockIdx.z) << 3)), (unsigned)((int)(blockIdx.z * blockDim.z + threadIdx.z)))], (float)1);
    int k9 = 0;
    while (k9 < (int)blockIdx.y) {
        k9 += 1;
        (*(volatile float *)&q8[min((int)(threadIdx.z), (int)(k9))]) = (float)1;
    }
    weights[((__umulhi((unsigned)((blockDim.z - blockDim.z)), 0x40000000u)) & 2047) & 63][((gridDim.x >> 4)) & 31] = 1.0f;
    float4 &r10 = p1[blockIdx.z];
    r10 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k31
extern "C" __global__ void k31(const double *p1, int n2, int n3, int n4, int *p6)
{
    float sum_ = 1;
    for (int i5 = threadIdx.x; i5 < n2; i5 += blockDim.x) {
        { asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" 
          :: "l"(__cvta_generic_to_global(&p6[((i5 < gridDim.x) ? i5 : gridDim.x)])), "r"(7), "r"((int)((((long long)n3 * n4) % gridDim.x) < (int)blockIdx.x)) : "memory"); }
        p6[(unsigned long long)(n3)] = (int)(sum_ + 1);
        sum_ = 0;
        if ((max((int)(blockIdx.x), (int)(n4)) + ((n2 >= i5) ? n2 : i5)) >= i5) break;
        if (7 < i5) {
            (*(p6 + (i5 + blockDim.x))) = (int)sum_;
            if (((i5 < n2) || ((size_t)(blockIdx.x * blockDim.x + threadIdx.x) > i5)) && (i5 < n4)) {
                ((n4 < i5) ? p6 : p6)[n3] = (int)(sum_ + 1);
            }
        } else {
            #pragma unroll 2
            for (short k7 = 2; k7 < (short)n3; k7 += 1) {
                double v8 = (p1 + (int)(blockIdx.x * blockDim.x + threadIdx.x))[1];
                sum_ += v8;
                p6[((max((unsigned)((int)(blockIdx.x * blockDim.x + threadIdx.x)), (unsigned)(blockIdx.x)) < i5) ? (long long)n2 : 64)] = (int)(sum_ + 1);
            }
        }
    }
    sum_ += atomicAdd_system(&p6[n3], (int)3);
    int &r9 = p6[(((long long)n3 / gridDim.x) * (short)blockIdx.x)];
    r9 = (int)sum_;
}
// end

// kernel k32
extern "C" __global__ void k32(double *p1, uchar4 *p2, double *__restrict__ p3, const int *p9)
{
    int sum_ = 1;
    if (blockDim.z > threadIdx.x) {
        p2[(((long long)blockDim.y + blockDim.x) / gridDim.x)].w = 7;
    } else if ((blockDim.x < 2) && (0 != threadIdx.x)) {
        for (int k4 = 0; k4 < (int)3; k4 += 1) {
            (*(volatile double *)&p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)]) = 1;
        }
    }
    int b6 = (int)((size_t)(blockIdx.x * blockDim.x + threadIdx.x)) * blockIdx.x, e7 = min(b6 + (int)blockIdx.x, 2000);
    for (int k5 = b6; k5 < e7; k5++) {
        int b10 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * ((p9[min((unsigned)((blockDim.x / 1u)), (unsigned)(k5))] & 63) & 7), e11 = min(b10 + (int)((p9[min((unsigned)((blockDim.x / 1u)), (unsigned)(k5))] & 63) & 7), 100000);
        for (int k8 = b10; k8 < e11; k8++) {
            double v12 = (p3 + ((threadIdx.y - k8) & 1023))[8];
            sum_ += v12;
            p2[(p9[(threadIdx.x * 4)] & 7)] = make_uchar4((unsigned char)(sum_ + 1), 1, 2, 3);
        }
        uchar4 v13 = (p2 + (max((unsigned)(scaled((int)(gridDim.x), (int)(k5))), (unsigned)(k5)) & 2047))[1];
        sum_ += v13.y;
    }
    uchar4 &r14 = p2[((int)(blockDim.x) + (threadIdx.y + threadIdx.x))];
    r14 = make_uchar4((unsigned char)sum_, 1, 2, 3);
}
// end

// kernel k33
extern "C" __global__ void k33(unsigned *p1, double *p2, int *__restrict__ p3, unsigned char n4, int n12, int n13, int n14)
{
    float sum_ = 1;
    int b6 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * 3, e7 = min(b6 + (int)3, 100000);
    for (int k5 = b6; k5 < e7; k5++) {
        for (int i8 = threadIdx.x; i8 < n4; i8 += blockDim.x) {
            double *q9 = p2 + 16;
        }
        (*(volatile int *)&p3[(((unsigned)blockDim.x <= (int)blockIdx.x) ? (blockIdx.x + blockIdx.z) : (blockIdx.x * blockDim.x + threadIdx.x))]) = (int)sum_;
    }
    if ((!(!(!(4 != gridDim.x)))) || (((size_t)n4 <= (short)blockIdx.z) && (threadIdx.x == gridDim.x))) {
        p1[blockIdx.z] = (unsigned)sum_;
        sum_ = sum_ * 0.5;
    }
    int x10 = blockIdx.x * blockDim.x + threadIdx.x;
    int y11 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x10 < n12 && y11 < n13) {
        int &r15 = p3[(n14 * y11 + x10) * 3 + 0];
        r15 = (int)sum_;
        sum_ += p2[(n14 * y11 + x10) * 3 + 0];
    }
    double *w16 = p2 + (n4 * n4);
    double *e18 = w16 + n13;
    for (; w16 < e18; w16 += 1) { (*w16) = 1; }
    unsigned &r19 = p1[(((2 + (int)blockIdx.z) - (blockIdx.x >> 4)) % 4u)];
    r19 = (unsigned)sum_;
}
// end

// kernel k34
extern "C" __global__ void k34(record *p1, long long *__restrict__ p2, unsigned n3, unsigned char n4, unsigned n5, long long n6)
{
    long long sum_ = 1;
    if (blockDim.x < (int)threadIdx.x) {
        record *q7 = p1 + (((blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.y) ? (int)(blockIdx.x * blockDim.x + threadIdx.x) : (n5 * n6));
    } else {
        sum_ += p1[32].weight;
    }
    long long &r8 = p2[((n5 >> 4) & 7)];
    r8 = (long long)sum_;
}
// end

// kernel k35
extern "C" __global__ void k35(const short *__restrict__ p1, const float4 *__restrict__ p2, unsigned n3, int *p5)
{
    float sum_ = 1;
    for (int k4 = (int)blockDim.y - 1; k4 >= 0; k4 -= 2) {
        sum_ += p1[max((long long)(((long long)gridDim.z * blockIdx.x)), (long long)(((unsigned)gridDim.z * threadIdx.x)))];
        { asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" 
          :: "l"(__cvta_generic_to_global(&p5[blockDim.y])), "r"(7), "r"((int)(0 >= blockDim.x)) : "memory"); }
    }
    p5[(size_t)(threadIdx.x)] = (int)(sum_ + 1);
    const short *q6 = p1 + (size_t)(n3);
    int &r7 = p5[(0 + (size_t)n3)];
    r7 = (int)sum_;
}
// end

// kernel k36
extern "C" __global__ void k36(short *p1, unsigned n2, int n3)
{
    float sum_ = 1;
    ((blockIdx.y < n3) ? p1 : p1)[((((size_t)(blockIdx.x * blockDim.x + threadIdx.x) << 0) >= threadIdx.z) ? (unsigned long long)(blockDim.x) : (n2 % blockDim.y))] = (short)sum_;
    sum_ = 0;
    short &r4 = p1[(blockDim.y * blockDim.x)];
    r4 = (short)sum_;
}
// end

// kernel k37
extern "C" __global__ void k37(float *__restrict__ p1, int n2, unsigned long long n3, unsigned n4, int n9, unsigned n10, int n11)
{
    int sum_ = 1;
    for (int k5 = (int)10 - 1; k5 >= 0; k5 -= 1) {
        if (k5 <= k5) {
            #pragma unroll 2
            for (unsigned i6 = threadIdx.x; i6 < n3; i6 += blockDim.x) {
                int x7 = blockIdx.x * blockDim.x + threadIdx.x;
                int y8 = blockIdx.y * blockDim.y + threadIdx.y;
                if (x7 < n9 && y8 < n10) {
                    float &r12 = p1[y8 * n11 + x7];
                    r12 = (float)sum_;
                    sum_ += p1[y8 * n11 + x7];
                }
            }
            float v13 = p1[(8 + k5)];
            sum_ += v13;
        } else {
            if ((int)blockDim.x < blockIdx.y) {
                if (k5 <= n10) return;
                (p1 + (unsigned char)(k5))[1] = (float)(sum_ + 1);
            }
        }
        if ((k5 < k5) || (k5 < k5)) {
            if ((n4 > k5) && (blockIdx.z < n4)) {
                p1[((int)(blockIdx.z * blockDim.z + threadIdx.z) + (k5 * k5))] = (float)sum_;
            }
            scratch[(((~(gridDim.x + n2))) & 2047)] = 3;
        } else if (blockIdx.x != n2) {
            #pragma unroll 1
            for (int k14 = (int)n10 - 1; k14 >= 0; k14 -= 1) {
                float *q15 = p1 + n11;
                float *x16 = p1, *y17 = q15;
                for (int k19 = 0; k19 < 10; k19++) {
                    x16[(((blockIdx.y == threadIdx.x) ? k14 : k14) / gridDim.x)] = y17[(((int)((float)(int)(k5 & 1023) * 0.8f) % 32) + ((k14 >> 1) * k14)) ];
                    float *z18 = x16; x16 = y17; y17 = z18;
                }
            }
        } else {
            if (((k5 != k5) || (k5 < 64)) && (n9 != n2)) {
                if ((!(k5 < k5)) || (n10 > k5)) {
                    p1[k5] = (float)(sum_ + 1);
                    p1[n11] = (float)(sum_ + 1);
                } else if ((size_t)threadIdx.y > blockDim.z) {
                    ((k5 == k5) ? p1 : p1)[((threadIdx.x > 16) ? (unsigned)n10 : (signed char)(__popc((unsigned)(threadIdx.z))))] = (float)(sum_ + 1);
                }
            }
        }
    }
    for (size_t i20 = threadIdx.x; i20 < n11; i20 += blockDim.x) {
        if ((((n3 - i20) >> 0) < i20) && (i20 > i20)) return;
    }
    float &r21 = p1[blockIdx.z];
    r21 = (float)sum_;
}
// end

// kernel k38
extern "C" __global__ void k38(const char *p1, unsigned long long n2, signed char n3, unsigned long long n4, int *p5, int n11, int n12)
{
    float sum_ = 1;
    if ((unsigned)blockIdx.x >= (int)blockDim.y) {
        int *w6 = p5 + ((((long long)(((long long)blockIdx.z * blockDim.z + threadIdx.z)) >= blockIdx.x) ? (blockIdx.y ^ blockDim.x) : n4) << 3);
        int *e8 = w6 + threadIdx.y;
        for (; w6 < e8; w6++) { (*w6) = (int)1; }
        sum_ += steps[(((1 + __clz((int)(threadIdx.x)))) & 63) & 15];
    } else if ((size_t)(blockIdx.x * blockDim.x + threadIdx.x) <= n2) {
        int x9 = blockIdx.x * blockDim.x + threadIdx.x;
        int y10 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x9 < n11 && y10 < n12) {
            int &r13 = p5[y10 * n11 + x9];
            r13 = (int)sum_;
            sum_ += p1[y10 * n11 + x9 - 1];
        }
    }
    for (size_t i14 = blockIdx.x * blockDim.x + threadIdx.x; i14 < n11; i14 += gridDim.x * blockDim.x) {
        p5[(i14 % blockDim.x)] = (int)(sum_ + 1);
        sum_ = 1;
        for (int i15 = threadIdx.x; i15 < n11; i15 += blockDim.x) {
            p5[min((long long)((unsigned)blockIdx.y), (long long)(blockDim.z))] = (int)1;
        }
        if (i14 == i14) continue;
        const char *q16 = p1 + (short)blockDim.z;
    }
    int &r17 = p5[n11];
    r17 = (int)sum_;
}
// end

// kernel k39
extern "C" __global__ void k39(char *p1, const int *p2, unsigned n3)
{
    int sum_ = 1;
    sum_ += (p2 + (unsigned)((gridDim.z * gridDim.z)))[1];
    p1[(((int)(blockIdx.x * blockDim.x + threadIdx.x) * blockIdx.y) * gridDim.x)] = (char)1;
    char &r4 = p1[gridDim.x];
    r4 = (char)sum_;
}
// end

// kernel k40
extern "C" __global__ void k40(const int *__restrict__ p1, const short2 *p2, unsigned *p3, unsigned char n4, size_t n5)
{
    int sum_ = 1;
    size_t l6 = blockDim.y;
    unsigned &r7 = p3[((unsigned long long)(((threadIdx.y < gridDim.x) ? n5 : gridDim.y)) % 1000u)];
    r7 = (unsigned)sum_;
}
// end

// kernel k41
extern "C" __global__ void k41(short2 *p1, const record *p2, double *__restrict__ p3)
{
    int sum_ = 1;
    short2 v4 = ((blockDim.x < threadIdx.x) ? p1 : p1)[(__popc((unsigned)(((!(!(gridDim.y > blockIdx.y))) ? 1 : blockIdx.y))) << (threadIdx.x & 7))];
    sum_ += v4.x + v4.y;
    const record *q5 = p2 + ((-(int)(blockIdx.x * blockDim.x + threadIdx.x)) & 127);
    double &r6 = p3[(blockIdx.y * blockDim.y + threadIdx.y)];
    r6 = sum_;
}
// end

// kernel k42
extern "C" __global__ void k42(short *p1, unsigned *__restrict__ p2, const double *__restrict__ p3, long long n4, short n5, unsigned n6, int n7)
{
    int sum_ = 1;
    (p1 + ((long long)((blockDim.x - blockDim.x)) & 127))[1] = (short)(sum_ + 1);
    sum_ += scratch[((n7) & 2047) + 7];
    unsigned &r8 = p2[(threadIdx.z << 2)];
    r8 = (unsigned)sum_;
}
// end

// kernel k43
extern "C" __global__ void k43(unsigned *p1, double *__restrict__ p2, const int *p3, short n4)
{
    int sum_ = 1;
    double *q5 = p2 + blockIdx.y;
    (*(volatile double *)&q5[blockDim.y]) = sum_;
    double &r6 = q5[(min((int)(blockIdx.x), (int)(n4)) >> 0)];
    r6 = sum_;
}
// end

// kernel k44
struct k44_struct5 { char *f6; short f7; unsigned char *f8; int4 *f9; };
extern "C" __global__ void k44(short *p1, unsigned n2, unsigned short n3, unsigned n4, k44_struct5 s5)
{
    long long sum_ = 1;
    s5.f6[(int)((int)(blockIdx.y * blockDim.y + threadIdx.y))] = (char)1;
    if ((((int)blockIdx.y < threadIdx.x) || (gridDim.x < blockIdx.y)) && (threadIdx.y < threadIdx.y)) {
        s5.f9[((threadIdx.x + n4) * blockDim.y)] = make_int4((int)(sum_ + 1), 1, 2, 3);
        sum_ = 0;
    }
    size_t l10 = (signed char)(((32 >> 3) + s5.f7));
    unsigned char v11 = s5.f8[((long long)(blockIdx.y * blockDim.y + threadIdx.y) / gridDim.x)];
    sum_ += v11;
    int4 &r12 = s5.f9[((100 - (size_t)threadIdx.y) & blockDim.y)];
    r12 = make_int4((int)sum_, 1, 2, 3);
}
// end

// kernel k45
extern "C" __global__ void k45(const rgb *__restrict__ p1, int *p2, rgb *p3, unsigned long long n4, signed char n5, int n14, int n15)
{
    int sum_ = 1;
    if (n4 != n4) return;
    for (int k6 = (int)16 - 1; k6 >= 0; k6 -= 1) {
        for (int g7 = 1; g7 < (int)blockDim.x; g7 *= 2) {
            put_int(p2, (__popc((unsigned)(n4)) ^ 127), 5);
        }
        switch (((k6 ^ k6)) & 7) {
        case 0: {
            sum_ += p3[(p2[k6] & 1023)].r;
        } break;
        case 1: {
            rgb v8 = p3[k6];
            sum_ += v8.g + v8.b;
        } break;
        case 2: {
            rgb *w9 = p3 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
            rgb *e11 = w9 + 16;
            for (; w9 < e11; w9++) { (*w9).g = (unsigned char)1; }
        } break;
        case 3: {
            if ((k6 <= k6) && ((k6 < k6) || (!(n5 == (int)n5)))) {
                sum_ += p3[((unsigned long long)(((n4 * k6) << 6)) % 3u)].r;
                int x12 = blockIdx.x * blockDim.x + threadIdx.x;
                int y13 = blockIdx.x * blockDim.x + threadIdx.x;
                if (x12 < n14 && y13 < n15) {
                    rgb &r16 = p3[(y13 + 1) * n14 + x12 + 1];
                    r16.g = (unsigned char)sum_;
                    sum_ += p3[y13 * n14 + x12 - 1].r;
                }
            }
        }
        case 4: {
            p3[2].g = (unsigned char)sum_;
            sum_ = 1;
        } break;
        }
    }
    int &r17 = p2[(((n5 > blockIdx.x) ? ((short)blockDim.x + (long long)threadIdx.x) : (signed char)(n14)) + ((((((n14 != threadIdx.x) ? n14 : threadIdx.x) % n15) > blockDim.x) ? threadIdx.x : n14) * (short)blockIdx.x))];
    r17 = (int)sum_;
}
// end

// kernel k46
extern "C" __global__ void k46(const int *p1, const int *p2, int *p3, int n4, int n5, signed char n6, int n7)
{
    int sum_ = 1;
    switch (((n5 ^ 255)) & 7) {
    case 0: {
        if ((1 >= 64) && (32 < 16)) {
            for (unsigned g8 = blockDim.x / 2; g8 > 0; g8 >>= 1) {
                put_int(p3, g8, 5);
            }
        } else if (((short)blockDim.x != n5) || (n7 < (unsigned)gridDim.x)) {
            if (threadIdx.x < threadIdx.x) {
                sum_ += descend(p3, (int)(p1[((size_t)blockIdx.x * blockDim.x + threadIdx.x)] & 7), 0);
                int v9 = (*(p2 + (p2[(int)(blockIdx.x * blockDim.x + threadIdx.x)] & 7)));
                sum_ += v9;
            } else if (threadIdx.x > n5) {
                { asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" 
                  :: "l"(__cvta_generic_to_global(&p3[((unsigned long long)((((!(blockIdx.x < (unsigned)blockDim.x)) ? (unsigned)n7 : n4) + (blockDim.y - (size_t)threadIdx.y))) % 4096u)])), "r"(7), "r"((int)((((int)threadIdx.x / 1u) * blockIdx.x) < blockIdx.x)) : "memory"); }
            } else if (!((((size_t)n6 | 31) * blockIdx.x) < n7)) {
                p3[(int)((float)(int)((unsigned char)((blockDim.x - blockIdx.y)) & 1023) * 0.3f)] = (int)(sum_ + 1);
                sum_ = 0;
            }
        }
    }
    case 1: {
        sum_ += __ldg(&p3[((n6 * (size_t)blockDim.y) & 2047)]);
    } break;
    }
    int &r10 = p3[min((long long)((blockIdx.x << 0)), (long long)((unsigned)blockIdx.y))];
    r10 = (int)sum_;
}
// end

// kernel k47
extern "C" __global__ void k47(unsigned *__restrict__ p1, unsigned long long n2, long long n3, int n4)
{
    float sum_ = 1;
    if (((((short)threadIdx.x > n4) ? p1 : p1)[((blockDim.y <= n3) ? n2 : (blockIdx.y % 8u))] & 7) > 3) {
        if ((blockDim.y < blockIdx.x) && ((signed char)((n3 - n2)) == gridDim.z)) {
            for (size_t i5 = blockIdx.x * blockDim.x + threadIdx.x; i5 < n2; i5 += gridDim.x * blockDim.x) {
                if ((blockIdx.y >= n4) && (!(i5 > i5))) {
                    ((i5 != i5) ? p1 : p1)[((((long long)blockIdx.x * blockDim.x + threadIdx.x) % blockDim.x) % 10u)] = (unsigned)sum_;
                    p1[(blockIdx.x * i5)] = (unsigned)sum_;
                }
                scratch[((i5) & 2047)] = 3;
                if (i5 == i5) break;
                #pragma unroll 4
                for (size_t i6 = blockIdx.x * blockDim.x + threadIdx.x; i6 < n2; i6 += gridDim.x * blockDim.x) {
                    p1[(threadIdx.z + i6)] = (unsigned)(sum_ + 1);
                    (*(volatile unsigned *)&p1[((*(p1 + ((((i5 * i6) ^ i6) <= i5) ? ((16 * threadIdx.x) << 3) : (unsigned)((int)(blockIdx.z * blockDim.z + threadIdx.z))))) & 7)]) = (unsigned)sum_;
                    if ((int)n2 < blockIdx.x) break;
                    (*(volatile unsigned *)&p1[(i6 << 3)]) = (unsigned)sum_;
                    sum_ = sum_ * 0.5;
                }
            }
        } else {
            atomicOr_block(&p1[max((unsigned)(blockDim.y), (unsigned)(blockIdx.z))], (unsigned)3);
        }
        unsigned *q8 = p1 + ((size_t)blockIdx.z + ((16 != blockDim.y) ? blockDim.z : gridDim.z));
    } else if (gridDim.z > blockIdx.z) {
        p1[(long long)(blockIdx.x * blockDim.x + threadIdx.x)] = (unsigned)sum_;
    }
    unsigned &r9 = p1[threadIdx.x];
    r9 = (unsigned)sum_;
}
// end

// kernel k48
extern "C" __global__ void k48(double *p1, int n2, float **t3, int n9, unsigned n10, int n16, unsigned n17, int n18)
{
    long long sum_ = 1;
    double *w4 = p1 + (unsigned)(((long long)(blockIdx.y) + __clz((int)(gridDim.x))));
    double *e6 = w4 + threadIdx.x;
    for (; w4 < e6; w4 += 1) { (*w4) = 1; }
    unsigned x7 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y8 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x7 < n9 && y8 < n10) {
        float &r11 = t3[6][(n9 * y8 + x7) * 3 + 2];
        r11 = (float)sum_;
        sum_ += t3[6][y8 * n9 + x7 - 1];
    }
    for (int i12 = blockIdx.x * blockDim.x + threadIdx.x; i12 < n2; i12 += gridDim.x * blockDim.x) {
        (*(volatile float *)&t3[6][min((int)(i12), (int)(i12))]) = (float)1;
        sum_ = 0;
        sum_ += scratch[((((i12 * blockIdx.x) % 33)) & 63) + 7];
    }
    if (4 != 100) {
        sum_ += (*(volatile float *)&t3[6][(int)(blockIdx.y)]);
    } else {
        #pragma unroll 2
        for (short k13 = 0; k13 < (short)n10; k13 += 2) {
            int x14 = blockIdx.x * blockDim.x + threadIdx.x;
            int y15 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x14 < n16 && y15 < n17) {
                float &r19 = t3[6][(y15 + 1) * n18 + x14 + 1];
                r19 = (float)sum_;
                sum_ += p1[(y15 + 2) * n18 + x14];
            }
        }
    }
    float &r20 = t3[6][((int)(blockIdx.x * blockDim.x + threadIdx.x) + ((size_t)blockIdx.y * blockDim.y + threadIdx.y))];
    r20 = (float)sum_;
}
// end

// kernel k49
extern "C" __global__ void k49(char *p1, unsigned n2)
{
    float sum_ = 1;
    char *w3 = p1 + n2;
    for (int c4 = 0; c4 < threadIdx.z; c4++, w3 += 2) { (*w3) = (char)1; }
    int l5 = (blockIdx.y * blockDim.y + threadIdx.y);
    char &r6 = p1[(blockIdx.y * blockDim.y + threadIdx.y)];
    r6 = (char)sum_;
}
// end

// kernel k50
struct k50_struct4 { unsigned *f5[3]; unsigned f6; unsigned f7; };
extern "C" __global__ void k50(const rgb *__restrict__ p1, double *p2, int n3, k50_struct4 s4)
{
    float sum_ = 1;
    double *w8 = p2 + (long long)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int c9 = 0; c9 < blockIdx.x; c9++, w8 += 1) { (*w8) = 1; }
    s4.f5[0][((int)(blockIdx.x * blockDim.x + threadIdx.x) + (((int)(blockIdx.x * blockDim.x + threadIdx.x) >= 1) ? s4.f7 : blockDim.x))] = (unsigned)sum_;
    double &r10 = p2[(long long)(blockIdx.x * blockDim.x + threadIdx.x)];
    r10 = sum_;
}
// end

// kernel k51
extern "C" __global__ void k51(char *p1, const unsigned *p2, unsigned n3, int n4, int n5, unsigned *p6)
{
    long long sum_ = 1;
    sum_ += __ldg(&p2[((*(p2 + (size_t)((blockIdx.z << 4)))) & 63)]);
    p1[(gridDim.x >> 6)] = (char)1;
    sum_ = 1;
    sum_ += atomicAdd_system(&p6[((n5 + n3) << (threadIdx.y & 7))], (unsigned)3);
    if ((blockIdx.z < gridDim.x) && (blockDim.x < n3)) return;
    unsigned &r7 = p6[__clz((int)(threadIdx.z))];
    r7 = (unsigned)sum_;
}
// end

// kernel k52
struct k52_struct5 { double *f6; float2 *f7; };
extern "C" __global__ void k52(int *p1, signed char n2, int n3, signed char n4, k52_struct5 s5)
{
    int sum_ = 1;
    double v8 = (s5.f6 + n4)[1];
    sum_ += v8;
    s5.f6[(int)blockDim.x] = (sum_ + 1);
    int *x9 = p1, *y10 = p1;
    for (int k12 = 0; k12 < blockIdx.x; k12++) {
        x9[((size_t)blockIdx.x & 12)] = y10[(((32 - n2) - ((long long)n3 + n3)) & 127) ];
        int *z11 = x9; x9 = y10; y10 = z11;
    }
    double &r13 = s5.f6[((blockDim.x <= 1) ? steps[(n3) & 15] : (n2 >> 2))];
    r13 = sum_;
}
// end

// kernel k53
extern "C" __global__ void k53(int *p1, int4 *__restrict__ p2, unsigned *__restrict__ p3, int n4, int n7)
{
    int sum_ = 1;
    sum_ += sum(((((blockIdx.x * threadIdx.x) * 31) <= (int)blockIdx.x) ? p2 : p2)[(size_t)(blockIdx.x * blockDim.x + threadIdx.x)]);
    for (int k5 = (int)16 - 1; k5 >= 0; k5 -= 1) {
        put_int(p1, (__umulhi((unsigned)((int)(blockIdx.x * blockDim.x + threadIdx.x)), 0x40000000u) & 1), 5);
    }
    sum_ += __ldg(&p1[((unsigned)blockIdx.x + blockIdx.x)]);
    switch ((threadIdx.x) & 7) {
    case 0: {
        p1[blockIdx.x] = (int)sum_;
    } break;
    case 1: {
        p3[(threadIdx.x >> 3)] = (unsigned)sum_;
        sum_ = sum_ * 0.5;
    } break;
    }
    for (unsigned i6 = blockIdx.x * blockDim.x + threadIdx.x; i6 < n7; i6 += gridDim.x * blockDim.x) {
        ((i6 <= i6) ? p1 : p1)[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (int)1;
    }
    unsigned &r8 = p3[(long long)(blockIdx.x * blockDim.x + threadIdx.x)];
    r8 = (unsigned)sum_;
}
// end

// kernel k54
extern "C" __global__ void k54(const short *__restrict__ p1, double *p2, const float *__restrict__ p3, unsigned char n4, int n5, unsigned long long n6, int n10, unsigned n11)
{
    long long sum_ = 1;
    if ((p1[(blockIdx.y * blockDim.y + threadIdx.y)] & 7) > 3) {
        if ((p1[((long long)blockIdx.x * blockDim.x + threadIdx.x)] & 1023) > 3) {
            if (blockIdx.y < gridDim.z) {
                ((blockDim.x > blockDim.z) ? p2 : p2)[((gridDim.y * threadIdx.x) | 1)] = (sum_ + 1);
            } else if ((((unsigned)blockDim.y * threadIdx.x) << 1) < 7) {
                sum_ += p2[(int)gridDim.y];
            } else {
                p2[((int)gridDim.y + gridDim.z)] = (sum_ + 1);
                sum_ = sum_ * 0.5;
            }
        }
    } else {
        sum_ += get_float(p3, (int)(threadIdx.x));
    }
    double v7 = p2[((int)threadIdx.z & 7)];
    sum_ += v7;
    if (((size_t)n4 < blockIdx.z) && ((int)n5 > threadIdx.x)) {
        int x8 = blockIdx.x * blockDim.x + threadIdx.x;
        int y9 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x8 < n10 && y9 < n11) {
            double &r12 = p2[y9 * n10 + x8];
            r12 = sum_;
            sum_ += p2[y9 * n10 + x8];
        }
    } else {
        for (short k13 = 0; k13 <= (short)blockDim.y; k13 += 1) {
            if ((!(k13 > k13)) && ((blockDim.x < k13) && ((int)(blockIdx.z * blockDim.z + threadIdx.z) < k13))) {
                if (((1 > threadIdx.x) || ((long long)((size_t)(blockIdx.z * blockDim.z + threadIdx.z)) > blockDim.z)) || (k13 < k13)) {
                    p2[k13] = sum_;
                    sum_ = 1;
                }
                const float *q14 = p3 + k13;
            }
            if (k13 == n10) continue;
            ((((n10 < k13) ? ((31 <= k13) ? k13 : 1) : (int)(blockIdx.z)) < threadIdx.y) ? p2 : p2)[threadIdx.z] = sum_;
        }
    }
    p2[(((n4 << 5) + (blockDim.z & 240)) % 16)] = sum_;
    sum_ = 0;
    switch (((2 + blockDim.z)) & 7) {
    case 0: {
        atomicAdd_block(&p2[((32 < 4) ? blockIdx.x : threadIdx.z)], (double)1);
    } break;
    case 1: {
        atomicAdd_block(&p2[gridDim.z], (double)1);
    } break;
    }
    double &r15 = p2[(long long)blockIdx.y];
    r15 = sum_;
}
// end

// kernel k55
extern "C" __global__ void k55(long long *p1, unsigned *p2, int n6)
{
    int sum_ = 1;
    (*(volatile unsigned *)&p2[max((long long)(((int)blockIdx.y + blockIdx.x)), (long long)(__popc((unsigned)((short)threadIdx.z))))]) = (unsigned)1;
    atomicMin_block(&p2[(((blockIdx.x > blockIdx.x) ? ((int)threadIdx.z << (blockDim.y & 7)) : (blockIdx.y - 4)) & 8191)], (unsigned)3);
    atomicCAS_block(&p2[(32 - blockIdx.x)], 1, (unsigned)3);
    for (int k3 = (int)2 - 1; k3 >= 0; k3 -= 2) {
        long long v4 = (*(p1 + ((k3 < gridDim.y) ? ((blockDim.y * k3) & k3) : (((long long)blockIdx.y * blockDim.y + threadIdx.y) | 15))));
        sum_ += v4;
    }
    if (((blockIdx.x != threadIdx.z) || (((size_t)blockIdx.z * blockDim.z + threadIdx.z) < (int)threadIdx.x)) && (((int)(blockIdx.y * blockDim.y + threadIdx.y) & gridDim.y) >= blockIdx.y)) {
        #pragma unroll 2
        for (unsigned i5 = threadIdx.x; i5 < n6; i5 += blockDim.x) {
            p2[(i5 << (i5 & 7))] = (unsigned)sum_;
        }
    } else if (((((((blockIdx.x < blockDim.y) ? (n6 * threadIdx.y) : ((((((((min((unsigned)(blockDim.x), (unsigned)(threadIdx.z)) & threadIdx.z) <= threadIdx.z) ? ((unsigned)blockIdx.x / 100) : (threadIdx.z / blockDim.y)) > blockDim.y) ? blockIdx.y : threadIdx.y) - (threadIdx.x * threadIdx.y)) == blockDim.z) ? gridDim.y : blockDim.x)) < gridDim.y) ? blockDim.y : 3) & blockDim.z) < (int)n6) && (blockDim.y <= blockIdx.z)) {
        sum_ += p2[(((unsigned)threadIdx.x < 64) ? (unsigned)blockDim.z : blockIdx.y)];
    }
    unsigned &r7 = p2[((int)(blockIdx.z * blockDim.z + threadIdx.z) + n6)];
    r7 = (unsigned)sum_;
}
// end

// kernel k56
struct k56_struct6 { unsigned f7; int4 *f8; };
extern "C" __global__ void k56(char *p1, char *__restrict__ p2, record *p3, int n4, unsigned char n5, k56_struct6 s6)
{
    long long sum_ = 1;
    unsigned h9 = __ballot_sync(__activemask(), (threadIdx.y <= blockDim.z));
    record &r10 = p3[gridDim.y];
    r10.id = 1, r10.tag = 2;
}
// end

// kernel k57
struct k57_struct4 { int f5; float *f6[2]; short *f7[2]; short *f8; };
extern "C" __global__ void k57(float *p1, short *p2, const float *p3, k57_struct4 s4)
{
    int sum_ = 1;
    unsigned h9 = __ballot_sync(__activemask(), (((blockIdx.x / blockDim.y) + (100 + blockIdx.x)) > blockIdx.x));
    s4.f6[(unsigned)((long long)(blockDim.x)) % 2u][((((unsigned)__popc(h9) <= (long long)gridDim.x) ? (threadIdx.y | (unsigned)threadIdx.x) : (blockDim.x - s4.f5)) & 2047)] = (float)sum_;
    float &r10 = p1[min((long long)((int)(blockIdx.x * blockDim.x + threadIdx.x)), (long long)(((blockIdx.x < blockDim.x) ? gridDim.x : (int)blockIdx.y)))];
    r10 = (float)sum_;
}
// end

// kernel k58
extern "C" __global__ void k58(unsigned char *p1, long long *__restrict__ p2, short n3, short n4, int n5, int n6, int n9, const int *p10, int *__restrict__ p14)
{
    int sum_ = 1;
    for (int g7 = 1; g7 < (int)16; g7 <<= 1) {
        if (blockIdx.y != blockIdx.z) return;
    }
    for (unsigned i8 = blockIdx.x * blockDim.x + threadIdx.x; i8 < n9; i8 += gridDim.x * blockDim.x) {
        p2[((*(p10 + ((unsigned)(scaled((int)((((i8 > i8) ? i8 : i8) & blockIdx.z)), (int)(i8))) % 30000u))) & 1023)] = (long long)1;
    }
    int b12 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * 16, e13 = min(b12 + (int)16, 100000);
    for (int k11 = b12; k11 < e13; k11++) {
        sum_ += atomicOr(&p14[(((int)(blockIdx.z * blockDim.z + threadIdx.z) + (blockIdx.z * blockDim.z + threadIdx.z)) >> 3)], (int)3);
        p2[k11] = (long long)sum_;
        sum_ = 1;
    }
    for (int k15 = (int)1 - 1; k15 >= 0; k15 -= 1) {
        (p1 + k15)[1] = (unsigned char)sum_;
        sum_ = 1;
    }
    int &r16 = p14[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r16 = (int)sum_;
}
// end

// kernel k59
extern "C" __global__ void k59(float *p1, float *p2, const unsigned *p3, size_t n4, unsigned n5, int n6, int n9, int n10)
{
    float sum_ = 1;
    sum_ += get_float(p2, (int)(min((int)(n5), (int)((short)blockDim.x))));
    unsigned x7 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y8 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x7 < n9 && y8 < n10) {
        float &r11 = p1[(n9 * y8 + x7) * 3 + 0];
        r11 = (float)sum_;
        sum_ += p2[y8 * n9 + x7 - 1];
    }
    p2[blockIdx.x] = (float)sum_;
    p1[max((int)((int)(blockIdx.x * blockDim.x + threadIdx.x)), (int)(((blockDim.x != blockIdx.x) ? (n9 + n10) : (4 + n5))))] = (float)sum_;
    float &r12 = p2[(p3[(((threadIdx.x - 100) + (int)((int)blockDim.x)) & 2047)] & 63)];
    r12 = (float)sum_;
}
// end

// kernel k60
extern "C" __global__ void k60(short *__restrict__ p1, int *__restrict__ p2)
{
    int sum_ = 1;
    (((((int)blockIdx.y + 2) + blockIdx.y) > blockDim.x) ? p1 : p1)[((unsigned)((blockIdx.y - gridDim.y)) % 4096u)] = (short)(sum_ + 1);
    p1[((gridDim.x >= 7) ? (threadIdx.x << 1) : blockDim.x)] = (short)sum_;
    short &r3 = p1[(((blockIdx.y * blockIdx.y) * (long long)gridDim.y) ^ 1)];
    r3 = (short)sum_;
}
// end

// kernel k61
extern "C" __global__ void k61(short *p1, int n2, size_t n3, signed char n4, int n5)
{
    long long sum_ = 1;
    sum_ += p1[n4];
    short *x6 = p1, *y7 = p1;
    for (int k9 = 0; k9 < 3; k9++) {
        x6[blockIdx.x] = y7[(int)n5 ];
        short *z8 = x6; x6 = y7; y7 = z8;
    }
    short v10 = p1[(blockIdx.x * blockDim.x)];
    sum_ += v10;
    long long l11 = (n4 * blockIdx.x);
    short &r12 = p1[(((blockIdx.x * blockDim.x + threadIdx.x) == n4) ? n4 : (unsigned)blockIdx.x)];
    r12 = (short)sum_;
}
// end

// kernel k62
extern "C" __global__ void k62(record *p1, double *p2, const double *p3, unsigned long long n4, int n8, int n9, int n13, unsigned n14)
{
    int sum_ = 1;
    sum_ += __ldg(&p3[blockDim.z]);
    if (((2 >= 64) || (blockDim.x != (int)threadIdx.x)) && (((unsigned)n4 < blockDim.x) && (blockIdx.y > blockDim.z))) {
        #pragma unroll 8
        for (int k5 = (int)2 - 1; k5 >= 0; k5 -= 1) {
            unsigned x6 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y7 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x6 < n8 && y7 < n9) {
                double &r10 = p2[y7 * n8 + x6];
                r10 = sum_;
                sum_ += p1[y7 * n8 + x6 - 1].weight + p1[y7 * n8 + x6 - 1].id;
            }
            int x11 = blockIdx.x * blockDim.x + threadIdx.x;
            int y12 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x11 < n13 && y12 < n14) {
                record &r15 = p1[y12 * n13 + x11];
                r15.tag = (short)sum_;
                sum_ += p2[y12 * n13 + x11];
            }
        }
    }
    if ((blockDim.x != blockDim.z) && (blockIdx.y > blockIdx.x)) {
        p2[(((size_t)blockIdx.x * blockDim.x + threadIdx.x) + (blockDim.x + (int)n14))] = sum_;
        sum_ = 0;
        sum_ += (*(volatile double *)&p2[(blockIdx.y * blockDim.y + threadIdx.y)]);
    }
    record v17 = p1[(int)blockIdx.y];
    sum_ += v17.weight + v17.id;
    double &r18 = p2[(((long long)blockIdx.x * blockDim.x + threadIdx.x) / n8)];
    r18 = sum_;
}
// end

// kernel k63
extern "C" __global__ void k63(const double *p1, float2 *__restrict__ p2, const int *p3, int n4, int n5, int n6, unsigned short n7, int *p8, int n11, int n12)
{
    int sum_ = 1;
    sum_ += atomicExch(&p8[(size_t)((blockIdx.x * blockDim.x))], (int)3);
    int x9 = blockIdx.x * blockDim.x + threadIdx.x;
    int y10 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x9 < n11 && y10 < n12) {
        float2 &r13 = p2[(n11 * y10 + x9) * 3 + 0];
        r13 = make_float2((float)sum_, 1.0f);
        sum_ += p3[y10 * n11 + x9 - 1];
    }
    p8[((unsigned short)(n6) + (blockIdx.y / gridDim.x))] = (int)sum_;
    int &r14 = p8[((blockDim.z + blockIdx.y) - (-n7))];
    r14 = (int)sum_;
}
// end

// kernel k64
extern "C" __global__ void k64(const unsigned *p1, unsigned n2, int n3, unsigned char n4, short *__restrict__ p5)
{
    int sum_ = 1;
    p5[blockIdx.z] = (short)sum_;
    int l6 = (size_t)blockDim.z;
    short &r7 = p5[(signed char)(blockIdx.z)];
    r7 = (short)sum_;
}
// end

// kernel k65
extern "C" __global__ void k65(const unsigned *__restrict__ p1, const unsigned *p2, unsigned n3, unsigned n4, double *p5)
{
    long long sum_ = 1;
    sum_ += __ldg(&p2[0]);
    double &r6 = p5[(((max((long long)(blockIdx.z), (long long)(blockIdx.z)) >> (blockDim.x & 7)) + ((blockIdx.x - gridDim.x) - (n4 + (short)blockIdx.x))) & 8191)];
    r6 = sum_;
}
// end

// kernel k66
struct k66_struct4 { short *f5[2]; int *f6; };
extern "C" __global__ void k66(long long *p1, int n2, unsigned n3, k66_struct4 s4, int n9, unsigned n10, int n11)
{
    int sum_ = 1;
    int x7 = blockIdx.x * blockDim.x + threadIdx.x;
    int y8 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x7 < n9 && y8 < n10) {
        int &r12 = s4.f6[x7 * n11 + y8];
        r12 = (int)sum_;
        sum_ += p1[x7 * n11 + y8];
    }
    for (unsigned k13 = 2; k13 < (unsigned)4; k13 += 1) {
        p1[(size_t)n2] = (long long)sum_;
    }
    sum_ += steps[((((blockIdx.y + n9) * blockIdx.z)) & 2047) & 15];
    short v14 = s4.f5[1][n11];
    sum_ += v14;
    s4.f6[((n2 + n10) + min((int)(threadIdx.y), (int)((size_t)gridDim.z)))] = (int)sum_;
    short &r15 = s4.f5[1][(n11 / n10)];
    r15 = (short)sum_;
}
// end

// kernel k67
extern "C" __global__ void k67(const uchar4 *p1, int n4, float *p6, const int *p7)
{
    long long sum_ = 1;
    #pragma unroll 1
    for (size_t k2 = 1; k2 < (size_t)3; k2 += 1) {
        for (int i3 = blockIdx.x * blockDim.x + threadIdx.x; i3 < n4; i3 += gridDim.x * blockDim.x) {
            #pragma unroll 1
            for (int k5 = (int)blockIdx.x - 1; k5 >= 0; k5 -= 1) {
                scratch[(((k5 % 100)) & 255)] = 3;
                p6[(p7[((k2 - (int)blockIdx.x) & 1023)] & 1023)] = (float)sum_;
            }
            sum_ += __ldg(&p7[k2]);
        }
        sum_ += p7[k2];
    }
    sum_ += atomicAdd(&p6[((unsigned)(scaled((int)(((((blockIdx.z + (long long)blockDim.x) + (gridDim.x * n4)) >= blockDim.z) ? (int)n4 : (-threadIdx.y))), (int)(blockIdx.x))) % 1000u)], (float)1);
    float &r8 = p6[((blockIdx.z * blockDim.z + threadIdx.z) * blockIdx.x)];
    r8 = (float)sum_;
}
// end

// kernel k68
extern "C" __global__ void k68(const float *__restrict__ p1, const float *p2, const float *p3, unsigned short n4, size_t n5, float2 *p7)
{
    float sum_ = 1;
    sum_ += p3[((unsigned long long)((((8 + 31) * n5) * 31)) % 30000u)];
    unsigned l6 = 7;
    float2 &r8 = p7[((size_t)n4 % 7u)];
    r8 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k69
extern "C" __global__ void k69(double *__restrict__ p1, unsigned char n2, int n6, int n7, int n8, const int *__restrict__ p10)
{
    int sum_ = 1;
    if (n2 < blockIdx.x) {
    } else if (4 < 3) {
        int x4 = blockIdx.x * blockDim.x + threadIdx.x;
        int y5 = blockIdx.x * blockDim.x + threadIdx.x;
        if (x4 < n6 && y5 < n7) {
            double &r9 = p1[y5 * n8 + x4];
            r9 = sum_;
            sum_ += p1[(y5 + 2) * n8 + x4];
        }
    } else if (!(threadIdx.x < n8)) {
        sum_ += p1[n2];
    } else {
        p1[(p10[(int)(blockIdx.x * blockDim.x + threadIdx.x)] & 63)] = sum_;
    }
    if (((4 - 8) * n7) < (size_t)n2) {
        p1[blockIdx.x] = 1;
    }
    sum_ += (*(p10 + (size_t)((blockIdx.x << 5))));
    double &r11 = p1[1];
    r11 = sum_;
}
// end

// kernel k70
extern "C" __global__ void k70(uchar4 *p1, const unsigned *__restrict__ p2, long long *p3, unsigned n4, int *p5)
{
    int sum_ = 1;
    sum_ += atomicExch(&p5[(0 << (blockIdx.z & 7))], (int)3);
    sum_ += p5[(p2[((((((int)gridDim.y * blockDim.x) * blockIdx.z) != blockIdx.y) ? blockIdx.z : threadIdx.x) / 16)] & 7)];
    size_t l6 = (((2 + threadIdx.z) ^ (long long)blockDim.y) + (int)((gridDim.z - blockDim.y)));
    long long &r7 = p3[gridDim.z];
    r7 = (long long)sum_;
}
// end

// kernel k71
extern "C" __global__ void k71(float *p1, short *p2, int4 *__restrict__ p3, int n4, int n5, unsigned n6, int n7, int n10, unsigned n11, int n15, int n16, int n17)
{
    int sum_ = 1;
    switch ((n7) & 7) {
    case 0: {
        if (!((int)n6 > blockDim.x)) return;
    }
    case 1: {
        int x8 = blockIdx.x * blockDim.x + threadIdx.x;
        int y9 = blockIdx.x * blockDim.x + threadIdx.x;
        if (x8 < n10 && y9 < n11) {
            short &r12 = p2[x8 * n10 + y9];
            r12 = (short)sum_;
            sum_ += p2[(y9 + 2) * n10 + x8];
        }
    } break;
    }
    unsigned x13 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y14 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x13 < n15 && y14 < n16) {
        int4 &r18 = p3[x13 * n17 + y14];
        r18 = make_int4((int)sum_, 1, 2, 3);
        sum_ += p2[(y14 + 2) * n17 + x13];
    }
    float &r19 = p1[min((unsigned)(((n17 * 3) + (blockIdx.x & ~threadIdx.x))), (unsigned)(((n16 - n7) * threadIdx.x)))];
    r19 = (float)sum_;
}
// end

// kernel k72
extern "C" __global__ void k72(const short *p1, record *p2, int n3, int n4, long long n5)
{
    int sum_ = 1;
    sum_ += p2[(long long)threadIdx.x].tag;
    unsigned l6 = (short)((((unsigned)blockDim.x == n3) ? ((long long)blockIdx.x * blockDim.x + threadIdx.x) : (long long)(32)));
    short v7 = p1[n3];
    sum_ += v7;
    record &r8 = p2[max((unsigned)(n3), (unsigned)(n4))];
    r8.id = 1, r8.tag = 2;
}
// end

// kernel k73
extern "C" __global__ void k73(float *p1, float *__restrict__ p2, unsigned n3, size_t n4, long long **t5)
{
    int sum_ = 1;
    (*(volatile long long *)&t5[(unsigned)(max((int)(gridDim.y), (int)(gridDim.x))) % 2u][(long long)(threadIdx.x)]) = (long long)sum_;
    sum_ = 0;
    sum_ += p1[(abs((int)(((int)n3 - n3))) & 1023)];
    float &r6 = p2[(blockDim.x / gridDim.x)];
    r6 = (float)sum_;
}
// end

// kernel k74
extern "C" __global__ void k74(char *p1, long long *p2, int n3, unsigned char n4, int n5, int n6, const int *p11, int *p13)
{
    int sum_ = 1;
    switch (((blockIdx.y + (size_t)n5)) & 7) {
    case 0: {
        char *x7 = p1, *y8 = p1;
        for (int k10 = 0; k10 < gridDim.x; k10++) {
            x7[(p11[blockDim.x] & 63)] = y8[((size_t)blockIdx.x * blockDim.x + threadIdx.x) ];
            char *z9 = x7; x7 = y8; y8 = z9;
        }
    } break;
    case 1: {
        p2[threadIdx.x] = (long long)sum_;
    }
    case 2: {
        for (int k12 = 1; k12 <= (int)blockIdx.x; k12 += 3) {
            atomicOr(&p13[threadIdx.x], (int)3);
            if (31 >= n6) break;
            atomicCAS(&p13[n3], 1, (int)3);
        }
    } break;
    case 3: {
        p1[max((long long)((((!(!(__umulhi((unsigned)((n6 - gridDim.x)), 0x40000000u) == blockIdx.x))) ? blockIdx.x : n3) << 2)), (long long)(((gridDim.x >> 6) + (n4 % gridDim.x))))] = (char)sum_;
    }
    case 4: {
        for (int k14 = 1; k14 <= (int)n3; k14 += 3) {
            if (!(n3 < k14)) {
                sum_ += p11[(p11[((n6 < (short)n6) ? k14 : __popc((unsigned)((int)blockIdx.x)))] & 7)];
            }
            if (steps[(blockIdx.y) & 15] < k14) return;
        }
    }
    }
    p1[((n6 + n3) * n4)] = (char)1;
    sum_ = 1;
    unsigned h15 = __ballot_sync(__activemask(), (!(((short)blockIdx.y + n4) > gridDim.x)));
    for (short k16 = 0; k16 < (short)(unsigned)__popc(h15); k16 += 1) {
        const int *q17 = p11 + (abs((int)(n6)) % 4);
        long long v18 = ((blockIdx.x >= n4) ? p2 : p2)[k16];
        sum_ += v18;
    }
    char &r19 = p1[((blockDim.x - threadIdx.x) & 3)];
    r19 = (char)sum_;
}
// end

// kernel k75
struct k75_struct7 { double *f8[4]; int *f9[3]; int *f10; };
extern "C" __global__ void k75(unsigned *p1, const char *__restrict__ p2, short *p3, short n4, unsigned n5, int n6, k75_struct7 s7)
{
    float sum_ = 1;
    put_int(s7.f9[(unsigned)(n6) % 3u], (abs((int)(scaled((int)((threadIdx.x + 2)), (int)(n4)))) & 1), 5);
    short &r11 = p3[((size_t)(blockIdx.x * blockDim.x + threadIdx.x) / blockDim.x)];
    r11 = (short)sum_;
}
// end

// kernel k76
struct k76_struct5 { float2 *f6; };
extern "C" __global__ void k76(short2 *__restrict__ p1, unsigned *__restrict__ p2, short *p3, unsigned n4, k76_struct5 s5)
{
    int sum_ = 1;
    sum_ += atomicExch(&p2[n4], (unsigned)3);
    if ((((blockIdx.x * blockDim.x + threadIdx.x) != blockDim.x) || (blockDim.x < threadIdx.x)) && ((blockDim.y > (int)threadIdx.y) && (n4 < blockDim.y))) {
        if ((((blockIdx.x << (threadIdx.y & 7)) + max((unsigned)(blockIdx.x), (unsigned)((unsigned)threadIdx.y))) != 1) && (((-blockIdx.x) + (size_t)(blockIdx.x * blockDim.x + threadIdx.x)) < blockDim.y)) {
            short2 v7 = p1[n4];
            sum_ += v7.x + v7.y;
        }
        if (((short)threadIdx.x > blockIdx.x) && ((((int)blockDim.y < threadIdx.x) ? (int)(blockIdx.x * blockDim.x + threadIdx.x) : (16 / blockDim.y)) > blockDim.y)) {
            float2 *w8 = s5.f6 + ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
            float2 *e10 = w8 + threadIdx.y;
            for (; w8 < e10; w8 += blockDim.x) { (*w8) = make_float2((float)1, 1.0f); }
            sum_ += p3[blockIdx.x];
        } else {
            sum_ += p3[(short)threadIdx.y];
        }
    }
    p2[threadIdx.y] = (unsigned)1;
    if (blockDim.y != blockDim.x) {
        if (((n4 > threadIdx.x) && (blockIdx.x != 7)) && ((short)((threadIdx.x + n4)) > blockIdx.x)) {
            sum_ += atomicOr_block(&p2[(blockDim.y >> (blockDim.y & 7))], (unsigned)3);
        } else if ((((size_t)blockDim.x >= threadIdx.x) ? (threadIdx.y / 1u) : (size_t)(blockIdx.x * blockDim.x + threadIdx.x)) < 3) {
            if (threadIdx.x < (unsigned)blockDim.x) {
                p2[((int)(blockIdx.x * blockDim.x + threadIdx.x) * 2)] = (unsigned)sum_;
            } else {
                weights[((blockIdx.x) & 63) & 63][(((size_t)blockDim.y + blockDim.y)) & 31] = 1.0f;
            }
        }
        int b12 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * threadIdx.x, e13 = min(b12 + (int)threadIdx.x, 100000);
        for (int k11 = b12; k11 < e13; k11++) {
            unsigned v14 = p2[k11];
            sum_ += v14;
        }
    } else {
        atomicOr(&p2[blockIdx.x], (unsigned)3);
    }
    p2[((n4 * threadIdx.y) + __popc((unsigned)((unsigned)blockDim.y)))] = (unsigned)(sum_ + 1);
    unsigned &r15 = p2[min((long long)((int)threadIdx.y), (long long)(threadIdx.y))];
    r15 = (unsigned)sum_;
}
// end

// kernel k77
extern "C" __global__ void k77(record *__restrict__ p1, record *p2, unsigned char *p3, int n4, int n5, unsigned n6, int *p9)
{
    int sum_ = 1;
    for (unsigned k7 = 2; k7 < (unsigned)10; k7 += 2) {
        for (size_t i8 = blockIdx.x * blockDim.x + threadIdx.x; i8 < n4; i8 += gridDim.x * blockDim.x) {
            atomicCAS(&p9[n6], 1, (int)3);
            sum_ += __ldg(&p9[i8]);
        }
    }
    unsigned char &r10 = p3[((-blockIdx.x) & 127)];
    r10 = (unsigned char)sum_;
}
// end

// kernel k78
struct k78_struct6 { int f7; };
extern "C" __global__ void k78(float *p1, unsigned char *p2, record *__restrict__ p3, long long n4, int n5, k78_struct6 s6, int n11, int n12, int n13, int n20, unsigned n21, int n22)
{
    int sum_ = 1;
    p2[(unsigned long long)((long long)((int)blockIdx.y))] = (unsigned char)1;
    unsigned h8 = __ballot_sync(__activemask(), (!(blockDim.y >= (long long)blockIdx.y)));
    int x9 = blockIdx.x * blockDim.x + threadIdx.x;
    int y10 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x9 < n11 && y10 < n12) {
        float &r14 = p1[x9 * n13 + y10];
        r14 = (float)sum_;
        sum_ += p2[x9 * n13 + y10];
    }
    for (unsigned i15 = blockIdx.x * blockDim.x + threadIdx.x; i15 < n13; i15 += gridDim.x * blockDim.x) {
        unsigned char v16 = p2[((size_t)blockIdx.x * blockDim.x + threadIdx.x)];
        sum_ += v16;
        if (i15 != i15) {
            record &r17 = (p3 + ((unsigned long long)((((long long)(blockIdx.y * blockDim.y + threadIdx.y) - ((size_t)blockIdx.x * blockDim.x + threadIdx.x)) >> 1)) % 1u))[1];
            r17.id = 1, r17.tag = 2;
            sum_ = 1;
        } else if (((threadIdx.x / 5u) * blockDim.x) < n4) {
            int x18 = blockIdx.x * blockDim.x + threadIdx.x;
            int y19 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x18 < n20 && y19 < n21) {
                float &r23 = p1[(n22 * y19 + x18) * 3 + 0];
                r23 = (float)sum_;
                sum_ += p3[(n22 * y19 + x18) * 3 + 0].tag;
            }
        } else {
            if (i15 < i15) {
                for (int g24 = 1; g24 < (int)blockDim.x; g24 = g24 * 3) {
                    p1[(i15 * g24)] = (float)sum_;
                    p1[(((g24 > (unsigned)blockDim.y) ? (threadIdx.y * g24) : g24) * (int)threadIdx.y)] = (float)sum_;
                    sum_ = 0;
                }
            } else {
                p3[(blockIdx.y * i15)].weight = sum_;
                sum_ = 1;
            }
        }
        if ((min((long long)(i15), (long long)((int)threadIdx.x)) * i15) < i15) continue;
        int b26 = (int)((int)(blockIdx.y * blockDim.y + threadIdx.y)) * n5, e27 = min(b26 + (int)n5, 2000);
        for (int k25 = b26; k25 < e27; k25++) {
            if (8 < 4) {
                p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)] = (float)1;
            } else {
                unsigned char v28 = p2[__clz((int)(((size_t)(blockIdx.y * blockDim.y + threadIdx.y) + (threadIdx.x + i15))))];
                sum_ += v28;
            }
            unsigned char v29 = p2[((unsigned)((k25 % n13)) % 64u)];
            sum_ += v29;
        }
    }
    unsigned char &r30 = p2[(((((n12 + blockIdx.x) >> 0) > n12) ? ((s6.f7 / blockDim.x) - min((unsigned)(blockDim.x), (unsigned)(n13))) : n4) & 3)];
    r30 = (unsigned char)sum_;
}
// end

// kernel k79
extern "C" __global__ void k79(rgb *p1, const unsigned *p2, int n5, unsigned n6)
{
    int sum_ = 1;
    int x3 = blockIdx.x * blockDim.x + threadIdx.x;
    int y4 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x3 < n5 && y4 < n6) {
        rgb &r7 = p1[(y4 + 1) * n5 + x3 + 1];
        r7.g = (unsigned char)sum_;
        sum_ += p2[y4 * n5 + x3 - 1];
    }
    rgb &r8 = p1[(int)((long long)blockDim.z)];
    r8.g = (unsigned char)sum_;
}
// end

// kernel k80
extern "C" __global__ void k80(const double *__restrict__ p1, const long long *p2, rgb *p3, long long n4, int n5, unsigned n6)
{
    int sum_ = 1;
    int l7 = abs((int)((__popc((unsigned)(n6)) / 32)));
    p3[(((size_t)blockIdx.x * blockDim.x + threadIdx.x) << 6)].g = (unsigned char)sum_;
    rgb &r8 = p3[(blockIdx.x * blockDim.x + threadIdx.x)];
    r8.g = (unsigned char)sum_;
}
// end

// kernel k81
extern "C" __global__ void k81(double *p1, float *__restrict__ p2, long long *p3, int n4, const int *p6, int n10, unsigned n11, int n15, unsigned n16, int n17)
{
    float sum_ = 1;
    sum_ += p1[(((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 2)];
    p3[((unsigned)((((((blockDim.x & 240) * (size_t)n4) <= 8) ? (n4 % 32u) : (unsigned)(n4)) - ((-(int)blockDim.x) * blockDim.x))) % 1u)] = (long long)sum_;
    int k5 = 0;
    while (k5 < (int)16) {
        k5 += 3;
        ((gridDim.x == gridDim.x) ? p1 : p1)[blockIdx.x] = sum_;
        if (k5 != gridDim.x) continue;
        if ((k5 & k5) > k5) {
            if (((((short)gridDim.x + (n4 * k5)) <= 4) && (32 <= k5)) && (k5 != gridDim.x)) {
                sum_ += atomicAdd_block(&p2[abs((int)((blockIdx.x * blockDim.x + threadIdx.x)))], (float)1);
            } else if ((((int)((float)(int)(k5 & 1023) * 0.3f) * k5) == k5) || (k5 < (long long)threadIdx.x)) {
                sum_ += (*(p1 + ((long long)blockIdx.x * blockDim.x + threadIdx.x)));
            } else if (k5 >= k5) {
                sum_ += ((threadIdx.x <= k5) ? p3 : p3)[(p6[(long long)(blockIdx.x * blockDim.x + threadIdx.x)] & 1023)];
            } else if (k5 == (short)blockIdx.x) {
                ((k5 < gridDim.x) ? p1 : p1)[(gridDim.x + k5)] = (sum_ + 1);
            }
        } else if ((blockDim.x < k5) && (n4 < n4)) {
            for (int k7 = (int)16 - 1; k7 >= 0; k7 -= 1) {
                int x8 = blockIdx.x * blockDim.x + threadIdx.x;
                int y9 = blockIdx.x * blockDim.x + threadIdx.x;
                if (x8 < n10 && y9 < n11) {
                    double &r12 = p1[y9 * n10 + x8];
                    r12 = sum_;
                    sum_ += p6[y9 * n10 + x8];
                }
                int x13 = blockIdx.x * blockDim.x + threadIdx.x;
                int y14 = blockIdx.x * blockDim.x + threadIdx.x;
                if (x13 < n15 && y14 < n16) {
                    float &r18 = p2[(y14 + 1) * n17 + x13 + 1];
                    r18 = (float)sum_;
                    sum_ += p6[(y14 + 2) * n17 + x13];
                }
            }
        }
    }
    int v19 = p6[((int)(blockIdx.x * blockDim.x + threadIdx.x) / n10)];
    sum_ += v19;
    long long &r20 = p3[(blockIdx.x * blockDim.x + threadIdx.x)];
    r20 = (long long)sum_;
}
// end

// kernel k82
extern "C" __global__ void k82(const double *__restrict__ p1, char *p2, double *p3, int n4, short n5, int n6, int n7, const int *__restrict__ p12)
{
    float sum_ = 1;
    #pragma unroll 4
    for (long long k8 = 2; k8 < (long long)blockDim.z; k8 += 3) {
        p3[max((int)(threadIdx.x), (int)(k8))] = sum_;
        char *q9 = p2 + (k8 >> 6);
    }
    char v10 = p2[n5];
    sum_ += v10;
    double &r11 = p3[(p12[(blockIdx.x * (long long)blockIdx.x)] & 1023)];
    r11 = sum_;
}
// end

// kernel k83
extern "C" __global__ void k83(const double *__restrict__ p1, int n6, rgb *p8, const int *__restrict__ p9)
{
    int sum_ = 1;
    double v2 = p1[((signed char)(blockIdx.y) + blockDim.y)];
    sum_ += v2;
    sum_ += p1[blockIdx.x];
    int l3 = (((100 * threadIdx.z) ^ 63) * blockDim.z);
    double v4 = ((l3 < blockDim.x) ? p1 : p1)[__clz((int)((~1)))];
    sum_ += v4;
    #pragma unroll 1
    for (unsigned i5 = blockIdx.x * blockDim.x + threadIdx.x; i5 < n6; i5 += gridDim.x * blockDim.x) {
        for (size_t i7 = blockIdx.x * blockDim.x + threadIdx.x; i7 < n6; i7 += gridDim.x * blockDim.x) {
            if (((blockIdx.x < i7) && (n6 > blockDim.z)) || ((threadIdx.y == n6) || (threadIdx.x > i5))) {
                p8[(i5 + i5)].g = (unsigned char)1;
                sum_ = 0;
            } else {
                if ((((!(((i5 > i7) ? i7 : threadIdx.y) < 64)) ? p9 : p9)[((size_t)blockIdx.x * blockDim.x + threadIdx.x)] & 1023) > 3) {
                    (*(p8 + i5)).g = (unsigned char)1;
                }
            }
        }
    }
    rgb &r10 = p8[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r10.g = (unsigned char)sum_;
}
// end

// kernel k84
extern "C" __global__ void k84(const long long *p1, float *p2)
{
    float sum_ = 1;
    long long v3 = (p1 + (int)(blockIdx.z * blockDim.z + threadIdx.z))[8];
    sum_ += v3;
    p2[64] = (float)sum_;
    float &r4 = p2[(int)(blockIdx.z * blockDim.z + threadIdx.z)];
    r4 = (float)sum_;
}
// end

// kernel k85
struct k85_struct6 { float2 *f7; };
extern "C" __global__ void k85(uchar4 *__restrict__ p1, double *__restrict__ p2, int n3, unsigned char n4, unsigned char n5, k85_struct6 s6)
{
    float sum_ = 1;
    s6.f7[((8 >> 0) * n3)].x = (float)sum_;
    float2 &r8 = s6.f7[blockDim.z];
    r8 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k86
struct k86_struct6 { short *f7; short *f8[2]; float *f9[3]; char *f10; };
extern "C" __global__ void k86(unsigned *p1, short *p2, long long *p3, unsigned n4, unsigned n5, k86_struct6 s6)
{
    float sum_ = 1;
    if (!(n4 == blockDim.x)) return;
    for (int k11 = 0; k11 < (int)n4; k11 += 3) {
        s6.f9[(unsigned)(((((threadIdx.x << (blockIdx.x & 7)) * blockDim.x) < n4) ? 64 : 100)) % 3u][k11] = (float)sum_;
        sum_ = sum_ * 0.5;
    }
    p1[((n5 >> (n5 & 7)) * n5)] = (unsigned)sum_;
    long long &r12 = p3[((unsigned long long)((~(long long)blockDim.x)) % 3u)];
    r12 = (long long)sum_;
}
// end

// kernel k87
extern "C" __global__ void k87(const uchar4 *p1, int *p2, long long *__restrict__ p3, long long n4, unsigned n5)
{
    float sum_ = 1;
    p3[(long long)blockDim.x] = (long long)sum_;
    int h6 = __shfl_sync(__activemask(), (int)((threadIdx.x * threadIdx.x)), 0) & 511;
    int &r7 = p2[__popc((unsigned)((blockIdx.x ^ (short)n5)))];
    r7 = (int)sum_;
}
// end

// kernel k88
extern "C" __global__ void k88(const short *p1, double *p2, char *p3, unsigned n4, int n5)
{
    int sum_ = 1;
    const short *q6 = p1 + (n5 * blockIdx.x);
    double *w7 = p2 + threadIdx.x;
    for (int c8 = 0; c8 < blockIdx.x; c8++, w7++) { (*w7) = 1; }
    long long l9 = ((min((unsigned)(blockIdx.y), (unsigned)(blockIdx.y)) >> 1) >> 1);
    char &r10 = p3[(((n4 >> 5) * l9) * n4)];
    r10 = (char)sum_;
}
// end

// kernel k89
extern "C" __global__ void k89(float *p1, int *__restrict__ p2, int *__restrict__ p3)
{
    float sum_ = 1;
    sum_ += p1[(((blockIdx.z & blockIdx.x) + 4) ^ blockIdx.x)];
    sum_ += descend(p3, (int)((unsigned)((__umulhi((unsigned)(blockIdx.z), 0x40000000u) + (threadIdx.y ^ 1))) % 3u), 5);
    int &r4 = p3[threadIdx.y];
    r4 = (int)sum_;
}
// end
