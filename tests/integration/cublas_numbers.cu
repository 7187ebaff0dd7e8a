// verdict: none
// libraries: cublas
// options: host=off
// Levels 1 to 3 of cuBLAS in its four types, against loops on the host.
#include "numbers.h"

#include "blas.h"

// One type's functions, with std::complex for the complex ones.
#define FUNCTIONS(Name, T, R, C, S, I, A, N2, D)                                                   \
    struct Name {                                                                                  \
        typedef T t;                                                                               \
        typedef R r;                                                                               \
        typedef C c;                                                                               \
        static constexpr auto axpy = cublas##S##axpy;                                              \
        static constexpr auto copy = cublas##S##copy;                                              \
        static constexpr auto swap = cublas##S##swap;                                              \
        static constexpr auto scal = cublas##S##scal;                                              \
        static constexpr auto amax = cublasI##I##amax;                                             \
        static constexpr auto amin = cublasI##I##amin;                                             \
        static constexpr auto asum = cublas##A##asum;                                              \
        static constexpr auto nrm2 = cublas##N2##nrm2;                                             \
        static constexpr auto dot = cublas##D;                                                     \
        static constexpr auto gemv = cublas##S##gemv;                                              \
        static constexpr auto trsv = cublas##S##trsv;                                              \
        static constexpr auto trmv = cublas##S##trmv;                                              \
        static constexpr auto gemm = cublas##S##gemm;                                              \
        static constexpr auto gemm64 = cublas##S##gemm_64;                                         \
        static constexpr auto symm = cublas##S##symm;                                              \
        static constexpr auto syrk = cublas##S##syrk;                                              \
        static constexpr auto syrkx = cublas##S##syrkx;                                            \
        static constexpr auto trsm = cublas##S##trsm;                                              \
        static constexpr auto trmm = cublas##S##trmm;                                              \
        static constexpr auto geam = cublas##S##geam;                                              \
        static constexpr auto dgmm = cublas##S##dgmm;                                              \
        static constexpr auto strided = cublas##S##gemmStridedBatched;                             \
        static constexpr auto batched = cublas##S##gemmBatched;                                    \
        static constexpr auto trsm_batched = cublas##S##trsmBatched;                               \
    };
FUNCTIONS(FS, float, float, float, S, s, S, S, Sdot)
FUNCTIONS(FD, double, double, double, D, d, D, D, Ddot)
FUNCTIONS(FC, std::complex<float>, float, cuComplex, C, c, Sc, Sc, Cdotc)
FUNCTIONS(FZ, std::complex<double>, double, cuDoubleComplex, Z, z, Dz, Dz, Zdotc)

