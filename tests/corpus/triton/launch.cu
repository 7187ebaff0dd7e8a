// Kernels that Triton compiled (kernels.py), launched as its own launcher does: from their PTX,
// with two null pointers behind the arguments, for the scratch memory that these kernels do not
// use.
#include "../corpus.h"

#include <cuda_fp16.h>
#include <fstream>
#include <map>
#include <string>
#include <tuple>

struct module {
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned threads, shared;
};

// By the file's name; the kernel's own is the one that kernels.py gives the function.
static const module &module_of(const std::string &name)
{
    static std::map<std::string, module> modules;
    auto known = modules.find(name);
    if (known != modules.end())
        return known->second;
    const char *moved = getenv("CORPUS_SOURCE"); // the tree that this was built in may be elsewhere
    std::string path = std::string(moved ? moved : CORPUS_SOURCE) + "/triton/" + name + ".ptx";
    std::string line, text;
    std::ifstream file(path);
    module found = {};
    std::getline(file, line);
    if (sscanf(line.c_str(), "// triton %*[^,], %u threads, %u bytes", &found.threads,
               &found.shared) != 2) {
        fprintf(stderr, "%s: its first line does not say how it is launched\n", path.c_str());
        exit(101);
    }
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    size_t start = text.find(".entry ") + 7;
    std::string kernel = text.substr(start, text.find('(', start) - start);
    CHECK(cudaLibraryLoadFromFile(&found.library, path.c_str(), nullptr, nullptr, 0, nullptr,
                                  nullptr, 0));
    CHECK(cudaLibraryGetKernel(&found.kernel, found.library, kernel.c_str()));
    return modules[name] = found;
}

template <typename T> static T *pass(const array<T> &values)
{
    return values.data;
}
static int pass(int value)
{
    return value;
}
static float pass(float value)
{
    return value;
}
static long long pass(long long value)
{
    return value;
}

template <typename... A> static void launch(const char *name, dim3 grid, const A &...arguments)
{
    const module &found = module_of(name);
    auto values = std::make_tuple(pass(arguments)..., (void *)nullptr, (void *)nullptr);
    std::vector<void *> places;
    std::apply([&](auto &...value) { (places.push_back(&value), ...); }, values);
    CHECK(cudaLaunchKernel((const void *)found.kernel, grid, dim3(found.threads), places.data(),
                           found.shared, 0));
}

typedef std::vector<float> floats;

static std::vector<__half> halves(size_t count, unsigned range = 8, unsigned seed = 1)
{
    std::vector<__half> values(count);
    floats from = numbers<float>(count, range, seed);
    for (size_t i = 0; i < count; i++)
        values[i] = __float2half(from[i]);
    return values;
}
static floats widened(const std::vector<__half> &values)
{
    floats wide(values.size());
    for (size_t i = 0; i < values.size(); i++)
        wide[i] = __half2float(values[i]);
    return wide;
}

// ---- Elementwise

static void elementwise(const char *name, int n)
{
    floats left = numbers<float>(n), right = numbers<float>(n, 8, 2), wanted(n);
    array<float> x(left), y(right), out(n);
    for (int i = 0; i < n; i++)
        wanted[i] = left[i] + right[i];
    launch(name, blocks_for(n, 1024), x, y, out, n);
    expect(name, n, out.get(), wanted);
}

static void run_dropout(int n)
{
    floats left = numbers<float>(n, 8), found;
    array<float> x(left), out(n);
    launch("dropout", blocks_for(n, 512), x, out, n, 7, 0.5f);
    found = out.get();
    for (int i = 0; i < n; i++)
        left[i] = found[i] == 0 ? 0 : 2 * left[i];
    expect("dropout", n, found, left);
}

static void run_gather(int n, int width)
{
    floats rows = numbers<float>(50 * width, 100), wanted(n * width);
    std::vector<int> places = numbers<int>(n, 50);
    array<float> table(rows), out(n * width);
    array<int> index(places);
    for (int i = 0; i < n * width; i++)
        wanted[i] = rows[places[i / width] * width + i % width];
    launch("gather_rows", dim3(n, blocks_for(width, 128)), table, index, out, n, width);
    expect("gather_rows", width, out.get(), wanted);
}

