// Written by generate.py 41 120
struct rgb {
    unsigned char r, g, b;
};
struct record {
    double weight;
    int id;
    short tag;
};
__device__ inline double sum(float2 v)
{
    return v.x + v.y;
}
__device__ inline double sum(float4 v)
{
    return v.x + v.y + v.z + v.w;
}
__device__ inline double sum(int4 v)
{
    return (double)v.x + v.y + v.z + v.w;
}
__device__ int scratch[4096];
__device__ float weights[64][32];
__constant__ int steps[16] = {1, 2, 3, 5, 8, 13, 21, 34, 1, 1, 2, 2, 3, 3, 4, 4};
__device__ __noinline__ void put_int(int *to, long long at, int value)
{
    to[at] = value;
}
__device__ __noinline__ float get_float(const float *from, int at)
{
    return from[at];
}
__device__ __noinline__ int scaled(int a, int b)
{
    return a * b + 3;
}
__device__ __noinline__ int descend(int *to, int at, int depth)
{
    to[at] = depth;
    return depth > 0 ? descend(to, at + 2, depth - 1) + 1 : 0;
}

// kernel k0
extern "C" __global__ void k0(const double *p1, const uchar4 *p2, unsigned n3, unsigned n4, int n5,
                              unsigned n6, unsigned *__restrict__ p7)
{
    float sum_ = 1;
    atomicMax(&p7[(size_t)blockDim.y], (unsigned)3);
    unsigned &r8 = p7[((unsigned)((n5 + gridDim.y)) % 1024u)];
    r8 = (unsigned)sum_;
}
// end

// kernel k1
extern "C" __global__ void k1(const double *__restrict__ p1, float *p2, float *p3, int n4)
{
    int sum_ = 1;
    if (((long long)blockIdx.y * blockDim.y + threadIdx.y) < gridDim.y) {
        ((((size_t)blockIdx.x * blockDim.x + threadIdx.x) <= 8)
             ? p3
             : p3)[(int)(blockIdx.y * blockDim.y + threadIdx.y)] = (float)(sum_ + 1);
    }
    double v5 = p1[16];
    sum_ += v5;
    float &r6 = p2[((size_t)blockIdx.y * blockDim.y + threadIdx.y)];
    r6 = (float)sum_;
}
// end

// kernel k2
extern "C" __global__ void k2(const char *p1, short *__restrict__ p2, int4 *p3, int n4, int n5,
                              int n8, int n9)
{
    float sum_ = 1;
    int x6 = blockIdx.x * blockDim.x + threadIdx.x;
    int y7 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x6 < n8 && y7 < n9) {
        int4 &r10 = p3[(y7 + 1) * n8 + x6 + 1];
        r10 = make_int4((int)sum_, 1, 2, 3);
        sum_ += p1[y7 * n8 + x6 - 1];
    }
    int4 *w11 = p3 + n5;
    for (int c12 = 0; c12 < 5; c12++, w11 += 2) {
        (*w11) = make_int4((int)1, 1, 2, 3);
    }
    short v13 = p2[(threadIdx.x << 2)];
    sum_ += v13;
    short &r14 = p2[((unsigned)(((n4 + n9) * 4)) % 1u)];
    r14 = (short)sum_;
}
// end

// kernel k3
extern "C" __global__ void k3(record *__restrict__ p1, unsigned n2, float4 *__restrict__ p6, int n7)
{
    float sum_ = 1;
    record v3 = p1[((n2 + (long long)threadIdx.z) + abs((int)(blockDim.z)))];
    sum_ += v3.tag;
    record *w4 = p1 + (size_t)(threadIdx.z);
    for (int c5 = 0; c5 < blockDim.z; c5++, w4 += blockDim.x) {
        (*w4).id = 1, (*w4).tag = 2;
    }
    sum_ += p1[((((blockIdx.x * blockDim.z) >> 2) == blockIdx.y)
                    ? min((unsigned)((blockIdx.x + (int)blockIdx.y)), (unsigned)(abs((int)(32))))
                    : (size_t)(blockIdx.x * blockDim.x + threadIdx.x))]
                .weight;
    int i8 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i8 < n7 / 4)
        p6[i8] = make_float4(sum_, 1, 2, 3);
    if (i8 < n7 % 4)
        ((float *)p6)[n7 / 4 * 4 + i8] = sum_;
    float4 &r9 = p6[blockDim.z];
    r9 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k4
extern "C" __global__ void k4(long long *__restrict__ p1, const long long *p2, float4 *p3, int n4,
                              int n8, unsigned n9, int n10)
{
    long long sum_ = 1;
    int i5 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i5 < n4 / 4)
        p3[i5] = make_float4(sum_, 1, 2, 3);
    if (i5 < n4 % 4)
        ((float *)p3)[n4 / 4 * 4 + i5] = sum_;
    int x6 = blockIdx.x * blockDim.x + threadIdx.x;
    int y7 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x6 < n8 && y7 < n9) {
        float4 &r11 = p3[x6 * n10 + y7];
        r11.y = (float)sum_;
        sum_ += p2[(y7 + 2) * n10 + x6];
    }
    long long &r12 = p1[((long long)(blockIdx.x * blockDim.x + threadIdx.x) / n9)];
    r12 = (long long)sum_;
}
// end

// kernel k5
struct k5_struct3 {
    short f4;
    unsigned *f5[2];
    short f6;
};
extern "C" __global__ void k5(short *p1, size_t n2, k5_struct3 s3)
{
    float sum_ = 1;
    sum_ += p1[(((int)threadIdx.x * blockDim.x) << 3)];
    unsigned &r7 = s3.f5[(unsigned)((blockDim.y >> 3)) % 2u]
                        [((blockIdx.y * blockDim.y + threadIdx.y) * threadIdx.y)];
    r7 = (unsigned)sum_;
}
// end

// kernel k6
struct k6_struct7 {
    float *f8[3];
    short *f9[3];
    unsigned *f10;
    short *f11[4];
};
extern "C" __global__ void k6(short *p1, const record *__restrict__ p2, int n3, unsigned short n4,
                              int n5, unsigned n6, k6_struct7 s7, long long **t12)
{
    long long sum_ = 1;
    if (31 < blockIdx.y) {
        (*(volatile unsigned *)&s7.f10[(
            (unsigned)(((((int)(blockIdx.x * blockDim.x + threadIdx.x) * blockIdx.y) > (size_t)n4)
                            ? (int)(blockIdx.x * blockDim.x + threadIdx.x)
                            : ((n4 + n5) * n3))) %
            1000u)]) = (unsigned)sum_;
    } else if (blockIdx.y == n5) {
        (*(volatile short *)&p1[(
            (((((blockIdx.x * 64) % 1u) <= n4) ? blockIdx.x : (short)n6) * (size_t)n4) / n6)]) =
            (short)sum_;
    }
    long long &r13 = t12[(unsigned)(n4) % 7u][(blockIdx.x + 8)];
    r13 = (long long)sum_;
}
// end

// kernel k7
extern "C" __global__ void k7(const uchar4 *p1, const float *__restrict__ p2, int n3, unsigned n4,
                              long long n5, int n6, int4 *p7)
{
    float sum_ = 1;
    p7[((n3 > (long long)n3) ? n5 : n4)] = make_int4((int)1, 1, 2, 3);
    int4 &r8 = p7[(((__popc((unsigned)((n3 & ~3))) != n3) ? max((int)(n5), (int)(0))
                                                          : (threadIdx.x + blockDim.x)) *
                   32)];
    r8 = make_int4((int)sum_, 1, 2, 3);
}
// end

// kernel k8
extern "C" __global__ void k8(const long long *p1, float2 *__restrict__ p2)
{
    int sum_ = 1;
    sum_ += (*(p1 + (((blockIdx.x - gridDim.z) << 1) * threadIdx.z)));
    p2[((blockDim.x >> 6) + 16)].x = (float)sum_;
    float2 &r3 = p2[(long long)(blockIdx.x * blockDim.x + threadIdx.x)];
    r3 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k9
struct k9_struct3 {
    long long f4;
    unsigned f5;
};
extern "C" __global__ void k9(rgb *p1, unsigned char n2, k9_struct3 s3, int n9, unsigned n10,
                              int n11)
{
    float sum_ = 1;
#pragma unroll 1
    for (int k6 = blockDim.x; k6 <= (int)n2; k6 += 2) {
        int x7 = blockIdx.x * blockDim.x + threadIdx.x;
        int y8 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x7 < n9 && y8 < n10) {
            rgb &r12 = p1[(n11 * y8 + x7) * 3 + 1];
            r12.g = (unsigned char)sum_;
            sum_ += p1[(y8 + 2) * n11 + x7].g + p1[(y8 + 2) * n11 + x7].b;
        }
    }
    rgb &r13 = p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) + ((size_t)blockIdx.y + s3.f5))];
    r13.g = (unsigned char)sum_;
}
// end

// kernel k10
extern "C" __global__ void k10(int4 *p1, int n2, int n3, unsigned long long n4)
{
    int sum_ = 1;
    if ((blockIdx.y * blockDim.y + threadIdx.y) <= (int)blockDim.x) {
        int4 v5 = p1[blockDim.x];
        sum_ += sum(v5);
    }
    int4 &r6 = p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r6 = make_int4((int)sum_, 1, 2, 3);
}
// end

// kernel k11
extern "C" __global__ void k11(int *p1)
{
    int sum_ = 1;
    put_int(p1, ((blockIdx.x * blockDim.z) + gridDim.x), 5);
    unsigned h2 = __ballot_sync(
        __activemask(), (!(((size_t)blockIdx.x * blockDim.x + threadIdx.x) <= threadIdx.x)));
    int &r3 = p1[((unsigned long long)((4 * blockIdx.z)) >> 2)];
    r3 = (int)sum_;
}
// end

// kernel k12
extern "C" __global__ void k12(long long *__restrict__ p1, int n3)
{
    int sum_ = 1;
    for (int t2 = 0; t2 < n3; t2 += blockDim.x) {
        sum_ += p1[(t2 + threadIdx.x) * n3 + blockIdx.x * blockDim.x + threadIdx.x];
    }
    int l4 = ((n3 < blockDim.x) ? threadIdx.y
                                : ((blockDim.y != threadIdx.y)
                                       ? min((unsigned)(threadIdx.y), (unsigned)(blockDim.z))
                                       : blockDim.x));
    p1[min((unsigned)((3 * blockIdx.y)), (unsigned)(31))] = (long long)(sum_ + 1);
    p1[(threadIdx.y & gridDim.y)] = (long long)sum_;
    long long &r5 = p1[gridDim.x];
    r5 = (long long)sum_;
}
// end

// kernel k13
extern "C" __global__ void k13(unsigned char *p1, const unsigned *p2, float4 *__restrict__ p3,
                               int n5)
{
    int sum_ = 1;
    if ((size_t)threadIdx.y > 8) {
        for (int t4 = 0; t4 < n5; t4 += blockDim.x) {
            if (t4 + threadIdx.x < n5)
                sum_ += p2[(t4 + threadIdx.x) * n5 + blockIdx.x * blockDim.x + threadIdx.x];
        }
    } else {
        p1[((int)blockIdx.y & 1023)] = (unsigned char)1;
    }
    float4 &r6 = p3[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r6 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k14
extern "C" __global__ void k14(float2 *__restrict__ p1, char *p2, signed char n3, unsigned char n4,
                               int n5, long long n6)
{
    long long sum_ = 1;
    float2 v7 = p1[((threadIdx.x + (long long)blockIdx.y) >> 2)];
    sum_ += v7.x;
    p1[n4].x = (float)sum_;
    unsigned l8 = ((int)(blockIdx.x * blockDim.x + threadIdx.x) +
                   ((int)(blockIdx.y * blockDim.y + threadIdx.y) << 2));
    sum_ += p2[((unsigned)(((blockIdx.x * blockDim.x + threadIdx.x) - gridDim.y)) % 100u)];
    char &r9 = p2[((n6 * (size_t)gridDim.y) + n4)];
    r9 = (char)sum_;
}
// end

// kernel k15
extern "C" __global__ void k15(unsigned *__restrict__ p1, const float4 *p2, unsigned n3,
                               unsigned n4)
{
    int sum_ = 1;
    if ((long long)(blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.x)
        return;
    (*(p1 + threadIdx.x)) = (unsigned)sum_;
    unsigned &r5 = p1[(blockIdx.x * blockDim.x + threadIdx.x)];
    r5 = (unsigned)sum_;
}
// end

// kernel k16
extern "C" __global__ void k16(rgb *p1, short n2, int n3, float z8, int *p9, int n12, unsigned n13)
{
    int sum_ = 1;
    rgb v4 = p1[((n3 << 0) * threadIdx.x)];
    sum_ += v4.g + v4.b;
    if (2 <= blockIdx.x) {
        rgb v5 = ((blockDim.x == blockIdx.x)
                      ? p1
                      : p1)[((unsigned short)((unsigned)threadIdx.x) + (100 & 63))];
        sum_ += v5.g + v5.b;
        rgb v6 = p1[(scaled((int)((blockIdx.x >> 0)), (int)(blockDim.x)) & 1023)];
        sum_ += v6.r;
    } else if ((size_t)n2 <= n3) {
        rgb v7 = p1[(long long)(blockIdx.x * blockDim.x + threadIdx.x)];
        sum_ += v7.r;
    }
    if (!(z8 > 0.25)) {
        sum_ += atomicAdd_system(&p9[((n3 * (short)blockIdx.x) - 32)], (int)3);
    }
    int x10 = blockIdx.x * blockDim.x + threadIdx.x;
    int y11 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x10 < n12 && y11 < n13) {
        rgb &r14 = p1[(n12 * y11 + x10) * 3 + 1];
        r14.g = (unsigned char)sum_;
        sum_ += p1[y11 * n12 + x10 - 1].g + p1[y11 * n12 + x10 - 1].b;
    }
    p9[(((int)n3 + 31) * blockDim.x)] = (int)1;
    rgb &r15 = p1[n2];
    r15.g = (unsigned char)sum_;
}
// end

// kernel k17
extern "C" __global__ void k17(int *__restrict__ p1, unsigned char *p2, double *__restrict__ p3,
                               int n9, int n10, int n11)
{
    float sum_ = 1;
    int v4 = (p1 + gridDim.x)[1];
    sum_ += v4;
    int k5 = 0;
    while (k5 < (int)gridDim.x) {
        k5 += 2;
        unsigned char v6 = p2[(((k5 * k5) - (blockIdx.x >> 0)) & 127)];
        sum_ += v6;
    }
    unsigned h7 = __ballot_sync(__activemask(), ((int)(blockIdx.x * blockDim.x + threadIdx.x) < 2));
    int l8 = (long long)(blockIdx.x * blockDim.x + threadIdx.x);
    int x12 = blockIdx.x * blockDim.x + threadIdx.x;
    int y13 = blockIdx.y * blockDim.y + threadIdx.y;
    int z14 = blockIdx.z * blockDim.z + threadIdx.z;
    if (x12 >= n9 || y13 >= n10 || z14 >= n11)
        return;
    int &r15 = p1[(x12 * n10 + y13) * n9 + z14];
    r15 = (int)sum_;

    int &r16 = p1[((long long)blockIdx.x * blockDim.x + threadIdx.x)];
    r16 = (int)sum_;
}
// end

// kernel k18
struct k18_struct7 {
    short f8;
    double *f9;
    int f10;
    long long *f11[2];
};
extern "C" __global__ void k18(long long *p1, const short *p2, const rgb *p3, int n4, size_t n5,
                               unsigned n6, k18_struct7 s7, int n13, int n16, unsigned n17)
{
    long long sum_ = 1;
    for (int i12 = blockIdx.x * blockDim.x + threadIdx.x; i12 < n13;
         i12 += gridDim.x * blockDim.x) {
        int x14 = blockIdx.x * blockDim.x + threadIdx.x;
        int y15 = blockIdx.x * blockDim.x + threadIdx.x;
        if (x14 < n16 && y15 < n17) {
            double &r18 = s7.f9[(n16 * y15 + x14) * 3 + 1];
            r18 = sum_;
            sum_ += s7.f11[(unsigned)(((threadIdx.x > (unsigned)n4) ? s7.f10 : s7.f8)) % 2u]
                          [(n16 * y15 + x14) * 3 + 1];
        }
    }
    double &r19 = s7.f9[(((n6 - (int)s7.f10) | 240) & 1023)];
    r19 = sum_;
}
// end

// kernel k19
extern "C" __global__ void k19(unsigned *p1, const int4 *__restrict__ p2, signed char n3, int n4,
                               int n5, unsigned n6)
{
    int sum_ = 1;
    (*(volatile unsigned *)&p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) % 33)]) =
        (unsigned)sum_;
    unsigned &r7 = p1[((blockIdx.x * blockDim.x + threadIdx.x) / blockDim.x)];
    r7 = (unsigned)sum_;
}
// end

// kernel k20
extern "C" __global__ void k20(short *p1)
{
    long long sum_ = 1;
    p1[32] = (short)(sum_ + 1);
    for (unsigned g2 = blockDim.x / 2; g2 > 0; g2 >>= 1) {
        short v3 = p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) + (blockDim.y + threadIdx.y))];
        sum_ += v3;
        (p1 + (int)(blockIdx.x * blockDim.x + threadIdx.x))[2] = (short)sum_;
    }
    short &r4 = p1[(blockDim.x << 6)];
    r4 = (short)sum_;
}
// end

