/* Plans of cuFFT (cuFFT documentation, "cuFFT API Reference"). */
#include "runtime/device/library/fft.h"
#include "runtime/device/library/cpu.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Transforms up to this size need no work area on a GPU. */
enum { WITHOUT_WORK = 4096 };

struct plan {
    int handle;
    struct plan *next;
    bool made, allocates;
    struct fft_shape shape;
    library_stream stream;
    size_t work_bytes;
    uint64_t work; /* the plan's own */
};

static struct {
    pthread_mutex_t lock;
    struct plan *plans;
    int next;
} fft = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The table; plans are used by one thread at a time, as documented ---- */

static struct plan *plan_of(int handle)
{
    pthread_mutex_lock(&fft.lock);
    struct plan *plan = fft.plans;
    while (plan && plan->handle != handle)
        plan = plan->next;
    pthread_mutex_unlock(&fft.lock);
    return plan;
}

LIBRARY_EXPORT int cufftCreate(int *handle);
LIBRARY_EXPORT int cufftCreate(int *handle)
{
    if (!handle)
        return FFT_INVALID_VALUE;
    if (!cpu_open(CPU_FFTW_SINGLE, "cuFFT") || !cpu_open(CPU_FFTW, "cuFFT") || !library_begin())
        return FFT_SETUP_FAILED;
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return FFT_ALLOC_FAILED;
    plan->allocates = true;
    pthread_mutex_lock(&fft.lock);
    *handle = plan->handle = ++fft.next;
    plan->next = fft.plans;
    fft.plans = plan;
    pthread_mutex_unlock(&fft.lock);
    return FFT_SUCCESS;
}

LIBRARY_EXPORT int cufftDestroy(int handle);
LIBRARY_EXPORT int cufftDestroy(int handle)
{
    pthread_mutex_lock(&fft.lock);
    struct plan **link = &fft.plans;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    struct plan *plan = *link;
    if (plan)
        *link = plan->next;
    pthread_mutex_unlock(&fft.lock);
    if (!plan)
        return FFT_INVALID_PLAN;
    library_free(plan->work);
    free(plan);
    return FFT_SUCCESS;
}

/* ---- Shapes ---- */

static bool type_is_known(int type)
{
    const int kind = type & ~FFT_DOUBLE;
    return kind == FFT_C2C || kind == FFT_R2C || kind == FFT_C2R;
}

/* So that sizes in bytes have room, and rows that in place are a little longer. */
#define ELEMENTS_MOST (INT64_MAX / 64)

/* Adds so many steps to what a side reaches over. False: that is below 0, or too much. */
static bool reach_add(int64_t *reach, int64_t steps, int64_t step)
{
    int64_t part;
    return step >= 0 && !__builtin_mul_overflow(steps, step, &part) &&
           !__builtin_add_overflow(*reach, part, reach) && *reach < ELEMENTS_MOST;
}

/* Of a layout that is not basic ("Advanced Data Layout"). */
static bool side_fits(const struct fft_shape *shape, const struct fft_side *side)
{
    int64_t stride = side->stride, reach = 0;
    bool fits = stride > 0;
    for (int i = shape->rank - 1; fits && i >= 0; i--) {
        fits = reach_add(&reach, shape->sizes[i] - 1, stride);
        if (i > 0)
            fits = fits && side->embedded[i] > 0 &&
                   !__builtin_mul_overflow(stride, side->embedded[i], &stride);
    }
    return fits && (shape->batches == 1 || reach_add(&reach, shape->batches - 1, side->distance));
}

static bool shape_fits(const struct fft_shape *shape)
{
    int64_t elements = shape->batches;
    bool fits = true;
    for (int i = 0; fits && i < shape->rank; i++)
        fits = !__builtin_mul_overflow(elements, shape->sizes[i], &elements);
    return fits && elements < ELEMENTS_MOST &&
           (shape->input.basic || side_fits(shape, &shape->input)) &&
           (shape->output.basic || side_fits(shape, &shape->output));
}

static int shape_check(const struct fft_shape *shape)
{
    if (shape->rank < 1 || shape->rank > FFT_RANK_MAX)
        return FFT_INVALID_VALUE;
    if (!type_is_known(shape->type))
        return FFT_INVALID_TYPE;
    for (int i = 0; i < shape->rank; i++)
        if (shape->sizes[i] < 1)
            return FFT_INVALID_SIZE;
    return shape->batches < 1 || !shape_fits(shape) ? FFT_INVALID_SIZE : FFT_SUCCESS;
}