static void run_transpose(int rows, int columns)
{
    floats from = numbers<float>(rows * columns, 1000), wanted(rows * columns);
    array<float> x(from), out(rows * columns);
    for (int i = 0; i < rows * columns; i++)
        wanted[i % columns * rows + i / columns] = from[i];
    launch("transpose", dim3(blocks_for(rows, 32), blocks_for(columns, 32)), x, out, rows, columns);
    expect("transpose", rows, out.get(), wanted);
}

static void run_persistent_scale(int n, int blocks)
{
    floats from = numbers<float>(n, 100), wanted(n);
    array<float> x(from), out(n);
    for (int i = 0; i < n; i++)
        wanted[i] = 3 * from[i];
    launch("persistent_scale", blocks, x, out, n, 3.f);
    expect("persistent_scale", n, out.get(), wanted);
}

// ---- Rows

static floats softmax_of(const floats &x, int rows, int n, int x_stride, int out_stride)
{
    floats out(rows * out_stride);
    for (int r = 0; r < rows; r++) {
        double largest = -1e30, sum = 0;
        for (int c = 0; c < n; c++)
            largest = std::max(largest, (double)x[r * x_stride + c]);
        for (int c = 0; c < n; c++)
            sum += std::exp(x[r * x_stride + c] - largest);
        for (int c = 0; c < n; c++)
            out[r * out_stride + c] = (float)(std::exp(x[r * x_stride + c] - largest) / sum);
    }
    return out;
}

static void run_softmax(const char *name, int rows, int n, int x_stride, int out_stride, int blocks)
{
    floats from = numbers<float>(rows * x_stride);
    array<float> x(from), out(rows * out_stride);
    if (blocks)
        launch(name, blocks, out, x, x_stride, out_stride, rows, n);
    else
        launch(name, rows, out, x, x_stride, out_stride, n);
    expect(name, n, out.get(), softmax_of(from, rows, n, x_stride, out_stride), 1e-4);
}

struct normed {
    floats out, mean, rstd;
};

static normed layer_norm_of(const floats &x, const floats &w, const floats &b, int rows, int n,
                            int stride, double eps)
{
    normed result = {floats(rows * stride), floats(rows), floats(rows)};
    for (int r = 0; r < rows; r++) {
        double sum = 0, squares = 0;
        for (int c = 0; c < n; c++)
            sum += x[r * stride + c];
        for (int c = 0; c < n; c++)
            squares += (x[r * stride + c] - sum / n) * (x[r * stride + c] - sum / n);
        double scale = 1 / std::sqrt(squares / n + eps);
        result.mean[r] = (float)(sum / n);
        result.rstd[r] = (float)scale;
        for (int c = 0; c < n; c++)
            result.out[r * stride + c] =
                (float)((x[r * stride + c] - sum / n) * scale * w[c] + b[c]);
    }
    return result;
}

static void run_layer_norm(const char *name, int rows, int n, int stride)
{
    floats from = numbers<float>(rows * stride), weights = numbers<float>(n, 8, 2),
           biases = numbers<float>(n, 8, 3);
    array<float> x(from), w(weights), b(biases), out(rows * stride), mean(rows), rstd(rows);
    launch(name, rows, x, out, w, b, mean, rstd, stride, n, 0.1f);
    normed wanted = layer_norm_of(from, weights, biases, rows, n, stride, 0.1);
    expect(name, n, out.get(), wanted.out, 1e-3);
    expect(name, n, mean.get(), wanted.mean, 1e-4);
    expect(name, n, rstd.get(), wanted.rstd, 1e-4);
}

