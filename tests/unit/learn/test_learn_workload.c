/* Learning a training step as a caching allocator makes it: every step finds its tensors at other
 * places, in blocks of a declared pool or in one segment; in place and not; views; a scalar that
 * changes with each step; many pointers by value; and a gather whose indices change from a step on.
 * Each launch's answer is compared with the bytes it touches. */
#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/learner.h"

#include <stdio.h>

enum {
    SEGMENT_BYTES = 1 << 17,
    ROUND = 512,
    SLOTS = SEGMENT_BYTES / ROUND,
    STEPS = 60,
    RESTART = 15, /* after this step, another process goes on */
    LAYERS = 4,
    CHANGE = 10, /* the gather's indices change from this step on */
    DELAYED_MAX = 256
};

#define SEGMENT UINT64_C(0x7f0000000000)

enum kernel_name {
    LINEAR,
    GELU,
    NORM,
    MULTIPLY, /* by a scalar: in place and out of place */
    ADDCMUL,  /* a += value * b * c, in place, value changes with each step */
    SLICE,    /* copies a view into another */
    HALVES,   /* reads one half of a tensor, writes the other */
    BETWEEN,  /* from begin to end */
    MULTI,
    GATHER,
    NAMES
};

static const char *const names[NAMES] = {"linear", "gelu",   "norm",    "multiply", "addcmul",
                                         "slice",  "halves", "between", "multi",    "gather"};

/* A traced launch, until its trace is reported. */
struct delayed {
    int name;
    struct launch_key key;
    struct learn_launch launch;
    struct learn_anchor anchors[64];
    struct learned_set *set;
};

static struct world world;
static struct learner *learner;
static struct learned_kernel *kernels[NAMES];
static struct delayed delayed[DELAYED_MAX];
static size_t delayed_count;
static uint64_t seed;
static bool declared_pool, late;
static char directory[64]; /* "": nothing is kept, and nobody goes on */
static int step;
static bool used[SLOTS];
static struct {
    size_t launches, known, traced, late_launches, late_traced;
    size_t of[NAMES], traced_of[NAMES], known_of[NAMES];
    bool gather_found;
} counts;

/* ---- Memory ---- */

/* Its first fit from a random place on. */
static uint64_t allocate(uint64_t bytes)
{
    size_t slots = (bytes + ROUND - 1) / ROUND;
    for (size_t from = world_below(&seed, SLOTS), tries = 0; tries < SLOTS; tries++) {
        size_t at = (from + tries) % SLOTS, count = 0;
        while (count < slots && at + count < SLOTS && !used[at + count])
            count++;
        if (count < slots)
            continue;
        memset(used + at, 1, slots);
        if (declared_pool)
            world_block(&world, SEGMENT + at * ROUND, slots * ROUND);
        return SEGMENT + at * ROUND;
    }
    fail_msg("the segment is full");
    return 0;
}

static void release(uint64_t address, uint64_t bytes)
{
    memset(used + (address - SEGMENT) / ROUND, 0, (bytes + ROUND - 1) / ROUND);
    for (size_t i = 0; declared_pool && i < world.block_count; i++)
        if (world.blocks[i].start == address)
            world.blocks[i] = world.blocks[--world.block_count];
}

/* ---- Launches ---- */

static void mark_truth(uint8_t *marks)
{
    memset(marks, 0, SEGMENT_BYTES);
    for (size_t i = 0; i < world.trace.count; i++)
        for (uint64_t k = 0; k < world.ranges[i].bytes; k++)
            marks[world.ranges[i].address - SEGMENT + k] |= (uint8_t)(1u << world.ranges[i].kind);
}

