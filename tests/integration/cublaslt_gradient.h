// A product that writes the gradient of a bias on one stream; another stream clears that.
#include "cublaslt_gradients.h"

int main()
{
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    cublasLtHandle_t handle;
    LT(cublasLtCreate(&handle));
    Both<float> a(ROWS * DEPTH), b(DEPTH * COLUMNS), d(ROWS * COLUMNS), sums(ROWS);
    Both<unsigned char> bits(ROWS * COLUMNS / 8, false);
    Product product(handle, CUBLASLT_EPILOGUE_DRELU_BGRAD);
    product.auxiliary(bits.device);
    product.bias(sums.device);
    CHECK(cudaDeviceSynchronize());
    product.run(a.device, b.device, d.device, first);
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(sums.device, 0, ROWS * sizeof(float), second));
    return finish();
}
