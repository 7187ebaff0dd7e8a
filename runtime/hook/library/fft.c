/* cuFFT: what a plan says of the data that it transforms. No function of the library returns it
 * later, so it is kept here from the plan's making to its destruction.
 *
 * Element (x0, x1, x2) of transform b lies at b * distance + ((x0 * e1 + x1) * e2 + x2) * stride,
 * where e are the sizes that the data is embedded in (cuFFT documentation, "Advanced Data Layout").
 * The last dimension of the complex side of a real transform has n / 2 + 1 elements. In the basic
 * layout data are embedded in their own sizes, and where a real transform is in place, the rows of
 * the real side in those of the complex one ("Data Layout"). */
#include "runtime/hook/library/touch.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { RANK_MAX = 3 };

/* cufftType: a digit for the kind of elements of either side. */
enum {
    TYPE_R2C = 0x2a,
    TYPE_C2R = 0x2c,
    TYPE_C2C = 0x29,
    TYPE_D2Z = 0x6a,
    TYPE_Z2D = 0x6c,
    TYPE_Z2Z = 0x69
};

/* One side of a transform's data. */
struct layout {
    struct touch_type type;
    bool basic;
    int64_t embedded[RANK_MAX], stride, distance; /* unless it is basic */
};

struct plan {
    int64_t handle;
    int rank; /* 0: made in a way that is not known */
    int64_t sizes[RANK_MAX], batches;
    struct layout input, output;
    uint64_t given;            /* work area, from cufftSetWorkArea */
    uint64_t work, work_bytes; /* the largest piece of memory that its making got */
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex;
    struct plan *plans;
} fft = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- The plans ---- */

/* The plan's own record, made anew if need be; with the mutex. NULL when memory is short. */
static struct plan *plan_of(int64_t handle)
{
    struct plan *plan = NULL;
    HASH_FIND(hh, fft.plans, &handle, sizeof handle, plan);
    if (plan || !(plan = calloc(1, sizeof *plan)))
        return plan;
    plan->handle = handle;
    HASH_ADD(hh, fft.plans, handle, sizeof plan->handle, plan);
    if (plan->hh.tbl)
        return plan;
    free(plan);
    return NULL;
}

static void plan_made(const struct touch *call, int64_t handle, const struct plan *what)
{
    lock_order_take(LOCK_FFT_PLANS, &fft.mutex);
    struct plan *plan = plan_of(handle);
    if (plan) {
        plan->rank = what->rank >= 1 && what->rank <= RANK_MAX ? what->rank : 0;
        for (int i = 0; i < plan->rank; i++)
            plan->sizes[i] = what->sizes[i];
        plan->batches = what->batches;
        plan->input = what->input;
        plan->output = what->output;
        plan->work = call->made;
        plan->work_bytes = call->made_bytes;
    }
    lock_order_give(LOCK_FFT_PLANS, &fft.mutex);
}

static bool plan_find(int64_t handle, struct plan *to)
{
    struct plan *plan = NULL;
    lock_order_take(LOCK_FFT_PLANS, &fft.mutex);
    HASH_FIND(hh, fft.plans, &handle, sizeof handle, plan);
    if (plan)
        *to = *plan;
    lock_order_give(LOCK_FFT_PLANS, &fft.mutex);
    return plan && to->rank > 0;
}

static bool is_complex(const struct layout *layout)
{
    return layout->type.bytes > layout->type.part;
}

static void types_set(struct plan *plan, int64_t type)
{
    uint32_t part = type >= 0x60 ? 8 : 4;
    bool from_real = type == TYPE_R2C || type == TYPE_D2Z;
    bool to_real = type == TYPE_C2R || type == TYPE_Z2D;
    plan->input.type = (struct touch_type){from_real ? part : 2 * part, part, false};
    plan->output.type = (struct touch_type){to_real ? part : 2 * part, part, false};
}

/* ---- After the calls that make plans ---- */

/* The handle: an argument, or what the call put where its first argument points. */
static int64_t handle_of(const struct touch *call, bool created)
{
    return created ? *(const int *)(uintptr_t)touch_argument_pointer(call, 0)
                   : touch_argument_integer(call, 0);
}