// kernel k21
struct k21_struct6 {
    short f7;
};
extern "C" __global__ void k21(double *p1, uchar4 *p2, unsigned n3, unsigned char n4, unsigned n5,
                               k21_struct6 s6)
{
    int sum_ = 1;
    p1[(((long long)n5 - ((int)(blockIdx.x * blockDim.x + threadIdx.x) << 2)) & 32767)] =
        (sum_ + 1);
    (p1 + ((int)(blockIdx.x * blockDim.x + threadIdx.x) +
           (blockIdx.x * blockDim.x + threadIdx.x)))[1] = sum_;
    double &r8 = p1[16];
    r8 = sum_;
}
// end

// kernel k22
struct k22_struct8 {
    short f9;
    double *f10[4];
};
extern "C" __global__ void k22(float *p1, const float4 *p2, double *p3, int n4, int n5, unsigned n6,
                               unsigned long long n7, k22_struct8 s8, int n12, const int *p14,
                               int n20, int n21, int n22)
{
    long long sum_ = 1;
    sum_ += p2[(long long)(blockIdx.x * blockDim.x + threadIdx.x)].x;
    for (int t11 = 0; t11 < n12; t11 += blockDim.x) {
        p3[(t11 + threadIdx.y) * n12 + blockIdx.x * blockDim.x + threadIdx.x] = (double)sum_;
    }
    if (((blockIdx.x * blockDim.x + threadIdx.x) >= s8.f9) &&
        (((long long)(blockIdx.x * blockDim.x + threadIdx.x) > (int)n4) ||
         ((long long)(blockIdx.x * blockDim.x + threadIdx.x) < blockDim.z))) {
        for (size_t k13 = 1;
             k13 < (size_t)(((((int)(blockIdx.x * blockDim.x + threadIdx.x) <= s8.f9)
                                  ? p14
                                  : p14)[(blockIdx.x * blockDim.x + threadIdx.x)] &
                             7) &
                            7);
             k13 += 1) {
            sum_ += __ldg(&p3[((n12 >> 1) + (blockDim.z * k13))]);
        }
        float *w15 = p1 + ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
        float *e17 = w15 + blockDim.z;
        for (; w15 < e17; w15 += 1) {
            (*w15) = (float)1;
        }
    }
    unsigned x18 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y19 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x18 < n20 && y19 < n21) {
        float &r23 = p1[y19 * n22 + x18];
        r23 = (float)sum_;
        sum_ += p2[(y19 + 2) * n22 + x18].w;
    }
    double &r24 = p3[n4];
    r24 = sum_;
}
// end

// kernel k23
extern "C" __global__ void k23(const long long *p1, long long *__restrict__ p2, double *p3,
                               short n4)
{
    int sum_ = 1;
    long long *w5 = p2 + 1;
    long long *e7 = w5 + 8;
    for (; w5 < e7; w5 += blockDim.x) {
        (*w5) = (long long)1;
    }
    double &r8 = p3[blockIdx.x];
    r8 = sum_;
}
// end

// kernel k24
extern "C" __global__ void k24(const long long *p1, rgb *p2, unsigned short n3, int n4, short n5,
                               unsigned n6, int n8, int n9, int n10, int n17, int n18)
{
    int sum_ = 1;
    if ((blockIdx.x * blockDim.x + threadIdx.x) < n3) {
        for (int k7 = (int)3 - 1; k7 >= 0; k7 -= 1) {
            ((((size_t)blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.x) ? p2 : p2)[(n4 + k7)]
                .g = (unsigned char)sum_;
            sum_ = sum_ * 0.5;
            p2[k7].g = (unsigned char)1;
            if (2 <= 16)
                break;
            int x11 = blockIdx.x * blockDim.x + threadIdx.x;
            int y12 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x11 < n8 && y12 < n9) {
                for (int z13 = 0; z13 < n10; z13++) {
                    rgb &r14 = p2[(y12 * n9 + z13) * n8 + x11];
                    r14.g = (unsigned char)sum_;
                }
            }
        }
        unsigned x15 = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned y16 = blockIdx.x * blockDim.x + threadIdx.x;
        if (x15 < n17 && y16 < n18) {
            rgb &r19 = p2[x15 * n17 + y16];
            r19.g = (unsigned char)sum_;
            sum_ += p1[y16 * n17 + x15 - 1];
        }
    }
    rgb &r20 = p2[((int)n6 >> 1)];
    r20.g = (unsigned char)sum_;
}
// end

// kernel k25
extern "C" __global__ void k25(unsigned *p1, const double *p2, int n3, size_t n4, int n5, int n6,
                               int n7, int n13)
{
    float sum_ = 1;
    int x8 = blockIdx.x * blockDim.x + threadIdx.x;
    int y9 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x8 < n5 && y9 < n6) {
        for (int z10 = 1; z10 < n7; z10++) {
            unsigned &r11 = p1[(z10 * n6 + x8) * n5 + y9];
            r11 = (unsigned)sum_;
        }
    }
    for (int t12 = 0; t12 < n13; t12 += 16) {
        if (t12 + threadIdx.y < n13)
            sum_ += p2[(t12 + threadIdx.x) * n13 + blockIdx.y * blockDim.y + threadIdx.y];
    }
    p1[n5] = (unsigned)1;
    unsigned &r14 = p1[8];
    r14 = (unsigned)sum_;
}
// end

// kernel k26
extern "C" __global__ void k26(unsigned *p1, unsigned char *p2, unsigned n3, int n4, long long n5)
{
    int sum_ = 1;
    p2[(blockIdx.x + (((size_t)n4 | blockIdx.y) >> 6))] = (unsigned char)sum_;
    (*(p2 + n4)) = (unsigned char)1;
    unsigned char &r6 = p2[((32 - n4) & 15)];
    r6 = (unsigned char)sum_;
}
// end

// kernel k27
extern "C" __global__ void k27(const int *p1, float2 *__restrict__ p2, int n3, int n4, unsigned n5,
                               unsigned long long n6, float z7)
{
    int sum_ = 1;
    if (z7 > 0.25) {
    } else if ((gridDim.y < 31) && ((blockIdx.x * blockDim.x + threadIdx.x) < n3)) {
    }
    float2 &r10 = p2[((4 + (int)blockDim.y) - (threadIdx.z * (unsigned)blockIdx.z))];
    r10 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k28
extern "C" __global__ void k28(const int *p1, int n2, unsigned n3, float4 *__restrict__ p5)
{
    int sum_ = 1;
    if ((int)(blockIdx.y * blockDim.y + threadIdx.y) <= blockDim.z) {
        if ((blockIdx.y * blockDim.y + threadIdx.y) < blockIdx.z) {
            int v4 = p1[(blockDim.x * threadIdx.z)];
            sum_ += v4;
        } else if (((int)(blockIdx.x * blockDim.x + threadIdx.x) > gridDim.y) &&
                   ((int)(blockIdx.x * blockDim.x + threadIdx.x) > 31)) {
            (*(p5 + (((long long)(blockIdx.z * blockDim.z + threadIdx.z) + (blockDim.y >> 4)) +
                     (blockIdx.y * blockDim.y + threadIdx.y)))) =
                make_float4((float)1, 0.0f, 1.0f, 2.0f);
            sum_ = 0;
        }
        sum_ += p5[(blockIdx.x * blockDim.x + threadIdx.x)].x;
    }
    float4 &r6 = p5[(size_t)blockIdx.z];
    r6 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k29
struct k29_struct5 {
    unsigned *f6[2];
    short *f7[4];
};
extern "C" __global__ void k29(short *__restrict__ p1, int *p2, unsigned *p3, int n4,
                               k29_struct5 s5, int n9)
{
    int sum_ = 1;
    atomicExch(&p2[min((unsigned)(blockIdx.y), (unsigned)(gridDim.x))], (int)3);
#pragma unroll 1
    for (unsigned i8 = blockIdx.x * blockDim.x + threadIdx.x; i8 < n9;
         i8 += gridDim.x * blockDim.x) {
        for (long long k10 = 0; k10 < (long long)n4; k10 += 1) {
            if (((blockIdx.y * blockDim.y + threadIdx.y) * blockDim.x) < 2) {
                if ((p3[k10] & 63) > 3) {
                    (*(volatile unsigned *)&p3[k10]) = (unsigned)(sum_ + 1);
                    {
                        asm volatile(
                            "{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" ::
                                "l"(__cvta_generic_to_global(
                                    &p3[((int)n4 + (int)(blockIdx.x * blockDim.x + threadIdx.x))])),
                            "r"(7), "r"((int)(!(k10 == k10)))
                            : "memory");
                    }
                }
                p1[(blockIdx.y + gridDim.x)] = (short)sum_;
            } else if (i8 != k10) {
                sum_ += __ldg(&p3[(int)(blockIdx.x * blockDim.x + threadIdx.x)]);
            }
            sum_ += (*(volatile int *)&p2[steps[(k10)&15]]);
        }
    }
    (*(s5.f6[(unsigned)((0 * blockIdx.y)) % 2u] +
       ((unsigned)((~(((int)n9 > gridDim.y) ? n4 : gridDim.x))) % 4096u))) = (unsigned)(sum_ + 1);
    sum_ = 0;
    int &r11 = p2[min((int)((unsigned)((unsigned)blockDim.x)), (int)(steps[(blockDim.x) & 15]))];
    r11 = (int)sum_;
}
// end

// kernel k30
extern "C" __global__ void k30(float *p1, int n2, int n3, int n4)
{
    float sum_ = 1;
    for (unsigned i5 = threadIdx.x; i5 < n4; i5 += blockDim.x) {
        float v6 = p1[((unsigned)(((i5 + blockDim.x) * i5)) % 4096u)];
        sum_ += v6;
        scratch[(((blockIdx.y * blockDim.y + threadIdx.y)) & 63)] = 3;
    }
    float *w7 = p1 + ((n3 ^ blockDim.x) + (n3 & 1));
    float *e9 = w7 + 2;
    for (; w7 < e9; w7 += 1) {
        (*w7) = (float)1;
    }
    p1[(n3 + n4)] = (float)(sum_ + 1);
    int k10 = 0;
    for (;;) {
        if (k10++ >= (int)n3)
            break;
        if (((size_t)(2) * blockDim.x) == k10) {
            p1[blockDim.x] = (float)(sum_ + 1);
            p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (float)1;
            sum_ = sum_ * 0.5;
        }
    }
    atomicAdd(&p1[((n4 * blockIdx.y) - ((long long)blockIdx.y * blockDim.y + threadIdx.y))],
              (float)1);
    float &r11 = p1[((unsigned long long)(((long long)blockIdx.x - (long long)((int)n4))) % 1024u)];
    r11 = (float)sum_;
}
// end

// kernel k31
struct k31_struct6 {
    short *f7[3];
};
extern "C" __global__ void k31(const float4 *p1, unsigned char n2, int n3, unsigned n4, int n5,
                               k31_struct6 s6, int **t8)
{
    extern __shared__ float dynamic[];
    int sum_ = 1;
    dynamic[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 255] =
        (float)sum_;
    __syncthreads();
    sum_ += dynamic[(((blockIdx.z + 1) + (blockIdx.y * blockDim.y + threadIdx.y))) & 255];
    short v10 =
        s6.f7[(unsigned)((((size_t)blockDim.x <= n3) ? (short)n3 : (short)blockIdx.y)) % 3u][n3];
    sum_ += v10;
    int &r11 = t8[1][(n4 & blockIdx.y)];
    r11 = (int)sum_;
}
// end

// kernel k32
extern "C" __global__ void k32(uchar4 *p1, double *__restrict__ p2, float *p3, int n4, unsigned n5,
                               const int *__restrict__ p6, int n8)
{
    int sum_ = 1;
    if ((p6[blockDim.z] & 7) > 3) {
        for (int t7 = 0; t7 < n8; t7 += blockDim.x) {
            sum_ += p6[(t7 + threadIdx.x) * n8 + blockIdx.x * blockDim.x + threadIdx.x];
        }
    } else {
        (p2 + blockDim.x)[8] = 1;
    }
    atomicAdd(&p2[blockIdx.y], (double)1);
    uchar4 &r10 = p1[(gridDim.x + ((long long)threadIdx.z >> 1))];
    r10 = make_uchar4((unsigned char)sum_, 1, 2, 3);
}
// end

// kernel k33
extern "C" __global__ void k33(unsigned *p1, double *p2, int *__restrict__ p3, unsigned char n4)
{
    int sum_ = 1;
    atomicAdd(&p3[(((long long)(blockIdx.x * blockDim.x + threadIdx.x) * (int)blockDim.z) +
                   (size_t)((int)(blockIdx.x * blockDim.x + threadIdx.x)))],
              (int)3);
    p3[max((long long)(max((long long)(blockDim.z), (long long)(blockIdx.x))),
           (long long)((threadIdx.z * threadIdx.z)))] = (int)(sum_ + 1);
    sum_ += (*(p1 + (blockDim.x + threadIdx.z)));
    __shared__ int h5[256];
    h5[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 255] =
        (int)((((size_t)blockDim.z <= (short)blockDim.z) ? 4 : threadIdx.z));
    __syncthreads();
    sum_ += h5[((int)blockDim.x) & 255];
    double &r6 = p2[blockDim.x];
    r6 = sum_;
}
// end

// kernel k34
extern "C" __global__ void k34(record *p1, long long *__restrict__ p2, unsigned n3,
                               unsigned char n4, unsigned n5, long long n6, int *p7, int n11,
                               int n12, int n13)
{
    float sum_ = 1;
    if (((long long)blockIdx.y * blockDim.y + threadIdx.y) < (unsigned)threadIdx.x) {
    } else if ((int)(blockIdx.x * blockDim.x + threadIdx.x) <= gridDim.x) {
        if ((int)(blockIdx.y * blockDim.y + threadIdx.y) < gridDim.x) {
            p1[threadIdx.y].weight = sum_;
            sum_ = 1;
        } else if ((int)(blockIdx.y * blockDim.y + threadIdx.y) < blockIdx.y) {
            sum_ += atomicMax(&p7[gridDim.x], (int)3);
        } else if (((int)gridDim.x < (int)gridDim.x) &&
                   ((long long)(blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.x)) {
            p1[threadIdx.y].weight = sum_;
            sum_ = 0;
        }
    } else {
        for (int k8 = n4; k8 < (int)16; k8 += 2) {
            sum_ += p1[(p7[(p7[(blockDim.x >> 2)] & 63)] & 1023)].weight;
            unsigned x9 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y10 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x9 < n11 && y10 < n12) {
                record &r14 = p1[y10 * n13 + x9];
                r14.id = 1, r14.tag = 2;
                sum_ += p2[(y10 + 2) * n13 + x9];
            }
        }
    }
    long long &r15 = p2[((size_t)(blockIdx.x * blockDim.x + threadIdx.x) >> 0)];
    r15 = (long long)sum_;
}
// end

// kernel k35
extern "C" __global__ void k35(const unsigned *p1, const short *__restrict__ p2, size_t n3,
                               size_t n4, int n6, record *p7, int n8, int n9, int n10, int n18,
                               unsigned n19, int n20)
{
    int sum_ = 1;
    for (int i5 = blockIdx.x * blockDim.x + threadIdx.x; i5 < n6; i5 += gridDim.x * blockDim.x) {
        sum_ += steps[(((((long long)n3 + blockIdx.x) ^ 7)) & 63) & 15];
        int x11 = blockIdx.x * blockDim.x + threadIdx.x;
        int z13 = blockIdx.z * blockDim.z + threadIdx.z;
        if (x11 >= n8 || z13 >= n10)
            return;
        for (int y12 = 0; y12 < n9; y12++) {
            record &r14 = p7[(z13 * n9 + y12) * n8 + x11];
            r14.tag = (short)sum_;
        }
    }
    p7[((unsigned)((scaled((int)(n3), (int)(n10)) + (4 + blockDim.x))) % 1000u)].tag = (short)1;
    for (short k15 = 0; k15 < (short)n10; k15 += 1) {
        p7[(int)((float)(int)((k15 + n8) & 1023) * 0.8f)].weight = 1;
    }
    if ((!(blockIdx.y == n9)) || ((long long)n10 <= (int)n4))
        return;
    int x16 = blockIdx.x * blockDim.x + threadIdx.x;
    int y17 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x16 < n18 && y17 < n19) {
        record &r21 = p7[(n20 * y17 + x16) * 3 + 1];
        r21.tag = (short)sum_;
        sum_ += p1[(y17 + 2) * n20 + x16];
    }
    record &r22 = p7[n3];
    r22.id = 1, r22.tag = 2;
}
// end

// kernel k36
extern "C" __global__ void k36(short *p1, unsigned n2, int n3)
{
    float sum_ = 1;
    ((blockDim.z < n2)
         ? p1
         : p1)[((((size_t)(blockIdx.x * blockDim.x + threadIdx.x) << 0) == threadIdx.z)
                    ? (unsigned long long)(blockDim.x)
                    : (n2 % blockDim.y))] = (short)sum_;
    sum_ = 0;
    short &r4 = p1[(blockDim.y * blockDim.x)];
    r4 = (short)sum_;
}
// end

// kernel k37
extern "C" __global__ void k37(const int *p1, unsigned n2, unsigned *p3)
{
    long long sum_ = 1;
    atomicMin_block(&p3[((blockIdx.x * blockDim.x + threadIdx.x) +
                         (unsigned long long)((long long)(blockIdx.x * blockDim.x + threadIdx.x)))],
                    (unsigned)3);
    for (long long k4 = threadIdx.x; k4 < (long long)blockIdx.x; k4 += 1) {
        p3[__clz((int)((unsigned short)(k4)))] = (unsigned)(sum_ + 1);
        sum_ = sum_ * 0.5;
        if (k4 > gridDim.x)
            break;
        unsigned *q5 = p3 + blockDim.x;
    }
    unsigned &r6 = p3[blockIdx.x];
    r6 = (unsigned)sum_;
}
// end

// kernel k38
extern "C" __global__ void k38(float2 *p1, long long *__restrict__ p2, short2 *p3, unsigned n4,
                               int n5, int n6, int n7, int **t8, int n10)
{
    long long sum_ = 1;
    for (int t9 = 0; t9 < n10; t9 += 16) {
        if (t9 + threadIdx.y < n10)
            sum_ += t8[(unsigned)((int)(blockIdx.x * blockDim.x + threadIdx.x)) % 4u]
                      [(t9 + threadIdx.x) * n10 + blockIdx.y * blockDim.y + threadIdx.y];
    }
    short2 &r11 = p3[(((n4 > 31) ? blockDim.x : (size_t)n7) & 127)];
    r11 = make_short2((short)sum_, 3);
}
// end

// kernel k39
extern "C" __global__ void k39(char *p1, const int *p2, unsigned n3, int n6, unsigned n7)
{
    int sum_ = 1;
    sum_ += p2[(unsigned short)((threadIdx.z * blockDim.z))];
    int x4 = blockIdx.x * blockDim.x + threadIdx.x;
    int y5 = blockIdx.x * blockDim.x + threadIdx.x;
    if (x4 < n6 && y5 < n7) {
        char &r8 = p1[(y5 + 1) * n6 + x4 + 1];
        r8 = (char)sum_;
        sum_ += p2[y5 * n6 + x4 - 1];
    }
    char &r9 = p1[(((int)(blockIdx.x * blockDim.x + threadIdx.x) * threadIdx.z) * gridDim.x)];
    r9 = (char)sum_;
}
// end

// kernel k40
struct k40_struct6 {
    long long f7;
};
extern "C" __global__ void k40(const short2 *p1, int n2, unsigned char n3, int n4, int n5,
                               k40_struct6 s6, float *p12)
{
    float sum_ = 1;
    int b9 = (int)((int)(blockIdx.x * blockDim.x + threadIdx.x)) * s6.f7,
        e10 = min(b9 + (int)s6.f7, 500);
    for (int k8 = b9; k8 < e10; k8++) {
#pragma unroll 1
        for (unsigned k11 = 2; k11 < (unsigned)blockIdx.x; k11 += 1) {
            (p12 + ((long long)blockIdx.x * blockDim.x + threadIdx.x))[8] = (float)1;
            sum_ = 1;
            float *x13 = p12, *y14 = p12;
            for (int k16 = 0; k16 < 10; k16++) {
                x13[k8] = y14[((long long)blockIdx.x * blockDim.x + threadIdx.x)];
                float *z15 = x13;
                x13 = y14;
                y14 = z15;
            }
        }
    }
    short2 v17 = p1[((size_t)(blockIdx.x * blockDim.x + threadIdx.x) * n3)];
    sum_ += v17.x + v17.y;
    float &r18 = p12[(blockIdx.x * blockDim.x + threadIdx.x)];
    r18 = (float)sum_;
}
// end

// kernel k41
extern "C" __global__ void k41(short *p1, double *__restrict__ p2, double *p3, unsigned n4,
                               unsigned short n5, float z10)
{
    float sum_ = 1;
    if (!(0 > threadIdx.y)) {
        double *x6 = p3, *y7 = p2;
        for (int k9 = 0;
             k9 < ((p1[(((signed char)(gridDim.x) + (-blockIdx.x)) & 8191)] & 1023) & 7); k9++) {
            x6[((unsigned)blockIdx.x * blockIdx.y)] = y7[(32 * 16)];
            double *z8 = x6;
            x6 = y7;
            y7 = z8;
        }
        if (!(z10 > 0.25)) {
            for (long long k11 = blockDim.x;
                 k11 <
                 (long long)((((blockDim.y >= blockDim.x) ? p1 : p1)[(
                                  (unsigned char)(((size_t)blockIdx.x * blockDim.x + threadIdx.x)) ^
                                  blockDim.y)] &
                              7) &
                             7);
                 k11 += 2) {
                for (unsigned i12 = threadIdx.x; i12 < n5; i12 += blockDim.x) {
                    p3[31] = (sum_ + 1);
                    p2[gridDim.y] = sum_;
                    sum_ = sum_ * 0.5;
                }
                ((k11 <= blockIdx.x) ? p2 : p2)[(
                    ((long long)(blockIdx.x * blockDim.x + threadIdx.x) + (blockIdx.y + k11)) *
                    (short)blockIdx.y)] = 1;
            }
            (*(p1 + 32)) = (short)sum_;
        }
    }
    double *q13 = p3 + threadIdx.x;
    double &r14 = p2[((unsigned)(max((unsigned)((((unsigned)n5 * blockIdx.x) << 1)),
                                     (unsigned)(((gridDim.x - (long long)n4) * blockDim.x)))) %
                      4096u)];
    r14 = sum_;
}
// end

// kernel k42
struct k42_struct6 {
    long long f7;
    char *f8[2];
    short *f9[4];
};
extern "C" __global__ void k42(const char *__restrict__ p1, int *p2, int n3, int n4, int n5,
                               k42_struct6 s6, int n10, int n11, int n12)
{
    int sum_ = 1;
    int y14 = blockIdx.y * blockDim.y + threadIdx.y;
    int z15 = blockIdx.z * blockDim.z + threadIdx.z;
    if (y14 < n11 && z15 < n12) {
        for (int x13 = 1; x13 < n10; x13++) {
            short &r16 = s6.f9[1][(z15 * n11 + y14) * n10 + x13];
            r16 = (short)sum_;
        }
    }
    {
        asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" ::"l"(
                         __cvta_generic_to_global(&p2[(n3 >> 5)])),
                     "r"(7), "r"((int)((int)(blockIdx.y * blockDim.y + threadIdx.y) > 4))
                     : "memory");
    }
    s6.f8[(unsigned)((8 * n3)) % 2u][threadIdx.y] = (char)sum_;
    int &r17 = p2[n12];
    r17 = (int)sum_;
}
// end

