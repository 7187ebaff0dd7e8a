// verdict: race
// expect: demo::like\(Tensor self\) -> Tensor
// expect: writing to the output
// reject: demo::whole
// reject: demo::add_
// The innermost operator owns the launch, the outermost that is not composite names it, and memory
// made while that one runs is its output.
#include "operators.h"

int main()
{
    int *pool = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    {
        Operator outermost(composite, 0);
        Operator outer(functional, 0);
        csan_pool_alloc(pool, BYTES, a);
        Operator inner(in_place, 1, access_to(pool, CSAN_WRITE, 0));
        launch_fill(a, pool);
    }
    Operator user(functional, 1, access_to(pool, CSAN_READ, 0));
    launch_increment(b, pool);
    return finish();
}
