// verdict: none
// libraries: cublas
// output: -
// options: host=off
// Grouped products of cuBLAS, of floats and doubles, against loops on the host. NVIDIA's library
// prints a line of its own about the size that is wrong.
#include "cublas_grouped.h"

template <typename T, typename Factor, typename Call>
static void check(const char *what, double tolerance, Call call)
{
    Matrices<T> a, b, c;
    const Factor alpha[] = {(Factor)0.5f, (Factor)-1.5f}, beta[] = {(Factor)0.25f, (Factor)0.0f};
    std::vector<double> wanted;
    CHECK(cudaDeviceSynchronize());
    grouped_reference(a, b, c, alpha, beta, wanted);
    call(alpha, a, b, beta, c);
    CHECK(cudaDeviceSynchronize());
    numbers_compare(what, grouped_result(c), wanted, tolerance);
}

int main()
{
    cublasHandle_t handle = blas_on(nonblocking_stream());
    check<float, float>(
        "floats", 1e-5,
        [&](const float *alpha, Matrices<float> &a, Matrices<float> &b, const float *beta,
            Matrices<float> &c) {
            BLAS(cublasSgemmGroupedBatched(handle, group_a, group_b, group_m, group_n, group_k,
                                           alpha, a.addresses, group_lda, b.addresses, group_ldb,
                                           beta, c.addresses, group_ldc, GROUPS, group_size));
        });
    check<double, double>(
        "doubles", 1e-12,
        [&](const double *alpha, Matrices<double> &a, Matrices<double> &b, const double *beta,
            Matrices<double> &c) {
            BLAS(cublasDgemmGroupedBatched(handle, group_a, group_b, group_m, group_n, group_k,
                                           alpha, a.addresses, group_lda, b.addresses, group_ldb,
                                           beta, c.addresses, group_ldc, GROUPS, group_size));
        });
    check<float, float>(
        "floats, extended", 1e-5,
        [&](const float *alpha, Matrices<float> &a, Matrices<float> &b, const float *beta,
            Matrices<float> &c) {
            BLAS(cublasGemmGroupedBatchedEx(handle, group_a, group_b, group_m, group_n, group_k,
                                            alpha, (const void *const *)a.addresses, CUDA_R_32F,
                                            group_lda, (const void *const *)b.addresses, CUDA_R_32F,
                                            group_ldb, beta, (void *const *)c.addresses, CUDA_R_32F,
                                            group_ldc, GROUPS, group_size, CUBLAS_COMPUTE_32F));
        });
    // A group that has a wrong size: nothing runs.
    const int wrong[] = {24, -1};
    const float factors[] = {1, 1};
    Matrices<float> a, b, c;
    const cublasStatus_t status = cublasSgemmGroupedBatched(
        handle, group_a, group_b, wrong, group_n, group_k, factors, a.addresses, group_lda,
        b.addresses, group_ldb, factors, c.addresses, group_ldc, GROUPS, group_size);
    if (status != CUBLAS_STATUS_INVALID_VALUE) {
        fprintf(stderr, "a size below 0: status %d\n", (int)status);
        numbers_wrong++;
    }
    CHECK(cudaDeviceSynchronize());
    return numbers_end();
}
