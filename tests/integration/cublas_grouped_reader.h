// A grouped product on one stream; another stream clears the first matrix of A, behind an event or
// at once. The sizes have 64 bits if WIDE is 1.
#include "cublas_grouped.h"

// The same numbers with 64 bits.
struct Wide {
    int64_t numbers[GROUPS];
    explicit Wide(const int *from)
    {
        for (int i = 0; i < GROUPS; i++)
            numbers[i] = from[i];
    }
    operator const int64_t *() const
    {
        return numbers;
    }
};

int main()
{
    cudaStream_t a_stream = nonblocking_stream(), b_stream = nonblocking_stream();
    cublasHandle_t handle = blas_on(a_stream);
    Matrices<float> a, b, c;
    const float alpha[] = {1, 1}, beta[] = {0, 0};
    CHECK(cudaDeviceSynchronize());
#if WIDE
    const Wide m(group_m), n(group_n), k(group_k), lda(group_lda), ldb(group_ldb), ldc(group_ldc);
    const Wide size(group_size);
    BLAS(cublasSgemmGroupedBatched_64(handle, group_a, group_b, m, n, k, alpha, a.addresses, lda,
                                      b.addresses, ldb, beta, c.addresses, ldc, GROUPS, size));
#else
    BLAS(cublasSgemmGroupedBatched(handle, group_a, group_b, group_m, group_n, group_k, alpha,
                                   a.addresses, group_lda, b.addresses, group_ldb, beta,
                                   c.addresses, group_ldc, GROUPS, group_size));
#endif
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, a_stream));
        CHECK(cudaStreamWaitEvent(b_stream, event));
    }
    CHECK(cudaMemsetAsync(a.values.device, 0, 4 * sizeof(float), b_stream));
    // between two columns, where no product reads
    CHECK(cudaMemsetAsync(a.values.device + MATRIX_MOST * 2 + 12, 0, sizeof(float), b_stream));
    return finish();
}