static void check(int name, const struct learn_reply *reply)
{
    static uint8_t wanted[SEGMENT_BYTES], marked[SEGMENT_BYTES];
    mark_truth(wanted);
    memset(marked, 0, sizeof marked);
    world_mark(&world, reply->set, SEGMENT, marked, SEGMENT_BYTES);
    if (reply->answer == LEARN_KNOWN && (name != GATHER || step < CHANGE)) {
        if (memcmp(wanted, marked, sizeof marked) != 0)
            fail_msg("%s is wrong in step %d", names[name], step);
        return;
    }
    if (reply->answer == LEARN_KNOWN)
        return; /* not found out yet */
    assert_int_equal(name, GATHER);
    for (size_t i = 0; i < SEGMENT_BYTES; i++)
        assert_int_equal(wanted[i] & ~marked[i], 0);
    for (uint32_t i = 0; i < reply->set->count; i++) {
        const struct learned_range *range = &reply->set->ranges[i];
        if (range->kind == DEVICE_TRACE_WRITE)
            assert_false(range->whole);
        if (range->whole && declared_pool)
            assert_int_equal(range->anchor, 1); /* the table, not the indices */
    }
}

static void take_trace(struct delayed *taken)
{
    taken->launch.anchors = taken->anchors;
    taken->key.words = taken->key.room;
    learner_take_trace(learner, kernels[taken->name], &taken->key, &taken->launch, taken->set);
    learned_set_release(taken->set);
}

static void take_traces(void)
{
    for (size_t i = 0; i < delayed_count; i++)
        take_trace(&delayed[i]);
    delayed_count = 0;
}

static void take(int name, const struct launch_key *key)
{
    assert_true(delayed_count < DELAYED_MAX && world.launch.anchor_count <= 64);
    assert_ptr_equal(key->words, key->room);
    struct delayed *taken = &delayed[delayed_count++];
    taken->name = name;
    taken->key = *key;
    taken->launch = world.launch;
    memcpy(taken->anchors, world.anchors, world.launch.anchor_count * sizeof *world.anchors);
    taken->set = world_set(&world);
    if (!late)
        take_traces();
}

static void count(int name, const struct learn_reply *reply)
{
    bool exact = reply->answer == LEARN_KNOWN;
    counts.of[name]++;
    counts.traced_of[name] += reply->trace;
    counts.known_of[name] += exact;
    counts.launches += step >= CHANGE;
    counts.known += step >= CHANGE && exact;
    counts.late_launches += step >= 20;
    counts.late_traced += step >= 20 && reply->trace;
}

/* What world holds. */
static void launch(int name)
{
    struct launch_key key;
    struct learn_reply reply;
    world_anchors(&world);
    assert_true(launch_key_make(&key, &world.launch));
    learner_ask(learner, kernels[name], &key, &world.launch, world_find, &world, &reply);
    count(name, &reply);
    if (reply.set)
        check(name, &reply);
    if (name == GATHER && counts.gather_found)
        assert_int_equal(reply.answer, LEARN_BOUNDED);
    if (name == GATHER && step >= CHANGE && reply.trace && !late)
        counts.gather_found = true;
    learned_set_release(reply.set);
    if (reply.trace)
        take(name, &key);
    launch_key_release(&key);
}

static void number(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    world_number(&world, bits);
}

static void touch(uint32_t kind, uint64_t address, uint64_t bytes)
{
    world_touch(&world, kind, address, bytes);
}

static void reads(uint64_t address, uint64_t bytes)
{
    touch(DEVICE_TRACE_READ, address, bytes);
}

static void writes(uint64_t address, uint64_t bytes)
{
    touch(DEVICE_TRACE_WRITE, address, bytes);
}

/* out = f(in...), n floats each; pointers by value, with a scalar in front. */
static void elementwise(int name, uint32_t n, float value, uint64_t out, const uint64_t *in,
                        int inputs)
{
    world_begin(&world);
    world_number(&world, n);
    number(value);
    world_pointer(&world, out);
    writes(out, 4 * n);
    for (int i = 0; i < inputs; i++) {
        world_pointer(&world, in[i]);
        reads(in[i], 4 * n);
    }
    launch(name);
}

