// verdict: none
// libraries: cublasLt
// options: host=off
// Gradients of cuBLASLt's epilogues: what ReLU and GELU leave and take, and sums for a bias.
#include "cublaslt_gradients.h"

typedef std::vector<double> Numbers;

static cublasLtHandle_t handle;

static Numbers wide(const std::vector<float> &values)
{
    return Numbers(values.begin(), values.end());
}

static Numbers multiply(const Both<float> &a, const Both<float> &b)
{
    Numbers d(ROWS * COLUMNS);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < DEPTH; k++)
                d[i + j * ROWS] += (double)a.host[i + k * ROWS] * (double)b.host[k + j * DEPTH];
    return d;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

// By differences of GELU itself.
static double gelu_slope(double x)
{
    const double step = 1e-5;
    return (gelu(x + step) - gelu(x - step)) / (2 * step);
}

static Numbers sums_of_rows(const Numbers &d)
{
    Numbers sums(ROWS);
    for (size_t at = 0; at < d.size(); at++)
        sums[at % ROWS] += d[at];
    return sums;
}

// A product with ReLU leaves bits, and one with its gradient takes them.
static void check_relu(const Both<float> &a, const Both<float> &b)
{
    Both<float> d(ROWS * COLUMNS, false), bias(ROWS), sums(ROWS, false);
    Both<unsigned char> bits(ROWS * COLUMNS / 8, false);
    Numbers wanted = multiply(a, b), first = wanted, second = wanted;
    for (int at = 0; at < ROWS * COLUMNS; at++) {
        const double x = wanted[at] + bias.host[at % ROWS];
        first[at] = x > 0 ? x : 0;
        second[at] = x > 0 ? wanted[at] : 0;
    }
    Product forward(handle, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
    forward.auxiliary(bits.device);
    forward.bias(bias.device);
    forward.run(a.device, b.device, d.device, 0);
    numbers_compare("ReLU", wide(d.get()), first, 1e-5);
    Product backward(handle, CUBLASLT_EPILOGUE_DRELU);
    backward.auxiliary(bits.device);
    backward.run(a.device, b.device, d.device, 0);
    numbers_compare("gradient of ReLU", wide(d.get()), second, 1e-5);
    Product with_sums(handle, CUBLASLT_EPILOGUE_DRELU_BGRAD);
    with_sums.auxiliary(bits.device);
    with_sums.bias(sums.device);
    with_sums.run(a.device, b.device, d.device, 0);
    numbers_compare("gradient of ReLU with sums", wide(d.get()), second, 1e-5);
    numbers_compare("sums of ReLU", wide(sums.get()), sums_of_rows(second), 1e-5);
}

// The same with GELU, which leaves the numbers that it got.
static void check_gelu(const Both<float> &a, const Both<float> &b)
{
    Both<float> d(ROWS * COLUMNS, false), kept(ROWS * COLUMNS, false), sums(ROWS, false);
    Numbers wanted = multiply(a, b), first = wanted, second = wanted;
    for (int at = 0; at < ROWS * COLUMNS; at++) {
        first[at] = gelu(wanted[at]);
        second[at] = wanted[at] * gelu_slope(wanted[at]);
    }
    Product forward(handle, CUBLASLT_EPILOGUE_GELU_AUX);
    forward.auxiliary(kept.device);
    forward.run(a.device, b.device, d.device, 0);
    numbers_compare("GELU", wide(d.get()), first, 1e-3);
    numbers_compare("what GELU got", wide(kept.get()), wanted, 1e-5);
    Product backward(handle, CUBLASLT_EPILOGUE_DGELU_BGRAD);
    backward.auxiliary(kept.device);
    backward.bias(sums.device);
    backward.run(a.device, b.device, d.device, 0);
    numbers_compare("gradient of GELU", wide(d.get()), second, 1e-3);
    numbers_compare("sums of GELU", wide(sums.get()), sums_of_rows(second), 1e-3);
}

// Sums of A's rows and of B's columns. B must lie transposed for that.
static void check_operands(const Both<float> &a, const Both<float> &b)
{
    Both<float> d(ROWS * COLUMNS, false), rows(ROWS, false), columns(COLUMNS, false);
    Both<float> turned(COLUMNS * DEPTH, false);
    Numbers of_a(ROWS), of_b(COLUMNS);
    for (int at = 0; at < DEPTH * COLUMNS; at++)
        turned.host[at / DEPTH + at % DEPTH * COLUMNS] = b.host[at];
    turned.put();
    for (int at = 0; at < ROWS * DEPTH; at++)
        of_a[at % ROWS] += (double)a.host[at];
    for (int at = 0; at < DEPTH * COLUMNS; at++)
        of_b[at / DEPTH] += (double)b.host[at];
    Product with_a(handle, CUBLASLT_EPILOGUE_BGRADA);
    with_a.bias(rows.device);
    with_a.run(a.device, b.device, d.device, 0);
    numbers_compare("product", wide(d.get()), multiply(a, b), 1e-5);
    numbers_compare("sums of A", wide(rows.get()), of_a, 1e-5);
    d = Both<float>(ROWS * COLUMNS, false);
    Product with_b(handle, CUBLASLT_EPILOGUE_BGRADB, true);
    with_b.bias(columns.device);
    with_b.run(a.device, turned.device, d.device, 0);
    numbers_compare("product with B transposed", wide(d.get()), multiply(a, b), 1e-5);
    numbers_compare("sums of B", wide(columns.get()), of_b, 1e-5);
    cublasLtMatmulHeuristicResult_t heuristic;
    Product of_other_b(handle, CUBLASLT_EPILOGUE_BGRADB),
        of_other_a(handle, CUBLASLT_EPILOGUE_BGRADA, false, true);
    of_other_b.bias(columns.device);
    of_other_a.bias(rows.device);
    if (of_other_b.suggestion(heuristic) == CUBLAS_STATUS_SUCCESS ||
        of_other_a.suggestion(heuristic) == CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr,
                "sums of a B that is not transposed, or of an A that is, are not refused\n");
        numbers_wrong++;
    }
}

int main()
{
    Both<float> a(ROWS * DEPTH), b(DEPTH * COLUMNS);
    LT(cublasLtCreate(&handle));
    CHECK(cudaDeviceSynchronize());
    check_relu(a, b);
    check_gelu(a, b);
    check_operands(a, b);
    LT(cublasLtDestroy(handle));
    return numbers_end();
}
