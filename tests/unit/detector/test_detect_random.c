/* The detector against brute force: random programs of lanes, events and host threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

/* ---- random programs against brute force */

enum { LANES = 5, EVENTS = 3, OPS = 120, BYTES = 48, ACCESSES = 4, PENDING = 4 };

struct brute_access {
    int kind, bound;
    bool touched[BYTES];
};

struct brute_op {
    uint64_t past[2]; /* ops known to be finished: bits */
    int count;
    struct brute_access accesses[ACCESSES];
};

/* How programs of a run are made. */
struct manner {
    bool strided;
    bool places;       /* see random_place */
    uint32_t accesses; /* of an op at most */
    const char *options;
    bool forgets; /* the options make csan forget: it may miss races, but invents none */
    int threads;  /* lanes 1 to this are host threads; 0: the host is one */
};

struct brute {
    struct brute_op ops[OPS];
    int count;
    uint64_t lanes[LANES][2]; /* what each lane has finished before its next op; [0]: the host */
    uint64_t events[EVENTS][2];
    uint64_t ended[2]; /* what streams did that are no more */
};

/* The program under test: csan's side of it. */
struct program {
    csan_context *context;
    csan_lane lanes[LANES];
    csan_event *events[EVENTS];
    struct pending {
        uint64_t ticket;
        struct csan_access accesses[ACCESSES];
        struct csan_dim dims[ACCESSES][3];
        int count;
    } pending[PENDING];
};

static uint64_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % limit;
}

static void past_join(uint64_t *past, const uint64_t *other)
{
    past[0] |= other[0];
    past[1] |= other[1];
}

static bool brute_conflict(const struct brute_access *a, const struct brute_access *b)
{
    return !((a->kind == CSAN_READ && b->kind == CSAN_READ) ||
             (a->kind == CSAN_ATOMIC && b->kind == CSAN_ATOMIC));
}

static bool brute_intersect(const struct brute_access *a, const struct brute_access *b,
                            uint64_t start, uint64_t end)
{
    for (uint64_t k = start; k < end; k++)
        if (!a->touched[k] || !b->touched[k])
            return false;
    return true;
}

static bool brute_ordered(const struct brute *brute, int earlier, int later)
{
    return brute->ops[later].past[earlier / 64] >> (earlier % 64) & 1;
}

/* Paint what the access touches; false when it leaves the memory. */
static bool paint(const struct csan_access *access, bool *touched)
{
    uint64_t points = 1;
    memset(touched, 0, BYTES * sizeof(*touched));
    for (int i = 0; i < access->dim_count; i++)
        points *= access->dims[i].count;
    for (uint64_t point = 0; point < points; point++) {
        uint64_t rest = point;
        int64_t address = (int64_t)(access->base - BASE);
        for (int i = 0; i < access->dim_count; i++) {
            address += access->dims[i].stride * (int64_t)(rest % access->dims[i].count);
            rest /= access->dims[i].count;
        }
        for (int64_t k = address; k < address + (int64_t)access->bytes; k++) {
            if (k < 0 || k >= BYTES)
                return false;
            touched[k] = true;
        }
    }
    return true;
}

/* Few places, each touched whole again and again. */
static void random_place(struct csan_access *access, struct brute_access *brute)
{
    *access =
        (struct csan_access){.base = BASE + random_below(3) * 16, .bytes = 16, .element_bytes = 1};
    paint(access, brute->touched);
    brute->kind =
        (int[]){CSAN_READ, CSAN_READ, CSAN_READ, CSAN_WRITE, CSAN_ATOMIC}[random_below(5)];
    brute->bound = CSAN_EXACT;
}

static void random_bytes(const struct manner *manner, struct csan_access *access,
                         struct csan_dim *dims, struct brute_access *brute)
{
    static const struct {
        int64_t stride;
        uint64_t count;
    } usual[] = {{8, 4}, {12, 4}, {6, 8}, {24, 2}};
    do {
        uint64_t start = random_below(manner->strided ? 40 : 24);
        *access =
            (struct csan_access){.base = BASE + start,
                                 .bytes = 1 + random_below(manner->strided ? 6 : 24),
                                 .dims = dims,
                                 .dim_count = (uint8_t)(manner->strided ? random_below(4) : 0),
                                 .element_bytes = 1};
        for (int i = 0; i < access->dim_count; i++)
            dims[i] = (struct csan_dim){(int64_t)random_below(25) - 8, 1 + random_below(4)};
        if (manner->strided && random_below(3) == 0) { /* few patterns, so that they come again */
            uint32_t which = random_below(4);
            access->base = BASE + random_below(2) * 2;
            access->bytes = 2 + random_below(2);
            access->dim_count = 1;
            dims[0] = (struct csan_dim){usual[which].stride, usual[which].count};
        }
    } while (!paint(access, brute->touched));
    brute->kind = (int[]){CSAN_READ, CSAN_WRITE, CSAN_WRITE, CSAN_ATOMIC}[random_below(4)];
    brute->bound = random_below(4) ? CSAN_EXACT : CSAN_BOUND_DATA;
}