// kernel k43
extern "C" __global__ void k43(double *p1, unsigned *p2, double *__restrict__ p3, int n4, int n6,
                               int n7, int n8, float4 *p22, int n23)
{
    int sum_ = 1;
    int h5 = __shfl_sync(__activemask(), (int)((blockIdx.y >> 3)), 0) & 511;
    int x9 = blockIdx.x * blockDim.x + threadIdx.x;
    int z11 = blockIdx.z * blockDim.z + threadIdx.z;
    if (x9 >= n6 || z11 >= n8)
        return;
    for (int y10 = 1; y10 < n7; y10++) {
        unsigned &r12 = p2[(z11 * n7 + x9) * n6 + y10];
        r12 = (unsigned)sum_;
    }
    unsigned *w13 =
        p2 +
        ((unsigned)(((threadIdx.z * n7) - (int)(blockIdx.y * blockDim.y + threadIdx.y))) % 100u);
    for (int c14 = 0; c14 < n8; c14++, w13 += 1) {
        (*w13) = (unsigned)1;
    }
    for (int k15 = 0; k15 <= (int)8; k15 += 1) {
        for (int k16 = (int)2 - 1; k16 >= 0; k16 -= 1) {
            p1[2] = (sum_ + 1);
#pragma unroll 2
            for (int i17 = threadIdx.x; i17 < n4; i17 += blockDim.x) {
                sum_ += p3[(long long)(blockIdx.z * blockDim.z + threadIdx.z)];
            }
        }
        if (((long long)blockIdx.x * blockDim.x + threadIdx.x) <= (long long)blockDim.z)
            continue;
        double *x18 = p3, *y19 = p3;
        for (int k21 = 0; k21 < threadIdx.x; k21++) {
            x18[(threadIdx.x * k15)] = y19[k15];
            double *z20 = x18;
            x18 = y19;
            y19 = z20;
        }
    }
    int i24 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i24 < n23 / 4)
        p22[i24] = make_float4(sum_, 1, 2, 3);
    if (i24 < n23 % 4)
        ((float *)p22)[n23 / 4 * 4 + i24] = sum_;
    unsigned &r25 = p2[h5];
    r25 = (unsigned)sum_;
}
// end

// kernel k44
struct k44_struct5 {
    char *f6;
    short f7;
    unsigned char *f8;
    int4 *f9;
};
extern "C" __global__ void k44(short *p1, unsigned n2, unsigned short n3, unsigned n4,
                               k44_struct5 s5, double z10, int n13, int n15)
{
    int sum_ = 1;
    s5.f6[(int)((int)(blockIdx.y * blockDim.y + threadIdx.y))] = (char)1;
    if (((n4 >= 8) && (n3 < gridDim.z)) || (z10 > 0.25)) {
        switch (((int)(blockIdx.z * blockDim.z + threadIdx.z)) & 7) {
        case 0: {
#pragma unroll 4
            for (short k11 = 1; k11 < (short)threadIdx.z; k11 += 1) {
                if ((n3 <= k11) && (k11 >= 32)) {
                    p1[(unsigned)blockDim.x] = (short)(sum_ + 1);
                }
            }
        } break;
        case 1: {
            sum_ += (*(volatile short *)&p1[((100 - (size_t)blockDim.y) & blockIdx.y)]);
        } break;
        case 2: {
            s5.f9[(min((int)(blockDim.y), (int)(blockDim.y)) / 100u)] = make_int4((int)1, 1, 2, 3);
        } break;
        case 3: {
            weights[((((n4 - blockIdx.x) - (threadIdx.x + blockDim.y))) & 255) & 63]
                   [(blockDim.z) & 31] = 1.0f;
        } break;
        }
    }
    sum_ += p1[(((blockDim.y < blockIdx.z) ? blockIdx.y : blockIdx.x) * (long long)blockIdx.x)];
    if (n4 < blockDim.x) {
        for (int t12 = 0; t12 < n13; t12 += 16) {
            if (t12 + threadIdx.x < n13)
                p1[(blockIdx.x * blockDim.x + threadIdx.x) * n13 + t12 + threadIdx.x] = (short)sum_;
        }
        for (int t14 = 0; t14 < n15; t14 += 8) {
            sum_ += p1[(blockIdx.y * blockDim.y + threadIdx.y) * n15 + t14 + threadIdx.x];
        }
    } else {
        (s5.f8 + (int)(blockIdx.z * blockDim.z + threadIdx.z))[8] = (unsigned char)1;
        sum_ = 0;
    }
    unsigned char &r16 = s5.f8[n2];
    r16 = (unsigned char)sum_;
}
// end

// kernel k45
extern "C" __global__ void k45(const rgb *__restrict__ p1, int *__restrict__ p4)
{
    int sum_ = 1;
    const rgb *q2 = p1 + (int)(blockIdx.z * blockDim.z + threadIdx.z);
    rgb v3 = p1[(((16 + 31) * gridDim.y) + (16 + (64 + blockIdx.y)))];
    sum_ += v3.g + v3.b;
    sum_ += atomicMax_block(&p4[threadIdx.z], (int)3);
    int &r5 = p4[(int)(blockIdx.z * blockDim.z + threadIdx.z)];
    r5 = (int)sum_;
}
// end

// kernel k46
extern "C" __global__ void k46(const int *p1, float4 *__restrict__ p2, int n3, int n5, int n6,
                               int n7)
{
    int sum_ = 1;
    int i4 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i4 < n3 / 4)
        p2[i4] = make_float4(sum_, 1, 2, 3);
    if (i4 < n3 % 4)
        ((float *)p2)[n3 / 4 * 4 + i4] = sum_;
    int x8 = blockIdx.x * blockDim.x + threadIdx.x;
    int y9 = blockIdx.y * blockDim.y + threadIdx.y;
    int z10 = blockIdx.z * blockDim.z + threadIdx.z;
    if (x8 >= n5 || y9 >= n6 || z10 >= n7)
        return;
    float4 &r11 = p2[(z10 * n6 + y9) * n5 + x8];
    r11 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);

    p2[n7] = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
    float4 &r12 = p2[((long long)blockIdx.x * blockDim.x + threadIdx.x)];
    r12 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k47
extern "C" __global__ void k47(rgb *p1, long long *__restrict__ p2, const short *p3, int n5,
                               unsigned *__restrict__ p8)
{
    float sum_ = 1;
    p1[blockDim.y].g = (unsigned char)sum_;
    sum_ += p2[((int)((float)(int)(blockIdx.x & 1023) * 0.3f) >> 2)];
    if (blockDim.y < blockIdx.x) {
        for (size_t i4 = threadIdx.x; i4 < n5; i4 += blockDim.x) {
            for (short k6 = 0; k6 < (short)5; k6 += 1) {
                p2[(size_t)(blockIdx.y * blockDim.y + threadIdx.y)] = (long long)sum_;
            }
            if (i4 > i4)
                continue;
            for (unsigned g7 = blockDim.x / 2; g7 > 0; g7 >>= 1) {
            }
        }
        sum_ +=
            atomicMax(&p8[((((long long)blockIdx.x * blockDim.x + threadIdx.x) % gridDim.x) % 10u)],
                      (unsigned)3);
    }
    (p1 + min((unsigned)((threadIdx.z >> (threadIdx.y & 7))),
              (unsigned)((unsigned long long)(threadIdx.y))))[2]
        .g = (unsigned char)(sum_ + 1);
    rgb &r9 = p1[64];
    r9.g = (unsigned char)sum_;
}
// end

// kernel k48
extern "C" __global__ void k48(double *p1, int n2, float **t3, int n6, int n7,
                               float4 *__restrict__ p12, int n13, int n15,
                               const int *__restrict__ p19)
{
    long long sum_ = 1;
    switch (((blockDim.x + gridDim.x)) & 7) {
    case 0: {
        switch (((blockDim.x * threadIdx.x)) & 7) {
        case 0: {
            unsigned x4 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y5 = blockIdx.x * blockDim.x + threadIdx.x;
            if (x4 < n6 && y5 < n7) {
                double &r8 = p1[(n6 * y5 + x4) * 3 + 2];
                r8 = sum_;
                sum_ += t3[6][(y5 + 2) * n6 + x4];
            }
        } break;
        case 1: {
        }
        case 2: {
            double v10 = (*(double *)&p1[(int)gridDim.x]);
            sum_ += v10;
        } break;
        case 3: {
            double *q11 = p1 + (blockIdx.x + blockDim.x);
        } break;
        }
    } break;
    case 1: {
        int i14 = blockIdx.x * blockDim.x + threadIdx.x;
        if (i14 < n13 / 4)
            p12[i14] = make_float4(sum_, 1, 2, 3);
        if (i14 < n13 % 4)
            ((float *)p12)[n13 / 4 * 4 + i14] = sum_;
    } break;
    }
    if (threadIdx.x < 3) {
        int i16 = blockIdx.x * blockDim.x + threadIdx.x;
        if (i16 < n15 / 4)
            p12[i16] = make_float4(sum_, 1, 2, 3);
        if (i16 < n15 % 4)
            ((float *)p12)[n15 / 4 * 4 + i16] = sum_;
        float *w17 = t3[6] + (int)((1 * threadIdx.x));
        for (int c18 = 0; c18 < blockIdx.x; c18++, w17 += blockDim.x) {
            (*w17) = (float)1;
        }
    }
    ((n6 > (short)n6) ? t3[6]
                      : t3[6])[steps[(((size_t)blockIdx.x * blockDim.x + threadIdx.x)) & 15]] =
        (float)sum_;
    sum_ += __ldg(&p1[(p19[steps[((int)blockIdx.x) & 15]] & 1023)]);
    float &r20 = t3[6][n2];
    r20 = (float)sum_;
}
// end

// kernel k49
extern "C" __global__ void k49(char *p1, unsigned n2, unsigned *p4)
{
    int sum_ = 1;
    switch ((blockIdx.x) & 7) {
    case 0: {
        char *q3 = p1 + (blockIdx.y * blockDim.y + threadIdx.y);
    }
    case 1: {
        if (((gridDim.z > threadIdx.x) ? ((long long)blockIdx.x * blockDim.x + threadIdx.x)
                                       : (size_t)(blockDim.y)) < (size_t)gridDim.z)
            return;
    } break;
    case 2: {
        atomicAdd_system(&p4[blockIdx.z], (unsigned)3);
    } break;
    }
    p4[blockDim.x] = (unsigned)sum_;
    char &r5 = p1[blockDim.y];
    r5 = (char)sum_;
}
// end