static void run_layer_norm_backward(int rows, int n, int stride)
{
    enum { GROUP = 4 };
    floats from = numbers<float>(rows * stride), gradient = numbers<float>(rows * stride, 8, 4),
           weights = numbers<float>(n, 8, 2), zero(n), dx(rows * stride), sum_w(n), sum_b(n);
    normed forward = layer_norm_of(from, weights, zero, rows, n, stride, 0.1);
    for (int r = 0; r < rows; r++) {
        double c1 = 0, c2 = 0, scale = forward.rstd[r];
        for (int pass = 0; pass < 2; pass++)
            for (int c = 0; c < n; c++) {
                double xhat = (from[r * stride + c] - forward.mean[r]) * scale;
                double g = gradient[r * stride + c], weighted = g * weights[c];
                if (pass) {
                    dx[r * stride + c] = (float)((weighted - (xhat * c1 + c2)) * scale);
                    sum_w[c] += (float)(g * xhat);
                    sum_b[c] += (float)g;
                } else {
                    c1 += xhat * weighted / n;
                    c2 += weighted / n;
                }
            }
    }
    array<float> x(from), dout(gradient), w(weights), mean(forward.mean), rstd(forward.rstd),
        out(rows * stride), dw(GROUP * n), db(GROUP * n), out_w(n), out_b(n);
    array<int> lock(2 * GROUP);
    launch("layer_norm_backward", rows, out, dout, dw, db, x, w, mean, rstd, lock, stride, n);
    launch("layer_norm_backward_sum", blocks_for(n, 128), dw, db, out_w, out_b, (int)GROUP, n);
    expect("layer_norm_backward", n, out.get(), dx, 1e-3);
    expect("layer_norm_backward_sum", n, out_w.get(), sum_w, 1e-3);
    expect("layer_norm_backward_sum", n, out_b.get(), sum_b, 1e-3);
}

static void run_cumulative_sum(int rows, int n)
{
    floats from = numbers<float>(rows * n), wanted = from;
    array<float> x(from), out(rows * n);
    for (int i = 0; i < rows * n; i++)
        wanted[i] += i % n ? wanted[i - 1] : 0;
    launch("cumulative_sum", rows, x, out, n);
    expect("cumulative_sum", n, out.get(), wanted);
}

// ---- Reductions and atomics

static void run_sums(int n)
{
    int blocks = (int)blocks_for(n, 1024);
    floats from = numbers<float>(n), wanted(blocks), total(1);
    array<float> x(from), out(blocks), sum(1);
    for (int i = 0; i < n; i++) {
        wanted[i / 1024] += from[i];
        total[0] += from[i];
    }
    launch("sum_blocks", blocks, x, out, n);
    expect("sum_blocks", n, out.get(), wanted);
    launch("sum_atomic", blocks, x, sum, n);
    expect("sum_atomic", n, sum.get(), total);
}

static void run_histogram(int n, int bins)
{
    std::vector<int> from = numbers<int>(n, bins + 3), wanted(bins);
    array<int> index(from), out(bins);
    for (int i = 0; i < n; i++)
        if (from[i] < bins)
            wanted[from[i]]++;
    launch("histogram", blocks_for(n, 256), index, out, n, bins);
    expect("histogram", n, out.get(), wanted);
}

static void run_column_sums(int rows, int columns, int splits)
{
    floats from = numbers<float>(rows * columns), wanted(columns);
    array<float> x(from), out(columns);
    for (int i = 0; i < rows * columns; i++)
        wanted[i % columns] += from[i];
    launch("column_sums_atomic", dim3(blocks_for(columns, 128), splits), x, out, rows, columns);
    expect("column_sums_atomic", columns, out.get(), wanted);
}

// ---- Matrix products

static floats product(const floats &a, const floats &b, int m, int n, int k, int am, int bk, int cm)
{
    floats c(m * cm);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                c[i * cm + j] += a[i * am + p] * b[p * bk + j];
    return c;
}

// The tile is 64 x 64 in a grid of one dimension, or 32 x 32 in two and `splits`.
static void run_matmul(const char *name, int m, int n, int k, int am, int bk, int cm, dim3 grid)
{
    std::vector<__half> left = halves(m * am, 4), right = halves(k * bk, 4, 2);
    array<__half> a(left), b(right), c(m * cm);
    launch(name, grid, a, b, c, m, n, k, am, bk, cm);
    expect(name, m, widened(c.get()), product(widened(left), widened(right), m, n, k, am, bk, cm));
}
static void run_split_k(const char *name, int m, int n, int k, int am, int bk, int cm)
{
    std::vector<__half> left = halves(m * am, 4), right = halves(k * bk, 4, 2);
    array<__half> a(left), b(right);
    array<float> c(m * cm);
    launch(name, dim3(blocks_for(m, 32), blocks_for(n, 32), 4), a, b, c, m, n, k, am, bk, cm);
    expect(name, m, c.get(), product(widened(left), widened(right), m, n, k, am, bk, cm));
}
static void run_block_pointers(int m, int n, int k, int am, int bk, int cm)
{
    std::vector<__half> left = halves(m * am, 4), right = halves(k * bk, 4, 2);
    array<__half> a(left), b(right), c(m * cm);
    launch("matmul_block_pointers", dim3(blocks_for(m, 32), blocks_for(n, 32)), a, b, c, m, n, k,
           (long long)am, (long long)bk, (long long)cm);
    expect("matmul_block_pointers", m, widened(c.get()),
           product(widened(left), widened(right), m, n, k, am, bk, cm));
}