static void random_access(const struct manner *manner, struct csan_access *access,
                          struct csan_dim *dims, struct brute_access *brute)
{
    if (manner->places)
        random_place(access, brute);
    else
        random_bytes(manner, access, dims, brute);
    access->kind = (uint8_t)brute->kind;
    access->bound = (uint8_t)brute->bound;
}

static void resolve(struct program *program, struct pending *pending)
{
    if (pending->ticket)
        csan_op_resolve(program->context, pending->ticket, CSAN_LEVEL_TRACED, pending->accesses,
                        (size_t)pending->count);
    pending->ticket = 0;
}

/* ---- host threads as lanes */

static int random_thread(const struct manner *manner)
{
    return 1 + (int)random_below((uint32_t)manner->threads);
}

static void lane_waits(struct program *program, struct brute *brute, int lane, int other)
{
    csan_lane_waits(program->context, program->lanes[lane], program->lanes[other]);
    past_join(brute->lanes[lane], brute->lanes[other]);
}

/* The lane of the next op: a thread's own, or a stream's that a thread enqueues on. */
static int random_enqueuer(struct program *program, struct brute *brute,
                           const struct manner *manner)
{
    int lane = 1 + (int)random_below(LANES - 1);
    if (lane > manner->threads)
        lane_waits(program, brute, lane, random_thread(manner));
    return lane;
}

/* A thread waits for the whole device, which is all streams and what those know. */
static void random_device_wait(struct program *program, struct brute *brute,
                               const struct manner *manner)
{
    int thread = random_thread(manner);
    csan_snapshot *all = csan_snapshot_take_all(program->context);
    csan_snapshot_join(program->context, program->lanes[thread], all);
    csan_snapshot_release(program->context, all);
    for (int lane = manner->threads + 1; lane < LANES; lane++)
        past_join(brute->lanes[thread], brute->lanes[lane]);
    past_join(brute->lanes[thread], brute->ended);
}

/* The lane ends and another takes its place, a thread or a stream as it was, made by a thread. */
static void random_new_lane(struct program *program, struct brute *brute,
                            const struct manner *manner)
{
    int lane = 1 + (int)random_below(LANES - 1), maker = random_thread(manner);
    csan_lane former = program->lanes[lane];
    if (lane == maker)
        return;
    if (lane > manner->threads)
        past_join(brute->ended, brute->lanes[lane]);
    memcpy(brute->lanes[lane], brute->lanes[maker], sizeof(brute->lanes[lane]));
    if (lane > manner->threads) { /* what it waited for last counts: somebody may have seen it */
        csan_snapshot_release(program->context, csan_snapshot_take(program->context, former));
        csan_lane_destroy(program->context, former);
        program->lanes[lane] = csan_lane_create_after(program->context, (uint64_t)lane, "stream",
                                                      program->lanes[maker]);
        return;
    }
    program->lanes[lane] = csan_lane_create_host(program->context, "thread", CSAN_HOST_THREAD);
    csan_lane_waits(program->context, program->lanes[lane], program->lanes[maker]);
    csan_lane_destroy(program->context, former);
}

static void random_thread_step(struct program *program, struct brute *brute,
                               const struct manner *manner)
{
    if (random_below(4) == 0)
        random_device_wait(program, brute, manner);
    else if (random_below(2))
        random_new_lane(program, brute, manner);
    else
        lane_waits(program, brute, random_thread(manner), 1 + (int)random_below(LANES - 1));
}

