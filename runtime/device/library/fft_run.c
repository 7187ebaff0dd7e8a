/* The transforms of cuFFT, by FFTW's guru interface. A plan is made when a transform of its
 * shape first runs, and kept for the next ones. It is made by estimate, which does not touch the
 * data. */
#include "runtime/device/library/cpu.h"
#include "runtime/device/library/fft.h"

enum { FFTW_DESTROY_INPUT = 1, FFTW_PRESERVE_INPUT = 16, FFTW_ESTIMATE = 64 };
enum { KEPT = 32 };

struct fft_job {
    struct fft_shape shape;
    int direction;
    uint64_t input, output;
};

/* fftw_iodim64 */
struct dimension {
    ptrdiff_t count, in, out;
};

struct request {
    int rank;
    struct dimension dimensions[FFT_RANK_MAX], batches;
    int kind, direction, is_double, in_place, alignments[2];
};

/* FFTW's functions of one precision. A plan is fftw_plan. */
typedef void *plan_c2c(int, const struct dimension *, int, const struct dimension *, void *, void *,
                       int, unsigned);
typedef void *plan_real(int, const struct dimension *, int, const struct dimension *, void *,
                        void *, unsigned);
typedef void execute(const void *, void *, void *);
struct functions {
    plan_c2c *c2c;
    plan_real *r2c, *c2r;
    execute *run_c2c, *run_r2c, *run_c2r;
    void (*destroy)(void *);
    int (*alignment)(void *);
};

/* Used by native kernels alone, which run one at a time. */
static struct {
    struct {
        struct request request;
        void *plan;
    } kept[KEPT];
    unsigned next;
} cache;