static void run_attention(int batches, int heads, int length)
{
    enum { DEPTH = 64 };
    int count = batches * heads, each = length * DEPTH;
    std::vector<__half> queries = halves(count * each, 3), keys = halves(count * each, 3, 2),
                        values = halves(count * each, 5, 3);
    floats qf = widened(queries), kf = widened(keys), vf = widened(values), wanted(count * each),
           sums(count * length);
    for (int h = 0; h < count; h++)
        for (int i = 0; i < length; i++) {
            std::vector<double> p(i + 1);
            double largest = -1e30, sum = 0;
            for (int j = 0; j <= i; j++) {
                for (int d = 0; d < DEPTH; d++)
                    p[j] += 0.125 * qf[h * each + i * DEPTH + d] * kf[h * each + j * DEPTH + d];
                largest = std::max(largest, p[j]);
            }
            for (int j = 0; j <= i; j++)
                sum += p[j] = std::exp(p[j] - largest);
            for (int j = 0; j <= i; j++)
                for (int d = 0; d < DEPTH; d++)
                    wanted[h * each + i * DEPTH + d] +=
                        (float)(p[j] / sum * vf[h * each + j * DEPTH + d]);
            sums[h * length + i] = (float)(largest + std::log(sum));
        }
    array<__half> q(queries), k(keys), v(values), out(count * each);
    array<float> lse(count * length);
    launch("attention", dim3(blocks_for(length, 64), count), q, k, v, out, lse, 0.125f, heads,
           length, heads * each, each);
    expect("attention", length, widened(out.get()), wanted, 2e-2);
    expect("attention, logarithms", length, lse.get(), sums, 2e-2);
}

// ---- As Inductor writes them

static void run_pointwise()
{
    int n = 9600;
    floats left = numbers<float>(n, 20), right = numbers<float>(96, 20, 2), wanted(n);
    for (int i = 0; i < n; i++)
        wanted[i] = std::max(0.f, left[i] + right[i % 96]);
    array<float> x(left), y(right), out(n);
    launch("triton_poi_fused_add_relu_0", blocks_for(n, 512), x, y, out, n);
    expect("triton_poi_fused_add_relu_0", n, out.get(), wanted);

    n = 2 * 20 * 49;
    left.resize(n);
    array<float> image(left), bias(right);
    for (int i = 0; i < n; i++)
        left[i] += right[i / 49 % 20];
    launch("triton_poi_fused_convolution_1", blocks_for(n, 256), image, bias, n);
    expect("triton_poi_fused_convolution_1", n, image.get(), left);

    int rows = 40;
    floats first = numbers<float>(16 * rows, 100), second = numbers<float>(32 * rows, 100, 2),
           joined(48 * rows);
    for (int i = 0; i < 48 * rows; i++)
        joined[i] = i % 48 < 16 ? first[i / 48 * 16 + i % 48] : second[i / 48 * 32 + i % 48 - 16];
    array<float> a(first), b(second), both(48 * rows);
    launch("triton_poi_fused_cat_2", blocks_for(48 * rows, 256), a, b, both, 48 * rows);
    expect("triton_poi_fused_cat_2", rows, both.get(), joined);
}

static void run_clone(int batches, int width)
{
    floats from = numbers<float>(batches * 24 * width, 1000), wanted(from.size());
    for (int y = 0; y < batches * 24; y++)
        for (int x = 0; x < width; x++)
            wanted[y * width + x] = from[y % 24 + 24 * x + 24 * width * (y / 24)];
    array<float> in(from), out(from.size());
    launch("triton_poi_fused_clone_3", dim3(blocks_for(width, 32), blocks_for(batches * 24, 32)),
           in, out, batches * 24, width);
    expect("triton_poi_fused_clone_3", width, out.get(), wanted);
}

