// verdict: none
// libraries: cufft
// options: host=off
// Transforms of cuFFT of every type, in one to three dimensions, in batches and in layouts of their
// own, against sums on the host.
#include "numbers.h"

#include "fft.h"

typedef std::complex<double> Z;

// The transform of x, whose last dimension is innermost.
static std::vector<Z> reference(const std::vector<Z> &x, const int *sizes, int direction)
{
    std::vector<Z> out(x.size());
    const int a = sizes[0], b = sizes[1], c = sizes[2];
    for (int i = 0; i < (int)x.size(); i++) {
        Z sum = 0;
        for (int j = 0; j < (int)x.size(); j++) {
            double turns = (double)(i / (b * c)) * (j / (b * c)) / a +
                           (double)(i / c % b) * (j / c % b) / b + (double)(i % c) * (j % c) / c;
            sum += x[j] * std::polar(1.0, direction * 2 * M_PI * turns);
        }
        out[i] = sum;
    }
    return out;
}

static cufftHandle plan_make(int rank, const int *sizes, cufftType type)
{
    cufftHandle plan;
    if (rank == 1)
        FFT(cufftPlan1d(&plan, sizes[2], type, 1));
    else if (rank == 2)
        FFT(cufftPlan2d(&plan, sizes[1], sizes[2], type));
    else
        FFT(cufftPlan3d(&plan, sizes[0], sizes[1], sizes[2], type));
    return plan;
}

template <typename R> static std::vector<Z> widened(const std::vector<std::complex<R>> &in)
{
    return std::vector<Z>(in.begin(), in.end());
}

template <typename R, typename C, typename Real, typename ToComplex, typename ToReal,
          typename Both_>
static void types(int rank, const int *sizes, cufftType c2c, cufftType r2c, cufftType c2r,
                  Both_ run, ToComplex to_complex, ToReal to_real, double tolerance)
{
    const int n = sizes[0] * sizes[1] * sizes[2], row = sizes[2] / 2 + 1;
    const int rows = sizes[0] * sizes[1];
    Both<std::complex<R>> x(n), y(n, false);
    cufftHandle plan = plan_make(rank, sizes, c2c);
    FFT(run(plan, (C *)x.device, (C *)y.device, CUFFT_FORWARD));
    numbers_compare("C2C forward", widened<R>(y.get()), reference(widened<R>(x.host), sizes, -1),
                    tolerance);
    FFT(run(plan, (C *)x.device, (C *)x.device, CUFFT_INVERSE));
    numbers_compare("C2C inverse in place", widened<R>(x.get()),
                    reference(widened<R>(x.host), sizes, 1), tolerance);
    FFT(cufftDestroy(plan));

    Both<R> real(n);
    Both<std::complex<R>> half(rows * row, false);
    std::vector<Z> wide(real.host.begin(), real.host.end());
    std::vector<Z> all = reference(wide, sizes, -1), wanted;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < row; j++)
            wanted.push_back(all[i * sizes[2] + j]);
    plan = plan_make(rank, sizes, r2c);
    FFT(to_complex(plan, (Real *)real.device, (C *)half.device));
    numbers_compare("R2C", widened<R>(half.get()), wanted, tolerance);
    FFT(cufftDestroy(plan));
    plan = plan_make(rank, sizes, c2r);
    FFT(to_real(plan, (C *)half.device, (Real *)real.device));
    std::vector<R> back = real.get();
    std::vector<Z> scaled;
    for (R value : back)
        scaled.push_back(Z((double)value / n));
    numbers_compare("C2R of R2C", scaled, wide, tolerance);
    FFT(cufftDestroy(plan));
}

// Two batches of every third element; R2C in place, whose rows have padding.
static void layouts()
{
    int n[] = {12}, embedded[] = {12};
    const int sizes[] = {1, 1, 12};
    Both<std::complex<float>> x(80), y(80, false);
    cufftHandle plan;
    FFT(cufftPlanMany(&plan, 1, n, embedded, 3, 38, embedded, 2, 30, CUFFT_C2C, 2));
    FFT(cufftExecC2C(plan, (cufftComplex *)x.device, (cufftComplex *)y.device, CUFFT_FORWARD));
    std::vector<Z> wanted(80), got = widened<float>(y.get());
    for (int batch = 0; batch < 2; batch++) {
        std::vector<Z> part;
        for (int i = 0; i < 12; i++)
            part.push_back(x.host[batch * 38 + i * 3]);
        part = reference(part, sizes, -1);
        for (int i = 0; i < 12; i++)
            wanted[batch * 30 + i * 2] = part[i];
    }
    numbers_compare("many", got, wanted, 1e-5);
    FFT(cufftDestroy(plan));

    const int rows[] = {1, 4, 6};
    Both<float> padded(4 * 8);
    std::vector<Z> image;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            image.push_back(padded.host[i * 8 + j]);
    image = reference(image, rows, -1);
    FFT(cufftPlan2d(&plan, 4, 6, CUFFT_R2C));
    FFT(cufftExecR2C(plan, padded.device, (cufftComplex *)padded.device));
    std::vector<float> raw = padded.get();
    wanted.clear(), got.clear();
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            wanted.push_back(image[i * 6 + j]);
            got.push_back(Z(raw[2 * (i * 4 + j)], raw[2 * (i * 4 + j) + 1]));
        }
    numbers_compare("R2C in place", got, wanted, 1e-5);
    FFT(cufftDestroy(plan));
}

int main()
{
    const int shapes[][3] = {{1, 1, 30}, {1, 1, 64}, {1, 6, 10}, {4, 5, 6}};
    for (int i = 0; i < 4; i++) {
        const int rank = i < 2 ? 1 : i;
        types<float, cufftComplex, cufftReal>(rank, shapes[i], CUFFT_C2C, CUFFT_R2C, CUFFT_C2R,
                                              cufftExecC2C, cufftExecR2C, cufftExecC2R, 2e-5);
        types<double, cufftDoubleComplex, cufftDoubleReal>(rank, shapes[i], CUFFT_Z2Z, CUFFT_D2Z,
                                                           CUFFT_Z2D, cufftExecZ2Z, cufftExecD2Z,
                                                           cufftExecZ2D, 1e-12);
    }
    layouts();
    cufftHandle plan;
    size_t bytes = 0;
    FFT(cufftCreate(&plan));
    FFT(cufftSetAutoAllocation(plan, 0));
    FFT(cufftMakePlan1d(plan, 64, CUFFT_C2C, 1, &bytes));
    if (cufftExecZ2Z(plan, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_SUCCESS)
        numbers_wrong++;
    FFT(cufftDestroy(plan));
    return numbers_end();
}
