// verdict: none
// libraries: cusolver
// options: host=off
// Factorisations of cuSOLVER: what they give multiplies to what was given.
#include "numbers.h"

#include <cusolverDn.h>

#define SOLVER(call)                                                                               \
    do {                                                                                           \
        cusolverStatus_t status_ = (call);                                                         \
        if (status_ != CUSOLVER_STATUS_SUCCESS) {                                                  \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { ORDER = 12, SIDES = 3 };
static cusolverDnHandle_t handle;
static int *info;

static void check_info(const char *what)
{
    int value = -1;
    CHECK(cudaMemcpy(&value, info, sizeof value, cudaMemcpyDeviceToHost));
    if (value) {
        fprintf(stderr, "%s: info is %d\n", what, value);
        numbers_wrong++;
    }
}

// op(a) b, squares and rows of ORDER.
template <typename T>
static std::vector<T> times(const std::vector<T> &a, const std::vector<T> &b, int columns)
{
    std::vector<T> out(ORDER * columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < ORDER; i++)
            for (int k = 0; k < ORDER; k++)
                out[i + j * ORDER] += a[i + k * ORDER] * b[k + j * ORDER];
    return out;
}

template <typename T> static std::vector<T> adjoint(const std::vector<T> &a)
{
    std::vector<T> out(a.size());
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++)
            out[i + j * ORDER] = Number<T>::conj(a[j + i * ORDER]);
    return out;
}

#define FUNCTIONS(Name, T, R, C, L, SY, OR)                                                        \
    struct Name {                                                                                  \
        typedef T t;                                                                               \
        typedef R r;                                                                               \
        typedef C c;                                                                               \
        static constexpr auto potrf_size = cusolverDn##L##potrf_bufferSize;                        \
        static constexpr auto potrf = cusolverDn##L##potrf;                                        \
        static constexpr auto potrs = cusolverDn##L##potrs;                                        \
        static constexpr auto getrf_size = cusolverDn##L##getrf_bufferSize;                        \
        static constexpr auto getrf = cusolverDn##L##getrf;                                        \
        static constexpr auto getrs = cusolverDn##L##getrs;                                        \
        static constexpr auto geqrf_size = cusolverDn##L##geqrf_bufferSize;                        \
        static constexpr auto geqrf = cusolverDn##L##geqrf;                                        \
        static constexpr auto gqr = cusolverDn##L##OR##gqr;                                        \
        static constexpr auto evd_size = cusolverDn##L##SY##_bufferSize;                           \
        static constexpr auto evd = cusolverDn##L##SY;                                             \
        static constexpr auto svd_size = cusolverDn##L##gesvd_bufferSize;                          \
        static constexpr auto svd = cusolverDn##L##gesvd;                                          \
    };
FUNCTIONS(FS, float, float, float, S, syevd, or)
FUNCTIONS(FD, double, double, double, D, syevd, or)
FUNCTIONS(FC, std::complex<float>, float, cuComplex, C, heevd, un)
FUNCTIONS(FZ, std::complex<double>, double, cuDoubleComplex, Z, heevd, un)

template <typename F> struct Test {
    typedef typename F::t T;
    typedef typename F::r R;
    typedef typename F::c C;
    double tolerance = sizeof(R) == 4 ? 5e-5 : 1e-12;
    int size = 0;
    C *work = nullptr;

    static C *c(T *p)
    {
        return (C *)p;
    }
    void workspace()
    {
        CHECK(cudaFree(work));
        work = device_array<C>(size > 0 ? size : 1);
    }

    void solve()
    {
        Both<T> a(ORDER * ORDER), b(ORDER * SIDES);
        std::vector<T> full = times(a.host, adjoint(a.host), ORDER);
        for (int i = 0; i < ORDER; i++)
            full[i + i * ORDER] += T((R)ORDER);
        a.host = full;
        a.put();
        SOLVER(F::potrf_size(handle, CUBLAS_FILL_MODE_LOWER, ORDER, c(a.device), ORDER, &size));
        workspace();
        SOLVER(
            F::potrf(handle, CUBLAS_FILL_MODE_LOWER, ORDER, c(a.device), ORDER, work, size, info));
        check_info("potrf");
        SOLVER(F::potrs(handle, CUBLAS_FILL_MODE_LOWER, ORDER, SIDES, c(a.device), ORDER,
                        c(b.device), ORDER, info));
        numbers_compare("potrs", times(full, b.get(), SIDES), b.host, tolerance);

        b.put();
        a.put();
        int *pivots = device_array<int>(ORDER);
        SOLVER(F::getrf_size(handle, ORDER, ORDER, c(a.device), ORDER, &size));
        workspace();
        SOLVER(F::getrf(handle, ORDER, ORDER, c(a.device), ORDER, work, pivots, info));
        check_info("getrf");
        SOLVER(F::getrs(handle, CUBLAS_OP_N, ORDER, SIDES, c(a.device), ORDER, pivots, c(b.device),
                        ORDER, info));
        numbers_compare("getrs", times(full, b.get(), SIDES), b.host, tolerance);
    }

    // The second row is larger than the first one: with pivots the two would change places.
    void without_pivots()
    {
        Both<T> a(ORDER * ORDER), b(ORDER * SIDES);
        for (int i = 0; i < ORDER; i++)
            a.host[i + i * ORDER] += T((R)ORDER);
        for (int i = 0; i < ORDER; i++)
            a.host[1 + i * ORDER] *= T((R)8);
        a.host[1] = T((R)2 * ORDER);
        std::vector<T> full = a.host, lower(ORDER * ORDER), upper(ORDER * ORDER);
        a.put();
        SOLVER(F::getrf_size(handle, ORDER, ORDER, c(a.device), ORDER, &size));
        workspace();
        SOLVER(F::getrf(handle, ORDER, ORDER, c(a.device), ORDER, work, nullptr, info));
        check_info("getrf without pivots");
        std::vector<T> factors = a.get();
        for (int j = 0; j < ORDER; j++)
            for (int i = 0; i < ORDER; i++) {
                lower[i + j * ORDER] = i > j ? factors[i + j * ORDER] : T((R)(i == j));
                upper[i + j * ORDER] = i > j ? T(0) : factors[i + j * ORDER];
            }
        numbers_compare("LU", times(lower, upper, ORDER), full, 8 * tolerance);
        SOLVER(F::getrs(handle, CUBLAS_OP_N, ORDER, SIDES, c(a.device), ORDER, nullptr, c(b.device),
                        ORDER, info));
        numbers_compare("getrs without pivots", times(full, b.get(), SIDES), b.host, 8 * tolerance);
    }

    void orthogonal()
    {
        Both<T> a(ORDER * ORDER), tau(ORDER);
        SOLVER(F::geqrf_size(handle, ORDER, ORDER, c(a.device), ORDER, &size));
        size = size < 4096 ? 4096 : size;
        workspace();
        SOLVER(F::geqrf(handle, ORDER, ORDER, c(a.device), ORDER, c(tau.device), work, size, info));
        check_info("geqrf");
        std::vector<T> upper = a.get();
        for (int j = 0; j < ORDER; j++)
            for (int i = j + 1; i < ORDER; i++)
                upper[i + j * ORDER] = 0;
        SOLVER(F::gqr(handle, ORDER, ORDER, ORDER, c(a.device), ORDER, c(tau.device), work, size,
                      info));
        check_info("orgqr");
        numbers_compare("QR", times(a.get(), upper, ORDER), a.host, tolerance);
    }

    void values()
    {
        Both<T> a(ORDER * ORDER), u(ORDER * ORDER), v(ORDER * ORDER);
        R *w = device_array<R>(ORDER), *real = device_array<R>(5 * ORDER);
        std::vector<R> got(ORDER);
        std::vector<T> turned = adjoint(a.host), given = a.host;
        for (int i = 0; i < ORDER * ORDER; i++)
            a.host[i] += turned[i];
        a.put();
        SOLVER(F::evd_size(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, ORDER,
                           c(a.device), ORDER, w, &size));
        workspace();
        SOLVER(F::evd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, ORDER, c(a.device),
                      ORDER, w, work, size, info));
        check_info("syevd");
        CHECK(cudaMemcpy(got.data(), w, ORDER * sizeof(R), cudaMemcpyDeviceToHost));
        std::vector<T> vectors = a.get(), scaled = vectors;
        for (int i = 0; i < ORDER * ORDER; i++)
            scaled[i] *= got[i / ORDER];
        numbers_compare("syevd", times(a.host, vectors, ORDER), scaled, tolerance);

        a.host = given;
        a.put();
        SOLVER(F::svd_size(handle, ORDER, ORDER, &size));
        workspace();
        SOLVER(F::svd(handle, 'A', 'A', ORDER, ORDER, c(a.device), ORDER, w, c(u.device), ORDER,
                      c(v.device), ORDER, work, size, real, info));
        check_info("gesvd");
        CHECK(cudaMemcpy(got.data(), w, ORDER * sizeof(R), cudaMemcpyDeviceToHost));
        scaled = u.get();
        for (int i = 0; i < ORDER * ORDER; i++)
            scaled[i] *= got[i / ORDER];
        numbers_compare("gesvd", times(scaled, v.get(), ORDER), given, tolerance);
    }

    void all()
    {
        solve();
        without_pivots();
        orthogonal();
        values();
    }
};

