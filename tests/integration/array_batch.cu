// verdict: none
// flags: -std=c++17
// link: -lcuda
// cuda: 13
// Boxes of arrays in a batch: in from the host, from array to array, and out again.
#include "driver_check.h"
#include "texture_kinds.h"

enum { W = 8, H = 4 };

static CUmemcpy3DOperand of_array(cudaArray_t array)
{
    CUmemcpy3DOperand operand = {};
    operand.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    operand.op.array.array = (CUarray)array;
    operand.op.array.offset.x = 1;
    return operand;
}

static CUmemcpy3DOperand of_memory(void *memory)
{
    CUmemcpy3DOperand operand = {};
    operand.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operand.op.ptr.ptr = (CUdeviceptr)memory;
    return operand;
}

static void copy(CUmemcpy3DOperand to, CUmemcpy3DOperand from, cudaStream_t stream)
{
    CUDA_MEMCPY3D_BATCH_OP op = {};
    op.src = from;
    op.dst = to;
    op.extent = {W - 1, H, 1};
    op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    DRIVER_CHECK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
}

int main()
{
    int *from, *to;
    CHECK(cudaMallocHost((void **)&from, sizeof(int) * W * H));
    CHECK(cudaMallocHost((void **)&to, sizeof(int) * W * H));
    for (int i = 0; i < W * H; i++)
        from[i] = i * 3;
    const cudaExtent extent = make_cudaExtent(W, H, 0);
    cudaArray_t a = make_array(cudaCreateChannelDesc<int>(), extent),
                b = make_array(cudaCreateChannelDesc<int>(), extent);
    cudaStream_t stream = nonblocking_stream();
    copy(of_array(a), of_memory(from), stream);
    copy(of_array(b), of_array(a), stream);
    copy(of_memory(to), of_array(b), stream);
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < (W - 1) * H; i++)
        demand("copied", i, to[i], i * 3);
    return finish();
}
