// verdict: none
// libraries: cublas
// options: host=off
// output: -
// Factors and results on the host, where the call waits, and on the device; wrong arguments.
#include "numbers.h"

#include "blas.h"

int main()
{
    cudaStream_t stream = nonblocking_stream();
    cublasHandle_t handle = blas_on(stream);
    std::vector<float> x(100), y(100);
    for (int i = 0; i < 100; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    float *dx = device_array<float>(100), *dy = device_array<float>(100);
    CHECK(cudaMemcpy(dx, x.data(), 400, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dy, y.data(), 400, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    float alpha = 2, sum = 0;
    BLAS(cublasSaxpy(handle, 100, &alpha, dx, 1, dy, 1));
    alpha = 1000; // it was copied at the call
    BLAS(cublasSasum(handle, 100, dy, 1, &sum));
    numbers_compare<float>("asum on the host", {sum}, {2 * 4950 + 100}, 1e-6);

    float *scalars = device_array<float>(2), host[2] = {3, 0};
    int *place = device_array<int>(1), found = 0;
    CHECK(cudaMemcpyAsync(scalars, host, 8, cudaMemcpyHostToDevice, stream));
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    BLAS(cublasSscal(handle, 100, scalars, dy, 1));
    BLAS(cublasSasum(handle, 100, dy, 1, scalars + 1));
    BLAS(cublasIsamax(handle, 100, dx, 1, place));
    CHECK(cudaMemcpyAsync(host, scalars, 8, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(&found, place, 4, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    numbers_compare<float>("asum on the device", {host[1], (float)found}, {3 * 10000, 100}, 1e-6);

    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    float c = 0, s = 0, a = 3, b = 4;
    BLAS(cublasSrotg(handle, &a, &b, &c, &s));
    numbers_compare<float>("rotg", {std::abs(a), std::abs(c), std::abs(s)}, {5, 0.6f, 0.8f}, 1e-6);

    std::vector<float> matrix(6 * 4, 1), back(6 * 4);
    float *dm = device_array<float>(24);
    BLAS(cublasSetMatrix(4, 4, sizeof(float), matrix.data(), 6, dm, 6));
    BLAS(cublasGetMatrix(4, 4, sizeof(float), dm, 6, back.data(), 6));
    numbers_compare<float>("setMatrix, getMatrix", {back[0], back[3], back[21]}, {1, 1, 1}, 0);

    bool refused = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 4, 4, &one, dx, 4, dx, 4,
                               &zero, dy, 4) == CUBLAS_STATUS_INVALID_VALUE &&
                   cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, dx, 3, dx, 4, &zero,
                               dy, 4) == CUBLAS_STATUS_INVALID_VALUE &&
                   cublasSscal(NULL, 4, &one, dx, 1) == CUBLAS_STATUS_NOT_INITIALIZED;
    if (!refused) {
        fprintf(stderr, "a wrong argument was accepted\n");
        numbers_wrong++;
    }
    BLAS(cublasDestroy(handle));
    return numbers_end();
}
