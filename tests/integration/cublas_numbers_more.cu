// verdict: none
// libraries: cublas
// options: host=off
// The rest of levels 1 to 3: banded and packed matrices, rank-one and rank-two updates, Hermitian
// products, rotations.
#include "numbers.h"

#include "blas.h"

typedef std::complex<double> Z;
typedef cuDoubleComplex C;

enum { SIZE = 11, LD = 15, KL = 2, KU = 3 };

static cublasHandle_t handle;

static C *c(Z *p)
{
    return (C *)p;
}

static const double tolerance = 1e-13;

// y = alpha a x + beta y, of a whole matrix.
static std::vector<Z> product(const std::vector<Z> &a, const std::vector<Z> &x, Z alpha, Z beta,
                              const std::vector<Z> &y)
{
    std::vector<Z> out(SIZE);
    for (int i = 0; i < SIZE; i++) {
        Z sum = 0;
        for (int j = 0; j < SIZE; j++)
            sum += a[i + j * LD] * x[j];
        out[i] = alpha * sum + beta * y[i];
    }
    return out;
}

// The whole of a Hermitian (or symmetric) matrix of which one triangle is given.
static std::vector<Z> whole(const std::vector<Z> &a, bool lower, bool hermitian)
{
    std::vector<Z> out = a;
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            const bool given = lower ? i > j : i < j;
            if (i == j && hermitian)
                out[i + j * LD] = std::real(a[i + j * LD]);
            else if (i != j && !given)
                out[i + j * LD] = hermitian ? std::conj(a[j + i * LD]) : a[j + i * LD];
        }
    return out;
}

static std::vector<Z> packed(const std::vector<Z> &a, bool lower)
{
    std::vector<Z> out;
    for (int j = 0; j < SIZE; j++)
        for (int i = lower ? j : 0; lower ? i < SIZE : i <= j; i++)
            out.push_back(a[i + j * LD]);
    return out;
}

static void products()
{
    Both<Z> a(LD * SIZE), x(SIZE), y(SIZE);
    Z alpha(0.5, -1), beta(2, 1);
    BLAS(cublasZhemv(handle, CUBLAS_FILL_MODE_LOWER, SIZE, c(&alpha), c(a.device), LD, c(x.device),
                     1, c(&beta), c(y.device), 1));
    numbers_compare("hemv", y.get(),
                    product(whole(a.host, true, true), x.host, alpha, beta, y.host), tolerance);
    y.put();
    BLAS(cublasZsymv(handle, CUBLAS_FILL_MODE_UPPER, SIZE, c(&alpha), c(a.device), LD, c(x.device),
                     1, c(&beta), c(y.device), 1));
    numbers_compare("symv", y.get(),
                    product(whole(a.host, false, false), x.host, alpha, beta, y.host), tolerance);

    std::vector<Z> triangle = packed(a.host, true);
    Both<Z> ap(triangle.size());
    ap.host = triangle;
    ap.put();
    y.put();
    BLAS(cublasZhpmv(handle, CUBLAS_FILL_MODE_LOWER, SIZE, c(&alpha), c(ap.device), c(x.device), 1,
                     c(&beta), c(y.device), 1));
    numbers_compare("hpmv", y.get(),
                    product(whole(a.host, true, true), x.host, alpha, beta, y.host), tolerance);

    // A band: KU diagonals above and KL below, each in a row.
    Both<Z> band(LD * SIZE);
    std::vector<Z> full(LD * SIZE);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++)
            if (i - j <= KL && j - i <= KU)
                full[i + j * LD] = band.host[KU + i - j + j * LD];
    y.put();
    BLAS(cublasZgbmv(handle, CUBLAS_OP_N, SIZE, SIZE, KL, KU, c(&alpha), c(band.device), LD,
                     c(x.device), 1, c(&beta), c(y.device), 1));
    numbers_compare("gbmv", y.get(), product(full, x.host, alpha, beta, y.host), tolerance);

    // Products and solutions with a triangle undo each other.
    for (int j = 0; j < SIZE; j++)
        ap.host[j * SIZE - j * (j - 1) / 2] += Z(9);
    ap.put();
    BLAS(cublasZtpmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, CUBLAS_DIAG_NON_UNIT, SIZE,
                     c(ap.device), c(x.device), 1));
    BLAS(cublasZtpsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, CUBLAS_DIAG_NON_UNIT, SIZE,
                     c(ap.device), c(x.device), 1));
    numbers_compare("tpsv of tpmv", x.get(), x.host, tolerance);
    BLAS(cublasZtbmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, SIZE, KL,
                     c(band.device), LD, c(x.device), 1));
    BLAS(cublasZtbsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, SIZE, KL,
                     c(band.device), LD, c(x.device), 1));
    numbers_compare("tbsv of tbmv", x.get(), x.host, 1e-10);
}

