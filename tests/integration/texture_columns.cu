// verdict: none
// A pitched texture over the left half of an image's columns, while another stream writes the right
// half: rows of one buffer that interleave and never meet. Coordinates beyond the edge are clamped.
#include "texture.h"

enum { WIDTH = 64, HEIGHT = 16, HALF = WIDTH / 2 };

__global__ void blur(cudaTextureObject_t texture, float *out)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * HALF + x] = tex2D<float>(texture, x - 0.5f, y + 0.5f) +
                        tex2D<float>(texture, x + 0.5f, y + 0.5f) +
                        tex2D<float>(texture, x + 1.5f, y + 0.5f);
}

int main()
{
    static float image[HEIGHT][WIDTH], got[HEIGHT][HALF];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            image[y][x] = (float)(y * 100 + x);
    float *p = device_array<float>(WIDTH * HEIGHT), *out = device_array<float>(HALF * HEIGHT);
    CHECK(cudaMemcpy(p, image, sizeof image, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture = 0;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = p;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = HALF;
    resource.res.pitch2D.height = HEIGHT;
    resource.res.pitch2D.pitchInBytes = WIDTH * sizeof(float);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemset2DAsync(p + HALF, WIDTH * sizeof(float), 0, HALF * sizeof(float), HEIGHT, a));
    blur<<<HEIGHT, HALF, 0, b>>>(texture, out);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < HALF; x++) {
            int left = x ? x - 1 : 0, right = x + 1 < HALF ? x + 1 : HALF - 1;
            float want = (float)(300 * y + left + x + right);
            if (got[y][x] != want) {
                fprintf(stderr, "%d, %d: %g, not %g\n", x, y, got[y][x], want);
                return 1;
            }
        }
    return finish();
}