// The form of 64 bits.
static void wide()
{
    cusolverDnParams_t parameters;
    Both<double> a(ORDER * ORDER), b(ORDER * SIDES);
    std::vector<double> full = a.host;
    int64_t *pivots = device_array<int64_t>(ORDER);
    size_t on_device = 0, on_host = 0;
    SOLVER(cusolverDnCreateParams(&parameters));
    SOLVER(cusolverDnXgetrf_bufferSize(handle, parameters, ORDER, ORDER, CUDA_R_64F, a.device,
                                       ORDER, CUDA_R_64F, &on_device, &on_host));
    char *work = device_array<char>(on_device ? on_device : 1);
    std::vector<char> host(on_host ? on_host : 1);
    SOLVER(cusolverDnXgetrf(handle, parameters, ORDER, ORDER, CUDA_R_64F, a.device, ORDER, pivots,
                            CUDA_R_64F, work, on_device, host.data(), on_host, info));
    check_info("Xgetrf");
    SOLVER(cusolverDnXgetrs(handle, parameters, CUBLAS_OP_N, ORDER, SIDES, CUDA_R_64F, a.device,
                            ORDER, pivots, CUDA_R_64F, b.device, ORDER, info));
    numbers_compare("Xgetrs", times(full, b.get(), SIDES), b.host, 1e-10);

    for (int i = 0; i < ORDER; i++)
        a.host[i + i * ORDER] += ORDER;
    full = a.host;
    a.put();
    b.put();
    SOLVER(cusolverDnXgetrf(handle, parameters, ORDER, ORDER, CUDA_R_64F, a.device, ORDER, nullptr,
                            CUDA_R_64F, work, on_device, host.data(), on_host, info));
    SOLVER(cusolverDnXgetrs(handle, parameters, CUBLAS_OP_N, ORDER, SIDES, CUDA_R_64F, a.device,
                            ORDER, nullptr, CUDA_R_64F, b.device, ORDER, info));
    numbers_compare("Xgetrs without pivots", times(full, b.get(), SIDES), b.host, 1e-10);
    SOLVER(cusolverDnDestroyParams(parameters));
}

int main()
{
    SOLVER(cusolverDnCreate(&handle));
    info = device_array<int>(1);
    Test<FS>().all();
    Test<FD>().all();
    Test<FC>().all();
    Test<FZ>().all();
    wide();
    SOLVER(cusolverDnDestroy(handle));
    return numbers_end();
}
