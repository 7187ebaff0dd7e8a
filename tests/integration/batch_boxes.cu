// verdict: none
// cuda: 13
// Left and right halves of rows, by a batch of copies and a kernel's stream.
#include "program.h"

static cudaMemcpy3DBatchOp half(int *to, int *from, size_t width, size_t rows, size_t pitch)
{
    cudaMemcpy3DBatchOp op = {};
    op.src.type = op.dst.type = cudaMemcpyOperandTypePointer;
    op.src.op.ptr.ptr = from;
    op.dst.op.ptr.ptr = to;
    op.src.op.ptr.rowLength = op.dst.op.ptr.rowLength = pitch;
    op.extent = make_cudaExtent(width, rows, 1);
    op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return op;
}

int main()
{
    enum { ROWS = 8, PITCH = N / ROWS * sizeof(int), HALF = PITCH / 2 };
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaMemcpy3DBatchOp left = half(p, q, HALF, ROWS, PITCH);
    CHECK(cudaMemcpy3DBatchAsync(1, &left, 0, a));
    CHECK(cudaMemset2DAsync((char *)p + HALF, PITCH, 0, HALF, ROWS, b));
    return finish();
}