static void made_basic(const struct touch *call, int result, bool created, int rank)
{
    if (result != 0)
        return;
    struct plan plan = {.rank = rank, .batches = 1, .input.basic = true, .output.basic = true};
    for (int i = 0; i < rank; i++)
        plan.sizes[i] = touch_argument_integer(call, 1 + (unsigned)i);
    types_set(&plan, touch_argument_integer(call, 1 + (unsigned)rank));
    if (rank == 1)
        plan.batches = touch_argument_integer(call, 3);
    plan_made(call, handle_of(call, created), &plan);
}

void fft_plan_1d(struct touch *call, int result)
{
    made_basic(call, result, true, 1);
}
void fft_plan_2d(struct touch *call, int result)
{
    made_basic(call, result, true, 2);
}
void fft_plan_3d(struct touch *call, int result)
{
    made_basic(call, result, true, 3);
}
void fft_make_plan_1d(struct touch *call, int result)
{
    made_basic(call, result, false, 1);
}
void fft_make_plan_2d(struct touch *call, int result)
{
    made_basic(call, result, false, 2);
}
void fft_make_plan_3d(struct touch *call, int result)
{
    made_basic(call, result, false, 3);
}

/* An array of the program's, of int or long long. */
static int64_t number_at(uint64_t array, bool wide, int place)
{
    return wide ? ((const long long *)(uintptr_t)array)[place]
                : ((const int *)(uintptr_t)array)[place];
}

static void layout_set(struct layout *layout, uint64_t embedded, bool wide, int rank,
                       int64_t stride, int64_t distance)
{
    layout->basic = !embedded;
    layout->stride = stride;
    layout->distance = distance;
    for (int i = 0; embedded && i < rank && i < RANK_MAX; i++)
        layout->embedded[i] = number_at(embedded, wide, i);
}

/* The sizes and layouts of the many forms, whose arguments come in one order. `shift`: how many
 * places those of the output are further behind, and after them type or batch. */
static void sizes_set(const struct touch *call, struct plan *plan, bool wide, unsigned shift)
{
    int64_t (*number)(const struct touch *call, unsigned place) =
        wide ? touch_argument_long : touch_argument_integer;
    plan->rank = (int)touch_argument_integer(call, 1);
    for (int i = 0; i < plan->rank && i < RANK_MAX; i++)
        plan->sizes[i] = number_at(touch_argument_pointer(call, 2), wide, i);
    layout_set(&plan->input, touch_argument_pointer(call, 3), wide, plan->rank, number(call, 4),
               number(call, 5));
    layout_set(&plan->output, touch_argument_pointer(call, 6 + shift), wide, plan->rank,
               number(call, 7 + shift), number(call, 8 + shift));
    plan->batches = number(call, 10 + shift);
}

static void made_many(const struct touch *call, int result, bool created, bool wide)
{
    struct plan plan = {0};
    if (result != 0)
        return;
    sizes_set(call, &plan, wide, 0);
    types_set(&plan, touch_argument_integer(call, 9));
    plan_made(call, handle_of(call, created), &plan);
}

void fft_plan_many(struct touch *call, int result)
{
    made_many(call, result, true, false);
}
void fft_make_plan_many(struct touch *call, int result)
{
    made_many(call, result, false, false);
}
void fft_make_plan_many_64(struct touch *call, int result)
{
    made_many(call, result, false, true);
}

void fft_xt_make_plan_many(struct touch *call, int result)
{
    struct plan plan = {0};
    if (result != 0)
        return;
    sizes_set(call, &plan, true, 1);
    plan.input.type = touch_data(call, touch_argument_integer(call, 6));
    plan.output.type = touch_data(call, touch_argument_integer(call, 10));
    plan_made(call, touch_argument_integer(call, 0), &plan);
}

void fft_set_work_area(struct touch *call, int result)
{
    if (result != 0)
        return;
    lock_order_take(LOCK_FFT_PLANS, &fft.mutex);
    struct plan *plan = plan_of(touch_argument_integer(call, 0));
    if (plan)
        plan->given = touch_argument_pointer(call, 1);
    lock_order_give(LOCK_FFT_PLANS, &fft.mutex);
}