/* The work area is as large as the result. Real libraries choose by device and version. */
static size_t work_bytes(const struct fft_shape *shape)
{
    size_t elements = (size_t)shape->batches;
    bool large = false;
    for (int i = 0; i < shape->rank; i++) {
        elements *= (size_t)shape->sizes[i];
        large |= shape->sizes[i] > WITHOUT_WORK;
    }
    return large ? elements * (fft_is_double(shape) ? 16 : 8) : 0;
}

static int estimate(const struct fft_shape *shape, size_t *bytes)
{
    const int status = shape_check(shape);
    if (!status && bytes)
        *bytes = work_bytes(shape);
    return status;
}

static int make(int handle, const struct fft_shape *shape, size_t *bytes)
{
    struct plan *plan = plan_of(handle);
    const int status = estimate(shape, bytes);
    if (!plan || plan->made)
        return FFT_INVALID_PLAN;
    if (status)
        return status;
    plan->shape = *shape;
    plan->work_bytes = work_bytes(shape);
    if (plan->allocates && plan->work_bytes && !(plan->work = library_allocate(plan->work_bytes)))
        return FFT_ALLOC_FAILED;
    plan->made = true;
    return FFT_SUCCESS;
}

/* A new plan of that shape; no plan is left when it cannot be. */
static int create(int *handle, const struct fft_shape *shape)
{
    int status = cufftCreate(handle);
    if (status)
        return status;
    status = make(*handle, shape, NULL);
    if (status)
        cufftDestroy(*handle);
    return status;
}

static struct fft_shape basic(int rank, int64_t x, int64_t y, int64_t z, int type, int64_t batches)
{
    return (struct fft_shape){type, rank, {x, y, z}, batches, {.basic = true}, {.basic = true}};
}

/* `wide`: the numbers of arrays have 64 bits. Without `embedded` a side is basic. */
struct many {
    int rank;
    const void *sizes;
    const void *embedded[2];
    int64_t strides[2], distances[2], batches;
    int type;
    bool wide;
};

static int64_t number_at(const void *array, bool wide, int i)
{
    return wide ? ((const long long *)array)[i] : ((const int *)array)[i];
}

static struct fft_shape shape_of(const struct many *many)
{
    struct fft_shape shape = {.type = many->type, .rank = many->rank, .batches = many->batches};
    struct fft_side *sides[] = {&shape.input, &shape.output};
    const bool known = many->sizes && many->rank >= 1 && many->rank <= FFT_RANK_MAX;
    if (!known)
        shape.rank = 0;
    for (int i = 0; i < shape.rank; i++)
        shape.sizes[i] = number_at(many->sizes, many->wide, i);
    for (int i = 0; i < 2; i++) {
        sides[i]->basic = !many->embedded[i];
        sides[i]->stride = many->strides[i];
        sides[i]->distance = many->distances[i];
        for (int k = 0; many->embedded[i] && k < shape.rank; k++)
            sides[i]->embedded[k] = number_at(many->embedded[i], many->wide, k);
    }
    return shape;
}

/* ---- One to three dimensions ---- */

LIBRARY_EXPORT int cufftPlan1d(int *handle, int x, int type, int batches);
LIBRARY_EXPORT int cufftPlan1d(int *handle, int x, int type, int batches)
{
    const struct fft_shape shape = basic(1, x, 0, 0, type, batches);
    return create(handle, &shape);
}
LIBRARY_EXPORT int cufftPlan2d(int *handle, int x, int y, int type);
LIBRARY_EXPORT int cufftPlan2d(int *handle, int x, int y, int type)
{
    const struct fft_shape shape = basic(2, x, y, 0, type, 1);
    return create(handle, &shape);
}
LIBRARY_EXPORT int cufftPlan3d(int *handle, int x, int y, int z, int type);
LIBRARY_EXPORT int cufftPlan3d(int *handle, int x, int y, int z, int type)
{
    const struct fft_shape shape = basic(3, x, y, z, type, 1);
    return create(handle, &shape);
}