static void run_embedding(int n)
{
    std::vector<long long> words = numbers<long long>(n, 100);
    floats rows = numbers<float>(100 * 64, 1000), wanted(n * 64);
    for (int i = 0; i < n; i += 5)
        words[i] -= 100; /* counted from the end */
    for (int i = 0; i < n * 64; i++)
        wanted[i] = rows[(words[i / 64] + 100) % 100 * 64 + i % 64];
    array<long long> index(words);
    array<float> table(rows), out(n * 64);
    launch("triton_poi_fused_embedding_4", blocks_for(n * 64, 256), index, table, out, n * 64);
    expect("triton_poi_fused_embedding_4", n, out.get(), wanted);
}

static void run_reductions(int rows, int n)
{
    floats from = numbers<float>(rows * n, 16), wanted(rows);
    array<float> x(from), out(rows);
    for (int i = 0; i < rows * n; i++)
        wanted[i / n] += from[i] / (float)n;
    launch("triton_red_fused_mean_5", blocks_for(rows, 8), x, out, rows, n);
    expect("triton_red_fused_mean_5", n, out.get(), wanted, 1e-5);

    from = numbers<float>(rows * 192, 16);
    floats weights = numbers<float>(192, 8, 2), biases = numbers<float>(192, 8, 3);
    normed norm = layer_norm_of(from, weights, biases, rows, 192, 192, 1e-5);
    array<float> in(from), w(weights), b(biases), rstd(rows), normed_out(rows * 192);
    launch("triton_per_fused_native_layer_norm_6", rows, rstd, in, w, b, normed_out, rows, 192);
    expect("triton_per_fused_native_layer_norm_6", rows, rstd.get(), norm.rstd, 1e-4);
    expect("triton_per_fused_native_layer_norm_6", rows, normed_out.get(), norm.out, 1e-3);
}

static void run_odd_matrices()
{
    run_matmul("matmul", 200, 190, 100, 112, 192, 192, 12);
    run_matmul("matmul", 330, 130, 40, 48, 144, 144, 18); // the last group is narrower
    run_matmul("matmul_masked", 120, 140, 100, 112, 144, 144, dim3(4, 5));
    run_matmul("matmul_persistent", 200, 190, 100, 112, 192, 192, 5);
    run_split_k("matmul_split_k", 60, 70, 300, 304, 80, 80);
    run_block_pointers(120, 140, 100, 112, 144, 144);
    run_block_pointers(32, 33, 5, 16, 48, 48);
}

static void run_aligned_matrices()
{
    run_matmul("matmul_aligned", 208, 192, 112, 112, 192, 192, 12);
    run_matmul("matmul_aligned", 320, 128, 64, 64, 128, 128, 10);
    run_matmul("matmul_masked_aligned", 112, 144, 112, 112, 144, 144, dim3(4, 5));
    run_matmul("matmul_persistent_aligned", 208, 192, 112, 112, 192, 192, 5);
    run_split_k("matmul_split_k_aligned", 64, 80, 304, 304, 80, 80);
}

int main()
{
    for (int n : {1, 1000, 3000, 5120})
        elementwise("vector_add", n);
    for (int n : {16, 4096, 5104})
        elementwise("vector_add_aligned", n);
    run_dropout(2000);
    run_gather(30, 208);
    run_transpose(100, 70);
    run_transpose(33, 64);
    run_persistent_scale(5000, 3);
    run_persistent_scale(700, 8);
    run_softmax("softmax", 5, 781, 800, 800, 0);
    run_softmax("softmax_aligned", 5, 784, 800, 784, 0);
    run_softmax("softmax_persistent", 20, 200, 201, 203, 3);
    run_softmax("softmax_persistent_aligned", 20, 192, 208, 192, 3);
    run_layer_norm("layer_norm", 5, 600, 608);
    run_layer_norm("layer_norm_aligned", 5, 592, 592);
    run_layer_norm_backward(10, 200, 208);
    run_cumulative_sum(6, 200);
    run_sums(5000);
    run_sums(1024);
    run_histogram(1200, 64);
    run_column_sums(50, 200, 3);
    run_odd_matrices();
    run_aligned_matrices();
    run_attention(2, 2, 200);
    run_pointwise();
    run_clone(2, 70);
    run_embedding(40);
    run_reductions(37, 304);
    return finish();
}
