/* Learning the training step of a small network (8 layers of Linear, GELU, LayerNorm; SGD with
 * momentum) in the segments of PyTorch's caching allocator, which are all that is known of memory:
 * tensors lie side by side in blocks of 2 MiB, where they lie is another's in the next layer, and
 * the same in the next step, or not. Kernels have pointers that they never follow: a matrix to add
 * that is the output, a workspace, and in tables of pointers what the stack held before. */
#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/learner.h"

#include <stdio.h>

enum {
    LAYERS = 8,
    STEPS = 40,
    SEGMENTS = 32,
    SEGMENT_BYTES = 2 << 20,
    ROUND = 512,
    SLOTS = SEGMENT_BYTES / ROUND,
    WIDTH = 256,
    BATCH = 64,
    WEIGHT_BYTES = WIDTH * WIDTH * 4,
    ACT_BYTES = BATCH * WIDTH * 4,
    ROW_BYTES = WIDTH * 4,
    STAT_BYTES = BATCH * 4,
    TENSORS = 4 * LAYERS,
    TABLE = 40 /* pointers of each list in a table */
};

#define SEGMENT   UINT64_C(0x7f0000000000)
#define WORKSPACE UINT64_C(0x7e0000000000)

enum kernel_name {
    GEMM,
    GELU,
    GELU_BACK,
    NORM,
    NORM_BACK,
    NORM_SUMS,
    SUM,
    MEAN,
    POWER,
    FOREACH,
    NAMES
};
static const char *const names[NAMES] = {"gemm",      "gelu", "gelu_back", "norm",  "norm_back",
                                         "norm_sums", "sum",  "mean",      "power", "foreach"};

static struct world world;
static struct learner *learner;
static struct learned_kernel *kernels[NAMES];
static uint64_t seed;
static bool wanders; /* other allocations come and go between */
static int step;
static uint16_t used[SEGMENTS][SLOTS]; /* by a tensor of so many slots; 0: free */
static uint64_t stale[TABLE * 3];
static struct {
    size_t of[NAMES], known[NAMES], bounded[NAMES], traced[NAMES], late, late_known;
} counts;

/* ---- The caching allocator: best fit among what is free, in segments by size ---- */

static uint64_t allocate(uint64_t bytes)
{
    size_t slots = (bytes + ROUND - 1) / ROUND, best = SLOTS + 1, segment = 0, from = 0;
    for (size_t s = 0; s < SEGMENTS; s++)
        for (size_t i = 0, end; i < SLOTS; i = end) {
            for (end = i; end < SLOTS && !used[s][end]; end++)
                ;
            if (end - i >= slots && end - i < best)
                best = end - i, segment = s, from = i;
            end += end == i;
        }
    assert_true(best <= SLOTS);
    for (size_t i = 0; i < slots; i++)
        used[segment][from + i] = (uint16_t)slots;
    return SEGMENT + segment * SEGMENT_BYTES + from * ROUND;
}

static void release(uint64_t address)
{
    size_t at = (address - SEGMENT) / ROUND;
    uint16_t *slot = &used[at / SLOTS][at % SLOTS];
    memset(slot, 0, *slot * sizeof *slot);
}

/* ---- Launches ---- */

static void check(int name, const struct learn_reply *reply)
{
    struct learned_set *truth = world_set(&world);
    bool right = reply->set->count == truth->count;
    for (uint32_t i = 0; right && i < truth->count; i++)
        right = learned_range_equal(&truth->ranges[i], &reply->set->ranges[i]);
    static uint8_t wanted[SEGMENT_BYTES], marked[SEGMENT_BYTES];
    for (uint64_t s = 0; !right && s < SEGMENTS; s++) {
        memset(wanted, 0, sizeof wanted);
        memset(marked, 0, sizeof marked);
        world_mark(&world, truth, SEGMENT + s * SEGMENT_BYTES, wanted, SEGMENT_BYTES);
        world_mark(&world, reply->set, SEGMENT + s * SEGMENT_BYTES, marked, SEGMENT_BYTES);
        if (memcmp(wanted, marked, sizeof marked) != 0)
            fail_msg("%s is wrong in step %d", names[name], step);
    }
    learned_set_release(truth);
}

static void launch(int name, uint32_t grid)
{
    struct launch_key key;
    struct learn_reply reply;
    world.launch.grid[0] = grid;
    world_anchors(&world);
    assert_true(launch_key_make(&key, &world.launch));
    learner_ask(learner, kernels[name], &key, &world.launch, world_find, &world, &reply);
    counts.of[name]++;
    counts.traced[name] += reply.trace;
    counts.known[name] += reply.answer == LEARN_KNOWN;
    counts.bounded[name] += reply.answer == LEARN_BOUNDED || reply.answer == LEARN_UNKNOWN;
    counts.late += step >= 10;
    counts.late_known += step >= 10 && reply.answer == LEARN_KNOWN;
    if (reply.answer == LEARN_KNOWN)
        check(name, &reply);
    learned_set_release(reply.set);
    if (reply.trace) {
        struct learned_set *set = world_set(&world);
        learner_take_trace(learner, kernels[name], &key, &world.launch, set);
        learned_set_release(set);
    }
    launch_key_release(&key);
}