static void updates()
{
    Both<Z> a(LD * SIZE), x(SIZE), y(SIZE);
    Z alpha(0.5, -1);
    double real = 0.75;
    auto update = [&](bool triangle, auto element) {
        std::vector<Z> out = a.host;
        for (int j = 0; j < SIZE; j++)
            for (int i = triangle ? j : 0; i < SIZE; i++)
                out[i + j * LD] += element(i, j);
        return out;
    };
    auto real_diagonal = [&](std::vector<Z> out) {
        for (int i = 0; i < SIZE; i++)
            out[i + i * LD] = std::real(out[i + i * LD]);
        return out;
    };
    BLAS(cublasZgeru(handle, SIZE, SIZE, c(&alpha), c(x.device), 1, c(y.device), 1, c(a.device),
                     LD));
    numbers_compare("geru", a.get(),
                    update(false, [&](int i, int j) { return alpha * x.host[i] * y.host[j]; }),
                    tolerance);
    a.put();
    BLAS(cublasZgerc(handle, SIZE, SIZE, c(&alpha), c(x.device), 1, c(y.device), 1, c(a.device),
                     LD));
    numbers_compare(
        "gerc", a.get(),
        update(false, [&](int i, int j) { return alpha * x.host[i] * std::conj(y.host[j]); }),
        tolerance);
    a.put();
    BLAS(cublasZsyr(handle, CUBLAS_FILL_MODE_LOWER, SIZE, c(&alpha), c(x.device), 1, c(a.device),
                    LD));
    numbers_compare("syr", a.get(),
                    update(true, [&](int i, int j) { return alpha * x.host[i] * x.host[j]; }),
                    tolerance);
    a.put();
    BLAS(cublasZher(handle, CUBLAS_FILL_MODE_LOWER, SIZE, &real, c(x.device), 1, c(a.device), LD));
    numbers_compare(
        "her", a.get(),
        real_diagonal(
            update(true, [&](int i, int j) { return real * x.host[i] * std::conj(x.host[j]); })),
        tolerance);
    a.put();
    BLAS(cublasZsyr2(handle, CUBLAS_FILL_MODE_LOWER, SIZE, c(&alpha), c(x.device), 1, c(y.device),
                     1, c(a.device), LD));
    numbers_compare("syr2", a.get(),
                    update(true,
                           [&](int i, int j) {
                               return alpha * (x.host[i] * y.host[j] + y.host[i] * x.host[j]);
                           }),
                    tolerance);
    a.put();
    BLAS(cublasZher2(handle, CUBLAS_FILL_MODE_LOWER, SIZE, c(&alpha), c(x.device), 1, c(y.device),
                     1, c(a.device), LD));
    numbers_compare("her2", a.get(),
                    real_diagonal(update(true,
                                         [&](int i, int j) {
                                             return alpha * x.host[i] * std::conj(y.host[j]) +
                                                    std::conj(alpha) * y.host[i] *
                                                        std::conj(x.host[j]);
                                         })),
                    tolerance);
}