/* An op whose access set is given at once, or later: csan must find the same. */
static void random_op(struct program *program, struct brute *brute, const struct manner *manner)
{
    int lane = (int)random_below(LANES), index = brute->count++;
    struct brute_op *op = &brute->ops[index];
    struct pending *pending = &program->pending[random_below(PENDING)];
    memset(op, 0, sizeof(*op));
    resolve(program, pending);
    if (manner->threads)
        lane = random_enqueuer(program, brute, manner);
    op->count = pending->count = 1 + (int)random_below(manner->accesses);
    for (int i = 0; i < op->count; i++) {
        random_access(manner, &pending->accesses[i], pending->dims[i], &op->accesses[i]);
        pending->accesses[i].argument = (uint16_t)i;
    }
    past_join(brute->lanes[lane], brute->lanes[0]);
    memcpy(op->past, brute->lanes[lane], sizeof(op->past));
    op->past[index / 64] |= 1ull << (index % 64);
    brute->lanes[lane][index / 64] |= 1ull << (index % 64);
    char name[16];
    snprintf(name, sizeof(name), "op%d", index);
    csan_site where = site(program->context, name);
    if (random_below(8))
        csan_op(program->context, program->lanes[lane], where, CSAN_LEVEL_RANGES, pending->accesses,
                (size_t)pending->count);
    else
        pending->ticket = csan_op_pending(program->context, program->lanes[lane], where,
                                          CSAN_LEVEL_UNKNOWN, NULL, 0);
}

/* The memory is freed at the host, which waits for everything, and allocated again. */
static void random_new_owner(struct program *program, struct brute *brute)
{
    csan_free *token = csan_memory_free_begin(program->context, BASE, CSAN_HOST, 0, 0);
    csan_memory_free_end(program->context, token, 0, 1);
    csan_memory_create(program->context, CSAN_MEMORY_DEVICE, BASE, BYTES, CSAN_HOST, 0);
    for (int i = 0; i < brute->count; i++)
        brute->lanes[0][i / 64] |= 1ull << (i % 64);
}

/* A declared pool hands out a part of the memory and takes it back: no order, other names. */
static void random_block(struct program *program)
{
    uint64_t start = random_below(40);
    csan_memory_pool_alloc(program->context, BASE + start,
                           1 + random_below((uint32_t)(BYTES - start)),
                           program->lanes[1 + random_below(LANES - 1)], 0);
    if (random_below(2))
        csan_memory_pool_free(program->context, BASE + start, program->lanes[1], 0);
}

static void random_step(struct program *program, struct brute *brute, const struct manner *manner)
{
    csan_context *context = program->context;
    const csan_lane *lanes = program->lanes;
    int lane = (int)random_below(LANES), other = (int)random_below(LANES);
    int event = (int)random_below(EVENTS);
    if (manner->threads && lane == 0)
        lane = 1;
    switch (random_below(10)) {
    case 0:
        csan_event_record(context, program->events[event], lanes[lane]);
        memcpy(brute->events[event], brute->lanes[lane], sizeof(brute->events[event]));
        break;
    case 1:
    case 2:
        csan_event_wait(context, program->events[event], lanes[lane]);
        past_join(brute->lanes[lane], brute->events[event]);
        break;
    case 3:
        if (random_below(3) || lane == 0 || (manner->threads && other == 0))
            break;
        csan_lane_waits(context, lanes[lane], lanes[other]);
        past_join(brute->lanes[lane], brute->lanes[other]);
        break;
    case 4:
        if (manner->threads)
            random_thread_step(program, brute, manner);
        if (manner->threads || random_below(6))
            break;
        csan_lane_waits(context, CSAN_HOST, lanes[lane]);
        past_join(brute->lanes[0], brute->lanes[lane]);
        break;
    case 5:
        if (random_below(20) == 0 && !manner->threads)
            random_new_owner(program, brute);
        else if (random_below(4) == 0)
            random_block(program);
        resolve(program, &program->pending[random_below(PENDING)]);
        break;
    default:
        random_op(program, brute, manner);
    }
}

static int index_of(const char *name)
{
    return strlen(name) > 2 ? atoi(name + 2) : 0;
}

/* A report names its arguments: "p, r" are accesses 0 and 2. */
static bool names(const char *arguments, int access)
{
    return strchr(arguments, "pqrs"[access]) != NULL;
}

/* What the reports say of each byte. A report gives the first common run: it stands for all that
 * the two accesses have in common. */
struct verdicts {
    bool any[BYTES], certain[BYTES];
};