template <typename F> struct Test {
    typedef typename F::t T;
    typedef typename F::r R;
    typedef typename F::c C;
    cublasHandle_t handle;
    double tolerance = sizeof(R) == 4 ? 2e-5 : 1e-13;

    static C *c(T *p)
    {
        return (C *)p;
    }
    static const C *c(const T *p)
    {
        return (const C *)p;
    }
    void compare(const char *what, const Both<T> &got, const std::vector<T> &wanted)
    {
        numbers_compare(what, got.get(), wanted, tolerance);
    }
    static T element(const std::vector<T> &a, int lda, cublasOperation_t op, int i, int j)
    {
        T x = op == CUBLAS_OP_N ? a[i + j * lda] : a[j + i * lda];
        return op == CUBLAS_OP_C ? Number<T>::conj(x) : x;
    }

    void level1()
    {
        const int n = 37;
        Both<T> x(3 * n), y(2 * n);
        T alpha = Number<T>::next();
        std::vector<T> wanted = y.host;
        for (int i = 0; i < n; i++)
            wanted[(n - 1 - i) * 2] += alpha * x.host[i * 3];
        BLAS(F::axpy(handle, n, c(&alpha), c(x.device), 3, c(y.device), -2));
        compare("axpy", y, wanted);

        for (int i = 0; i < n; i++)
            wanted[i * 2] *= alpha;
        BLAS(F::scal(handle, n, c(&alpha), c(y.device), 2));
        compare("scal", y, wanted);
        y.host = wanted;

        R sum = 0, norm = 0, wanted_sum = 0, wanted_norm = 0;
        int largest = 0, smallest = 0, wanted_largest = 0, wanted_smallest = 0;
        auto size = [&](int i) {
            return std::abs(std::real(x.host[i * 3])) + std::abs(std::imag(x.host[i * 3]));
        };
        T product = 0, wanted_product = 0;
        for (int i = 0; i < n; i++) {
            wanted_sum += size(i);
            wanted_norm += std::norm(x.host[i * 3]);
            wanted_largest = size(i) > size(wanted_largest) ? i : wanted_largest;
            wanted_smallest = size(i) < size(wanted_smallest) ? i : wanted_smallest;
            wanted_product += Number<T>::conj(x.host[i * 3]) * y.host[i * 2];
        }
        BLAS(F::asum(handle, n, c(x.device), 3, &sum));
        BLAS(F::nrm2(handle, n, c(x.device), 3, &norm));
        BLAS(F::amax(handle, n, c(x.device), 3, &largest));
        BLAS(F::amin(handle, n, c(x.device), 3, &smallest));
        BLAS(F::dot(handle, n, c(x.device), 3, c(y.device), 2, c(&product)));
        numbers_compare<T>("asum, nrm2, dot", {sum, norm, product},
                           {wanted_sum, std::sqrt(wanted_norm), wanted_product}, tolerance);
        numbers_compare<float>("amax, amin", {(float)largest, (float)smallest},
                               {(float)wanted_largest + 1, (float)wanted_smallest + 1}, 0);

        BLAS(F::swap(handle, n, c(x.device), 3, c(y.device), 2));
        wanted = y.host;
        for (int i = 0; i < n; i++)
            wanted[i * 2] = x.host[i * 3];
        compare("swap", y, wanted);
        BLAS(F::copy(handle, n, c(y.device), 2, c(x.device), 3));
        std::vector<T> copied = x.host;
        compare("copy", x, copied);
    }

    void level2()
    {
        const int m = 23, n = 17, lda = 29;
        const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
        Both<T> a(lda * 29);
        for (int i = 0; i < 29; i++)
            a.host[i + i * lda] += T(8);
        a.put();
        for (cublasOperation_t op : operations) {
            const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
            Both<T> x(columns), y(rows);
            T alpha = Number<T>::next(), beta = Number<T>::next();
            std::vector<T> wanted = y.host;
            for (int i = 0; i < rows; i++) {
                T sum = 0;
                for (int j = 0; j < columns; j++)
                    sum += element(a.host, lda, op, i, j) * x.host[j];
                wanted[i] = alpha * sum + beta * wanted[i];
            }
            BLAS(F::gemv(handle, op, m, n, c(&alpha), c(a.device), lda, c(x.device), 1, c(&beta),
                         c(y.device), 1));
            compare("gemv", y, wanted);

            Both<T> z(n);
            BLAS(F::trmv(handle, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, n, c(a.device),
                         lda, c(z.device), 1));
            BLAS(F::trsv(handle, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, n, c(a.device),
                         lda, c(z.device), 1));
            compare("trsv of trmv", z, z.host);
        }
    }

    // op(a) op(b), of columns lda and ldb apart.
    static std::vector<T> product(int m, int n, int k, T alpha, const T *a, int lda,
                                  cublasOperation_t op_a, const T *b, int ldb,
                                  cublasOperation_t op_b, T beta, std::vector<T> out, int ldc)
    {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                T sum = 0;
                for (int l = 0; l < k; l++) {
                    T left = op_a == CUBLAS_OP_N ? a[i + l * lda] : a[l + i * lda];
                    T right = op_b == CUBLAS_OP_N ? b[l + j * ldb] : b[j + l * ldb];
                    sum += (op_a == CUBLAS_OP_C ? Number<T>::conj(left) : left) *
                           (op_b == CUBLAS_OP_C ? Number<T>::conj(right) : right);
                }
                out[i + j * ldc] = alpha * sum + beta * out[i + j * ldc];
            }
        return out;
    }

    void level3()
    {
        const int m = 19, n = 13, k = 31, ld = 37;
        const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
        for (cublasOperation_t op_a : operations)
            for (cublasOperation_t op_b : operations) {
                Both<T> a(ld * ld), b(ld * ld), out(ld * n), wide(ld * n);
                T alpha = Number<T>::next(), beta = Number<T>::next();
                BLAS(F::gemm(handle, op_a, op_b, m, n, k, c(&alpha), c(a.device), ld, c(b.device),
                             ld, c(&beta), c(out.device), ld));
                BLAS(F::gemm64(handle, op_a, op_b, m, n, k, c(&alpha), c(a.device), ld, c(b.device),
                               ld, c(&beta), c(wide.device), ld));
                compare("gemm", out,
                        product(m, n, k, alpha, a.host.data(), ld, op_a, b.host.data(), ld, op_b,
                                beta, out.host, ld));
                compare("gemm_64", wide,
                        product(m, n, k, alpha, a.host.data(), ld, op_a, b.host.data(), ld, op_b,
                                beta, wide.host, ld));
            }
    }

    void symmetric()
    {
        const int n = 15, k = 9, ld = 21;
        Both<T> a(ld * ld), b(ld * ld), out(ld * n);
        T alpha = Number<T>::next(), beta = Number<T>::next();
        std::vector<T> full = a.host, triangle;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < j; i++)
                full[i + j * ld] = full[j + i * ld]; // the lower one is given
        BLAS(F::symm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, n, c(&alpha), c(a.device),
                     ld, c(b.device), ld, c(&beta), c(out.device), ld));
        compare("symm", out,
                product(n, n, n, alpha, full.data(), ld, CUBLAS_OP_N, b.host.data(), ld,
                        CUBLAS_OP_N, beta, out.host, ld));
        out.host = out.get();
        triangle = product(n, n, k, alpha, a.host.data(), ld, CUBLAS_OP_N, a.host.data(), ld,
                           CUBLAS_OP_T, beta, out.host, ld);
        for (int j = 0; j < n; j++)
            for (int i = j + 1; i < n; i++)
                triangle[i + j * ld] = out.host[i + j * ld];
        BLAS(F::syrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, k, c(&alpha), c(a.device), ld,
                     c(&beta), c(out.device), ld));
        compare("syrk", out, triangle);
        out.host = out.get();
        triangle = product(n, n, k, alpha, a.host.data(), ld, CUBLAS_OP_N, b.host.data(), ld,
                           CUBLAS_OP_T, beta, out.host, ld);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < j; i++)
                triangle[i + j * ld] = out.host[i + j * ld];
        BLAS(F::syrkx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, c(&alpha), c(a.device), ld,
                      c(b.device), ld, c(&beta), c(out.device), ld));
        compare("syrkx", out, triangle);
    }

    void triangular()
    {
        const int m = 12, n = 7, ld = 16;
        Both<T> a(ld * ld), b(ld * n), out(ld * n, false);
        for (int i = 0; i < ld; i++)
            a.host[i + i * ld] += T(6);
        a.put();
        T alpha = Number<T>::next(), back = T(1) / alpha;
        std::vector<T> lower = a.host;
        for (int j = 0; j < ld; j++)
            for (int i = 0; i < j; i++)
                lower[i + j * ld] = 0;
        BLAS(F::trmm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                     CUBLAS_DIAG_NON_UNIT, m, n, c(&alpha), c(a.device), ld, c(b.device), ld,
                     c(out.device), ld));
        compare("trmm", out,
                product(m, n, m, alpha, lower.data(), ld, CUBLAS_OP_T, b.host.data(), ld,
                        CUBLAS_OP_N, T(0), out.host, ld));
        BLAS(F::trsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                     CUBLAS_DIAG_NON_UNIT, m, n, c(&back), c(a.device), ld, c(out.device), ld));
        std::vector<T> wanted = b.host;
        for (int j = 0; j < n; j++)
            for (int i = m; i < ld; i++)
                wanted[i + j * ld] = 0;
        compare("trsm of trmm", out, wanted);
    }

    void extensions()
    {
        const int m = 11, n = 6, ld = 14;
        Both<T> a(ld * ld), b(ld * ld), x(ld), out(ld * ld, false);
        T alpha = Number<T>::next(), beta = Number<T>::next();
        std::vector<T> wanted = out.host;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                wanted[i + j * ld] = alpha * element(a.host, ld, CUBLAS_OP_C, i, j) +
                                     beta * element(b.host, ld, CUBLAS_OP_N, i, j);
        BLAS(F::geam(handle, CUBLAS_OP_C, CUBLAS_OP_N, m, n, c(&alpha), c(a.device), ld, c(&beta),
                     c(b.device), ld, c(out.device), ld));
        compare("geam", out, wanted);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                wanted[i + j * ld] = a.host[i + j * ld] * x.host[j];
        BLAS(F::dgmm(handle, CUBLAS_SIDE_RIGHT, m, n, c(a.device), ld, c(x.device), 1,
                     c(out.device), ld));
        compare("dgmm", out, wanted);
    }

    void batches()
    {
        const int n = 5, batches = 3, step = 40;
        Both<T> a(step * batches), b(step * batches), out(step * batches), other(step * batches);
        T alpha = Number<T>::next(), beta = Number<T>::next();
        std::vector<T> wanted = out.host, wanted_other = other.host;
        for (int i = 0; i < batches; i++) {
            std::vector<T> part(wanted.begin() + i * step, wanted.begin() + i * step + n * n);
            std::vector<T> part2(wanted_other.begin() + i * step,
                                 wanted_other.begin() + i * step + n * n);
            part = product(n, n, n, alpha, &a.host[i * step], n, CUBLAS_OP_N, &b.host[i * step], n,
                           CUBLAS_OP_N, beta, part, n);
            part2 = product(n, n, n, alpha, &a.host[i * step], n, CUBLAS_OP_N, &b.host[i * step], n,
                            CUBLAS_OP_N, beta, part2, n);
            std::copy(part.begin(), part.end(), wanted.begin() + i * step);
            std::copy(part2.begin(), part2.end(), wanted_other.begin() + i * step);
        }
        BLAS(F::strided(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, c(&alpha), c(a.device), n, step,
                        c(b.device), n, step, c(&beta), c(out.device), n, step, batches));
        compare("gemmStridedBatched", out, wanted);
        C *addresses[3][batches], **on_device = device_array<C *>(3 * batches);
        for (int i = 0; i < batches; i++) {
            addresses[0][i] = c(a.device + i * step);
            addresses[1][i] = c(b.device + i * step);
            addresses[2][i] = c(other.device + i * step);
        }
        CHECK(cudaMemcpy(on_device, addresses, sizeof addresses, cudaMemcpyHostToDevice));
        BLAS(F::batched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, c(&alpha), (const C **)on_device,
                        n, (const C **)on_device + batches, n, c(&beta), on_device + 2 * batches, n,
                        batches));
        compare("gemmBatched", other, wanted_other);
        T unit = 1;
        Both<T> right(step * batches);
        for (int i = 0; i < batches; i++)
            for (int j = 0; j < n; j++)
                a.host[i * step + j + j * n] += T(5);
        a.put();
        for (int i = 0; i < batches; i++)
            addresses[2][i] = c(right.device + i * step);
        CHECK(cudaMemcpy(on_device, addresses, sizeof addresses, cudaMemcpyHostToDevice));
        BLAS(F::trsm_batched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, n, n, c(&unit), (const C **)on_device, n,
                             on_device + 2 * batches, n, batches));
        std::vector<T> solved = right.get();
        wanted = right.host;
        std::vector<T> checked = wanted;
        for (int i = 0; i < batches; i++)
            for (int j = 0; j < n; j++)
                for (int row = 0; row < n; row++) {
                    T sum = 0;
                    for (int l = row; l < n; l++)
                        sum += a.host[i * step + row + l * n] * solved[i * step + l + j * n];
                    checked[i * step + row + j * n] = sum;
                }
        numbers_compare("trsmBatched", checked, wanted, tolerance);
    }

    void all()
    {
        level1();
        level2();
        level3();
        symmetric();
        triangular();
        extensions();
        batches();
    }
};

int main()
{
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    Test<FS>{handle}.all();
    Test<FD>{handle}.all();
    Test<FC>{handle}.all();
    Test<FZ>{handle}.all();
    BLAS(cublasDestroy(handle));
    return numbers_end();
}
