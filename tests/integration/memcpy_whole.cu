// verdict: none
// Sets and copies up to the last byte; and one that is refused for another reason.
// clang-format off
#include "expect.h"

int main()
{
    static char host[8192];
    char *p = nullptr, *q = nullptr;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMalloc(&q, 8192));
    CHECK(cudaMemset(p, 0, 4096));
    CHECK(cudaMemcpy(p, host, 4096, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(host, p + 4000, 96, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2D(p, 256, q, 512, 256, 16, cudaMemcpyDeviceToDevice));
    EXPECT(cudaMemcpy2D(p, 128, q, 512, 256, 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidPitchValue);
    return finish();
}