static void linear(uint64_t out, uint64_t in, uint64_t weight, uint64_t bias)
{
    world_begin(&world);
    world_pointer(&world, in);
    world_pointer(&world, weight);
    world_pointer(&world, bias);
    world_pointer(&world, out);
    reads(in, 2048);
    reads(weight, 4096);
    reads(bias, 128);
    writes(out, 2048);
    launch(LINEAR);
}

static void norm(uint64_t out, uint64_t mean, uint64_t in, uint64_t gamma)
{
    world_begin(&world);
    world_number(&world, 512);
    world_pointer(&world, in);
    world_pointer(&world, gamma);
    world_pointer(&world, mean);
    world_pointer(&world, out);
    reads(in, 2048);
    reads(gamma, 128);
    writes(mean, 64);
    writes(out, 2048);
    launch(NORM);
}

static void slice(uint64_t to, uint64_t from)
{
    world_begin(&world);
    world_pointer(&world, to);
    world_pointer(&world, from);
    for (uint64_t row = 0; row < 8; row++) {
        reads(from + 256 * row, 64);
        writes(to + 64 * row, 64);
    }
    launch(SLICE);
}

static void halves(uint64_t tensor)
{
    world_begin(&world);
    world_pointer(&world, tensor + 1024);
    world_pointer(&world, tensor);
    writes(tensor + 1024, 1024);
    reads(tensor, 1024);
    launch(HALVES);
}

static void between(uint64_t begin, uint64_t bytes)
{
    world_begin(&world);
    world_pointer(&world, begin);
    world_pointer(&world, begin + bytes);
    writes(begin, bytes);
    launch(BETWEEN);
}

static void multi(const uint64_t *parameters, const uint64_t *gradients, float value)
{
    world_begin(&world);
    for (int i = 0; i < 15; i++) {
        world_pointer(&world, parameters[i]);
        world_pointer(&world, gradients[i]);
        reads(gradients[i], 96);
        reads(parameters[i], 96);
        writes(parameters[i], 96);
    }
    number(value);
    launch(MULTI);
}

static void gather(uint64_t out, uint64_t table, uint64_t indices)
{
    world_begin(&world);
    world_pointer(&world, out);
    world_pointer(&world, table);
    world_pointer(&world, indices);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t row = step < CHANGE ? i * 3 : world_below(&seed, 32);
        reads(table + 64 * row, 64);
    }
    reads(indices, 64);
    writes(out, 512);
    launch(GATHER);
}

/* ---- A step ---- */

struct model {
    uint64_t weight[LAYERS], bias[LAYERS], moment[LAYERS], table, chunk[15];
};

static void layer(const struct model *model, int at, float scale)
{
    uint64_t in = allocate(2048), out = allocate(2048), act = allocate(2048), mean = allocate(64);
    linear(out, in, model->weight[at], model->bias[at]);
    elementwise(GELU, 512, 0, act, &out, 1);
    norm(out, mean, act, model->bias[at]);
    elementwise(MULTIPLY, 512, scale, out, (uint64_t[]){in}, 1);
    elementwise(MULTIPLY, 512, scale, out, &out, 1); /* in place */
    slice(act, in + 64 * world_below(&seed, 2));
    halves(act);
    between(act, 256 * (1 + world_below(&seed, 3)));
    release(in, 2048);
    uint64_t square = allocate(4096), pair[2] = {allocate(4096), model->weight[at]};
    elementwise(ADDCMUL, 1024, scale * 3, model->moment[at],
                (uint64_t[]){model->moment[at], pair[0], pair[0]}, 3);
    elementwise(ADDCMUL, 32, scale * 5, model->bias[at],
                (uint64_t[]){model->bias[at], pair[0], square}, 3);
    elementwise(MULTIPLY, 1024, 1 - scale, square, (uint64_t[]){model->moment[at]}, 1);
    release(square, 4096);
    release(pair[0], 4096);
    release(out, 2048);
    release(act, 2048);
    release(mean, 64);
}