// kernel k50
extern "C" __global__ void k50(char *__restrict__ p1, long long *__restrict__ p2, int n3, int n4,
                               const int *__restrict__ p5, int n7, unsigned *p13)
{
    int sum_ = 1;
    if ((p5[n3] & 1023) > 3) {
        switch ((blockIdx.x) & 7) {
        case 0: {
            sum_ += p2[(((int)(blockIdx.z * blockDim.z + threadIdx.z) + (gridDim.x % gridDim.x)) +
                        (int)(blockIdx.z * blockDim.z + threadIdx.z))];
        } break;
        case 1: {
            for (unsigned i6 = threadIdx.x; i6 < n7; i6 += blockDim.x) {
                p1[((steps[((((int)(blockIdx.y * blockDim.y + threadIdx.y) < i6) ? i6 : i6)) &
                           15] <= (short)n4)
                        ? (blockIdx.z + i6)
                        : (i6 / gridDim.y))] = (char)sum_;
                int k8 = 0;
                while (k8 < (int)4) {
                    k8 += 1;
                    p2[(p5[i6] & 63)] = (long long)sum_;
                    p1[k8] = (char)(sum_ + 1);
                    sum_ = 0;
                }
                if (blockDim.x > n7)
                    continue;
                char *w9 = p1 + (min((int)(threadIdx.x), (int)(i6)) * i6);
                for (int c10 = 0; c10 < threadIdx.y; c10++, w9 += 2) {
                    (*w9) = (char)1;
                }
            }
        } break;
        case 2: {
            p1[(threadIdx.x >> 2)] = (char)(sum_ + 1);
            sum_ = 1;
        } break;
        case 3: {
            (p2 + (((unsigned)(0) + (long long)(threadIdx.y)) * (int)n7))[2] =
                (long long)(sum_ + 1);
        }
        case 4: {
        } break;
        }
    } else if ((steps[((size_t)gridDim.x) & 15] > 16) || ((int)blockIdx.z > blockDim.y)) {
        atomicMin_system(&p13[(size_t)(blockIdx.z * blockDim.z + threadIdx.z)], (unsigned)3);
    } else {
        for (unsigned k14 = blockDim.z; k14 < (unsigned)1; k14 += 1) {
            p2[k14] = (long long)(sum_ + 1);
        }
    }
    long long &r15 = p2[n3];
    r15 = (long long)sum_;
}
// end

// kernel k51
struct k51_struct3 {
    long long f4;
};
extern "C" __global__ void k51(int *p1, int n2, k51_struct3 s3, float4 *__restrict__ p5, int n6)
{
    long long sum_ = 1;
    int i7 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i7 < n6 / 4)
        p5[i7] = make_float4(sum_, 1, 2, 3);
    if (i7 < n6 % 4)
        ((float *)p5)[n6 / 4 * 4 + i7] = sum_;
    float4 &r8 = p5[((*(p1 + (size_t)((s3.f4 << 4)))) & 63)];
    r8 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k52
extern "C" __global__ void k52(const short *__restrict__ p1, float4 *p2,
                               const long long *__restrict__ p3, int *__restrict__ p6)
{
    int sum_ = 1;
    float4 *w4 = p2 + blockIdx.z;
    for (int c5 = 0; c5 < ((p1[((threadIdx.y + 0) * blockIdx.x)] & 7) & 7); c5++, w4 += 1) {
        (*w4) = make_float4((float)1, 0.0f, 1.0f, 2.0f);
    }
    (*(p2 + ((int)blockDim.x + ((size_t)blockIdx.y * blockDim.y + threadIdx.y)))).y = (float)1;
    atomicExch_system(&p6[((blockDim.x >= (long long)blockIdx.z) ? gridDim.z : (int)blockIdx.x)],
                      (int)3);
    p2[(long long)(blockIdx.z * blockDim.z + threadIdx.z)].y = (float)(sum_ + 1);
    int &r7 =
        p6[((unsigned long long)((blockDim.y +
                                  ((size_t)(blockIdx.y * blockDim.y + threadIdx.y) - blockIdx.x))) %
            4096u)];
    r7 = (int)sum_;
}
// end

// kernel k53
extern "C" __global__ void k53(int *p1, int4 *__restrict__ p2, unsigned *__restrict__ p3, int n4)
{
    long long sum_ = 1;
    sum_ += sum((((size_t)(blockIdx.x * blockDim.x + threadIdx.x) > threadIdx.x)
                     ? p2
                     : p2)[(long long)(blockIdx.x * blockDim.x + threadIdx.x)]);
    int4 v5 = p2[((long long)(blockIdx.x * blockDim.x + threadIdx.x) + (blockIdx.x * n4))];
    sum_ += sum(v5);
    (((int)(blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.x)
         ? p1
         : p1)[(size_t)(blockIdx.x * blockDim.x + threadIdx.x)] = (int)sum_;
    int v6 = p1[(int)threadIdx.x];
    sum_ += v6;
    p2[(blockDim.x + threadIdx.x)] = make_int4((int)sum_, 1, 2, 3);
    int &r7 = p1[(threadIdx.x * blockDim.x)];
    r7 = (int)sum_;
}
// end

// kernel k54
extern "C" __global__ void k54(double *p1)
{
    int sum_ = 1;
    sum_ += p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    (*(p1 + blockIdx.z)) = sum_;
    sum_ = 0;
    double &r2 = p1[(blockIdx.x * blockDim.x + threadIdx.x)];
    r2 = sum_;
}
// end

// kernel k55
extern "C" __global__ void k55(long long *p1, unsigned *p2, double *__restrict__ p3,
                               unsigned short n4, int n5, unsigned long long n6, int n11,
                               unsigned n12, int n13)
{
    extern __shared__ float dynamic[];
    long long sum_ = 1;
    p3[(((long long)blockIdx.z * blockDim.z + threadIdx.z) + (blockIdx.z * blockDim.x))] = sum_;
    dynamic[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 255] =
        (float)sum_;
    __syncthreads();
    sum_ += dynamic[(((blockDim.y * (int)n4) * threadIdx.x)) & 255];
    unsigned l8 = ((int)(blockIdx.z * blockDim.z + threadIdx.z) + (threadIdx.y * blockDim.y));
    int x9 = blockIdx.x * blockDim.x + threadIdx.x;
    int y10 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x9 < n11 && y10 < n12) {
        unsigned &r14 = p2[x9 * n13 + y10];
        r14 = (unsigned)sum_;
        sum_ += p2[x9 * n13 + y10];
    }
    double &r15 = p3[blockDim.y];
    r15 = sum_;
}
// end

// kernel k56
extern "C" __global__ void k56(char *__restrict__ p1, record *p2, short *__restrict__ p3,
                               unsigned n4, unsigned short n5, int n6, size_t n7, int n9)
{
    int sum_ = 1;
    p1[(((n7 >> 4) * n6) & 127)] = (char)sum_;
    for (int i8 = blockIdx.x * blockDim.x + threadIdx.x; i8 < n9; i8 += gridDim.x * blockDim.x) {
        sum_ += p3[(i8 | 240)];
        if ((int)(blockIdx.y * blockDim.y + threadIdx.y) < blockIdx.x)
            break;
        p3[(abs((int)(i8)) & 100)] = (short)1;
        sum_ = 0;
    }
    short &r10 =
        p3[((*(p3 + (p3[((3 + (blockIdx.x * blockIdx.x)) + (n5 * blockIdx.y))] & 63))) & 1023)];
    r10 = (short)sum_;
}
// end

// kernel k57
struct k57_struct4 {
    int f5;
    float *f6[2];
    short *f7[2];
    rgb *f8;
};
extern "C" __global__ void k57(float *p1, short *p2, const float *p3, k57_struct4 s4, int n11,
                               float4 *p12, int n13, int n16)
{
    long long sum_ = 1;
    for (int k9 = (int)1 - 1; k9 >= 0; k9 -= 1) {
        if ((k9 < k9) && (((size_t)blockIdx.y * blockDim.y + threadIdx.y) < k9))
            return;
    }
    for (int t10 = 0; t10 < n11; t10 += 16) {
        sum_ += s4.f6[(unsigned)((blockDim.x << 6)) % 2u]
                     [(t10 + threadIdx.x) * n11 + blockIdx.x * blockDim.x + threadIdx.x];
    }
    if (((s4.f5 - (long long)gridDim.x) + blockDim.y) > blockDim.x) {
        int i14 = blockIdx.x * blockDim.x + threadIdx.x;
        if (i14 < n13 / 4)
            p12[i14] = make_float4(sum_, 1, 2, 3);
        if (i14 < n13 % 4)
            ((float *)p12)[n13 / 4 * 4 + i14] = sum_;
    }
    if ((long long)(blockIdx.x * blockDim.x + threadIdx.x) > 3) {
        if (((int)(blockIdx.y * blockDim.y + threadIdx.y) < n13) &&
            ((size_t)(blockIdx.y * blockDim.y + threadIdx.y) > gridDim.x))
            return;
        sum_ +=
            s4.f7[(unsigned)((blockDim.x >> 2)) % 2u][(int)(blockIdx.x * blockDim.x + threadIdx.x)];
    } else if ((int)(blockIdx.y * blockDim.y + threadIdx.y) <= blockDim.y) {
#pragma unroll 8
        for (int k15 = 1; k15 < (int)blockDim.y; k15 += 2) {
            if (k15 < n11) {
                sum_ += p1[((k15 + k15) >> 1)];
                p2[k15] = (short)sum_;
            } else if ((blockIdx.y * blockDim.y + threadIdx.y) > k15) {
                int i17 = blockIdx.x * blockDim.x + threadIdx.x;
                if (i17 < n16 / 4)
                    p12[i17] = make_float4(sum_, 1, 2, 3);
                if (i17 < n16 % 4)
                    ((float *)p12)[n16 / 4 * 4 + i17] = sum_;
            }
            if (k15 < n16)
                break;
            p12[(blockIdx.x * blockDim.x + threadIdx.x)].y = (float)1;
            sum_ = 1;
        }
    }
    s4.f8[blockDim.y].g = (unsigned char)sum_;
    rgb &r18 = s4.f8[(blockDim.y * n16)];
    r18.g = (unsigned char)sum_;
}
// end

// kernel k58
struct k58_struct5 {
    long long f6;
};
extern "C" __global__ void k58(const short *p1, char *p2, int n3, int n4, k58_struct5 s5, double z8)
{
    long long sum_ = 1;
    char v7 = p2[(min((unsigned)(n3), (unsigned)(blockIdx.y)) >> 2)];
    sum_ += v7;
    (*(p2 + ((unsigned long long)((
                 (gridDim.y < 7)
                     ? (long long)blockDim.x
                     : (int)(z8 * (float)(int)(((long long)blockDim.x * blockIdx.y) & 255)))) %
             30000u))) = (char)(sum_ + 1);
    sum_ += steps[((max((unsigned)(min((unsigned)((unsigned)s5.f6), (unsigned)(3))),
                        (unsigned)(((blockIdx.y < (int)s5.f6) ? n3 : gridDim.y)))) &
                   63) &
                  15];
    char &r9 = p2[threadIdx.x];
    r9 = (char)sum_;
}
// end

// kernel k59
extern "C" __global__ void k59(float *p1, float *p2, const unsigned *p3, size_t n4, unsigned n5,
                               int n6, int n8, int n9, int n10, int n11)
{
    long long sum_ = 1;
    sum_ += get_float(p2, (int)(min((int)(n5), (int)((short)blockDim.x))));
    for (int t7 = 0; t7 < n8; t7 += 8) {
        if (t7 + threadIdx.x < n8)
            p1[(t7 + threadIdx.y) * n8 + blockIdx.x * blockDim.x + threadIdx.x] = (float)sum_;
    }
    int x12 = blockIdx.x * blockDim.x + threadIdx.x;
    int z14 = blockIdx.z * blockDim.z + threadIdx.z;
    if (x12 < n9 && z14 < n11) {
        for (int y13 = 1; y13 < n10; y13++) {
            float &r15 = p2[(y13 * n10 + z14) * n9 + x12];
            r15 = (float)sum_;
        }
    }
    sum_ += scratch[((((threadIdx.x + blockIdx.x) * n9)) & 2047) + 7];
    float &r16 = p2[(100 + n8)];
    r16 = (float)sum_;
}
// end

// kernel k60
extern "C" __global__ void k60(short *__restrict__ p1, int *__restrict__ p2)
{
    long long sum_ = 1;
    (*(volatile short *)&p1[(blockIdx.x * gridDim.y)]) = (short)(sum_ + 1);
    for (int k3 = (int)blockDim.x - 1; k3 >= 0; k3 -= 2) {
        short *q4 = p1 + 100;
        if ((blockIdx.x * blockDim.x + threadIdx.x) < (size_t)gridDim.y)
            break;
        if (((int)(blockIdx.x * blockDim.x + threadIdx.x) < 8) &&
            ((gridDim.y >= k3) || (k3 < gridDim.x))) {
            short *w5 = q4 + k3;
            for (int c6 = 0; c6 < gridDim.x; c6++, w5++) {
                (*w5) = (short)1;
            }
        } else if (k3 < 3) {
            q4[k3] = (short)(sum_ + 1);
        }
    }
    short &r7 = p1[blockIdx.y];
    r7 = (short)sum_;
}
// end

// kernel k61
extern "C" __global__ void k61(const double *p1, double *__restrict__ p2, size_t n3, signed char n4,
                               int n5, unsigned n6, const int *p8, int n15, unsigned n16, int n19)
{
    float sum_ = 1;
    if ((long long)(blockIdx.z * blockDim.z + threadIdx.z) < blockDim.z) {
        int k7 = 0;
        while (k7 < (int)(((*(volatile int *)&p8[(int)blockDim.x]) & 63) & 7)) {
            k7 += 1;
            const double *q9 = p1 + ((unsigned)((k7 - blockIdx.z)) % 1000u);
        }
        int b11 = (int)((long long)(blockIdx.z * blockDim.z + threadIdx.z)) * gridDim.z,
            e12 = min(b11 + (int)gridDim.z, 100000);
#pragma unroll 1
        for (int k10 = b11; k10 < e12; k10++) {
            p2[(((k10 << 3) << 2) & 1023)] = sum_;
            unsigned x13 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y14 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x13 < n15 && y14 < n16) {
                double &r17 = p2[(n15 * y14 + x13) * 3 + 2];
                r17 = sum_;
                sum_ += p8[(y14 + 2) * n15 + x13];
            }
        }
    }
    for (int t18 = 0; t18 < n19; t18 += 8) {
        p2[(t18 + threadIdx.y) * n19 + blockIdx.x * blockDim.x + threadIdx.x] = (double)sum_;
    }
#pragma unroll 2
    for (int k20 = (int)threadIdx.y - 1; k20 >= 0; k20 -= 1) {
#pragma unroll 4
        for (long long k21 = 2; k21 <= (long long)16; k21 += 3) {
            (p2 + k21)[1] = (sum_ + 1);
            switch (((long long)(blockIdx.z * blockDim.z + threadIdx.z)) & 7) {
            case 0: {
                for (int k22 = 1; k22 < (int)gridDim.x; k22 += 1) {
                    p2[(int)(blockIdx.y * blockDim.y + threadIdx.y)] = 1;
                }
            } break;
            case 1: {
                sum_ += p8[(k21 * k21)];
            } break;
            case 2: {
                (p2 + (long long)(blockIdx.y * blockDim.y + threadIdx.y))[2] = (sum_ + 1);
            } break;
            }
        }
        for (int i23 = blockIdx.x * blockDim.x + threadIdx.x; i23 < n19;
             i23 += gridDim.x * blockDim.x) {
            sum_ += p2[blockIdx.y];
        }
    }
    __shared__ int h24[256];
    h24[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 255] =
        (int)(((short)n19 * n3));
    __syncthreads();
    sum_ += h24[((int)(blockIdx.x * blockDim.x + threadIdx.x)) & 255];
    double &r25 = p2[((gridDim.z * threadIdx.y) * threadIdx.x)];
    r25 = sum_;
}
// end

// kernel k62
extern "C" __global__ void k62(uchar4 *__restrict__ p1, const double *p2, int n7, unsigned n8,
                               int n9)
{
    int sum_ = 1;
    if (((int)(blockIdx.x * blockDim.x + threadIdx.x) < 0) &&
        (((blockIdx.y * blockDim.y + threadIdx.y) > 3) &&
         (((long long)blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.y))) {
        uchar4 *w3 = p1 + (size_t)(blockIdx.x * blockDim.x + threadIdx.x);
        for (int c4 = 0; c4 < 8; c4++, w3++) {
            (*w3) = make_uchar4((unsigned char)1, 1, 2, 3);
        }
    } else if (((size_t)blockIdx.y * blockDim.y + threadIdx.y) < blockDim.y) {
        p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)] =
            make_uchar4((unsigned char)sum_, 1, 2, 3);
    } else if ((int)(blockIdx.x * blockDim.x + threadIdx.x) < gridDim.y) {
        unsigned x5 = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned y6 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x5 < n7 && y6 < n8) {
            uchar4 &r10 = p1[(n9 * y6 + x5) * 3 + 0];
            r10 = make_uchar4((unsigned char)sum_, 1, 2, 3);
            sum_ += p2[y6 * n9 + x5 - 1];
        }
    }
    p1[((gridDim.y - threadIdx.y) >> 3)].w = 7;
    p1[max((unsigned)(4), (unsigned)(((threadIdx.y << 1) + ((int)n8 >> 6))))].w = 7;
    uchar4 v11 = p1[((threadIdx.y * 2) + (int)(blockIdx.x * blockDim.x + threadIdx.x))];
    sum_ += v11.x + v11.w;
    uchar4 &r12 = p1[(unsigned)n8];
    r12 = make_uchar4((unsigned char)sum_, 1, 2, 3);
}
// end