static void reads(uint64_t address, uint64_t bytes)
{
    world_pointer(&world, address);
    world_touch(&world, DEVICE_TRACE_READ, address, bytes);
}

static void writes(uint64_t address, uint64_t bytes)
{
    world_pointer(&world, address);
    world_touch(&world, DEVICE_TRACE_WRITE, address, bytes);
}

/* d = a * b; with another matrix to add (the output) that is not read, and a workspace. */
static void gemm(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes, uint64_t d,
                 uint64_t d_bytes, uint64_t bias)
{
    world_begin(&world);
    world_number(&world, WIDTH);
    reads(a, a_bytes);
    reads(b, b_bytes);
    world_pointer(&world, d);
    writes(d, d_bytes);
    world_pointer(&world, WORKSPACE);
    if (bias)
        reads(bias, ROW_BYTES);
    else
        world_pointer(&world, 0);
    launch(GEMM, (uint32_t)(d_bytes / 4096));
}

static void elementwise(int name, uint64_t out, uint64_t a, uint64_t b, uint64_t bytes)
{
    world_begin(&world);
    world_number(&world, (uint32_t)(bytes / 4));
    world_number(&world, (uint32_t)world_random(&seed)); /* a functor without members */
    writes(out, bytes);
    reads(a, bytes);
    if (b)
        reads(b, bytes);
    launch(name, (uint32_t)(bytes / 2048));
}

static void reduce(int name, uint64_t out, uint64_t out_bytes, uint64_t in, uint64_t bytes)
{
    world_begin(&world);
    reads(in, bytes);
    writes(out, out_bytes);
    for (int i = 0; i < 6; i++) /* strides of dimensions there are not */
        world_number(&world, (uint32_t)world_random(&seed));
    launch(name, (uint32_t)(out_bytes / 128 + 1));
}

/* lists[0] is updated by the others; what is behind the tensors is whatever the stack held. */
static void foreach (uint64_t (*lists)[TENSORS], int count)
{
    world_begin(&world);
    for (int l = 0; l < count; l++)
        for (int i = 0; i < TABLE; i++)
            if (i < TENSORS)
                stale[l * TABLE + i] = lists[l][i];
    for (int i = 0; i < count * TABLE; i++)
        world_pointer(&world, stale[i]);
    for (int i = 0; i < TENSORS; i++)
        for (int l = 0; l < count; l++) {
            uint64_t bytes = i % 4 ? ROW_BYTES : WEIGHT_BYTES;
            world_touch(&world, DEVICE_TRACE_READ, lists[l][i], bytes);
            if (!l)
                world_touch(&world, DEVICE_TRACE_WRITE, lists[l][i], bytes);
        }
    launch(FOREACH, (uint32_t)count);
}

/* ---- A step ---- */

struct model {
    uint64_t parameters[TENSORS], moments[TENSORS], gradients[TENSORS], data;
};

struct layer {
    uint64_t in, linear, act, mean, rstd, out;
};

static uint64_t wander(void)
{
    return wanders ? allocate(ROUND * (1 + world_below(&seed, 200))) : 0;
}

static void forward(const struct model *model, struct layer *layer, int at, uint64_t in)
{
    const uint64_t *p = &model->parameters[4 * at];
    layer->in = in;
    layer->linear = allocate(ACT_BYTES);
    gemm(p[0], WEIGHT_BYTES, in, ACT_BYTES, layer->linear, ACT_BYTES, p[1]);
    layer->act = allocate(ACT_BYTES);
    elementwise(GELU, layer->act, layer->linear, 0, ACT_BYTES);
    layer->out = allocate(ACT_BYTES);
    layer->mean = allocate(STAT_BYTES);
    layer->rstd = allocate(STAT_BYTES);
    world_begin(&world);
    reads(layer->act, ACT_BYTES);
    reads(p[2], ROW_BYTES);
    reads(p[3], ROW_BYTES);
    writes(layer->mean, STAT_BYTES);
    writes(layer->rstd, STAT_BYTES);
    writes(layer->out, ACT_BYTES);
    launch(NORM, BATCH);
}

static void norm_back(const struct layer *layer, uint64_t gamma, uint64_t grad, uint64_t to,
                      uint64_t sums, uint64_t other)
{
    for (int k = 0; k < 2; k++) {
        world_begin(&world);
        reads(grad, ACT_BYTES);
        reads(layer->act, ACT_BYTES);
        reads(layer->mean, STAT_BYTES);
        reads(layer->rstd, STAT_BYTES);
        if (k) {
            writes(sums, ROW_BYTES);
            writes(other, ROW_BYTES);
        } else {
            reads(gamma, ROW_BYTES);
            writes(to, ACT_BYTES);
        }
        launch(k ? NORM_SUMS : NORM_BACK, BATCH);
    }
}

