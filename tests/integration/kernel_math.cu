// verdict: none
// The functions of math.h that compilers expand in line, against the host's.
#include "program.h"
#include <cmath>

enum { FUNCTIONS = 12, POINTS = 64 };

#define EVALUATE(out, x)                                                                           \
    do {                                                                                           \
        (out)[0] = sqrtf(x);                                                                       \
        (out)[1] = expf(x);                                                                        \
        (out)[2] = logf(x);                                                                        \
        (out)[3] = sinf(x);                                                                        \
        (out)[4] = cosf(x);                                                                        \
        (out)[5] = powf(x, 1.5f);                                                                  \
        (out)[6] = tanhf(x);                                                                       \
        (out)[7] = 1.0f / (x);                                                                     \
        (out)[8] = floorf(x) + ceilf(x) + truncf(x) + rintf(x);                                    \
        (out)[9] = fminf(x, 2.0f) + fmaxf(x, 3.0f) + fabsf(-(x));                                  \
        (out)[10] = (float)(sqrt((double)(x)) + exp((double)(x)) + log((double)(x)));              \
        (out)[11] = fmaf(x, x, 1.0f) + (float)((double)(x) / 3.0);                                 \
    } while (0)

__global__ void evaluate(float *out, const float *in)
{
    float x = in[threadIdx.x];
    EVALUATE(out + threadIdx.x * FUNCTIONS, x);
}

int main()
{
    static float in[POINTS], out[POINTS][FUNCTIONS];
    for (int i = 0; i < POINTS; i++)
        in[i] = 0.11f + i * 0.17f;
    float *din = device_array<float>(POINTS), *dout = device_array<float>(POINTS * FUNCTIONS);
    CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    evaluate<<<1, POINTS>>>(dout, din);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < POINTS; i++) {
        float expected[FUNCTIONS];
        EVALUATE(expected, in[i]);
        for (int f = 0; f < FUNCTIONS; f++)
            if (!(fabsf(out[i][f] - expected[f]) <= 2e-6f * (1 + fabsf(expected[f]))))
                printf("wrong: function %d of %g is %.9g, expected %.9g\n", f, in[i], out[i][f],
                       expected[f]);
    }
    return finish();
}