// Products of Hermitian matrices, and updates of rank SIZE.
static void level3()
{
    Both<Z> a(LD * SIZE), b(LD * SIZE), out(LD * SIZE);
    Z alpha(0.5, -1), beta(2, 1), none = 0;
    double real = 0.75, real_beta = 0.5;
    const std::vector<Z> left = whole(a.host, true, true);
    std::vector<Z> wanted = out.host;
    for (int j = 0; j < SIZE; j++) {
        std::vector<Z> column(b.host.begin() + j * LD, b.host.begin() + j * LD + SIZE);
        std::vector<Z> old(out.host.begin() + j * LD, out.host.begin() + j * LD + SIZE);
        column = product(left, column, alpha, beta, old);
        std::copy(column.begin(), column.end(), wanted.begin() + j * LD);
    }
    BLAS(cublasZhemm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, SIZE, SIZE, c(&alpha),
                     c(a.device), LD, c(b.device), LD, c(&beta), c(out.device), LD));
    numbers_compare("hemm", out.get(), wanted, tolerance);

    auto dot = [&](const std::vector<Z> &p, const std::vector<Z> &q, int i, int j,
                   bool conjugates) {
        Z sum = 0;
        for (int k = 0; k < SIZE; k++)
            sum += p[i + k * LD] * (conjugates ? std::conj(q[j + k * LD]) : q[j + k * LD]);
        return sum;
    };
    auto updated = [&](bool hermitian, auto element) {
        std::vector<Z> result = out.host;
        for (int j = 0; j < SIZE; j++)
            for (int i = j; i < SIZE; i++) {
                Z value = element(i, j);
                result[i + j * LD] = hermitian && i == j ? Z(std::real(value)) : value;
            }
        return result;
    };
    out.put();
    BLAS(cublasZherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, SIZE, SIZE, &real, c(a.device),
                     LD, &real_beta, c(out.device), LD));
    numbers_compare("herk", out.get(),
                    updated(true,
                            [&](int i, int j) {
                                return real * dot(a.host, a.host, i, j, true) +
                                       real_beta * out.host[i + j * LD];
                            }),
                    tolerance);
    out.put();
    BLAS(cublasZher2k(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, SIZE, SIZE, c(&alpha),
                      c(a.device), LD, c(b.device), LD, &real_beta, c(out.device), LD));
    numbers_compare("her2k", out.get(),
                    updated(true,
                            [&](int i, int j) {
                                return alpha * dot(a.host, b.host, i, j, true) +
                                       std::conj(alpha) * dot(b.host, a.host, i, j, true) +
                                       real_beta * out.host[i + j * LD];
                            }),
                    tolerance);
    out.put();
    BLAS(cublasZsyr2k(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, SIZE, SIZE, c(&alpha),
                      c(a.device), LD, c(b.device), LD, c(&none), c(out.device), LD));
    numbers_compare("syr2k", out.get(),
                    updated(false,
                            [&](int i, int j) {
                                return alpha * (dot(a.host, b.host, i, j, false) +
                                                dot(b.host, a.host, i, j, false));
                            }),
                    tolerance);
    out.put();
    BLAS(cublasZherkx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, SIZE, SIZE, c(&alpha),
                      c(a.device), LD, c(b.device), LD, &real_beta, c(out.device), LD));
    numbers_compare("herkx", out.get(),
                    updated(true,
                            [&](int i, int j) {
                                return alpha * dot(a.host, b.host, i, j, true) +
                                       real_beta * out.host[i + j * LD];
                            }),
                    tolerance);
    out.put();
    BLAS(cublasZgemm3m(handle, CUBLAS_OP_N, CUBLAS_OP_C, SIZE, SIZE, SIZE, c(&alpha), c(a.device),
                       LD, c(b.device), LD, c(&none), c(out.device), LD));
    wanted = out.host;
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++)
            wanted[i + j * LD] = alpha * dot(a.host, b.host, i, j, true);
    numbers_compare("gemm3m", out.get(), wanted, 1e-11);
}

static void rotations()
{
    Both<Z> x(SIZE), y(SIZE);
    double cosine = 0.6;
    Z sine(0, 0.8);
    std::vector<Z> wanted_x = x.host, wanted_y = y.host;
    for (int i = 0; i < SIZE; i++) {
        wanted_x[i] = cosine * x.host[i] + sine * y.host[i];
        wanted_y[i] = cosine * y.host[i] - std::conj(sine) * x.host[i];
    }
    BLAS(cublasZrot(handle, SIZE, c(x.device), 1, c(y.device), 1, &cosine, c(&sine)));
    numbers_compare("rot of x", x.get(), wanted_x, tolerance);
    numbers_compare("rot of y", y.get(), wanted_y, tolerance);
    double half = 0.5;
    for (Z &value : wanted_x)
        value *= half;
    BLAS(cublasZdscal(handle, SIZE, &half, c(x.device), 1));
    numbers_compare("dscal", x.get(), wanted_x, tolerance);

    Both<double> p(SIZE), q(SIZE);
    double parameters[] = {-1, 2, 3, 4, 5};
    std::vector<double> turned = p.host;
    for (int i = 0; i < SIZE; i++)
        turned[i] = 2 * p.host[i] + 4 * q.host[i];
    BLAS(cublasDrotm(handle, SIZE, p.device, 1, q.device, 1, parameters));
    numbers_compare("rotm", p.get(), turned, tolerance);
}

int main()
{
    BLAS(cublasCreate(&handle));
    products();
    updates();
    level3();
    rotations();
    BLAS(cublasDestroy(handle));
    return numbers_end();
}
