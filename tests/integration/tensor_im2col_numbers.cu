// verdict: none
// flags: -arch=sm_90
// cuda: 13
// Columns of pixels, of lines, images and volumes, with borders, steps and offsets of a filter.
#include "tensor_im2col.h"

static int value_at(const Images &images, const std::vector<int> &all, int c, const Start &pixel)
{
    long index = pixel.at[3];
    if (index >= images.sizes[4])
        return 0;
    for (int i = 2; i >= 0; i--) {
        const int place = pixel.at[i] + images.offset[i];
        if (place < 0 || place >= images.sizes[i + 1])
            return 0;
        index = index * images.sizes[i + 1] + place;
    }
    return all[index * images.sizes[0] + c];
}

static int wrong_columns(const Images &images)
{
    long count = 1;
    for (int size : images.sizes)
        count *= size;
    std::vector<int> all(count);
    for (long i = 0; i < count; i++)
        all[i] = (int)i * 7 + 1;
    const std::vector<Start> pixels = im2col_pixels(images);
    const int columns = (int)(pixels.size() + PIXELS - 1) / PIXELS;
    std::vector<Start> starts;
    for (int i = 0; i < columns; i++)
        starts.push_back(im2col_start(images, pixels[i * PIXELS]));
    int *in = device_array<int>(count), *out = device_array<int>(columns * COLUMN);
    Start *at = device_array<Start>(columns);
    CHECK(cudaMemcpy(in, all.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(at, starts.data(), columns * sizeof(Start), cudaMemcpyHostToDevice));
    load_columns<<<columns, 32>>>(im2col_map(images, in), images.rank, at, images.offset[0],
                                  images.offset[1], images.offset[2], out);
    std::vector<int> got(columns * COLUMN);
    CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    const Start behind = {{0, 0, 0, images.sizes[4]}};
    for (int i = 0; i < columns * PIXELS; i++)
        for (int c = 0; c < CHANNELS; c++)
            wrong += got[i * CHANNELS + c] !=
                     value_at(images, all, c, i < (int)pixels.size() ? pixels[i] : behind);
    if (wrong)
        fprintf(stderr, "rank %d, width %d: %d numbers are wrong\n", images.rank, images.sizes[1],
                wrong);
    return wrong;
}

int main()
{
    // rank; channels, width, height, depth, images; the box's corners; steps; the filter's offsets
    const Images images[] = {
        {3, {8, 30, 1, 1, 4}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}},
        {3, {8, 31, 1, 1, 3}, {-2, 0, 0}, {-2, 0, 0}, {2, 1, 1}, {3, 0, 0}},
        {4, {8, 10, 9, 1, 3}, {0, 0, 0}, {-2, -2, 0}, {1, 1, 1}, {1, 2, 0}},
        {4, {8, 12, 7, 1, 2}, {-1, -1, 0}, {-1, -1, 0}, {1, 1, 1}, {2, 0, 0}},
        {4, {8, 11, 13, 1, 2}, {-1, -1, 0}, {-1, -1, 0}, {2, 3, 1}, {0, 2, 0}},
        {5, {8, 6, 5, 4, 2}, {0, 0, 0}, {-1, -1, -1}, {1, 1, 1}, {1, 0, 1}},
        {5, {8, 7, 6, 5, 2}, {-1, -1, -1}, {-1, -1, -1}, {2, 1, 2}, {2, 1, 0}},
    };
    int wrong = 0;
    for (const Images &each : images)
        wrong += wrong_columns(each);
    if (!wrong)
        printf("done\n");
    return wrong != 0;
}