// kernel k63
extern "C" __global__ void k63(const double *p1, float2 *__restrict__ p2, const int *p3, int n4,
                               int n5, int n6, unsigned short n7, unsigned *p8)
{
    int sum_ = 1;
    sum_ +=
        scratch[((((threadIdx.y >> 6) + ((long long)blockIdx.x * blockDim.x + threadIdx.x))) & 63) +
                7];
    sum_ +=
        ((!((int)(blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.y)) ? p2 : p2)[threadIdx.y].x;
    if ((((size_t)(blockIdx.x * blockDim.x + threadIdx.x) >= (short)blockIdx.x) ||
         ((long long)(blockIdx.x * blockDim.x + threadIdx.x) < n7)) &&
        (!((blockIdx.x * blockDim.x + threadIdx.x) < 2))) {
        sum_ += atomicAdd(&p8[(int)(blockIdx.x * blockDim.x + threadIdx.x)], (unsigned)3);
        double v9 = (((size_t)(blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.x)
                         ? p1
                         : p1)[(((int)(blockIdx.x * blockDim.x + threadIdx.x) +
                                 (int)(blockIdx.x * blockDim.x + threadIdx.x)) *
                                threadIdx.x)];
        sum_ += v9;
    } else if ((blockIdx.x * blockDim.x + threadIdx.x) <= blockDim.z) {
        sum_ += ((((size_t)blockIdx.x * blockDim.x + threadIdx.x) > blockIdx.x)
                     ? p1
                     : p1)[(blockDim.y * (unsigned)n7)];
    } else if ((blockIdx.x * blockDim.x + threadIdx.x) < n6) {
        if (!((int)(blockIdx.x * blockDim.x + threadIdx.x) > n4)) {
            p2[((blockIdx.x * blockDim.x + threadIdx.x) + n4)] = make_float2((float)sum_, 1.0f);
        }
    }
    float2 &r10 = p2[((size_t)blockIdx.x * blockDim.x + threadIdx.x)];
    r10 = make_float2((float)sum_, 1.0f);
}
// end

// kernel k64
extern "C" __global__ void k64(const unsigned *p1, unsigned n2, int n3, unsigned char n4,
                               short *__restrict__ p5, int n8, unsigned n9)
{
    long long sum_ = 1;
    p5[blockIdx.z] = (short)sum_;
    int x6 = blockIdx.x * blockDim.x + threadIdx.x;
    int y7 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x6 < n8 && y7 < n9) {
        short &r10 = p5[y7 * n8 + x6];
        r10 = (short)sum_;
        sum_ += p1[(y7 + 2) * n8 + x6];
    }
    short &r11 = p5[((unsigned long long)((
                         (__popc((unsigned)((n9 * n3))) < (int)n8)
                             ? (((int)n4 - n3) -
                                (((((short)blockDim.y >= n4) ? (threadIdx.y * threadIdx.y)
                                                             : (size_t)(blockIdx.x)) >= blockIdx.y)
                                     ? threadIdx.x
                                     : (size_t)n4))
                             : ((threadIdx.z - threadIdx.y) + ((int)blockIdx.x * blockIdx.y)))) %
                     4096u)];
    r11 = (short)sum_;
}
// end

// kernel k65
extern "C" __global__ void k65(const float *__restrict__ p1, double *p4, const int *p6)
{
    int sum_ = 1;
    int k2 = 0;
    while (k2 < (int)2) {
        k2 += 1;
        for (int k3 = (int)4 - 1; k3 >= 0; k3 -= 1) {
            p4[(((gridDim.x * k3) * (short)gridDim.y) + ((k3 + k3) * (short)blockIdx.y))] = sum_;
        }
    }
    p4[3] = sum_;
    p4[((int)(blockIdx.x * blockDim.x + threadIdx.x) * blockIdx.x)] = (sum_ + 1);
    sum_ = sum_ * 0.5;
    double v5 = (*(p4 + (p6[((size_t)blockIdx.y * blockDim.y + threadIdx.y)] & 1023)));
    sum_ += v5;
    double &r7 = p4[(threadIdx.x + (int)(blockIdx.y * blockDim.y + threadIdx.y))];
    r7 = sum_;
}
// end

// kernel k66
extern "C" __global__ void k66(unsigned *__restrict__ p1, unsigned char n2, int n5, int n6, int n11,
                               unsigned n12, int n13)
{
    long long sum_ = 1;
    int x3 = blockIdx.x * blockDim.x + threadIdx.x;
    int y4 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x3 < n5 && y4 < n6) {
        unsigned &r7 = p1[(y4 + 1) * n5 + x3 + 1];
        r7 = (unsigned)sum_;
        sum_ += p1[(y4 + 2) * n5 + x3];
    }
    unsigned v8 = (p1 + (((threadIdx.x * 0) + ((unsigned)n6 ^ (size_t)n2)) * blockIdx.y))[1];
    sum_ += v8;
    sum_ += p1[((blockIdx.y * blockDim.y + threadIdx.y) + (8 * 8))];
    int x9 = blockIdx.x * blockDim.x + threadIdx.x;
    int y10 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x9 < n11 && y10 < n12) {
        unsigned &r14 = p1[y10 * n13 + x9];
        r14 = (unsigned)sum_;
        sum_ += p1[(y10 + 2) * n13 + x9];
    }
    unsigned &r15 = p1[(blockIdx.y >> 0)];
    r15 = (unsigned)sum_;
}
// end

// kernel k67
extern "C" __global__ void k67(const long long *p1, int *__restrict__ p2, char *p3, unsigned n4)
{
    int sum_ = 1;
    sum_ += p1[(blockIdx.x * blockDim.x + threadIdx.x)];
    int &r5 = p2[blockIdx.x];
    r5 = (int)sum_;
}
// end

// kernel k68
struct k68_struct3 {
    float *f4[4];
    long long f5;
};
extern "C" __global__ void k68(record *__restrict__ p1, int n2, k68_struct3 s3, int n7, int n8,
                               int n9, int n19, unsigned n20, int n21)
{
    int sum_ = 1;
    if (threadIdx.y >= (int)gridDim.x) {
        for (long long k6 = 1; k6 < (long long)2; k6 += 1) {
            int x10 = blockIdx.x * blockDim.x + threadIdx.x;
            int y11 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x10 >= n7 || y11 >= n8)
                return;
            for (int z12 = 0; z12 < n9; z12++) {
                float &r13 = s3.f4[(unsigned)((blockDim.z >> 0)) % 4u][(z12 * n8 + y11) * n7 + x10];
                r13 = (float)sum_;
            }
            if (max((int)(((long long)blockIdx.x * blockDim.x + threadIdx.x)),
                    (int)((threadIdx.z * n9))) < threadIdx.z)
                continue;
            float *w14 = s3.f4[(unsigned)((blockDim.z >> 0)) % 4u] + ((k6 > blockIdx.y) ? 4 : k6);
            float *e16 = w14 + 8;
            for (; w14 < e16; w14++) {
                (*w14) = (float)1;
            }
        }
    } else if (((blockIdx.z + blockDim.x) + scaled((int)((size_t)blockIdx.z), (int)(32))) ==
               threadIdx.x) {
        unsigned x17 = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned y18 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x17 < n19 && y18 < n20) {
            record &r22 = p1[(n21 * y18 + x17) * 3 + 1];
            r22.weight = sum_;
            sum_ += p1[y18 * n21 + x17 - 1].weight;
        }
    }
    float v23 = s3.f4[(unsigned)((blockDim.z >> 0)) % 4u][s3.f5];
    sum_ += v23;
    (s3.f4[(unsigned)((blockDim.z >> 0)) % 4u] + ((unsigned)(1) % n8))[2] = (float)sum_;
    float &r24 = s3.f4[(unsigned)((blockDim.z >> 0)) % 4u][blockDim.x];
    r24 = (float)sum_;
}
// end

// kernel k69
extern "C" __global__ void k69(double *__restrict__ p1, unsigned char n2, int n5, int n6, int n7)
{
    int sum_ = 1;
    if (gridDim.x >= blockDim.y) {
        int x3 = blockIdx.x * blockDim.x + threadIdx.x;
        int y4 = blockIdx.y * blockDim.y + threadIdx.y;
        if (x3 < n5 && y4 < n6) {
            double &r8 = p1[(y4 + 1) * n7 + x3 + 1];
            r8 = sum_;
            sum_ += p1[(y4 + 1) * n7 + x3 + 1];
        }
    } else if (n2 > 1) {
        p1[blockIdx.x] = (sum_ + 1);
    }
    sum_ += p1[blockIdx.y];
    sum_ += atomicAdd(&p1[threadIdx.y], (double)1);
    double &r9 = p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r9 = sum_;
}
// end

// kernel k70
extern "C" __global__ void k70(short2 *p1, long long n2, int n3, unsigned n4, unsigned n5,
                               const int *p8)
{
    int sum_ = 1;
    short2 *q6 = p1 + gridDim.x;
    p1[(long long)(((int)threadIdx.z << 0))] = make_short2((short)sum_, 3);
    short2 v7 = (*(q6 + (p8[((threadIdx.y * (int)n3) + blockDim.z)] & 1023)));
    sum_ += v7.x + v7.y;
    short2 &r9 = p1[((blockDim.z != 32) ? (n2 + blockIdx.x) : ((long long)threadIdx.z & n4))];
    r9 = make_short2((short)sum_, 3);
}
// end

// kernel k71
extern "C" __global__ void k71(float *p1, short *p2, int4 *__restrict__ p3, int n4, int n5,
                               unsigned n6, int n7)
{
    int sum_ = 1;
    int l8 = n6;
    unsigned l9 = threadIdx.y;
    float &r10 = p1[(gridDim.y << 3)];
    r10 = (float)sum_;
}
// end

// kernel k72
extern "C" __global__ void k72(float4 *__restrict__ p1, unsigned n2)
{
    int sum_ = 1;
    if ((((long long)(blockIdx.y * blockDim.y + threadIdx.y) > blockIdx.z) &&
         ((blockIdx.x * blockDim.x + threadIdx.x) < blockDim.x)) ||
        (((long long)blockIdx.z * blockDim.z + threadIdx.z) > (size_t)n2)) {
        (p1 + (int)(blockIdx.y * blockDim.y + threadIdx.y))[1] =
            make_float4((float)(sum_ + 1), 0.0f, 1.0f, 2.0f);
        sum_ += p1[(gridDim.y + gridDim.y)].w;
    }
    long long l3 = ((long long)(blockIdx.x * blockDim.x + threadIdx.x) * threadIdx.z);
    float4 v4 = p1[(blockIdx.y + 64)];
    sum_ += sum(v4);
    if ((int)(blockIdx.y * blockDim.y + threadIdx.y) < gridDim.y)
        return;
    (((int)(blockIdx.x * blockDim.x + threadIdx.x) >= (long long)blockIdx.x)
         ? p1
         : p1)[((long long)blockIdx.y * blockDim.y + threadIdx.y)] =
        make_float4((float)(sum_ + 1), 0.0f, 1.0f, 2.0f);
    float4 &r5 = p1[((unsigned)((((unsigned)blockDim.y * blockDim.x) - (32 << 4))) % 1000u)];
    r5 = make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
}
// end

// kernel k73
extern "C" __global__ void k73(float *p1, float *__restrict__ p2, unsigned n3, size_t n4,
                               long long **t5)
{
    int sum_ = 1;
    (*(volatile long long *)&t5[(unsigned)(max((int)(threadIdx.z), (int)(threadIdx.y))) % 2u]
                               [(long long)(threadIdx.x)]) = (long long)sum_;
    sum_ = 0;
    sum_ += p1[(abs((int)(((int)n4 - n4))) & 1023)];
    float &r6 = p2[(blockDim.x / blockDim.y)];
    r6 = (float)sum_;
}
// end

// kernel k74
extern "C" __global__ void k74(char *p1, long long *p2, int n3, unsigned char n4, int n5, int n6,
                               const int *p9)
{
    long long sum_ = 1;
    size_t l7 = __popc((unsigned)((((size_t)blockIdx.x * blockDim.x + threadIdx.x) * (int)n5)));
    if ((long long)(blockIdx.x * blockDim.x + threadIdx.x) < n5)
        return;
    if (((int)(blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.x) &&
        (((blockIdx.x * blockDim.x + threadIdx.x) < n5) ||
         (((size_t)blockIdx.x * blockDim.x + threadIdx.x) > (size_t)n6))) {
#pragma unroll 2
        for (int k8 = (int)((p9[((threadIdx.x - (n3 + l7)) & 32767)] & 63) & 7) - 1; k8 >= 0;
             k8 -= 1) {
            switch (((int)(blockIdx.x * blockDim.x + threadIdx.x)) & 7) {
            case 0: {
                p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (char)(sum_ + 1);
            } break;
            case 1: {
                if (((k8 < l7) && (n3 < n6)) || ((size_t)n3 > k8)) {
                    (*(p2 + k8)) = (long long)(sum_ + 1);
                } else if (((long long)blockIdx.x * blockDim.x + threadIdx.x) <=
                           (long long)blockIdx.y) {
                    (p1 + (size_t)(blockIdx.x * blockDim.x + threadIdx.x))[1] = (char)sum_;
                } else if (k8 >= k8) {
                    p2[(int)blockIdx.x] = (long long)(sum_ + 1);
                } else if ((blockIdx.y > 2) &&
                           ((int)(blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.x)) {
                    p1[((unsigned)((16 - (int)(blockIdx.x * blockDim.x + threadIdx.x))) % 1u)] =
                        (char)(sum_ + 1);
                } else if (!(k8 < n3)) {
                    p2[((int)(blockIdx.x * blockDim.x + threadIdx.x) + (k8 >> 5))] =
                        (long long)sum_;
                } else {
                    p2[(size_t)threadIdx.x] = (long long)sum_;
                }
            } break;
            }
            long long v10 = p2[((k8 - k8) - (k8 << 0))];
            sum_ += v10;
        }
        if ((int)(blockIdx.x * blockDim.x + threadIdx.x) > 2) {
            p2[((long long)(blockIdx.x * blockDim.x + threadIdx.x) * blockIdx.x)] = (long long)1;
        }
    }
    switch (((threadIdx.x << 0)) & 7) {
    case 0: {
        char *q12 = p1 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
    } break;
    case 1: {
        (*(volatile char *)&p1[(blockIdx.x * blockIdx.x)]) = (char)sum_;
    } break;
    }
    char &r13 = p1[(long long)(blockIdx.x * blockDim.x + threadIdx.x)];
    r13 = (char)sum_;
}
// end

// kernel k75
struct k75_struct5 {
    double *f6[4];
    int f7;
    unsigned f8;
};
extern "C" __global__ void k75(const float *p1, short n2, unsigned n3, int n4, k75_struct5 s5)
{
    int sum_ = 1;
    s5.f6[(unsigned)((gridDim.x - threadIdx.x)) % 4u]
         [(((threadIdx.x + n3) + (int)(blockIdx.x * blockDim.x + threadIdx.x)) *
           (long long)blockIdx.x)] = (sum_ + 1);
    sum_ = 1;
    double &r9 = s5.f6[(unsigned)((gridDim.x - threadIdx.x)) % 4u]
                      [((size_t)(blockIdx.x * blockDim.x + threadIdx.x) / blockDim.x)];
    r9 = sum_;
}
// end

// kernel k76
extern "C" __global__ void k76(short *p1, short2 *__restrict__ p2, unsigned *__restrict__ p3,
                               float4 *p5, int n6, int n10)
{
    int sum_ = 1;
    for (int k4 = (int)threadIdx.x - 1; k4 >= 0; k4 -= 1) {
        int i7 = blockIdx.x * blockDim.x + threadIdx.x;
        if (i7 < n6 / 4)
            p5[i7] = make_float4(sum_, 1, 2, 3);
        if (i7 < n6 % 4)
            ((float *)p5)[n6 / 4 * 4 + i7] = sum_;
        if ((k4 >= k4) && ((int)(blockIdx.y * blockDim.y + threadIdx.y) < k4)) {
            atomicMin(&p3[k4], (unsigned)3);
        } else if (((size_t)blockIdx.x * blockDim.x + threadIdx.x) >= k4) {
#pragma unroll 4
            for (int k8 = (int)blockDim.y - 1; k8 >= 0; k8 -= 1) {
                sum_ += ((((size_t)blockIdx.x * blockDim.x + threadIdx.x) < n6) ? p3 : p3)[(
                    p1[((((size_t)blockIdx.z * blockDim.z + threadIdx.z) + (threadIdx.y * 16)) *
                        blockDim.z)] &
                    7)];
            }
        }
    }
    if (((threadIdx.z * blockDim.z) * (int)blockDim.y) < blockDim.y) {
        (p2 + 16)[1] = make_short2((short)sum_, 3);
        unsigned v9 = ((threadIdx.x <= blockIdx.x) ? p3 : p3)[threadIdx.x];
        sum_ += v9;
    } else {
        if (((long long)(blockIdx.y * blockDim.y + threadIdx.y) >= threadIdx.x) &&
            (((size_t)(blockIdx.z * blockDim.z + threadIdx.z) <= 4) &&
             ((int)(blockIdx.x * blockDim.x + threadIdx.x) < blockDim.y))) {
            atomicMax(&p3[((unsigned)(((int)(blockIdx.y * blockDim.y + threadIdx.y) - gridDim.x)) %
                           1024u)],
                      (unsigned)3);
            int i11 = blockIdx.x * blockDim.x + threadIdx.x;
            if (i11 < n10 / 4)
                p5[i11] = make_float4(sum_, 1, 2, 3);
            if (i11 < n10 % 4)
                ((float *)p5)[n10 / 4 * 4 + i11] = sum_;
        }
    }
    weights[((blockDim.y) & 255) & 63][(4) & 31] = 1.0f;
    atomicMin_block(&p3[((size_t)blockIdx.y * blockDim.y + threadIdx.y)], (unsigned)3);
    sum_ += __ldg(&p5[((blockIdx.x >> 5) + (int)(blockIdx.y * blockDim.y + threadIdx.y))]).w;
    short2 &r12 = p2[((long long)(blockIdx.y * blockDim.y + threadIdx.y) << 4)];
    r12 = make_short2((short)sum_, 3);
}
// end

// kernel k77
extern "C" __global__ void k77(record *__restrict__ p1, record *p2, unsigned char *p3, int n4,
                               int n5, unsigned n6, int *p7)
{
    int sum_ = 1;
    atomicOr_block(&p7[(long long)(n4)], (int)3);
    int &r8 = p7[(short)n4];
    r8 = (int)sum_;
}
// end

// kernel k78
struct k78_struct5 {
    int f6;
};
extern "C" __global__ void k78(short2 *p1, record *__restrict__ p2, long long n3, int n4,
                               k78_struct5 s5, const int *p7, int n11)
{
    int sum_ = 1;
    record &r8 = p2[(p7[(int)(blockIdx.x * blockDim.x + threadIdx.x)] & 1023)];
    r8.id = 1, r8.tag = 2;
    for (int k9 = (int)blockDim.x - 1; k9 >= 0; k9 -= 2) {
        for (unsigned i10 = threadIdx.x; i10 < n11; i10 += blockDim.x) {
            (p2 + 4)[2].weight = 1;
            if (gridDim.y < k9) {
                record &r12 = p2[(((n3 < (unsigned)n3) ? k9 : k9) * n3)];
                r12.id = 1, r12.tag = 2;
                sum_ = 1;
            }
        }
        if ((size_t)(blockIdx.x * blockDim.x + threadIdx.x) == (size_t)threadIdx.y)
            continue;
        sum_ += p7[k9];
    }
    p1[gridDim.y] = make_short2((short)sum_, 3);
    (*(p1 + (blockIdx.x * blockDim.x + threadIdx.x))) = make_short2((short)sum_, 3);
    short2 &r13 = p1[((blockIdx.x << 4) % blockDim.x)];
    r13 = make_short2((short)sum_, 3);
}
// end

// kernel k79
extern "C" __global__ void k79(float *__restrict__ p1, int n2)
{
    int sum_ = 1;
    if ((size_t)(blockIdx.x * blockDim.x + threadIdx.x) <= blockIdx.y) {
        p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (float)sum_;
        p1[((gridDim.x * (long long)threadIdx.x) * n2)] = (float)sum_;
    }
    unsigned l3 = (long long)(blockIdx.x * blockDim.x + threadIdx.x);
    float &r4 = p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) >> 2)];
    r4 = (float)sum_;
}
// end

