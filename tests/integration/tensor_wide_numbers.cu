// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Lines of pixels with halos, offsets, steps and borders, that go on in the next image. Compiled
// for sm_100a, so GPUs of other architectures cannot run it.
#include "tensor_wide.h"

#include <vector>

static int wrong_lines(const Batch &b, const std::vector<Line> &lines)
{
    const int count = CHANNELS * b.width * b.height * b.depth * b.images;
    const int many = (int)lines.size(), length = b.pixels ? b.pixels : (int)FIXED;
    std::vector<int> pixels(count), got(many * LINE_MOST * CHANNELS);
    for (int i = 0; i < count; i++)
        pixels[i] = i * 5 + 1;
    int *in = device_array<int>(count), *out = device_array<int>((int)got.size());
    CHECK(cudaMemcpy(in, pixels.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, got.size() * sizeof(int)));
    load_lines<<<many, 32>>>(wide_map(b, in), b.rank, !b.pixels, length,
                             on_device(lines.data(), many), out);
    CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int k = 0; k < many; k++) {
        const Line &line = lines[k];
        int w = line.w + line.offset, n = line.n;
        for (int i = 0; i < length + line.halo; i++) {
            const bool inside = w >= 0 && w < b.width && n < b.images && line.h < b.height;
            const int first =
                (((n * b.depth + line.d) * b.height + line.h) * b.width + w) * CHANNELS;
            for (int c = 0; c < CHANNELS; c++)
                wrong +=
                    got[(k * LINE_MOST + i) * CHANNELS + c] != (inside ? pixels[first + c] : 0);
            w += b.step;
            if (w >= b.width + b.upper + line.offset) {
                w = b.lower + line.offset;
                n++;
            }
        }
    }
    if (wrong)
        fprintf(stderr, "rank %d, width %d: %d numbers are wrong\n", b.rank, b.width, wrong);
    return wrong;
}

int main()
{
    int wrong = 0;
    wrong += wrong_lines({3, 9, 1, 1, 20, 0, 0, 1, 32}, {{0, 0, 0, 0, 0, 0}, {2, 0, 0, 3, 2, 0}});
    wrong += wrong_lines({4, 9, 7, 1, 12, 0, 0, 1, 40}, {{2, 3, 0, 0, 2, 0}, {5, 6, 0, 10, 1, 0}});
    wrong += wrong_lines({4, 9, 7, 1, 12, -1, 0, 2, 24},
                         {{-1, 2, 0, 0, 1, 0}, {-1, 2, 0, 0, 0, 1}, {1, 7, 0, 1, 1, 1}});
    wrong += wrong_lines({4, 7, 5, 1, 12, -1, -1, 3, 16},
                         {{-1, 2, 0, 0, 0, 0}, {-1, 2, 0, 0, 0, 1}, {-1, 2, 0, 0, 0, 2}});
    wrong += wrong_lines({4, 9, 7, 1, 40, 0, 0, 1, 0}, {{2, 3, 0, 0, 0, 0}, {8, 1, 0, 30, 0, 1}});
    wrong += wrong_lines({5, 6, 4, 3, 8, -2, 1, 1, 20}, {{-2, 1, 2, 0, 2, 0}, {0, 3, 0, 6, 0, 3}});
    if (!wrong)
        printf("done\n");
    return wrong != 0;
}
