// verdict: none
// libraries: cublas
// options: host=off
// Factors, solutions and inverses in batches: multiplied they give what was given.
#include "numbers.h"

#include "blas.h"

enum { SIZE = 6, SIDES = 2, BATCHES = 3, AREA = SIZE * SIZE };

static std::vector<double> times(const std::vector<double> &a, const std::vector<double> &b,
                                 int columns)
{
    std::vector<double> out(BATCHES * SIZE * columns);
    for (int batch = 0; batch < BATCHES; batch++)
        for (int j = 0; j < columns; j++)
            for (int i = 0; i < SIZE; i++)
                for (int k = 0; k < SIZE; k++)
                    out[(batch * columns + j) * SIZE + i] +=
                        a[batch * AREA + i + k * SIZE] * b[(batch * columns + j) * SIZE + k];
    return out;
}

static double **addresses_of(double *base, int step)
{
    double *host[BATCHES], **device = device_array<double *>(BATCHES);
    for (int i = 0; i < BATCHES; i++)
        host[i] = base + i * step;
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    return device;
}

int main()
{
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    Both<double> a(BATCHES * AREA), inverse(BATCHES * AREA), b(BATCHES * SIZE * SIDES);
    std::vector<double> identity(BATCHES * AREA);
    for (int i = 0; i < BATCHES * SIZE; i++)
        identity[i / SIZE * AREA + i % SIZE * (SIZE + 1)] = 1;
    double **as = addresses_of(a.device, AREA), **inverses = addresses_of(inverse.device, AREA);
    double **bs = addresses_of(b.device, SIZE * SIDES);
    int *pivots = device_array<int>(BATCHES * SIZE), *infos = device_array<int>(BATCHES), info = 1;

    BLAS(cublasDmatinvBatched(handle, SIZE, as, SIZE, inverses, SIZE, infos, BATCHES));
    numbers_compare("matinv", times(a.host, inverse.get(), SIZE), identity, 1e-9);
    for (int *p : {pivots, (int *)nullptr}) {
        for (int i = 0; i < BATCHES * SIZE && !p; i++) // pivots are not needed then
            a.host[i / SIZE * AREA + i % SIZE * (SIZE + 1)] += 9;
        a.put();
        b.put();
        BLAS(cublasDgetrfBatched(handle, SIZE, as, SIZE, p, infos, BATCHES));
        BLAS(cublasDgetriBatched(handle, SIZE, as, SIZE, p, inverses, SIZE, infos, BATCHES));
        numbers_compare("getri", times(a.host, inverse.get(), SIZE), identity, 1e-9);
        BLAS(cublasDgetrsBatched(handle, CUBLAS_OP_N, SIZE, SIDES, as, SIZE, p, bs, SIZE, &info,
                                 BATCHES));
        numbers_compare("getrs", times(a.host, b.get(), SIDES), b.host, 1e-9);
    }
    BLAS(cublasDestroy(handle));
    return numbers_end();
}