// kernel k80
extern "C" __global__ void k80(const double *__restrict__ p1, const long long *p2,
                               unsigned long long n3, long long n4, int n5, unsigned n6,
                               uchar4 *__restrict__ p9, int n10, unsigned n11,
                               const int *__restrict__ p13)
{
    int sum_ = 1;
    unsigned x7 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y8 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x7 < n10 && y8 < n11) {
        uchar4 &r12 = p9[(y8 + 1) * n10 + x7 + 1];
        r12.w = 7;
        sum_ += p2[(y8 + 1) * n10 + x7 + 1];
    }
    p9[((*(volatile int *)&p13[((threadIdx.x + blockIdx.y) + (blockDim.z << 2))]) & 63)].w = 7;
    uchar4 &r14 = p9[((blockIdx.x * blockDim.x + threadIdx.x) + blockDim.z)];
    r14 = make_uchar4((unsigned char)sum_, 1, 2, 3);
}
// end

// kernel k81
extern "C" __global__ void k81(unsigned *p1, unsigned *p2, unsigned n3, unsigned short n4)
{
    int sum_ = 1;
    for (size_t i5 = threadIdx.x; i5 < n4; i5 += blockDim.x) {
        unsigned v6 = p2[(i5 >> 5)];
        sum_ += v6;
    }
    unsigned &r7 = p1[(
        (((gridDim.x < threadIdx.x) ? (n4 / 7) : (blockDim.x - blockIdx.x)) * blockIdx.x) & 127)];
    r7 = (unsigned)sum_;
}
// end

// kernel k82
struct k82_struct4 {
    int *f5[2];
    int *f6[4];
    short *f7[4];
    uchar4 *f8;
};
extern "C" __global__ void k82(char *p1, unsigned n2, signed char n3, k82_struct4 s4, int n11)
{
    int sum_ = 1;
    unsigned l9 = ((n3 > gridDim.x) ? n2 : gridDim.x);
    int *q10 =
        (int *)((char *)s4.f6[2] + ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * n11 * 4);
    int &r12 = s4.f5[(unsigned)((gridDim.z + gridDim.x)) % 2u][(
        scaled((int)((int)(blockIdx.x * blockDim.x + threadIdx.x)), (int)((short)blockIdx.x)) &
        8191)];
    r12 = (int)sum_;
}
// end

// kernel k83
extern "C" __global__ void k83(const double *p1, unsigned n2, int n3, double *p4, const int *p5)
{
    float sum_ = 1;
    p4[(p5[blockDim.y] & 63)] = 1;
    p4[(((threadIdx.z >> 3) * 3) + n2)] = (sum_ + 1);
    double &r6 = p4[(blockIdx.x * blockDim.x + threadIdx.x)];
    r6 = sum_;
}
// end

// kernel k84
extern "C" __global__ void k84(const double *p1, int n2, unsigned n3, unsigned n4, float4 *p7,
                               int n8, int n9, int n10, int n14, int *p15, int n19, int n22,
                               unsigned n23)
{
    extern __shared__ float dynamic[];
    long long sum_ = 1;
    unsigned x5 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y6 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x5 < n8 && y6 < n9) {
        float4 &r11 = p7[(y6 + 1) * n10 + x5 + 1];
        r11.y = (float)sum_;
        sum_ += sum(p7[y6 * n10 + x5 - 1]);
    }
    dynamic[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 255] =
        (float)sum_;
    __syncthreads();
    sum_ += dynamic[((blockIdx.x * blockDim.x + threadIdx.x)) & 255];
    (((n3 & blockDim.x) < n2) ? p7 : p7)[(long long)(blockIdx.y * blockDim.y + threadIdx.y)] =
        make_float4((float)sum_, 0.0f, 1.0f, 2.0f);
    sum_ = sum_ * 0.5;
    if ((size_t)blockDim.x > 31) {
        for (int t13 = 0; t13 < n14; t13 += 8) {
            sum_ += p1[(blockIdx.x * blockDim.x + threadIdx.x) * n14 + t13 + threadIdx.y];
        }
    } else if (threadIdx.x < (int)n4) {
        switch (((short)blockIdx.x) & 7) {
        case 0: {
            sum_ += p7[blockIdx.y].x;
        }
        case 1: {
            sum_ += atomicCAS(
                &p15[(((n3 >= (size_t)n8) ? min((int)(threadIdx.y), (int)((int)n4)) : blockIdx.y) /
                      blockDim.x)],
                1, (int)3);
        }
        case 2: {
        }
        }
    } else if ((min((unsigned)(n2), (unsigned)(100)) >> 2) > n8) {
        if ((unsigned)n4 != threadIdx.y) {
            if (n14 < n3) {
                float4 v17 = p7[threadIdx.x];
                sum_ += v17.w;
            }
            sum_ += atomicExch(&p15[blockIdx.y], (int)3);
        } else if (((n14 + n14) >> (n8 & 7)) < blockIdx.x) {
            for (int t18 = 0; t18 < n19; t18 += blockDim.x) {
                sum_ += p1[(blockIdx.y * blockDim.y + threadIdx.y) * n19 + t18 + threadIdx.x];
            }
        } else if (((size_t)blockDim.x > n10) && (n4 > n9)) {
            if (((n4 > blockIdx.y) ? ((long long)n4 % 16u) : (blockIdx.x * threadIdx.x)) < 32) {
                unsigned x20 = blockIdx.x * blockDim.x + threadIdx.x;
                unsigned y21 = blockIdx.y * blockDim.y + threadIdx.y;
                if (x20 < n22 && y21 < n23) {
                    float4 &r24 = p7[y21 * n22 + x20];
                    r24.y = (float)sum_;
                    sum_ += p15[y21 * n22 + x20];
                }
                p15[n3] = (int)(sum_ + 1);
            } else {
                float4 *q25 = p7 + (((n19 >> 5) ^ threadIdx.y) * (long long)n3);
            }
        }
    }
    int &r26 = p15[((blockIdx.x * blockDim.x + threadIdx.x) & 1)];
    r26 = (int)sum_;
}
// end

// kernel k85
struct k85_struct6 {
    unsigned *f7[2];
};
extern "C" __global__ void k85(const float2 *__restrict__ p1, const short *p2, int *p3, int n4,
                               unsigned n5, k85_struct6 s6, int n9)
{
    long long sum_ = 1;
    for (int t8 = 0; t8 < n9; t8 += 16) {
        if (t8 + threadIdx.x < n9)
            sum_ += p3[(blockIdx.x * blockDim.x + threadIdx.x) * n9 + t8 + threadIdx.x];
    }
    int &r10 = p3[threadIdx.x];
    r10 = (int)sum_;
}
// end

// kernel k86
struct k86_struct6 {
    short *f7;
    short *f8[2];
    float *f9[3];
    int4 *f10;
};
extern "C" __global__ void k86(unsigned *p1, short *p2, long long *p3, unsigned n4, unsigned n5,
                               k86_struct6 s6)
{
    int sum_ = 1;
    sum_ += (*(s6.f7 + (gridDim.y * blockIdx.x)));
    short &r11 = s6.f8[(unsigned)(blockDim.y) % 2u]
                      [(min((long long)(blockIdx.y), (long long)(gridDim.x)) + (blockDim.x * 16))];
    r11 = (short)sum_;
}
// end

// kernel k87
extern "C" __global__ void k87(const uchar4 *p1, int *p2, long long *__restrict__ p3, long long n4,
                               unsigned n5)
{
    long long sum_ = 1;
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
    double *x6 = p2, *y7 = p2;
    for (int k9 = 0; k9 < blockDim.x; k9++) {
        x6[((unsigned)(((2 << 1) - n4)) % 4096u)] =
            y7[((blockIdx.y * blockIdx.y) + ((long long)blockIdx.x * blockDim.x + threadIdx.x))];
        double *z8 = x6;
        x6 = y7;
        y7 = z8;
    }
    p1 += ((int)(blockIdx.y * blockDim.y + threadIdx.y) + ((long long)gridDim.x + gridDim.y));
#pragma unroll 8
    for (size_t i11 = threadIdx.x; i11 < n5; i11 += blockDim.x) {
        switch (((i11 * gridDim.y)) & 7) {
        case 0: {
            (*(volatile double *)&p2[((blockIdx.x - gridDim.x) & 8191)]) = sum_;
        } break;
        case 1: {
            if (3 < i11) {
                p3[((i11 * i11) & 32767)] = (char)1;
                for (int k12 = (int)n4 - 1; k12 >= 0; k12 -= 1) {
                    p2[((blockDim.x << 2) << 5)] = sum_;
                    p3[(((i11 + i11) * 4) << 0)] = (char)(sum_ + 1);
                    sum_ = 1;
                }
            } else {
                p2[i11] = (sum_ + 1);
            }
        } break;
        case 2: {
            if (i11 <= blockDim.x)
                return;
        } break;
        }
        for (int g13 = 1; g13 < (int)blockDim.x; g13 <<= 1) {
            double v14 = p2[((blockIdx.y + (int)gridDim.x) + ((long long)blockDim.x >> 3))];
            sum_ += v14;
        }
    }
    char &r15 = p3[((size_t)(blockIdx.y * blockDim.y + threadIdx.y) * threadIdx.y)];
    r15 = (char)sum_;
}
// end

// kernel k89
extern "C" __global__ void k89(float *p1, int *__restrict__ p2, int n3, int n4, int n5)
{
    int sum_ = 1;
    switch (((int)(blockIdx.y * blockDim.y + threadIdx.y)) & 7) {
    case 0: {
        int y7 = blockIdx.y * blockDim.y + threadIdx.y;
        int z8 = blockIdx.z * blockDim.z + threadIdx.z;
        if (y7 < n4 && z8 < n5) {
            for (int x6 = 1; x6 < n3; x6++) {
                float &r9 = p1[(x6 * n4 + y7) * n3 + z8];
                r9 = (float)sum_;
            }
        }
    } break;
    case 1: {
        p2[4] = (int)sum_;
    } break;
    case 2: {
        sum_ += p2[n5];
    } break;
    case 3: {
        scratch[(((~(int)(blockIdx.y * blockDim.y + threadIdx.y))) & 255)] = 3;
    } break;
    }
    float &r10 = p1[threadIdx.z];
    r10 = (float)sum_;
}
// end

// kernel k90
struct k90_struct5 {
    char *f6;
    double *f7[2];
    char *f8[2];
};
extern "C" __global__ void k90(double *__restrict__ p1, unsigned n2, unsigned n3, unsigned n4,
                               k90_struct5 s5)
{
    int sum_ = 1;
    sum_ += s5.f7[0][n3];
    sum_ += (*(volatile double *)&p1[(((n2 / n3) - (~blockIdx.x)) & 1)]);
    p1[((threadIdx.y < n3) ? (((int)n4 / 3u) ^ 240)
                           : ((blockIdx.x * blockDim.x + threadIdx.x) / 10))] = 1;
    p1[(threadIdx.x << 0)] = 1;
    int l9 = threadIdx.y;
    char &r10 =
        s5.f8[(unsigned)(100) % 2u][(((blockIdx.x + threadIdx.x) | 1) +
                                     ((unsigned long long)((unsigned)blockDim.y) / blockDim.x))];
    r10 = (char)sum_;
}
// end

// kernel k91
struct k91_struct3 {
    char *f4[3];
    int f5;
    int *f6[4];
};
extern "C" __global__ void k91(char *p1, const long long *p2, k91_struct3 s3)
{
    float sum_ = 1;
    for (long long k7 = 0; k7 < (long long)16; k7 += 1) {
        char v8 = (s3.f4[(unsigned)((int)(blockIdx.x * blockDim.x + threadIdx.x)) % 3u] +
                   ((long long)blockIdx.x * blockDim.x + threadIdx.x))[8];
        sum_ += v8;
    }
    const long long *q9 = p2 + ((int)s3.f5 + (int)(blockIdx.x * blockDim.x + threadIdx.x));
    int &r10 = s3.f6[1][(int)(blockIdx.x * blockDim.x + threadIdx.x)];
    r10 = (int)sum_;
}
// end

// kernel k92
extern "C" __global__ void k92(double *p1, record *__restrict__ p2, float *p3)
{
    int sum_ = 1;
    unsigned h4 = __ballot_sync(
        __activemask(), (((long long)blockIdx.x * blockDim.x + threadIdx.x) < (size_t)blockIdx.y));
    float &r5 = p3[((threadIdx.x * blockIdx.x) << 0)];
    r5 = (float)sum_;
}
// end

// kernel k93
struct k93_struct5 {
    float *f6;
    int f7;
    unsigned char *f8;
};
extern "C" __global__ void k93(record *__restrict__ p1, double *p2, long long n3, int n4,
                               k93_struct5 s5)
{
    int sum_ = 1;
    unsigned char *w9 = s5.f8 + (threadIdx.y * s5.f7);
    for (int c10 = 0; c10 < blockIdx.y; c10++, w9 += 2) {
        (*w9) = (unsigned char)1;
    }
    sum_ += atomicAdd_block(
        &p2[(((blockIdx.y << 0) + (n4 << 5)) + (size_t)(blockIdx.y * blockDim.y + threadIdx.y))],
        (double)1);
    float &r11 = s5.f6[blockDim.x];
    r11 = (float)sum_;
}
// end

