// Images: pitched rows, uchar4 pixels, interleaved RGB, planes, half size, a box blur, flips.
#include "../corpus.h"

__global__ void brighten_pitched(unsigned char *image, size_t pitch, int width, int height, int by)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        unsigned char *row = image + y * pitch;
        row[x] = min(255, row[x] + by);
    }
}

// Rows of floats, as the programming guide walks over cudaMallocPitch.
__global__ void scale_pitched(float *image, size_t pitch, int width, int height)
{
    for (int r = 0; r < height; ++r) {
        float *row = (float *)((char *)image + r * pitch);
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            row[c] *= 2;
    }
}

__global__ void gray_from_uchar4(unsigned char *gray, const uchar4 *image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 pixel = image[y * width + x];
    gray[y * width + x] = (pixel.x * 77 + pixel.y * 150 + pixel.z * 29) >> 8;
}

__global__ void gray_from_rgb(unsigned char *gray, const unsigned char *rgb, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels)
        gray[i] = (rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8;
}

__global__ void planes_from_rgb(unsigned char *planes, const unsigned char *rgb, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    for (int channel = 0; channel < 3; channel++)
        planes[channel * pixels + i] = rgb[3 * i + channel];
}

__global__ void swap_red_and_blue(unsigned char *rgb, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels) {
        unsigned char red = rgb[3 * i];
        rgb[3 * i] = rgb[3 * i + 2];
        rgb[3 * i + 2] = red;
    }
}

__global__ void half_size(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width / 2 || y >= height / 2)
        return;
    const float *corner = in + 2 * y * width + 2 * x;
    out[y * (width / 2) + x] = corner[0] + corner[1] + corner[width] + corner[width + 1];
}

__global__ void blur_box(int *out, const int *in, int width, int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int sum = 0, count = 0;
    for (int row = max(0, y - radius); row <= min(height - 1, y + radius); row++)
        for (int column = max(0, x - radius); column <= min(width - 1, x + radius); column++) {
            sum += in[row * width + column];
            count++;
        }
    out[y * width + x] = sum / count;
}

__global__ void flip_vertically(int *out, const int *in, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width * height) {
        int x = i % width, y = i / width;
        out[(height - 1 - y) * width + x] = in[i];
    }
}

__global__ void fill_rectangle(int *image, int width, int x0, int y0, int w, int h, int value)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        image[(y0 + y) * width + x0 + x] = value;
}

static void run_pitched(int width, int height)
{
    unsigned char *bytes;
    float *floats;
    size_t byte_pitch, float_pitch;
    CHECK(cudaMallocPitch((void **)&bytes, &byte_pitch, width, height));
    CHECK(cudaMallocPitch((void **)&floats, &float_pitch, width * sizeof(float), height));
    std::vector<unsigned char> image = numbers<unsigned char>(width * height, 256);
    std::vector<float> values = numbers<float>(width * height, 256);
    CHECK(cudaMemcpy2D(bytes, byte_pitch, image.data(), width, width, height,
                       cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(floats, float_pitch, values.data(), width * sizeof(float),
                       width * sizeof(float), height, cudaMemcpyHostToDevice));
    dim3 block(16, 4), grid(blocks_for(width, 16), blocks_for(height, 4));
    brighten_pitched<<<grid, block>>>(bytes, byte_pitch, width, height, 20);
    scale_pitched<<<1, 32>>>(floats, float_pitch, width, height);
    std::vector<unsigned char> found(image.size());
    std::vector<float> found_floats(values.size());
    CHECK(cudaMemcpy2D(found.data(), width, bytes, byte_pitch, width, height,
                       cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2D(found_floats.data(), width * sizeof(float), floats, float_pitch,
                       width * sizeof(float), height, cudaMemcpyDeviceToHost));
    for (unsigned char &value : image)
        value = std::min(255, value + 20);
    for (float &value : values)
        value *= 2;
    expect("brighten_pitched", width, found, image);
    expect("scale_pitched", width, found_floats, values);
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(floats));
}

static void run_colours(int width, int height)
{
    int pixels = width * height;
    std::vector<unsigned char> rgb = numbers<unsigned char>(3 * pixels, 256), gray(pixels);
    std::vector<unsigned char> planes(3 * pixels), swapped(rgb);
    std::vector<uchar4> wide(pixels);
    for (int i = 0; i < pixels; i++) {
        unsigned char *p = &rgb[3 * i];
        gray[i] = (p[0] * 77 + p[1] * 150 + p[2] * 29) >> 8;
        wide[i] = make_uchar4(p[0], p[1], p[2], 255);
        for (int channel = 0; channel < 3; channel++)
            planes[channel * pixels + i] = p[channel];
        std::swap(swapped[3 * i], swapped[3 * i + 2]);
    }
    array<unsigned char> in(rgb), out(pixels), again(pixels), apart(3 * pixels);
    array<uchar4> wide_in(wide);
    int block = 64, grid = blocks_for(pixels, block);
    gray_from_rgb<<<grid, block>>>(out, in, pixels);
    expect("gray_from_rgb", width, out.get(), gray);
    gray_from_uchar4<<<dim3(blocks_for(width, 16), blocks_for(height, 8)), dim3(16, 8)>>>(
        again, wide_in, width, height);
    expect("gray_from_uchar4", width, again.get(), gray);
    planes_from_rgb<<<grid, block>>>(apart, in, pixels);
    expect("planes_from_rgb", width, apart.get(), planes);
    swap_red_and_blue<<<grid, block>>>(in, pixels);
    expect("swap_red_and_blue", width, in.get(), swapped);
}

static void run_geometry(int width, int height)
{
    int pixels = width * height, small = (width / 2) * (height / 2), radius = 2;
    std::vector<int> host = numbers<int>(pixels, 256), blurred(pixels), flipped(pixels);
    std::vector<float> floats(host.begin(), host.end()), halved(small);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int sum = 0, count = 0;
            for (int row = std::max(0, y - radius); row <= std::min(height - 1, y + radius); row++)
                for (int column = std::max(0, x - radius);
                     column <= std::min(width - 1, x + radius); column++) {
                    sum += host[row * width + column];
                    count++;
                }
            blurred[y * width + x] = sum / count;
            flipped[(height - 1 - y) * width + x] = host[y * width + x];
            if (x / 2 < width / 2 && y / 2 < height / 2)
                halved[y / 2 * (width / 2) + x / 2] += host[y * width + x];
        }
    array<int> in(host), blur(pixels), flip(pixels);
    array<float> floats_in(floats), half(small);
    dim3 block(16, 8), grid(blocks_for(width, 16), blocks_for(height, 8));
    blur_box<<<grid, block>>>(blur, in, width, height, radius);
    expect("blur_box", width, blur.get(), blurred);
    flip_vertically<<<blocks_for(pixels, 64), 64>>>(flip, in, width, height);
    expect("flip_vertically", width, flip.get(), flipped);
    half_size<<<grid, block>>>(half, floats_in, width, height);
    expect("half_size", width, half.get(), halved);
    int w = width / 2, h = height / 3;
    fill_rectangle<<<grid, block>>>(in, width, width / 4, 1, w, h, 7);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            host[(1 + y) * width + width / 4 + x] = 7;
    expect("fill_rectangle", width, in.get(), host);
}

int main()
{
    run_pitched(1, 1);
    run_pitched(37, 11);
    run_colours(1, 1);
    run_colours(31, 17);
    run_geometry(33, 19);
    run_geometry(64, 8);
    return finish();
}
