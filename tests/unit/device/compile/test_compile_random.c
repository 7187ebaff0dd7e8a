/* Random kernels, interpreted and compiled: they must leave the same memory after every slice, the
 * same touches, and fail alike. RANDOM_KERNELS says how many kernels, RANDOM_SEED with which,
 * RANDOM_LEVEL how much the C compiler optimizes. */
#include "runtime/device/compile/host_compiler.h"
#include "runtime/device/exec/exec_engine.h"
#include "tests/unit/device/exec/exec_harness.h"
#include "tests/unit/device/compile/random_kernel.h"

enum {
    BLOCKS = 3,
    THREADS = 96, /* at most: all warps are full; or the last has few lanes */
    THREADS_FEWER = 72,
    STEPS_MOST = 4000,
    RESULTS = BLOCKS * THREADS * RESULT_BYTES
};

struct twin {
    struct harness h;
    exec_image *images[2]; /* interpreted, compiled */
    uint64_t in, io, results;
};

/* What a launch left. */
struct outcome {
    enum exec_status status;
    uint64_t steps, hash, warp_instructions, thread_instructions;
    struct exec_fault fault;
    struct device_trace_range *ranges;
    size_t range_count;
    uint8_t *results; /* a copy of what threads left of their registers */
};

static uint64_t number_of(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : usual;
}

static void fill(struct twin *t, uint64_t seed)
{
    struct random_kernel random = {.seed = seed};
    uint32_t *in = harness_host(&t->h, t->in), *io = harness_host(&t->h, t->io);
    static const uint32_t special[] = {0,          1,          0x80000000, 0x7fffffff, 0xffffffff,
                                       0x7f800000, 0x7fc12345, 0xff800000, 0x3f800000, 0x00000777};
    for (int i = 0; i < WORDS; i++) {
        in[i] = random_below(&random, 3) ? random_next(&random) * 2654435761u
                                         : special[random_below(&random, 10)];
        io[i] = random_next(&random);
    }
    memset(harness_host(&t->h, t->results), 0, RESULTS);
}

static uint64_t hash_of(const struct twin *t, uint64_t hash)
{
    const uint64_t *parts[] = {harness_host((struct harness *)&t->h, t->in),
                               harness_host((struct harness *)&t->h, t->io),
                               harness_host((struct harness *)&t->h, t->results)};
    const size_t words[] = {WORDS / 2, WORDS / 2, RESULTS / 8};
    uint64_t sums[4] = {hash, hash + 1, hash + 2, hash + 3}; /* apart: one waits for no other */
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < words[k]; i += 4)
            for (size_t j = 0; j < 4; j++)
                sums[j] = (sums[j] ^ parts[k][i + j]) * 0x100000001b3u + (sums[j] >> 31);
    return ((sums[0] * 31 + sums[1]) * 31 + sums[2]) * 31 + sums[3];
}
_Static_assert(WORDS % 8 == 0 && RESULTS % 32 == 0, "hash_of takes four words at once");

/* With more than one row, a warp's threads do not follow one another along x. */
static struct outcome run(struct twin *t, int which, uint32_t kernel, uint64_t budget)
{
    const uint32_t rows = kernel % 4 == 3 ? 3 : 1;
    const uint32_t threads = kernel % 8 < 4 ? THREADS : THREADS_FEWER;
    struct {
        uint64_t in, io, results;
        uint32_t which;
    } params = {t->in, t->io, t->results, kernel};
    struct exec_launch launch = {.image = t->images[which],
                                 .kernel = harness_kernel(&t->h, "random"),
                                 .grid = {BLOCKS, 1, 1},
                                 .block = {threads / rows, rows, 1},
                                 .params = &params,
                                 .touches = true,
                                 .memory = {harness_find, &t->h, t->h.window, NULL, NULL}};
    struct outcome outcome = {.hash = 1};
    char message[512];
    compile_start(which ? COMPILE_ALWAYS : COMPILE_OFF);
    exec_state *state = exec_begin(&launch, message, sizeof message);
    if (!state)
        fail_msg("%s", message);
    do {
        outcome.status = exec_step(state, budget);
        outcome.hash = hash_of(t, outcome.hash);
        outcome.steps++;
    } while ((outcome.status == EXEC_RUNNING || outcome.status == EXEC_SPINNING) &&
             outcome.steps < STEPS_MOST);
    outcome.fault = *exec_fault(state);
    const struct device_trace_range *ranges = exec_touches(state, &outcome.range_count);
    outcome.ranges = calloc(outcome.range_count + 1, sizeof *ranges);
    if (outcome.range_count)
        memcpy(outcome.ranges, ranges, outcome.range_count * sizeof *ranges);
    outcome.results = malloc(RESULTS);
    memcpy(outcome.results, harness_host(&t->h, t->results), RESULTS);
    exec_counts(state, &outcome.warp_instructions, &outcome.thread_instructions);
    exec_end(state);
    return outcome;
}

