// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: cudaMemcpy \(.*memcpy_past_end.cu:{in}\) writes 4 bytes behind the end of the 4096 bytes
// expect: CSAN: out of bounds: cudaMemcpy \(.*memcpy_past_end.cu:{out}\) reads 4 bytes behind the end of the 4096 bytes
// expect: CSAN: out of bounds: cudaMemcpy2D \(.*memcpy_past_end.cu:{rows}\) writes 256 bytes behind the end of the 4096 bytes
// reject: behind the end of the 16384 bytes
// Copies that are longer than one of their sides, by the element that counting from one adds.
// clang-format off
#include "expect.h"

int main()
{
    static char host[8192];
    char *p = nullptr, *q = nullptr;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMalloc(&q, 16384));
    EXPECT(cudaMemcpy(p, host, 4100, cudaMemcpyHostToDevice), cudaErrorInvalidValue); // at: in
    EXPECT(cudaMemcpy(host, p, 4100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue); // at: out
    EXPECT(cudaMemcpy2D(p, 256, q, 512, 256, 17, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue); // at: rows
    return finish();
}