/* Every reported pair is one: some of the named accesses conflict on all of the reported bytes. */
static void take_report(const struct brute *brute, const struct csan_race *race, uint64_t seed,
                        struct verdicts *verdicts)
{
    int later = index_of(race->current.name), earlier = index_of(race->previous.name);
    uint64_t start = race->address - BASE, end = start + race->bytes;
    bool explained = false;
    if (race->kind == CSAN_RACE_USE_AFTER_FREE || csan_is_error(race)) /* test_bounds.c */
        return;
    if (brute_ordered(brute, earlier, later))
        fail_msg("seed %lu: op%d and op%d are ordered", seed, earlier, later);
    if (race->bytes == 0 || end > BYTES)
        fail_msg("seed %lu: op%d and op%d: wrong range", seed, earlier, later);
    for (int i = 0; i < brute->ops[earlier].count; i++)
        for (int j = 0; j < brute->ops[later].count; j++) {
            const struct brute_access *a = &brute->ops[earlier].accesses[i];
            const struct brute_access *b = &brute->ops[later].accesses[j];
            bool possible = a->bound != CSAN_EXACT || b->bound != CSAN_EXACT;
            if (!names(race->previous.arguments, i) || !names(race->current.arguments, j) ||
                a->kind != race->previous.kind || b->kind != race->current.kind ||
                possible != (race->possible != 0) || !brute_conflict(a, b) ||
                !brute_intersect(a, b, start, end))
                continue;
            explained = true;
            for (int k = 0; k < BYTES; k++) {
                verdicts->any[k] |= a->touched[k] && b->touched[k];
                verdicts->certain[k] |= a->touched[k] && b->touched[k] && !possible;
            }
        }
    if (!explained)
        fail_msg("seed %lu: op%d and op%d do not race like that on [%lu, %lu)", seed, earlier,
                 later, start, end);
}

/* Every byte with a pair has a report, certain where a certain pair is. */
static void expect_reports(const struct brute *brute, int earlier, int later, uint64_t seed,
                           const struct verdicts *verdicts)
{
    for (int i = 0; i < brute->ops[earlier].count; i++)
        for (int j = 0; j < brute->ops[later].count; j++) {
            const struct brute_access *a = &brute->ops[earlier].accesses[i];
            const struct brute_access *b = &brute->ops[later].accesses[j];
            bool certain = a->bound == CSAN_EXACT && b->bound == CSAN_EXACT;
            for (int k = 0; brute_conflict(a, b) && k < BYTES; k++)
                if (a->touched[k] && b->touched[k] &&
                    (!verdicts->any[k] || (certain && !verdicts->certain[k])))
                    fail_msg("seed %lu: op%d and op%d race on byte %d: not reported", seed, earlier,
                             later, k);
        }
}

static void compare(const struct brute *brute, uint64_t seed, bool forgets)
{
    struct verdicts verdicts = {0};
    for (size_t i = 0; i < found_count; i++)
        take_report(brute, &found[i], seed, &verdicts);
    for (int later = 0; later < brute->count && !forgets; later++)
        for (int earlier = 0; earlier < later; earlier++)
            if (!brute_ordered(brute, earlier, later))
                expect_reports(brute, earlier, later, seed, &verdicts);
}

static void random_program(const struct manner *manner, uint64_t seed)
{
    static struct brute brute;
    static struct program program;
    random_state = seed * 2654435761u;
    memset(&brute, 0, sizeof(brute));
    program = (struct program){.context = create(manner->options), .lanes = {CSAN_HOST}};
    csan_memory_create(program.context, CSAN_MEMORY_DEVICE, BASE, BYTES, CSAN_HOST, 0);
    for (uint64_t i = 1; i < LANES; i++)
        program.lanes[i] = i <= (uint64_t)manner->threads
                               ? csan_lane_create_host(program.context, "thread", CSAN_HOST_THREAD)
                               : csan_lane_create(program.context, i, "stream");
    for (int i = 0; i < EVENTS; i++)
        program.events[i] = csan_event_create(program.context);
    int ops = 2 + (int)random_below(seed % 2 ? 6 : OPS - 2);
    while (brute.count < ops)
        random_step(&program, &brute, manner);
    for (int i = 0; i < PENDING; i++)
        resolve(&program, &program.pending[i]);
    compare(&brute, seed, manner->forgets);
    for (int i = 0; i < EVENTS; i++)
        csan_event_destroy(program.context, program.events[i]);
    csan_context_destroy(program.context);
}

/* ThreadSanitizer makes each some thirty times slower. */
#ifdef __SANITIZE_THREAD__
enum { SEEDS = 500 };
#else
enum { SEEDS = 2000 };
#endif