// kernel k94
struct k94_struct7 {
    rgb *f8;
    float4 *f9;
    int4 *f10;
    int f11;
};
extern "C" __global__ void k94(double *__restrict__ p1, long long *p2, short *p3, short n4,
                               short n5, int n6, k94_struct7 s7, int **t12)
{
    int sum_ = 1;
    ((n4 < (long long)n6) ? t12[1] : t12[1])[(short)(n6)] = (int)1;
    long long l13 = abs((int)((long long)(blockIdx.x * blockDim.x + threadIdx.x)));
    if ((blockIdx.y <= blockDim.x) &&
        ((4 < (long long)s7.f11) || ((int)blockIdx.x == threadIdx.x))) {
        switch (
            (((((n5 < threadIdx.x) ? (threadIdx.x % blockDim.x) : (blockIdx.x & 0)) < threadIdx.x)
                  ? blockDim.x
                  : (unsigned)s7.f11)) &
            7) {
        case 0: {
            if (((s7.f11 % blockDim.x) / 100) < blockIdx.y)
                return;
        } break;
        case 1: {
            p1[n5] = sum_;
        } break;
        }
    }
    p1 += (((unsigned)blockIdx.x + blockIdx.x) * (size_t)n4);
    double &r15 = p1[((((32 + n4) > blockDim.y) ? p3 : p3)[(l13 / blockDim.y)] & 1023)];
    r15 = sum_;
}
// end

// kernel k95
extern "C" __global__ void k95(const short *p1, rgb *p2, char *p3, signed char n4, unsigned n5,
                               signed char n6, unsigned char n7, int n10, int n11, int n12,
                               float4 *p14, int n15, int n17)
{
    int sum_ = 1;
    p3[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (char)sum_;
    unsigned x8 = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y9 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x8 < n10 && y9 < n11) {
        char &r13 = p3[y9 * n12 + x8];
        r13 = (char)sum_;
        sum_ += p3[(y9 + 2) * n12 + x8];
    }
    p2[__popc((unsigned)(64))].g = (unsigned char)sum_;
    sum_ = sum_ * 0.5;
    if (n5 < n10) {
        int i16 = blockIdx.x * blockDim.x + threadIdx.x;
        if (i16 < n15 / 4)
            p14[i16] = make_float4(sum_, 1, 2, 3);
        if (i16 < n15 % 4)
            ((float *)p14)[n15 / 4 * 4 + i16] = sum_;
    }
    int i18 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i18 < n17 / 4)
        p14[i18] = make_float4(sum_, 1, 2, 3);
    if (i18 < n17 % 4)
        ((float *)p14)[n17 / 4 * 4 + i18] = sum_;
    rgb &r19 = p2[(
        p1[(int)((float)(int)((int)(blockIdx.y * blockDim.y + threadIdx.y) & 1023) * 0.3f)] & 63)];
    r19.g = (unsigned char)sum_;
}
// end

// kernel k96
extern "C" __global__ void k96(unsigned *p1, char *__restrict__ p2, float *p3, unsigned n4, int n5)
{
    int sum_ = 1;
    if (blockIdx.x < blockIdx.y)
        return;
    char &r6 = p2[(size_t)(blockIdx.y * blockDim.y + threadIdx.y)];
    r6 = (char)sum_;
}
// end

// kernel k97
extern "C" __global__ void k97(const unsigned char *__restrict__ p1,
                               const unsigned *__restrict__ p2, const int4 *p3, int n4, unsigned n5,
                               double *p6, int n8, int n9, int n10)
{
    int sum_ = 1;
    sum_ += p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) * n5)];
    (*(volatile double *)&p6[(((threadIdx.x * (size_t)threadIdx.x) + n4) & 3)]) = (sum_ + 1);
    size_t l7 = ((gridDim.x - (blockIdx.x - 0)) + (blockIdx.x * blockDim.x + threadIdx.x));
    int y12 = blockIdx.y * blockDim.y + threadIdx.y;
    int z13 = blockIdx.z * blockDim.z + threadIdx.z;
    if (y12 < n9 && z13 < n10) {
        for (int x11 = 0; x11 < n8; x11++) {
            double &r14 = p6[(x11 * n9 + y12) * n8 + z13];
            r14 = sum_;
        }
    }
    if (((blockIdx.x * blockDim.x + threadIdx.x) > n5) ||
        ((int)(blockIdx.x * blockDim.x + threadIdx.x) <= blockDim.x))
        return;
    double &r15 = p6[(((int)gridDim.x >> 0) + threadIdx.x)];
    r15 = sum_;
}
// end

// kernel k98
struct k98_struct8 {
    unsigned f9;
    record *f10;
};
extern "C" __global__ void k98(char *p1, const float *p2, double *__restrict__ p3, size_t n4,
                               unsigned n5, long long n6, unsigned long long n7, k98_struct8 s8,
                               float4 *p11, int n12)
{
    float sum_ = 1;
    int i13 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i13 < n12 / 4)
        p11[i13] = make_float4(sum_, 1, 2, 3);
    if (i13 < n12 % 4)
        ((float *)p11)[n12 / 4 * 4 + i13] = sum_;
    char &r14 = p1[n4];
    r14 = (char)sum_;
}
// end

// kernel k99
extern "C" __global__ void k99(float *__restrict__ p1, long long *p2, unsigned *p3, int n4, int n5)
{
    long long sum_ = 1;
    size_t l6 = (((int)(blockIdx.x * blockDim.x + threadIdx.x) + threadIdx.z) << (n5 & 7));
    long long &r7 = p2[(p3[((blockDim.x * blockDim.y) | blockDim.x)] & 7)];
    r7 = (long long)sum_;
}
// end

// kernel k100
extern "C" __global__ void k100(short *p1, int *__restrict__ p2, char *p3, int n4,
                                unsigned short n5, unsigned n6, int n7)
{
    long long sum_ = 1;
    atomicMax(
        &p2[(int)((float)(int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) & 1023) * 0.8f)],
        (int)3);
    switch (((n7 / 1)) & 7) {
    case 0: {
        int b9 = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x)) * 10,
            e10 = min(b9 + (int)10, 100000);
        for (int k8 = b9; k8 < e10; k8++) {
            int v11 = p2[min((long long)(k8), (long long)(blockIdx.x))];
            sum_ += v11;
        }
    } break;
    case 1: {
        int v12 = p2[(((blockIdx.x > n6) ? (size_t)n7 : 16) / 7u)];
        sum_ += v12;
    } break;
    }
    for (unsigned g13 = blockDim.x / 2; g13 > 0; g13 >>= 1) {
        p2[(size_t)(blockIdx.x * blockDim.x + threadIdx.x)] = (int)sum_;
    }
    short &r14 = p1[((n7 * n5) << 6)];
    r14 = (short)sum_;
}
// end

// kernel k101
extern "C" __global__ void k101(const char *p1, short *__restrict__ p2, int n3, int n4)
{
    int sum_ = 1;
    size_t l5 = (size_t)(blockIdx.x * blockDim.x + threadIdx.x);
    unsigned l6 = (((blockIdx.x * blockDim.x + threadIdx.x) * 7) & 255);
    unsigned l7 = l6;
    short &r8 = p2[l6];
    r8 = (short)sum_;
}
// end

// kernel k102
struct k102_struct6 {
    float *f7[4];
    float *f9;
    float4 *f10;
    short f11;
};
extern "C" __global__ void k102(const int *p1, int n2, short n3, int n4, int n5, double z8,
                                k102_struct6 s6, double z18, int n21)
{
    int sum_ = 1;
    float4 *w12 = s6.f10 + (size_t)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int c13 = 0; c13 < gridDim.y; c13++, w12++) {
        (*w12) = make_float4((float)1, 0.0f, 1.0f, 2.0f);
    }
    float *x14 = s6.f9, *y15 = s6.f9;
    for (int k17 = 0; k17 < 1; k17++) {
        x14[((unsigned)(((short)n4 - n2)) % 1000u)] = y15[n2];
        float *z16 = x14;
        x14 = y15;
        y15 = z16;
    }
    (s6.f9 + ((((z18 > 0.25) ? (short)(gridDim.y)
                             : (long long)(blockIdx.x * blockDim.x + threadIdx.x)) != (int)n5)
                  ? min((unsigned)((gridDim.y * (size_t)n2)), (unsigned)(((short)n5 * blockIdx.y)))
                  : (int)(blockIdx.x * blockDim.x + threadIdx.x)))[2] = (float)(sum_ + 1);
    long long l19 = n4;
#pragma unroll 4
    for (int k20 = 0; k20 != (int)3; k20 += 1) {
        if (k20 <= blockIdx.x) {
            int i22 = blockIdx.x * blockDim.x + threadIdx.x;
            if (i22 < n21 / 4)
                s6.f10[i22] = make_float4(sum_, 1, 2, 3);
            if (i22 < n21 % 4)
                ((float *)s6.f10)[n21 / 4 * 4 + i22] = sum_;
            ((n5 > k20) ? s6.f9 : s6.f9)[((long long)blockIdx.x * blockDim.x + threadIdx.x)] =
                (float)sum_;
        } else {
            const int *q23 = p1 + (blockIdx.x * blockDim.x + threadIdx.x);
        }
    }
    float &r24 = s6.f9[(gridDim.y % 16u)];
    r24 = (float)sum_;
}
// end

// kernel k103
extern "C" __global__ void k103(const double *p1, const char *__restrict__ p2,
                                short *__restrict__ p5, int n6, unsigned n7, float z9, int n11)
{
    int sum_ = 1;
    int x3 = blockIdx.x * blockDim.x + threadIdx.x;
    int y4 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x3 < n6 && y4 < n7) {
        short &r8 = p5[(y4 + 1) * n6 + x3 + 1];
        r8 = (short)sum_;
        sum_ += p5[y4 * n6 + x3 - 1];
    }
    if (z9 > 0.25) {
        for (int t10 = 0; t10 < n11; t10 += 16) {
            sum_ += p1[(blockIdx.x * blockDim.x + threadIdx.x) * n11 + t10 + threadIdx.y];
        }
    }
    short &r12 = p5[((int)(blockIdx.x * blockDim.x + threadIdx.x) >> 0)];
    r12 = (short)sum_;
}
// end

// kernel k104
struct k104_struct7 {
    short2 *f8;
    long long f9;
    long long f10;
    record *f11;
};
extern "C" __global__ void k104(const long long *p1, const unsigned *p2, int n3, int n4, int n5,
                                signed char n6, k104_struct7 s7, float z13)
{
    int sum_ = 1;
    sum_ += s7.f8[((unsigned)(n3) % 30000u)].x;
    if ((int)threadIdx.y >= blockDim.x) {
        if (blockIdx.x != threadIdx.y) {
            if (z13 > 0.25) {
                s7.f8[n5] = make_short2((short)(sum_ + 1), 3);
                record &r14 = s7.f11[blockIdx.y];
                r14.id = 1, r14.tag = 2;
            }
            short2 *w15 = s7.f8 + max((unsigned)((int)n5), (unsigned)((blockIdx.y / 100)));
            short2 *e17 = w15 + threadIdx.y;
            for (; w15 < e17; w15 += blockDim.x) {
                (*w15) = make_short2((short)1, 3);
            }
        }
    }
    size_t l18 = n3;
    record v19 = (((((!(n3 <= (size_t)threadIdx.y)) ? (int)blockIdx.x : n5) + n4) <= l18)
                      ? s7.f11
                      : s7.f11)[((31 == (unsigned)gridDim.x)
                                     ? s7.f10
                                     : (((long long)blockDim.x ^ threadIdx.y) * blockDim.x))];
    sum_ += v19.weight + v19.id;
    short2 &r20 = s7.f8[(l18 & 32767)];
    r20 = make_short2((short)sum_, 3);
}
// end

// kernel k105
extern "C" __global__ void k105(double *p1, long long *p2, unsigned *__restrict__ p3, int n4,
                                int n5, int n6, unsigned long long n7)
{
    int sum_ = 1;
    sum_ += steps[((blockIdx.y) & 255) & 15];
    unsigned &r8 = p3[((unsigned long long)((min((int)(n4), (int)(n4)) - (n7 & 3))) % 1024u)];
    r8 = (unsigned)sum_;
}
// end