static uint64_t backward(struct model *model, const struct layer *layer, int at, uint64_t grad)
{
    uint64_t *g = &model->gradients[4 * at], to = allocate(ACT_BYTES), extra = wander();
    g[2] = allocate(ROW_BYTES);
    g[3] = allocate(ROW_BYTES);
    norm_back(layer, model->parameters[4 * at + 2], grad, to, g[2], g[3]);
    release(grad);
    release(layer->mean);
    release(layer->rstd);
    uint64_t linear = allocate(ACT_BYTES);
    elementwise(GELU_BACK, linear, to, layer->linear, ACT_BYTES);
    release(to);
    release(layer->act);
    release(layer->linear);
    to = at ? allocate(ACT_BYTES) : 0;
    if (to)
        gemm(model->parameters[4 * at], WEIGHT_BYTES, linear, ACT_BYTES, to, ACT_BYTES, 0);
    g[0] = allocate(WEIGHT_BYTES);
    gemm(layer->in, ACT_BYTES, linear, ACT_BYTES, g[0], WEIGHT_BYTES, 0);
    g[1] = allocate(ROW_BYTES);
    reduce(SUM, g[1], ROW_BYTES, linear, ACT_BYTES);
    release(linear);
    if (at)
        release(layer->in);
    if (extra)
        release(extra);
    return to;
}

static void optimize(struct model *model)
{
    uint64_t lists[2][TENSORS];
    memcpy(lists[0], model->moments, sizeof lists[0]);
    foreach (lists, 1)
        ;
    memcpy(lists[1], model->gradients, sizeof lists[1]);
    foreach (lists, 2)
        ;
    memcpy(lists[0], model->parameters, sizeof lists[0]);
    memcpy(lists[1], model->moments, sizeof lists[1]);
    foreach (lists, 2)
        ;
}

static void run_step(struct model *model)
{
    struct layer layers[LAYERS];
    uint64_t in = model->data;
    for (int i = 0; step && i < TENSORS; i++)
        release(model->gradients[i]);
    for (int i = 0; i < LAYERS; i++) {
        forward(model, &layers[i], i, in);
        in = layers[i].out;
    }
    uint64_t square = allocate(ACT_BYTES), loss = allocate(4), grad;
    elementwise(POWER, square, in, 0, ACT_BYTES);
    reduce(MEAN, loss, 4, square, ACT_BYTES);
    grad = allocate(ACT_BYTES);
    elementwise(POWER, grad, square, in, ACT_BYTES);
    elementwise(POWER, grad, grad, 0, ACT_BYTES);
    release(square);
    release(in);
    for (int i = LAYERS - 1; i >= 0; i--)
        grad = backward(model, &layers[i], i, grad);
    release(loss);
    optimize(model);
}

static void train(bool moving)
{
    struct model model;
    memset(&counts, 0, sizeof counts);
    memset(used, 0, sizeof used);
    memset(stale, 0, sizeof stale);
    seed = 0x9e3779b97f4a7c15u;
    wanders = moving;
    world.block_count = 0;
    for (uint64_t s = 0; s < SEGMENTS; s++)
        world_block(&world, SEGMENT + s * SEGMENT_BYTES, SEGMENT_BYTES);
    world_block(&world, WORKSPACE, 8 << 20);
    learner = learner_create(&(struct learner_options){.launches = 2, .values = 4});
    for (int i = 0; i < NAMES; i++)
        kernels[i] = learner_kernel(learner, (struct learn_image){{1, 2}}, names[i]);
    for (int i = 0; i < TENSORS; i++)
        model.parameters[i] = allocate(i % 4 ? ROW_BYTES : WEIGHT_BYTES);
    for (int i = 0; i < TENSORS; i++)
        model.moments[i] = allocate(i % 4 ? ROW_BYTES : WEIGHT_BYTES);
    model.data = allocate(ACT_BYTES);
    for (step = 0; step < STEPS; step++)
        run_step(&model);
    learner_destroy(learner);
    print_message("%s: known from step 10 on %zu of %zu:", wanders ? "wandering" : "settled",
                  counts.late_known, counts.late);
    for (int i = 0; i < NAMES; i++)
        print_message(" %s %zu/%zu/%zu of %zu", names[i], counts.traced[i], counts.known[i],
                      counts.bounded[i], counts.of[i]);
    print_message("\n");
}

static void nothing_is_bounded(bool moving)
{
    train(moving);
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(counts.bounded[i], 0);
    assert_true(counts.late_known * 100 >= counts.late * 97);
}

static void tensors_come_to_where_they_were(void **state)
{
    (void)state;
    nothing_is_bounded(false);
}

static void tensors_come_elsewhere(void **state)
{
    (void)state;
    nothing_is_bounded(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_come_to_where_they_were),
        cmocka_unit_test(tensors_come_elsewhere),
    };
    return cmocka_run_group_tests_name("learn_segments", tests, NULL, NULL);
}