static struct functions functions_of(bool is_double)
{
    const enum cpu_library library = is_double ? CPU_FFTW : CPU_FFTW_SINGLE;
    struct functions found;
    const struct {
        const char *names[2];
        void *to;
    } wanted[] = {
        {{"fftwf_plan_guru64_dft", "fftw_plan_guru64_dft"}, &found.c2c},
        {{"fftwf_plan_guru64_dft_r2c", "fftw_plan_guru64_dft_r2c"}, &found.r2c},
        {{"fftwf_plan_guru64_dft_c2r", "fftw_plan_guru64_dft_c2r"}, &found.c2r},
        {{"fftwf_execute_dft", "fftw_execute_dft"}, &found.run_c2c},
        {{"fftwf_execute_dft_r2c", "fftw_execute_dft_r2c"}, &found.run_r2c},
        {{"fftwf_execute_dft_c2r", "fftw_execute_dft_c2r"}, &found.run_c2r},
        {{"fftwf_destroy_plan", "fftw_destroy_plan"}, &found.destroy},
        {{"fftwf_alignment_of", "fftw_alignment_of"}, &found.alignment},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        *(void **)wanted[i].to = cpu_function(library, wanted[i].names[is_double]);
    return found;
}

/* ---- Shapes ---- */

/* Numbers of elements and steps of one side, and the bytes from its first to its last. As in
 * runtime/hook/library/fft.c: half a row of complex numbers stands for the whole of a real one,
 * which in place has room for it (cuFFT documentation, "Data Layout"). */
struct steps {
    int64_t counts[FFT_RANK_MAX], strides[FFT_RANK_MAX], distance;
    uint64_t span;
};

static struct steps steps_of(const struct fft_shape *shape, bool output, bool in_place)
{
    const struct fft_side *side = output ? &shape->output : &shape->input;
    const int kind = fft_kind(shape), last = shape->rank - 1;
    const bool is_complex = kind == FFT_C2C || (kind == FFT_R2C) == output;
    const bool half = is_complex && kind != FFT_C2C, padded = !is_complex && in_place;
    const int64_t bytes = (fft_is_double(shape) ? 8 : 4) * (is_complex ? 2 : 1);
    struct steps steps;
    int64_t stride = side->basic ? 1 : side->stride, reach = 0;
    for (int i = last; i >= 0; i--) {
        const int64_t row = shape->sizes[i] / 2 + 1;
        steps.counts[i] = half && i == last ? row : shape->sizes[i];
        steps.strides[i] = stride;
        reach += (steps.counts[i] - 1) * stride;
        stride *= !side->basic          ? side->embedded[i]
                  : padded && i == last ? 2 * row
                                        : steps.counts[i];
    }
    steps.distance = side->basic ? stride : side->distance;
    reach += (shape->batches - 1) * steps.distance;
    steps.span = (uint64_t)(reach + 1) * (uint64_t)bytes;
    return steps;
}

static struct request request_of(const struct fft_job *job, const struct steps *in,
                                 const struct steps *out)
{
    struct request request = {.rank = job->shape.rank};
    for (int i = 0; i < request.rank; i++)
        request.dimensions[i] =
            (struct dimension){job->shape.sizes[i], in->strides[i], out->strides[i]};
    request.batches = (struct dimension){job->shape.batches, in->distance, out->distance};
    request.kind = fft_kind(&job->shape);
    request.direction = job->direction;
    request.is_double = fft_is_double(&job->shape);
    request.in_place = job->input == job->output;
    return request;
}

/* ---- Plans of FFTW ---- */

static void *plan_make(const struct functions *fftw, const struct request *request, void *in,
                       void *out)
{
    const struct dimension *dimensions = request->dimensions, *batches = &request->batches;
    /* cufftExecC2R may leave anything in an input of several dimensions. */
    const unsigned keeps = request->rank == 1 ? FFTW_PRESERVE_INPUT : FFTW_DESTROY_INPUT;
    switch (request->kind) {
    case FFT_R2C:
        return fftw->r2c(request->rank, dimensions, 1, batches, in, out,
                         FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    case FFT_C2R:
        return fftw->c2r(request->rank, dimensions, 1, batches, in, out, FFTW_ESTIMATE | keeps);
    default:
        return fftw->c2c(request->rank, dimensions, 1, batches, in, out, request->direction,
                         FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    }
}

static bool are_alike(const struct dimension *a, const struct dimension *b)
{
    return a->count == b->count && a->in == b->in && a->out == b->out;
}

static bool asks_the_same(const struct request *a, const struct request *b)
{
    bool same = a->rank == b->rank && are_alike(&a->batches, &b->batches) && a->kind == b->kind &&
                a->direction == b->direction && a->is_double == b->is_double &&
                a->in_place == b->in_place && a->alignments[0] == b->alignments[0] &&
                a->alignments[1] == b->alignments[1];
    for (int i = 0; same && i < a->rank; i++)
        same = are_alike(&a->dimensions[i], &b->dimensions[i]);
    return same;
}

static void *plan_find(const struct functions *fftw, const struct request *request, void *in,
                       void *out)
{
    for (unsigned i = 0; i < KEPT; i++)
        if (cache.kept[i].plan && asks_the_same(&cache.kept[i].request, request))
            return cache.kept[i].plan;
    void *plan = plan_make(fftw, request, in, out);
    if (!plan)
        return NULL;
    const unsigned place = cache.next++ % KEPT;
    if (cache.kept[place].plan) {
        const struct functions old = functions_of(cache.kept[place].request.is_double);
        old.destroy(cache.kept[place].plan);
    }
    cache.kept[place].request = *request;
    cache.kept[place].plan = plan;
    return plan;
}

static void run_transform(struct device_native *native, const void *data)
{
    const struct fft_job *job = data;
    const bool in_place = job->input == job->output;
    const struct steps in = steps_of(&job->shape, false, in_place);
    const struct steps out = steps_of(&job->shape, true, in_place);
    const struct functions fftw = functions_of(fft_is_double(&job->shape));
    void *from = device_native_memory(native, job->input, in.span, DEVICE_NATIVE_READ);
    void *to = device_native_memory(native, job->output, out.span, DEVICE_NATIVE_WRITE);
    if (!from || !to)
        return;
    struct request request = request_of(job, &in, &out);
    request.alignments[0] = fftw.alignment(from);
    request.alignments[1] = fftw.alignment(to);
    void *plan = plan_find(&fftw, &request, from, to);
    if (!plan)
        library_lacks("a transform of cuFFT in this layout");
    else if (request.kind == FFT_C2C)
        fftw.run_c2c(plan, from, to);
    else if (request.kind == FFT_R2C)
        fftw.run_r2c(plan, from, to);
    else
        fftw.run_c2r(plan, from, to);
}

int fft_launch(const struct fft_shape *shape, uint64_t input, uint64_t output, int direction,
               library_stream stream)
{
    static struct library_kernel kernels[] = {
        {.name = "cufftExecC2C", .run = run_transform},
        {.name = "cufftExecR2C", .run = run_transform},
        {.name = "cufftExecC2R", .run = run_transform},
        {.name = "cufftExecZ2Z", .run = run_transform},
        {.name = "cufftExecD2Z", .run = run_transform},
        {.name = "cufftExecZ2D", .run = run_transform},
    };
    const int kind = fft_kind(shape) == FFT_C2C ? 0 : fft_kind(shape) == FFT_R2C ? 1 : 2;
    const struct fft_job job = {*shape, direction, input, output};
    return library_launch(&kernels[kind + (fft_is_double(shape) ? 3 : 0)], stream, &job, sizeof job)
               ? FFT_SUCCESS
               : FFT_EXEC_FAILED;
}