// kernel k106
extern "C" __global__ void k106(float *p1, int *p2, const int *p3, unsigned char n4, long long n5,
                                int n6, int n15, unsigned n16)
{
    int sum_ = 1;
    int v7 = p2[(threadIdx.x * n5)];
    sum_ += v7;
    if (((((blockIdx.x * blockDim.x + threadIdx.x) < (short)n4)
              ? p3
              : p2)[(blockIdx.x * blockDim.x + threadIdx.x)] &
         1023) > 3) {
        weights[(((unsigned)n4) & 2047) & 63][((blockDim.x - 16)) & 31] = 1.0f;
        if ((blockIdx.x * blockDim.x + threadIdx.x) < 0) {
            if (((long long)(blockIdx.x * blockDim.x + threadIdx.x) < n6) &&
                ((blockIdx.x * blockDim.x + threadIdx.x) <= n4)) {
#pragma unroll 1
                for (int k8 = 0; k8 < (int)n5; k8 += 3) {
                    p1[(((n6 + k8) * k8) + (int)(blockIdx.x * blockDim.x + threadIdx.x))] =
                        (float)sum_;
                }
                float *x9 = p1, *y10 = p1;
                for (int k12 = 0; k12 < n5; k12++) {
                    x9[(threadIdx.x + threadIdx.x)] = y10[(unsigned)n4];
                    float *z11 = x9;
                    x9 = y10;
                    y10 = z11;
                }
            } else {
                (*(p1 + (0 + n4))) = (float)sum_;
            }
        } else if (((long long)blockIdx.x * blockDim.x + threadIdx.x) < (unsigned)n6) {
            unsigned x13 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y14 = blockIdx.x * blockDim.x + threadIdx.x;
            if (x13 < n15 && y14 < n16) {
                int &r17 = p2[(n15 * y14 + x13) * 3 + 0];
                r17 = (int)sum_;
                sum_ += p1[(n15 * y14 + x13) * 3 + 0];
            }
        } else {
            sum_ += atomicAdd_system(&p1[blockDim.x], (float)1);
        }
    } else if ((((size_t)blockIdx.x * blockDim.x + threadIdx.x) <= blockIdx.x) ||
               ((blockIdx.x * blockDim.x + threadIdx.x) > (short)n5)) {
        sum_ +=
            p2[((p3 + (((long long)blockIdx.x * blockDim.x + threadIdx.x) * blockDim.x))[8] & 7)];
    } else if (((size_t)blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.x) {
        sum_ += (p2 + (blockIdx.x * blockDim.x + threadIdx.x))[8];
    }
    int &r18 = p2[64];
    r18 = (int)sum_;
}
// end

// kernel k107
extern "C" __global__ void k107(long long *p1, const float *p2, unsigned short n3, unsigned n4,
                                signed char n5, int n6, unsigned *p7, float z8)
{
    int sum_ = 1;
    sum_ += atomicCAS(&p7[(blockIdx.y * blockDim.y + threadIdx.y)], 1, (unsigned)3);
    {
        asm volatile(
            "{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" ::"l"(
                __cvta_generic_to_global(&p7[(((int)blockIdx.z + blockDim.z) * (short)n5)])),
            "r"(7), "r"((int)(z8 > 0.25))
            : "memory");
    }
    long long &r9 = p1[(long long)(blockIdx.y * blockDim.y + threadIdx.y)];
    r9 = (long long)sum_;
}
// end

// kernel k108
extern "C" __global__ void k108(double *p1, const double *__restrict__ p2, short *p3)
{
    int sum_ = 1;
    switch (((blockDim.x ^ blockDim.y)) & 7) {
    case 0: {
        if ((!((blockIdx.x * blockDim.x + threadIdx.x) >= threadIdx.y)) &&
            ((blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.y))
            return;
    } break;
    case 1: {
        if (((long long)blockIdx.x * blockDim.x + threadIdx.x) < threadIdx.x) {
            p3[((int)threadIdx.y * (unsigned)blockDim.y)] = (short)(sum_ + 1);
        }
    } break;
    case 2: {
        p1[31] = 1;
    } break;
    }
    short &r4 = p3[0];
    r4 = (short)sum_;
}
// end

// kernel k109
extern "C" __global__ void k109(int *p1, const int *p2, int n3, unsigned short n4, int n5,
                                unsigned n6)
{
    int sum_ = 1;
    p1[(int)(blockIdx.x * blockDim.x + threadIdx.x)] = (int)sum_;
    sum_ = sum_ * 0.5;
    int &r7 = p1[threadIdx.x];
    r7 = (int)sum_;
}
// end

// kernel k110
struct k110_struct6 {
    int *f7[4];
    unsigned f8;
    int *f9[2];
};
extern "C" __global__ void k110(const float *p1, const int *p2, int n3, int n4, int n5,
                                k110_struct6 s6)
{
    int sum_ = 1;
#pragma unroll 2
    for (unsigned k10 = 1; k10 <= (unsigned)n4; k10 += 2) {
        s6.f7[1][(blockIdx.y * blockDim.y + threadIdx.y)] = (int)(sum_ + 1);
        int *q11 = s6.f9[(unsigned)((blockIdx.y * blockDim.y)) % 2u] +
                   ((unsigned)((((k10 - k10) + n5) * blockIdx.y)) % 100u);
    }
    if ((((long long)blockIdx.x * blockDim.x + threadIdx.x) < (long long)gridDim.y) &&
        (((size_t)blockIdx.y * blockDim.y + threadIdx.y) < blockIdx.x)) {
        (*(volatile int *)&s6.f9[(unsigned)((blockIdx.y * blockDim.y)) % 2u][blockIdx.y]) =
            (int)(sum_ + 1);
        put_int(s6.f9[(unsigned)((blockIdx.y * blockDim.y)) % 2u],
                ((blockIdx.x - (blockIdx.x + blockDim.x)) & 127), 5);
    } else if ((int)(blockIdx.x * blockDim.x + threadIdx.x) < s6.f8) {
        (((size_t)(blockIdx.y * blockDim.y + threadIdx.y) < (short)n4)
             ? s6.f9[(unsigned)((blockIdx.y * blockDim.y)) % 2u]
             : s6.f9[(unsigned)((blockIdx.y * blockDim.y)) % 2u])[n3] = (int)(sum_ + 1);
        sum_ = 0;
    }
    int &r12 = s6.f7[1][(((size_t)blockIdx.y * blockIdx.y) + (blockDim.x + (long long)blockDim.y))];
    r12 = (int)sum_;
}
// end

// kernel k111
extern "C" __global__ void k111(uchar4 *__restrict__ p1, unsigned n2, unsigned char n3)
{
    int sum_ = 1;
    p1[threadIdx.x] = make_uchar4((unsigned char)sum_, 1, 2, 3);
    uchar4 v4 = p1[((signed char)(n2)*blockDim.x)];
    sum_ += v4.x + v4.w;
    uchar4 *q5 = p1 + ((threadIdx.x % 8) * gridDim.x);
    uchar4 &r6 = p1[(32 * (long long)n3)];
    r6 = make_uchar4((unsigned char)sum_, 1, 2, 3);
}
// end

// kernel k112
extern "C" __global__ void k112(record *p1, const int *__restrict__ p2, unsigned short n3,
                                size_t n4)
{
    float sum_ = 1;
    sum_ += ((64 > n3) ? p1 : p1)[(n4 * n4)].tag;
    record v5 = p1[(unsigned char)((int)blockDim.y)];
    sum_ += v5.weight + v5.id;
    record &r6 = p1[abs((int)(blockIdx.y))];
    r6.id = 1, r6.tag = 2;
}
// end

// kernel k113
extern "C" __global__ void k113(int *__restrict__ p1, short *p2, char *p3, int n4, size_t n5,
                                char **t6, int n8, int n11, unsigned n12, int n13)
{
    int sum_ = 1;
    for (int t7 = 0; t7 < n8; t7 += 8) {
        if (t7 + threadIdx.x < n8)
            sum_ += p2[(t7 + threadIdx.x) * n8 + blockIdx.x * blockDim.x + threadIdx.x];
    }
    int x9 = blockIdx.x * blockDim.x + threadIdx.x;
    int y10 = blockIdx.y * blockDim.y + threadIdx.y;
    if (x9 < n11 && y10 < n12) {
        char &r14 = t6[0][y10 * n13 + x9];
        r14 = (char)sum_;
        sum_ += p1[y10 * n13 + x9];
    }
    long long l15 = 8;
    int &r16 = p1[(int)(blockIdx.y * blockDim.y + threadIdx.y)];
    r16 = (int)sum_;
}
// end

// kernel k114
extern "C" __global__ void k114(const char *p1, char *p2)
{
    float sum_ = 1;
    if (64 != blockIdx.x) {
        if ((blockDim.x >= blockIdx.y) ||
            ((((blockIdx.x + threadIdx.y) * blockDim.x) < 7) || (threadIdx.y < 31))) {
            char v3 = p1[(blockDim.y | 127)];
            sum_ += v3;
        }
    } else {
        const char *q5 =
            p1 +
            ((unsigned)(((blockIdx.y - (unsigned)blockDim.y) + (threadIdx.y - blockDim.y))) % 1u);
    }
    char &r6 = p2[threadIdx.y];
    r6 = (char)sum_;
}
// end

// kernel k115
extern "C" __global__ void k115(unsigned char *p1, const double *__restrict__ p2, uchar4 *p3,
                                int n4, signed char n5, unsigned n6, unsigned n7, int n9, int n11,
                                int n14, int n15, int n16)
{
    int sum_ = 1;
    if (((int)(blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.x) ||
        ((blockIdx.y * blockDim.y + threadIdx.y) <= (int)n4)) {
        if (((long long)(blockIdx.y * blockDim.y + threadIdx.y) < blockIdx.y) ||
            ((int)(blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.x)) {
            switch ((n4)&7) {
            case 0: {
#pragma unroll 2
                for (int i8 = threadIdx.x; i8 < n9; i8 += blockDim.x) {
                    (((int)(blockIdx.x * blockDim.x + threadIdx.x) > i8)
                         ? p3
                         : p3)[((unsigned)(((blockIdx.x * blockDim.x + threadIdx.x) -
                                            ((n7 + blockIdx.x) + (i8 + blockIdx.y)))) %
                                100u)] = make_uchar4((unsigned char)1, 1, 2, 3);
                    sum_ = 1;
                    p3[i8].w = 7;
                    if (((size_t)blockIdx.y * blockDim.y + threadIdx.y) < i8)
                        continue;
                    p1[(long long)(blockIdx.x * blockDim.x + threadIdx.x)] = (unsigned char)sum_;
                }
            }
            case 1: {
                scratch[(((int)(blockIdx.x * blockDim.x + threadIdx.x)) & 255)] = 3;
            }
            case 2: {
                p1[((int)(blockIdx.y * blockDim.y + threadIdx.y) +
                    (((int)blockIdx.y + gridDim.y) >> 5))] = (unsigned char)sum_;
            }
            case 3: {
                for (int t10 = 0; t10 < n11; t10 += 8) {
                    sum_ += p2[(t10 + threadIdx.x) * n11 + blockIdx.x * blockDim.x + threadIdx.x];
                }
            } break;
            case 4: {
                if ((int)(blockIdx.x * blockDim.x + threadIdx.x) >= blockDim.x) {
                    p3[((int)(blockIdx.y * blockDim.y + threadIdx.y) * gridDim.y)] =
                        make_uchar4((unsigned char)1, 1, 2, 3);
                    sum_ = sum_ * 0.5;
                }
            } break;
            case 5: {
                p3[((short)blockIdx.x * (int)blockDim.x)].w = 7;
            } break;
            }
            if (((size_t)blockIdx.x * blockDim.x + threadIdx.x) < blockIdx.y) {
                if (((int)(blockIdx.y * blockDim.y + threadIdx.y) < n9) ||
                    (((long long)blockIdx.y * blockDim.y + threadIdx.y) < threadIdx.y))
                    return;
            }
        }
        if ((blockIdx.y * blockDim.y + threadIdx.y) <= 8) {
            const double *q12 = p2 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
            p1[(((blockIdx.y - n6) * blockDim.x) & 8191)] = (unsigned char)sum_;
            sum_ = sum_ * 0.5;
        } else {
            sum_ += p2[blockDim.y];
        }
    }
    if (gridDim.y < threadIdx.y) {
        p1[((int)(blockIdx.x * blockDim.x + threadIdx.x) << 4)] = (unsigned char)1;
    } else if ((size_t)(blockIdx.x * blockDim.x + threadIdx.x) < n5) {
        (*(p1 + ((size_t)blockIdx.x * blockDim.x + threadIdx.x))) = (unsigned char)(sum_ + 1);
    } else if ((size_t)(blockIdx.y * blockDim.y + threadIdx.y) < 1) {
        switch (((size_t)(blockIdx.x * blockDim.x + threadIdx.x)) & 7) {
        case 0: {
            for (size_t k13 = 0; k13 < (size_t)n4; k13 += 1) {
                (*(p1 + (((k13 << 6) >> 5) * k13))) = (unsigned char)sum_;
                if (k13 > n7)
                    continue;
                sum_ += __ldg(&p2[((size_t)blockIdx.y * blockDim.y + threadIdx.y)]);
            }
        } break;
        case 1: {
            p3[64].w = 7;
        } break;
        case 2: {
            int x17 = blockIdx.x * blockDim.x + threadIdx.x;
            int y18 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x17 < n14 && y18 < n15) {
                for (int z19 = 0; z19 < n16; z19++) {
                    unsigned char &r20 = p1[(z19 * n15 + y18) * n14 + x17];
                    r20 = (unsigned char)sum_;
                }
            }
        }
        }
    }
    int l21 = ((int)(blockIdx.y * blockDim.y + threadIdx.y) * n15);
    (((size_t)(blockIdx.x * blockDim.x + threadIdx.x) > threadIdx.x) ? p1 : p1)[threadIdx.x] =
        (unsigned char)sum_;
    p3[((blockDim.y + l21) >> 2)] = make_uchar4((unsigned char)sum_, 1, 2, 3);
    unsigned char &r22 = p1[(long long)blockIdx.x];
    r22 = (unsigned char)sum_;
}
// end

// kernel k116
extern "C" __global__ void k116(const char *p1, const unsigned *p2, const int *p3,
                                unsigned *__restrict__ p5, float4 *p7, int n8)
{
    int sum_ = 1;
    long long l4 = ((size_t)blockIdx.y * blockDim.y + threadIdx.y);
    sum_ += atomicExch_system(&p5[threadIdx.x], (unsigned)3);
    const int *q6 = p3 + (blockIdx.x * blockDim.x + threadIdx.x);
    int i9 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i9 < n8 / 4)
        p7[i9] = make_float4(sum_, 1, 2, 3);
    if (i9 < n8 % 4)
        ((float *)p7)[n8 / 4 * 4 + i9] = sum_;
    unsigned &r10 = p5[(((long long)(blockIdx.x * blockDim.x + threadIdx.x) >= (int)blockIdx.y)
                            ? (size_t)blockIdx.x
                            : blockIdx.x)];
    r10 = (unsigned)sum_;
}
// end

// kernel k117
extern "C" __global__ void k117(const int *p1, unsigned long long n2, unsigned *__restrict__ p3,
                                int n8, unsigned n9, size_t n16, double z17, int n19, int n20,
                                int n21, int n29, int n30, int n31, double z38)
{
    int sum_ = 1;
    p3[(((long long)blockDim.x >> 0) & n2)] = (unsigned)1;
    for (int k4 = (int)blockIdx.x - 1; k4 >= 0; k4 -= 1) {
        p3[(size_t)gridDim.y] = (unsigned)sum_;
        sum_ = 1;
        int k5 = 0;
        for (;;) {
            if (k5++ >= (int)gridDim.y)
                break;
            p3[(long long)(blockIdx.y * blockDim.y + threadIdx.y)] = (unsigned)(sum_ + 1);
            unsigned x6 = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned y7 = blockIdx.y * blockDim.y + threadIdx.y;
            if (x6 < n8 && y7 < n9) {
                unsigned &r10 = p3[(y7 + 1) * n8 + x6 + 1];
                r10 = (unsigned)sum_;
                sum_ += p1[y7 * n8 + x6 - 1];
            }
        }
        if (!(threadIdx.y < blockDim.y))
            break;
        unsigned *x11 = p3, *y12 = p3;
        for (int k14 = 0; k14 < 16; k14++) {
            x11[((k4 + k4) * threadIdx.y)] = y12[(k4 % 7u)];
            unsigned *z13 = x11;
            x11 = y12;
            y12 = z13;
        }
    }
    const int *q15 = (const int *)((const char *)p1 +
                                   (long long)(blockIdx.x * blockDim.x + threadIdx.x) * n16 * 4);
    if ((z17 > 0.25) && ((blockDim.y < threadIdx.x) && (!(gridDim.y < blockDim.x)))) {
        int y23 = blockIdx.y * blockDim.y + threadIdx.y;
        int z24 = blockIdx.z * blockDim.z + threadIdx.z;
        if (y23 < n20 && z24 < n21) {
            for (int x22 = 0; x22 < n19; x22++) {
                unsigned &r25 = p3[(z24 * n20 + y23) * n19 + x22];
                r25 = (unsigned)sum_;
            }
        }
    }
    switch ((n20)&7) {
    case 0: {
        for (int k26 = 2; k26 < (int)gridDim.y; k26 += 2) {
            int v27 = ((31 > 16) ? q15 : q15)[(
                (unsigned long long)((unsigned long long)((unsigned long long)((k26 - k26)))) %
                100u)];
            sum_ += v27;
        }
    }
    case 1: {
        unsigned v28 =
            ((gridDim.y <= 32)
                 ? p3
                 : p3)[min((int)((int)(blockIdx.x * blockDim.x + threadIdx.x)), (int)(blockDim.x))];
        sum_ += v28;
    } break;
    case 2: {
        if (!((n2 + (blockIdx.x * blockDim.x + threadIdx.x)) < gridDim.x)) {
            int x32 = blockIdx.x * blockDim.x + threadIdx.x;
            int z34 = blockIdx.z * blockDim.z + threadIdx.z;
            if (x32 >= n29 || z34 >= n31)
                return;
            for (int y33 = 0; y33 < n30; y33++) {
                unsigned &r35 = p3[(z34 * n30 + y33) * n29 + x32];
                r35 = (unsigned)sum_;
            }
            unsigned v36 = (*(unsigned *)&p3[(((blockIdx.y > n2) ? q15 : q15)[blockDim.x] & 1023)]);
            sum_ += v36;
        } else {
            p3[((p1 + (n31 * (size_t)n29))[8] & 63)] = (unsigned)sum_;
        }
    } break;
    case 3: {
        if (!(!(((1 & blockIdx.y) << (n8 & 7)) >= n31))) {
            scratch[((min((int)(((n21 < blockDim.y) ? n19 : (size_t)n2)),
                          (int)((n30 - (int)blockDim.y)))) &
                     63)] = 3;
        } else if ((n9 < blockDim.y) && (n16 > blockIdx.y)) {
            int v37 = p1[(n16 / 3u)];
            sum_ += v37;
        } else if (n30 < blockDim.x) {
            if (((((int)n21 * (short)blockIdx.y) < gridDim.x) &&
                 ((__popc((unsigned)(n30)) + ((long long)blockIdx.x * blockDim.x + threadIdx.x)) >
                  blockDim.y)) &&
                (((threadIdx.y * (long long)blockDim.y) < n19) && (z38 > 0.25))) {
            } else {
                if (((n2 < n16) || ((size_t)blockDim.x > n19)) || (n2 != n19)) {
                    p3[((long long)blockIdx.y * blockDim.y + threadIdx.y)] = (unsigned)sum_;
                    p3[(0 & 5)] = (unsigned)sum_;
                }
            }
        }
    }
    case 4: {
        if ((p1[((long long)n20 + (gridDim.x ^ 240))] & 7) > 3) {
            sum_ += __ldg(&p1[(q15[(n19 * n9)] & 7)]);
        } else if (!(n21 <= (unsigned)n16)) {
            sum_ += p3[((int)(blockIdx.x * blockDim.x + threadIdx.x) * (unsigned)gridDim.y)];
        } else if (!(gridDim.y > 8)) {
            if ((min((int)(threadIdx.y), (int)(n30)) >> 1) > 3) {
                (p3 + (p3[((n20 + (int)threadIdx.x) % 8)] & 1023))[8] = (unsigned)sum_;
            } else if ((!(n9 < 0)) && ((n30 % n8) < n30)) {
                (*(p3 + (min((int)(blockIdx.x), (int)(n19)) & 255))) = (unsigned)(sum_ + 1);
            }
        } else {
            sum_ += scratch[((((n2 + n9) + (gridDim.y + 16))) & 255) + 7];
        }
    } break;
    }
    unsigned &r40 = p3[n16];
    r40 = (unsigned)sum_;
}
// end

// kernel k118
extern "C" __global__ void k118(unsigned *p1, long long *p2, float *__restrict__ p3, unsigned n4,
                                unsigned n5, int n6, int n7)
{
    float sum_ = 1;
    long long v8 = p2[((unsigned long long)((n6 + (long long)n7)) % 30000u)];
    sum_ += v8;
    long long &r9 = p2[threadIdx.x];
    r9 = (long long)sum_;
}
// end

// kernel k119
struct k119_struct3 {
    short f4;
};
extern "C" __global__ void k119(short *p1, unsigned *p2, k119_struct3 s3, long long **t5,
                                float4 *p6, int n7)
{
    int sum_ = 1;
    int i8 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i8 < n7 / 4)
        p6[i8] = make_float4(sum_, 1, 2, 3);
    if (i8 < n7 % 4)
        ((float *)p6)[n7 / 4 * 4 + i8] = sum_;
    long long *w9 = t5[0] + (blockIdx.z * blockDim.z + threadIdx.z);
    long long *e11 = w9 + (((*(p1 + ((size_t)blockIdx.x * blockDim.x + threadIdx.x))) & 63) & 7);
    for (; w9 < e11; w9 += 2) {
        (*w9) = (long long)1;
    }
    {
        asm volatile(
            "{ .reg .pred q; setp.ne.s32 q, %2, 0; @q st.global.b32 [%0], %1; }" ::"l"(
                __cvta_generic_to_global(&p2[((blockDim.y + 2) + (blockDim.x * blockIdx.z))])),
            "r"(7), "r"((int)((int)(blockIdx.x * blockDim.x + threadIdx.x) >= threadIdx.x))
            : "memory");
    }
    short &r12 = p1[(16 | 63)];
    r12 = (short)sum_;
}
// end
