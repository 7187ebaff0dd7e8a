// verdict: none
// As texture_read_unordered, with an event between the two; and what was read is what was written.
#include "texture.h"

int main()
{
    static int got[N];
    int *p = device_array<int>(), *out = device_array<int>();
    cudaTextureObject_t texture = linear_texture(p);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t filled = event_create();
    fill<<<GRID, BLOCK, 0, a>>>(p, 7, N);
    CHECK(cudaEventRecord(filled, a));
    CHECK(cudaStreamWaitEvent(b, filled, 0));
    fetch<<<GRID, BLOCK, 0, b>>>(texture, out, N);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaMemcpy(got, out, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if (got[i] != 7 + i) {
            fprintf(stderr, "texel %d is %d\n", i, got[i]);
            return 1;
        }
    return finish();
}
