// A stand-in for libcufft.so.12 on the embedded device: each transform touches what it should, and
// computes sums instead. One- and two-dimensional plans in the basic layout.
#include "blind.h"

#include <cufft.h>
#include <vector>

struct Plan {
    bool live;
    int rows, columns, batch; // columns is the size of the last dimension
    cufftType type;
    cudaStream_t stream;
    float *work;
    size_t bytes; // of it
    bool given;   // the program will give it
};
static std::vector<Plan> plans;

static Plan *plan_of(cufftHandle handle)
{
    return handle >= 0 && (size_t)handle < plans.size() && plans[handle].live ? &plans[handle]
                                                                              : nullptr;
}

// Rows of `in_row` floats become rows of `out_row` floats, `*_step` floats apart.
__global__ void transform(int rows, const float *in, int in_row, int in_step, float *out,
                          int out_row, int out_step, float *work, int work_floats)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < rows * in_row; i += blockDim.x)
        atomicAdd(&sum, *blind(in, i / in_row * in_step + i % in_row));
    for (int i = threadIdx.x; i < work_floats; i += blockDim.x)
        *blind(work, i) = sum;
    __syncthreads();
    for (int i = threadIdx.x; i < rows * out_row; i += blockDim.x)
        *blind(out, i / out_row * out_step + i % out_row) = sum;
}

static cufftResult execute(cufftHandle handle, void *in, void *out, cufftType type)
{
    Plan *plan = plan_of(handle);
    if (!plan || plan->type != type)
        return CUFFT_INVALID_PLAN;
    int whole = 2 * plan->columns, half = 2 * (plan->columns / 2 + 1), real = plan->columns;
    int in_row = type == CUFFT_C2C ? whole : type == CUFFT_R2C ? real : half;
    int out_row = type == CUFFT_C2C ? whole : type == CUFFT_R2C ? half : real;
    bool padded = in == out;
    transform<<<1, 128, 0, plan->stream>>>(
        plan->rows * plan->batch, (float *)in, in_row, padded && type == CUFFT_R2C ? half : in_row,
        (float *)out, out_row, padded && type == CUFFT_C2R ? half : out_row, plan->work,
        (int)(plan->bytes / sizeof(float)));
    return CUFFT_SUCCESS;
}

extern "C" {
cufftResult cufftCreate(cufftHandle *handle)
{
    *handle = (cufftHandle)plans.size();
    plans.push_back(Plan{true});
    return CUFFT_SUCCESS;
}
cufftResult cufftMakePlan1d(cufftHandle handle, int nx, cufftType type, int batch, size_t *bytes)
{
    Plan *plan = plan_of(handle);
    if (!plan || nx < 1)
        return CUFFT_INVALID_SIZE;
    plan->rows = 1, plan->columns = nx, plan->batch = batch, plan->type = type;
    *bytes = plan->bytes = nx > 4096 ? 256 : 0;
    if (plan->bytes && !plan->given)
        cudaMalloc((void **)&plan->work, plan->bytes);
    return CUFFT_SUCCESS;
}
cufftResult cufftPlan1d(cufftHandle *handle, int nx, cufftType type, int batch)
{
    size_t bytes;
    cufftCreate(handle);
    return cufftMakePlan1d(*handle, nx, type, batch, &bytes);
}
cufftResult cufftPlan2d(cufftHandle *handle, int nx, int ny, cufftType type)
{
    cufftResult result = cufftPlan1d(handle, ny, type, 1);
    plans[*handle].rows = nx;
    return result;
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream)
{
    plans[handle].stream = stream;
    return CUFFT_SUCCESS;
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int automatic)
{
    plans[handle].given = !automatic;
    return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle handle, void *work)
{
    plans[handle].work = (float *)work;
    return CUFFT_SUCCESS;
}
cufftResult cufftGetSize(cufftHandle handle, size_t *bytes)
{
    *bytes = plans[handle].bytes;
    return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle)
{
    plans[handle].live = false;
    return CUFFT_SUCCESS;
}
cufftResult cufftExecC2C(cufftHandle handle, cufftComplex *in, cufftComplex *out, int)
{
    return execute(handle, in, out, CUFFT_C2C);
}
cufftResult cufftExecR2C(cufftHandle handle, cufftReal *in, cufftComplex *out)
{
    return execute(handle, in, out, CUFFT_R2C);
}
cufftResult cufftExecC2R(cufftHandle handle, cufftComplex *in, cufftReal *out)
{
    return execute(handle, in, out, CUFFT_C2R);
}
}
