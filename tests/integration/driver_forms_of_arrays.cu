// verdict: none
// flags: -std=c++17
// link: -lcuda
// ways: run
// Each form of a copy between a one-dimensional array and other memory: what one writes comes back
// by the next. All of them are waited for, and none is a race; priorities order nothing either.
#include "driver_forms.h"

static CUarray array, other;
static CUstream stream;
static uint8_t *host;

static CUarray array_make()
{
    CUDA_ARRAY_DESCRIPTOR what = {};
    CUarray made;
    what.Width = BYTES;
    what.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    what.NumChannels = 1;
    DRIVER_CHECK(cuArrayCreate_v2(&made, &what));
    return made;
}

// A copy into the array, and one out of it.
static const form into[] = {
    BOTH_FORMS(cuMemcpyHtoA_v2, _ptds, array, 0, on.host, BYTES),
    BOTH_FORMS(cuMemcpyDtoA_v2, _ptds, array, 0, on.q, BYTES),
    BOTH_FORMS(cuMemcpyAtoA_v2, _ptds, array, 0, other, 0, BYTES),
    BOTH_FORMS(cuMemcpyHtoAAsync_v2, _ptsz, array, 0, on.host, BYTES, stream),
};
static const form out_of[] = {
    BOTH_FORMS(cuMemcpyAtoH_v2, _ptds, on.host, array, 0, BYTES),
    BOTH_FORMS(cuMemcpyAtoD_v2, _ptds, on.q, array, 0, BYTES),
    BOTH_FORMS(cuMemcpyAtoHAsync_v2, _ptsz, on.host, array, 0, BYTES, stream),
};

// All the places that a copy may read hold this byte.
static void hold(const operands &on, uint8_t byte)
{
    memset(host, byte, BYTES);
    DRIVER_CHECK(cuMemsetD8_v2(on.q, byte, BYTES));
    DRIVER_CHECK(cuMemcpyHtoA_v2(other, 0, host, BYTES));
    DRIVER_CHECK(cuCtxSynchronize());
}

static void demand(const char *name, uint8_t found, uint8_t wanted)
{
    if (found == wanted)
        return;
    fprintf(stderr, "%s: %d is not %d\n", name, found, wanted);
    exit(101);
}

static uint8_t first_of(CUarray from)
{
    uint8_t byte;
    DRIVER_CHECK(cuMemcpyAtoH_v2(&byte, from, 0, 1));
    return byte;
}

int main()
{
    operands on = {};
    uint8_t byte = 0;
    int least, greatest;
    context_make_current();
    DRIVER_CHECK(cuMemAllocHost_v2((void **)&host, BYTES));
    DRIVER_CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
    DRIVER_CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    array = array_make();
    other = array_make();
    on.host = host;
    on.q = device_bytes();
    for (const form &form : into) {
        hold(on, ++byte);
        DRIVER_CHECK(form.call(on));
        DRIVER_CHECK(cuCtxSynchronize());
        demand(form.name, first_of(array), byte);
    }
    for (const form &form : out_of) {
        hold(on, 0);
        DRIVER_CHECK(form.call(on));
        DRIVER_CHECK(cuCtxSynchronize());
        if (strstr(form.name, "AtoD"))
            DRIVER_CHECK(cuMemcpyDtoH_v2(host, on.q, 1));
        demand(form.name, host[0], byte);
    }
    printf("done\n");
    return 0;
}
