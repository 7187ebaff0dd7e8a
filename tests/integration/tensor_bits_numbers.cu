// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Values of four and six bits, in boxes that reach beyond the tensor. Compiled for sm_100a, so GPUs
// of other architectures cannot run it.
#include "tensor_bits.h"

#include <vector>

typedef std::vector<unsigned char> Bytes;

static int bits_at(const Bytes &bytes, size_t first, int bits, int index)
{
    int value = 0;
    for (int i = 0; i < bits; i++) {
        const size_t at = (size_t)(index * bits + i);
        value |= (bytes[first + at / 8] >> at % 8 & 1) << i;
    }
    return value;
}

static void set_bits(Bytes &bytes, size_t first, int bits, int index, int value)
{
    for (int i = 0; i < bits; i++) {
        const size_t at = (size_t)(index * bits + i);
        unsigned char &byte = bytes[first + at / 8];
        byte = (unsigned char)((byte & ~(1 << at % 8)) | (value >> i & 1) << at % 8);
    }
}

static Bytes numbers(size_t count, unsigned seed)
{
    Bytes all(count);
    for (unsigned char &byte : all)
        byte = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
    return all;
}

static unsigned char *on_device(const Bytes &bytes)
{
    unsigned char *copy = device_array<unsigned char>((int)bytes.size());
    CHECK(cudaMemcpy(copy, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return copy;
}

static bool is_inside(int x, int y)
{
    return x >= 0 && x < VALUES && y >= 0 && y < LINES;
}

static int wrong_loads(const Bits &b, int x, int y)
{
    const Bytes tensor = numbers((size_t)line_bytes(b) * LINES, 1);
    unsigned char *out = device_array<unsigned char>(HELD);
    Bytes got(HELD);
    load_bits<<<1, 32>>>(bits_map(b, on_device(tensor)), b.bits, x, y, out);
    CHECK(cudaMemcpy(got.data(), out, HELD, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < HELD; i++) {
        const int column = x + i % BOX, line = y + i / BOX;
        const int wanted = is_inside(column, line)
                               ? bits_at(tensor, (size_t)(line * line_bytes(b)), b.bits, column)
                               : 0;
        wrong += bits_at(got, (size_t)(i / 16 * 16), b.bits, i % 16) != wanted;
    }
    return wrong;
}

static int wrong_stores(int x, int y)
{
    const Bits &b = six_bits;
    Bytes tensor = numbers((size_t)line_bytes(b) * LINES, 2), got(tensor.size());
    const Bytes box = numbers(HELD, 3);
    unsigned char *to = on_device(tensor);
    store_bits<<<1, 32>>>(bits_map(b, to), x, y, on_device(box));
    CHECK(cudaMemcpy(got.data(), to, got.size(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < HELD; i++) {
        const int column = x + i % BOX, line = y + i / BOX;
        if (is_inside(column, line))
            set_bits(tensor, (size_t)(line * line_bytes(b)), b.bits, column, box[i] & 63);
    }
    int wrong = 0;
    for (size_t i = 0; i < got.size(); i++)
        wrong += got[i] != tensor[i];
    return wrong;
}

int main()
{
    int wrong = 0;
    for (int x = -BOX; x <= VALUES; x += BOX)
        for (int y = -1; y < LINES; y += 5) {
            wrong += wrong_loads(four_bits, x, y) + wrong_loads(six_bits, x, y);
            if (x >= 0 && y >= 0)
                wrong += wrong_stores(x, y);
        }
    if (wrong)
        fprintf(stderr, "%d numbers are wrong\n", wrong);
    else
        printf("done\n");
    return wrong != 0;
}