static void run_step(const struct model *model)
{
    float power = 1;
    for (int i = 0; i <= step; i++)
        power *= 0.9f;
    for (int i = 0; i < LAYERS; i++)
        layer(model, i, 1 - power);
    uint64_t gradients[15], out = allocate(512), indices = allocate(64);
    for (int i = 0; i < 15; i++)
        gradients[i] = allocate(96);
    multi(model->chunk, gradients, 1 - power);
    gather(out, model->table, indices);
    for (int i = 0; i < 15; i++)
        release(gradients[i], 96);
    release(out, 512);
    release(indices, 64);
}

static void model_make(struct model *model)
{
    for (int i = 0; i < LAYERS; i++) {
        model->weight[i] = allocate(4096);
        model->bias[i] = allocate(128);
        model->moment[i] = allocate(4096);
    }
    for (int i = 0; i < 15; i++)
        model->chunk[i] = allocate(96);
    model->table = allocate(2048);
}

static void process_begins(void)
{
    learner = learner_create(&(struct learner_options){
        .launches = 2, .values = 4, .cache = directory, .cache_bytes = 1 << 20});
    for (int i = 0; i < NAMES; i++)
        kernels[i] = learner_kernel(learner, (struct learn_image){{1, 2}}, names[i]);
}

static void process_ends(void)
{
    assert_true(learner_save(learner));
    learner_destroy(learner);
}

static void train(uint64_t start)
{
    struct model model;
    memset(&counts, 0, sizeof counts);
    memset(used, 0, sizeof used);
    seed = start * 0x9e3779b97f4a7c15u;
    world.block_count = 0;
    if (!declared_pool)
        world_block(&world, SEGMENT, SEGMENT_BYTES);
    process_begins();
    model_make(&model);
    for (step = 0; step < STEPS; step++) {
        run_step(&model);
        bool gather_known = late && step >= CHANGE && counts.traced_of[GATHER] > 4;
        take_traces();
        counts.gather_found |= gather_known;
        if (step == RESTART && *directory) {
            process_ends();
            process_begins();
        }
    }
    process_ends();
}

static void print_counts(void)
{
    print_message("%s%s: known %zu of %zu, traced %zu of %zu:",
                  declared_pool ? "declared pool" : "segment", late ? ", traces late" : "",
                  counts.known, counts.launches, counts.late_traced, counts.late_launches);
    for (int i = 0; i < NAMES; i++)
        print_message(" %s %zu/%zu/%zu", names[i], counts.traced_of[i], counts.known_of[i],
                      counts.of[i]);
    print_message("\n");
}

static void a_step_is_known(bool pool, bool delay)
{
    declared_pool = pool;
    late = delay;
    for (uint64_t start = 1; start <= 10; start++) {
        train(start);
        if (start == 1)
            print_counts();
        assert_true(counts.gather_found);
        assert_true(counts.known * 100 >= counts.launches * 95);
        assert_true(counts.late_traced * 100 < counts.late_launches * 3);
    }
}

static void in_blocks_of_a_declared_pool(void **state)
{
    (void)state;
    a_step_is_known(true, false);
    a_step_is_known(true, true);
}

static void in_one_segment(void **state)
{
    (void)state;
    a_step_is_known(false, false);
    a_step_is_known(false, true);
}

static void over_two_processes(void **state)
{
    (void)state;
    for (int pool = 0; pool < 2; pool++) {
        char command[96];
        snprintf(directory, sizeof directory, "/tmp/csan-workload-XXXXXX");
        assert_non_null(mkdtemp(directory));
        snprintf(command, sizeof command, "rm -rf '%s'", directory);
        declared_pool = pool;
        late = false;
        train(7);
        print_counts();
        assert_true(counts.gather_found);
        assert_true(counts.known * 100 >= counts.launches * 95);
        assert_true(counts.late_traced * 100 < counts.late_launches * 3);
        assert_int_equal(system(command), 0);
    }
    *directory = '\0';
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_blocks_of_a_declared_pool),
        cmocka_unit_test(in_one_segment),
        cmocka_unit_test(over_two_processes),
    };
    return cmocka_run_group_tests_name("learn_workload", tests, NULL, NULL);
}
