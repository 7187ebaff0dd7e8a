/* What the tests of CUDA's ordering rules share. Each test writes or reads the same bytes twice and
 * asks whether csan calls that a race. */
#ifndef TESTS_UNIT_HOOK_TEST_HOOK_ORDER_H
#define TESTS_UNIT_HOOK_TEST_HOOK_ORDER_H

#include "tests/unit/hook/test_hook.h"

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

/* One access of 64 bytes on a stream; each use of the macro is a site of its own. */
#define WRITE(p, stream) OK(cuMemsetD8Async((p), 0, 64, (stream)))
#define READ(p, stream)  OK(cuMemcpyDtoDAsync_v2(scratch(), (p), 64, (stream)))

/* A target nobody else uses. */
static inline CUdeviceptr scratch(void)
{
    return device(64);
}

#endif