void fft_destroy(struct touch *call, int result)
{
    int64_t handle = touch_argument_integer(call, 0);
    struct plan *plan = NULL;
    if (result != 0)
        return;
    lock_order_take(LOCK_FFT_PLANS, &fft.mutex);
    HASH_FIND(hh, fft.plans, &handle, sizeof handle, plan);
    if (plan)
        HASH_DEL(fft.plans, plan);
    lock_order_give(LOCK_FFT_PLANS, &fft.mutex);
    free(plan);
}

/* ---- What a transform touches ---- */

/* One side. Half of a complex row stands for the whole where the other side is real. */
static void touch_side_of(struct touch *call, const struct plan *plan, const struct layout *layout,
                          const struct layout *other, uint64_t base, bool in_place)
{
    int last = plan->rank - 1;
    int64_t counts[RANK_MAX], embedded[RANK_MAX], stride = 1, distance = 1;
    bool half = is_complex(layout) && !is_complex(other);
    bool padded = !is_complex(layout) && is_complex(other) && in_place;
    for (int i = 0; i <= last; i++) {
        counts[i] = half && i == last ? plan->sizes[i] / 2 + 1 : plan->sizes[i];
        embedded[i] = padded && i == last ? 2 * (plan->sizes[i] / 2 + 1) : counts[i];
        distance *= embedded[i];
    }
    if (!layout->basic) {
        stride = layout->stride;
        distance = layout->distance;
        for (int i = 0; i <= last; i++)
            embedded[i] = layout->embedded[i];
    }
    struct csan_dim dims[RANK_MAX + 1];
    size_t count = 0;
    for (int i = last; i >= 0; i--) {
        dims[count++] = (struct csan_dim){stride * (int64_t)layout->type.bytes,
                                          counts[i] > 0 ? (uint64_t)counts[i] : 0};
        stride *= embedded[i];
    }
    dims[count++] = (struct csan_dim){distance * (int64_t)layout->type.bytes,
                                      plan->batches > 0 ? (uint64_t)plan->batches : 0};
    touch_add(call, base, layout->type.bytes, dims, count);
}

void touch_fft_input(struct touch *call, uint64_t input, uint64_t output, int64_t handle)
{
    struct plan plan;
    if (plan_find(handle, &plan))
        touch_side_of(call, &plan, &plan.input, &plan.output, input, input == output);
    else
        call->incomplete = true;
}

void touch_fft_output(struct touch *call, uint64_t output, uint64_t input, int64_t handle)
{
    struct plan plan;
    if (plan_find(handle, &plan))
        touch_side_of(call, &plan, &plan.output, &plan.input, output, input == output);
    else
        call->incomplete = true;
}

/* Out of place, complex to real, more than one dimension (cuFFT documentation, cufftExecC2R). */
void touch_fft_spoilt_input(struct touch *call, uint64_t input, uint64_t output, int64_t handle)
{
    struct plan plan;
    if (input == output || !plan_find(handle, &plan) || plan.rank < 2 || !is_complex(&plan.input) ||
        is_complex(&plan.output))
        return;
    call->bound = CSAN_BOUND_SHAPE;
    touch_side_of(call, &plan, &plan.input, &plan.output, input, false);
}

/* Plans have work areas of their own unless they were given some. A piece of memory that is smaller
 * than what the plan needs is none. */
void touch_fft_work_area(struct touch *call, int64_t handle)
{
    struct plan plan;
    size_t bytes = 0;
    if (!plan_find(handle, &plan) || !(plan.given || plan.work_bytes))
        return;
    int (*size_of)(int plan, size_t *bytes) =
        (int (*)(int, size_t *))library_ask(call->home, LIBRARY_WORK_BYTES);
    if (!size_of || size_of((int)handle, &bytes) != 0 || (!plan.given && plan.work_bytes < bytes))
        return;
    call->bound = CSAN_BOUND_SHAPE;
    touch_add(call, plan.given ? plan.given : plan.work, bytes, NULL, 0);
}