LIBRARY_EXPORT int cufftMakePlan1d(int handle, int x, int type, int batches, size_t *bytes);
LIBRARY_EXPORT int cufftMakePlan1d(int handle, int x, int type, int batches, size_t *bytes)
{
    const struct fft_shape shape = basic(1, x, 0, 0, type, batches);
    return make(handle, &shape, bytes);
}
LIBRARY_EXPORT int cufftMakePlan2d(int handle, int x, int y, int type, size_t *bytes);
LIBRARY_EXPORT int cufftMakePlan2d(int handle, int x, int y, int type, size_t *bytes)
{
    const struct fft_shape shape = basic(2, x, y, 0, type, 1);
    return make(handle, &shape, bytes);
}
LIBRARY_EXPORT int cufftMakePlan3d(int handle, int x, int y, int z, int type, size_t *bytes);
LIBRARY_EXPORT int cufftMakePlan3d(int handle, int x, int y, int z, int type, size_t *bytes)
{
    const struct fft_shape shape = basic(3, x, y, z, type, 1);
    return make(handle, &shape, bytes);
}

LIBRARY_EXPORT int cufftEstimate1d(int x, int type, int batches, size_t *bytes);
LIBRARY_EXPORT int cufftEstimate1d(int x, int type, int batches, size_t *bytes)
{
    const struct fft_shape shape = basic(1, x, 0, 0, type, batches);
    return estimate(&shape, bytes);
}
LIBRARY_EXPORT int cufftEstimate2d(int x, int y, int type, size_t *bytes);
LIBRARY_EXPORT int cufftEstimate2d(int x, int y, int type, size_t *bytes)
{
    const struct fft_shape shape = basic(2, x, y, 0, type, 1);
    return estimate(&shape, bytes);
}
LIBRARY_EXPORT int cufftEstimate3d(int x, int y, int z, int type, size_t *bytes);
LIBRARY_EXPORT int cufftEstimate3d(int x, int y, int z, int type, size_t *bytes)
{
    const struct fft_shape shape = basic(3, x, y, z, type, 1);
    return estimate(&shape, bytes);
}

LIBRARY_EXPORT int cufftGetSize1d(int handle, int x, int type, int batches, size_t *bytes);
LIBRARY_EXPORT int cufftGetSize1d(int handle, int x, int type, int batches, size_t *bytes)
{
    return plan_of(handle) ? cufftEstimate1d(x, type, batches, bytes) : FFT_INVALID_PLAN;
}
LIBRARY_EXPORT int cufftGetSize2d(int handle, int x, int y, int type, size_t *bytes);
LIBRARY_EXPORT int cufftGetSize2d(int handle, int x, int y, int type, size_t *bytes)
{
    return plan_of(handle) ? cufftEstimate2d(x, y, type, bytes) : FFT_INVALID_PLAN;
}
LIBRARY_EXPORT int cufftGetSize3d(int handle, int x, int y, int z, int type, size_t *bytes);
LIBRARY_EXPORT int cufftGetSize3d(int handle, int x, int y, int z, int type, size_t *bytes)
{
    return plan_of(handle) ? cufftEstimate3d(x, y, z, type, bytes) : FFT_INVALID_PLAN;
}

/* ---- Many, in any layout ---- */

#define MANY_PARAMETERS                                                                            \
    int rank, int *sizes, int *in, int in_stride, int in_distance, int *out, int out_stride,       \
        int out_distance, int type, int batches
#define MANY                                                                                       \
    {                                                                                              \
        .rank = rank, .sizes = sizes, .embedded = {in, out}, .strides = {in_stride, out_stride},   \
        .distances = {in_distance, out_distance}, .batches = batches, .type = type                 \
    }

LIBRARY_EXPORT int cufftPlanMany(int *handle, MANY_PARAMETERS);
LIBRARY_EXPORT int cufftPlanMany(int *handle, MANY_PARAMETERS)
{
    const struct many many = MANY;
    const struct fft_shape shape = shape_of(&many);
    return create(handle, &shape);
}