static void compare(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->fault.message, b->fault.message);
    assert_int_equal(a->fault.kind, b->fault.kind);
    assert_int_equal(a->fault.address, b->fault.address);
    assert_int_equal(a->fault.threads, b->fault.threads);
    assert_int_equal(a->fault.access, b->fault.access);
    assert_int_equal(a->fault.bytes, b->fault.bytes);
    assert_memory_equal(a->fault.thread, b->fault.thread, sizeof a->fault.thread);
    assert_memory_equal(a->fault.block, b->fault.block, sizeof a->fault.block);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->warp_instructions, b->warp_instructions);
    assert_int_equal(a->thread_instructions, b->thread_instructions);
    assert_int_equal(a->range_count, b->range_count);
    for (size_t i = 0; i < a->range_count; i++) {
        assert_int_equal(a->ranges[i].kind, b->ranges[i].kind);
        assert_int_equal(a->ranges[i].address, b->ranges[i].address);
        assert_int_equal(a->ranges[i].bytes, b->ranges[i].bytes);
        assert_int_equal(a->ranges[i].dims, b->ranges[i].dims);
        for (uint32_t k = 0; k < a->ranges[i].dims; k++) {
            assert_int_equal(a->ranges[i].count[k], b->ranges[i].count[k]);
            assert_int_equal(a->ranges[i].stride[k], b->ranges[i].stride[k]);
        }
    }
}

static struct {
    uint64_t kernels, faults, stops;
} done;

static void compare_kernel(struct twin *t, uint64_t seed, uint32_t kernel)
{
    static const uint64_t budgets[] = {1 << 20, 211, 3000, 37, 1000};
    const uint64_t budget = budgets[(seed + kernel) % 5];
    fill(t, seed + kernel);
    struct outcome a = run(t, 0, kernel, budget);
    fill(t, seed + kernel);
    struct outcome b = run(t, 1, kernel, budget);
    if (a.hash != b.hash || a.status != b.status || strcmp(a.fault.message, b.fault.message))
        print_error("seed %llu, kernel %u, slices of %llu\n%s\n%s\n", (unsigned long long)seed,
                    kernel, (unsigned long long)budget, a.fault.message, b.fault.message);
    for (int i = 0; i < RESULTS; i++)
        if (a.results[i] != b.results[i]) {
            print_error("thread %d, byte %d of its registers: %02x, compiled %02x\n",
                        i / RESULT_BYTES, i % RESULT_BYTES, a.results[i], b.results[i]);
            break;
        }
    compare(&a, &b);
    free(a.results);
    free(b.results);
    done.kernels++;
    done.faults += a.status == EXEC_FAULT;
    done.stops += a.steps == STEPS_MOST;
    free(a.ranges);
    free(b.ranges);
}

static void compare_text(uint64_t seed)
{
    struct twin t = {0};
    char *text = random_text(seed);
    compile_start(COMPILE_OFF);
    harness_open_text(&t.h, text);
    compile_start(COMPILE_OFF);
    t.in = harness_allocate(&t.h, WORDS * 4);
    t.io = harness_allocate(&t.h, WORDS * 4);
    t.results = harness_allocate(&t.h, RESULTS);
    t.images[0] = exec_image_create(t.h.module, 0, 0);
    t.images[1] = exec_image_create(t.h.module, 0, 0);
    for (uint32_t kernel = 0; kernel < KERNELS; kernel++)
        compare_kernel(&t, seed, kernel);
    const struct ptx_function *f = harness_kernel(&t.h, "random");
    const struct program *program = image_program(t.images[1], image_function(t.images[1], f));
    assert_non_null(atomic_load(&((struct program *)program)->compiled));
    compile_start(COMPILE_ALWAYS); /* so that the image gives its code back */
    exec_image_release(t.images[1]);
    compile_start(COMPILE_OFF);
    exec_image_release(t.images[0]);
    harness_close(&t.h);
    free(text);
}

static void compiled_kernels_do_what_interpreted_ones_do(void **unused)
{
    (void)unused;
    const uint64_t kernels = number_of("RANDOM_KERNELS", KERNELS);
    uint64_t seed = number_of("RANDOM_SEED", 1);
    for (; done.kernels < kernels; seed++)
        compare_text(seed);
    print_message("%llu kernels alike, %llu of them failed, %llu were stopped\n",
                  (unsigned long long)done.kernels, (unsigned long long)done.faults,
                  (unsigned long long)done.stops);
}

int main(void)
{
    char directory[] = "/tmp/csan-compile-XXXXXX";
    if (!mkdtemp(directory))
        return 1;
    setenv("CSAN_CACHE", directory, 0);
    if (getenv("RANDOM_LEVEL"))
        host_compiler_set_level(getenv("RANDOM_LEVEL"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels_do_what_interpreted_ones_do)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) != 0 || failed;
}