static void random_programs(struct manner manner)
{
    int racy = 0, clean = 0;
    if (!manner.options)
        manner.options = "dedup=0:pending_timeout_ms=0";
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        random_program(&manner, seed);
        if (found_count)
            racy++;
        else
            clean++;
    }
    assert_true(racy > SEEDS / 20 && clean > SEEDS / 20);
}

/* Many records of many extents over more memory: each later read races with exactly those it
 * overlaps. */
static void records_are_found_wherever_they_lie(void **state)
{
    (void)state;
    enum { RECORDS = 400, MEMORY = 1 << 16 };
    struct world w = world_create("dedup=0");
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, 1 << 24, MEMORY, CSAN_HOST, 0);
    static struct csan_dim rows[RECORDS];
    static uint64_t bases[RECORDS];
    random_state = 7;
    for (int i = 0; i < RECORDS; i++) {
        rows[i] =
            (struct csan_dim){8 + 8 * random_below(1 << random_below(12)), 2 + random_below(2)};
        bases[i] = (1 << 24) + 4 * random_below((MEMORY - 4 * 8192) / 4);
        if ((uint64_t)rows[i].stride * rows[i].count > MEMORY / 2)
            rows[i].stride = 8;
        struct csan_access access = {
            .base = bases[i], .bytes = 4, .dims = &rows[i], .dim_count = 1, .kind = CSAN_READ};
        csan_op(w.context, w.a, site(w.context, "strided"), CSAN_LEVEL_RANGES, &access, 1);
    }
    assert_in_range(strided_records(w), RECORDS * 9 / 10, RECORDS);
    size_t expected = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t start = (1 << 24) + random_below(MEMORY), bytes = 1 + random_below(64);
        found_count = 0;
        csan_lane lane = csan_lane_create(w.context, 0xc, "stream 12");
        touch(w.context, lane, "probe", CSAN_WRITE, CSAN_BOUND_DATA, start, bytes);
        csan_lane_waits(w.context, CSAN_HOST, lane);
        csan_lane_destroy(w.context, lane);
        bool overlapping[RECORDS] = {false};
        size_t overlaps = 0;
        for (int k = 0; k < RECORDS; k++) {
            for (uint64_t row = 0; row < rows[k].count; row++) {
                uint64_t at = bases[k] + row * (uint64_t)rows[k].stride;
                overlapping[k] |= at < start + bytes && start < at + 4;
            }
            for (int same = 0; same < k; same++) /* a record stands for all of its pattern */
                if (bases[same] == bases[k] && rows[same].stride == rows[k].stride &&
                    rows[same].count == rows[k].count)
                    overlapping[k] = false;
            overlaps += overlapping[k];
        }
        assert_int_equal(found_count, overlaps);
        expected += overlaps;
    }
    assert_true(expected > 500);
    csan_context_destroy(w.context);
}

static void random_programs_of_intervals(void **state)
{
    (void)state;
    random_programs((struct manner){.accesses = 1});
}
static void random_programs_of_several_intervals(void **state)
{
    (void)state;
    random_programs((struct manner){.accesses = ACCESSES});
}
static void random_programs_of_few_places(void **state)
{
    (void)state;
    random_programs((struct manner){.places = true, .accesses = 1});
    random_programs((struct manner){.places = true, .accesses = ACCESSES});
}
static void random_programs_of_strided_accesses(void **state)
{
    (void)state;
    random_programs((struct manner){.strided = true, .accesses = 1});
}
static void random_programs_of_several_strided_accesses(void **state)
{
    (void)state;
    random_programs((struct manner){.strided = true, .accesses = ACCESSES});
}
static void random_programs_of_host_threads(void **state)
{
    (void)state;
    random_programs((struct manner){.accesses = 2, .threads = 1});
    random_programs((struct manner){.accesses = 2, .threads = 2});
    random_programs((struct manner){.strided = true, .accesses = 2, .threads = 3});
}
static void random_programs_beyond_the_strided_cap(void **state)
{
    (void)state;
    random_programs((struct manner){.strided = true,
                                    .accesses = 2,
                                    .options = "dedup=0:pending_timeout_ms=0:strided_cap=3",
                                    .forgets = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_found_wherever_they_lie),
        cmocka_unit_test(random_programs_of_intervals),
        cmocka_unit_test(random_programs_of_several_intervals),
        cmocka_unit_test(random_programs_of_few_places),
        cmocka_unit_test(random_programs_of_strided_accesses),
        cmocka_unit_test(random_programs_of_several_strided_accesses),
        cmocka_unit_test(random_programs_of_host_threads),
        cmocka_unit_test(random_programs_beyond_the_strided_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