LIBRARY_EXPORT int cufftMakePlanMany(int handle, MANY_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cufftMakePlanMany(int handle, MANY_PARAMETERS, size_t *bytes)
{
    const struct many many = MANY;
    const struct fft_shape shape = shape_of(&many);
    return make(handle, &shape, bytes);
}

LIBRARY_EXPORT int cufftEstimateMany(MANY_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cufftEstimateMany(MANY_PARAMETERS, size_t *bytes)
{
    const struct many many = MANY;
    const struct fft_shape shape = shape_of(&many);
    return estimate(&shape, bytes);
}

LIBRARY_EXPORT int cufftGetSizeMany(int handle, MANY_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cufftGetSizeMany(int handle, MANY_PARAMETERS, size_t *bytes)
{
    const struct many many = MANY;
    const struct fft_shape shape = shape_of(&many);
    return plan_of(handle) ? estimate(&shape, bytes) : FFT_INVALID_PLAN;
}

#define WIDE_PARAMETERS                                                                            \
    int rank, long long *sizes, long long *in, long long in_stride, long long in_distance,         \
        long long *out, long long out_stride, long long out_distance, int type, long long batches
#define WIDE                                                                                       \
    {                                                                                              \
        .rank = rank, .sizes = sizes, .embedded = {in, out}, .strides = {in_stride, out_stride},   \
        .distances = {in_distance, out_distance}, .batches = batches, .type = type, .wide = true   \
    }

LIBRARY_EXPORT int cufftMakePlanMany64(int handle, WIDE_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cufftMakePlanMany64(int handle, WIDE_PARAMETERS, size_t *bytes)
{
    const struct many many = WIDE;
    const struct fft_shape shape = shape_of(&many);
    return make(handle, &shape, bytes);
}

LIBRARY_EXPORT int cufftGetSizeMany64(int handle, WIDE_PARAMETERS, size_t *bytes);
LIBRARY_EXPORT int cufftGetSizeMany64(int handle, WIDE_PARAMETERS, size_t *bytes)
{
    const struct many many = WIDE;
    const struct fft_shape shape = shape_of(&many);
    return plan_of(handle) ? estimate(&shape, bytes) : FFT_INVALID_PLAN;
}

/* cudaDataType of both sides into a cufftType; 0: there is none. */
static int type_of(int input, int output)
{
    static const struct {
        int input, output, type;
    } types[] = {{4, 4, FFT_C2C},
                 {0, 4, FFT_R2C},
                 {4, 0, FFT_C2R},
                 {5, 5, FFT_C2C | FFT_DOUBLE},
                 {1, 5, FFT_R2C | FFT_DOUBLE},
                 {5, 1, FFT_C2R | FFT_DOUBLE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].input == input && types[i].output == output)
            return types[i].type;
    return 0;
}

#define XT_PARAMETERS                                                                              \
    int rank, long long *sizes, long long *in, long long in_stride, long long in_distance,         \
        int in_type, long long *out, long long out_stride, long long out_distance, int out_type,   \
        long long batches

/* FFT_NOT_SUPPORTED, and a line says it, for halves. */
static int xt_type(int in_type, int out_type, int *type)
{
    *type = type_of(in_type, out_type);
    if (!*type)
        library_lacks("a transform of cuFFT with other types than float and double");
    return *type ? FFT_SUCCESS : FFT_NOT_SUPPORTED;
}

LIBRARY_EXPORT int cufftXtMakePlanMany(int handle, XT_PARAMETERS, size_t *bytes, int execution);
LIBRARY_EXPORT int cufftXtMakePlanMany(int handle, XT_PARAMETERS, size_t *bytes, int execution)
{
    int type;
    (void)execution;
    const int status = xt_type(in_type, out_type, &type);
    return status ? status
                  : cufftMakePlanMany64(handle, rank, sizes, in, in_stride, in_distance, out,
                                        out_stride, out_distance, type, batches, bytes);
}

LIBRARY_EXPORT int cufftXtGetSizeMany(int handle, XT_PARAMETERS, size_t *bytes, int execution);
LIBRARY_EXPORT int cufftXtGetSizeMany(int handle, XT_PARAMETERS, size_t *bytes, int execution)
{
    int type;
    (void)execution;
    const int status = xt_type(in_type, out_type, &type);
    return status ? status
                  : cufftGetSizeMany64(handle, rank, sizes, in, in_stride, in_distance, out,
                                       out_stride, out_distance, type, batches, bytes);
}

/* ---- Settings ---- */

LIBRARY_EXPORT int cufftGetSize(int handle, size_t *bytes);
LIBRARY_EXPORT int cufftGetSize(int handle, size_t *bytes)
{
    const struct plan *plan = plan_of(handle);
    if (!plan)
        return FFT_INVALID_PLAN;
    *bytes = plan->work_bytes;
    return FFT_SUCCESS;
}

LIBRARY_EXPORT int cufftSetStream(int handle, library_stream stream);
LIBRARY_EXPORT int cufftSetStream(int handle, library_stream stream)
{
    struct plan *plan = plan_of(handle);
    if (plan)
        plan->stream = stream;
    return plan ? FFT_SUCCESS : FFT_INVALID_PLAN;
}

LIBRARY_EXPORT int cufftSetAutoAllocation(int handle, int on);
LIBRARY_EXPORT int cufftSetAutoAllocation(int handle, int on)
{
    struct plan *plan = plan_of(handle);
    if (plan)
        plan->allocates = on != 0;
    return plan ? FFT_SUCCESS : FFT_INVALID_PLAN;
}

/* "This function overrides the work area of the plan": its own is freed. */
LIBRARY_EXPORT int cufftSetWorkArea(int handle, void *area);
LIBRARY_EXPORT int cufftSetWorkArea(int handle, void *area)
{
    struct plan *plan = plan_of(handle);
    (void)area;
    if (!plan)
        return FFT_INVALID_PLAN;
    library_free(plan->work);
    plan->work = 0;
    return FFT_SUCCESS;
}

LIBRARY_EXPORT int cufftGetVersion(int *version);
LIBRARY_EXPORT int cufftGetVersion(int *version)
{
    if (!version)
        return FFT_INVALID_VALUE;
    *version = library_major * 1000;
    return FFT_SUCCESS;
}

LIBRARY_EXPORT int cufftGetProperty(int type, int *value);
LIBRARY_EXPORT int cufftGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return FFT_INVALID_VALUE;
    *value = type == 0 ? library_major : 0;
    return FFT_SUCCESS;
}

/* ---- Transforms ---- */

static int run(int handle, const void *input, void *output, int type, int direction)
{
    const struct plan *plan = plan_of(handle);
    if (!plan || !plan->made || (type && plan->shape.type != type))
        return FFT_INVALID_PLAN;
    if (!input || !output || (direction != -1 && direction != 1))
        return FFT_INVALID_VALUE;
    return fft_launch(&plan->shape, (uintptr_t)input, (uintptr_t)output, direction, plan->stream);
}

LIBRARY_EXPORT int cufftExecC2C(int handle, void *input, void *output, int direction);
LIBRARY_EXPORT int cufftExecC2C(int handle, void *input, void *output, int direction)
{
    return run(handle, input, output, FFT_C2C, direction);
}
LIBRARY_EXPORT int cufftExecZ2Z(int handle, void *input, void *output, int direction);
LIBRARY_EXPORT int cufftExecZ2Z(int handle, void *input, void *output, int direction)
{
    return run(handle, input, output, FFT_C2C | FFT_DOUBLE, direction);
}
LIBRARY_EXPORT int cufftExecR2C(int handle, void *input, void *output);
LIBRARY_EXPORT int cufftExecR2C(int handle, void *input, void *output)
{
    return run(handle, input, output, FFT_R2C, -1);
}
LIBRARY_EXPORT int cufftExecD2Z(int handle, void *input, void *output);
LIBRARY_EXPORT int cufftExecD2Z(int handle, void *input, void *output)
{
    return run(handle, input, output, FFT_R2C | FFT_DOUBLE, -1);
}
LIBRARY_EXPORT int cufftExecC2R(int handle, void *input, void *output);
LIBRARY_EXPORT int cufftExecC2R(int handle, void *input, void *output)
{
    return run(handle, input, output, FFT_C2R, 1);
}
LIBRARY_EXPORT int cufftExecZ2D(int handle, void *input, void *output);
LIBRARY_EXPORT int cufftExecZ2D(int handle, void *input, void *output)
{
    return run(handle, input, output, FFT_C2R | FFT_DOUBLE, 1);
}
LIBRARY_EXPORT int cufftXtExec(int handle, void *input, void *output, int direction);
LIBRARY_EXPORT int cufftXtExec(int handle, void *input, void *output, int direction)
{
    return run(handle, input, output, 0, direction);
}
