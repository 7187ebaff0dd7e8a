// verdict: none
// flags: -arch=sm_90a
// cuda: 13
// Slices of an interleaved tensor, with each swizzle, inside and beyond its ends.
#include "tensor_interleave.h"

// Of the box that begins at (pixel, slice, image).
static int value_at(int pixel, int slice, int image, int channel)
{
    if (pixel < 0 || pixel >= WIDTH || slice < 0 || slice >= SLICES || image < 0 || image >= IMAGES)
        return 0;
    return image * IMAGE + slice * ROW + pixel * CHANNELS + channel + 1;
}

// 16 bytes of a pixel change places with others of the same lines of 128 bytes.
static int turned(int pixel, CUtensorMapSwizzle swizzle)
{
    const int turns[] = {0, 1, 3, 7};
    return pixel ^ (pixel >> 3 & turns[swizzle]);
}

int main()
{
    const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                           CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
    const int places[][3] = {{0, 0, 0}, {3, 1, 1}, {8, 3, 1}, {-5, 2, 0}, {20, 1, 2}, {0, -1, 0}};
    std::vector<unsigned short> all(IMAGES * IMAGE), got(HELD);
    for (size_t i = 0; i < all.size(); i++)
        all[i] = (unsigned short)(i + 1);
    unsigned short *tensor = device_array<unsigned short>(all.size());
    unsigned short *out = device_array<unsigned short>(HELD);
    CHECK(cudaMemcpy(tensor, all.data(), all.size() * sizeof all[0], cudaMemcpyHostToDevice));
    for (CUtensorMapSwizzle swizzle : swizzles)
        for (const int *at : places) {
            load_slice<<<1, 32>>>(interleaved_map(tensor, swizzle), at[0], at[1], at[2], out);
            CHECK(cudaMemcpy(got.data(), out, HELD * sizeof got[0], cudaMemcpyDeviceToHost));
            int wrong = 0;
            for (int i = 0; i < HELD / CHANNELS; i++)
                for (int c = 0; c < CHANNELS; c++)
                    wrong += got[turned(i, swizzle) * CHANNELS + c] !=
                             value_at(at[0] + i % BOX, at[1], at[2] + i / BOX, c);
            if (wrong) {
                fprintf(stderr, "swizzle %d at %d, %d, %d: %d numbers are wrong\n", (int)swizzle,
                        at[0], at[1], at[2], wrong);
                return 102;
            }
        }
    return finish();
}
