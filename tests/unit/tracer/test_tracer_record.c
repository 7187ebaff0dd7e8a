/* What a patched kernel leaves and what the reader makes of it: the patch
 * (runtime/tracer/patch.cu), compiled for the host, against bits counted one by one, in granules of
 * any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/tracer/buffer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer_patching.h>

enum { SPAN = 1 << 20, KINDS = RECORD_KINDS, THREADS = 4 };
#define BASE UINT64_C(0x7f0000000000)

SanitizerPatchResult csan_patch_access(void *userdata, uint64_t pc, void *ptr, uint32_t accessSize,
                                       uint32_t flags, const void *pData);
SanitizerPatchResult csan_patch_copy(void *userdata, uint64_t pc, void *src, uint32_t dst,
                                     uint32_t accessSize);
SanitizerPatchResult csan_patch_bulk_read(void *userdata, uint64_t pc, uint64_t src, uint32_t dst,
                                          uint32_t barrier, uint32_t data, uint32_t isMulticast);
SanitizerPatchResult csan_patch_bulk_write(void *userdata, uint64_t pc, uint64_t dst, uint32_t src,
                                           uint32_t numBlocks);
SanitizerPatchResult csan_patch_bulk_reduce(void *userdata, uint64_t pc, uint64_t dst, uint32_t src,
                                            uint32_t numBlocks);

/* ---- A fake driver that does everything at once, and frees all at the end ---- */

enum { BLOCKS = 64 };
static void *memory[BLOCKS];
static int memory_count;

static void *memory_new(size_t bytes)
{
    assert_true(memory_count < BLOCKS);
    void *block = aligned_alloc(256, bytes);
    assert_non_null(block);
    memset(block, 0xa5, bytes);
    return memory[memory_count++] = block;
}

static CUresult give_handle(void **handle, unsigned flags)
{
    (void)flags;
    *handle = (void *)0x10;
    return CUDA_SUCCESS;
}
static CUresult give_stream(CUstream *stream, unsigned flags, int priority)
{
    assert_int_equal(priority, -5);
    return give_handle((void **)stream, flags);
}
static CUresult priorities(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}
static CUresult host_alloc(void **p, size_t bytes, unsigned flags)
{
    (void)flags;
    *p = memory_new(bytes);
    return CUDA_SUCCESS;
}
static CUresult alloc(CUdeviceptr *p, size_t bytes)
{
    *p = (CUdeviceptr)memory_new(bytes);
    return CUDA_SUCCESS;
}
static int clears_refused;
static CUresult set(CUdeviceptr p, unsigned char value, size_t bytes, CUstream stream)
{
    (void)stream;
    if (clears_refused)
        return CUDA_ERROR_LAUNCH_FAILED;
    memset((void *)p, value, bytes);
    return CUDA_SUCCESS;
}
static CUresult down(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    memcpy(to, (const void *)from, bytes);
    return CUDA_SUCCESS;
}
static CUresult succeed(void)
{
    return CUDA_SUCCESS;
}

void *driver_function_cached(void **slot, const char *symbol)
{
    static const struct {
        const char *symbol;
        void *function;
    } functions[] = {{"cuStreamCreateWithPriority", (void *)give_stream},
                     {"cuEventCreate", (void *)give_handle},
                     {"cuCtxGetStreamPriorityRange", (void *)priorities},
                     {"cuMemHostAlloc", (void *)host_alloc},
                     {"cuMemAlloc_v2", (void *)alloc},
                     {"cuMemsetD8Async", (void *)set},
                     {"cuMemcpyDtoHAsync_v2", (void *)down}};
    (void)slot;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].symbol, symbol) == 0)
            return functions[i].function;
    return (void *)succeed;
}

/* ---- Accesses ---- */

static struct buffer_pool *pool;
static uint8_t expected[KINDS][SPAN];

static uint32_t random_below(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*seed * limit >> 32);
}

struct kernel_thread {
    void *userdata;
    uint32_t shift, seed, accesses;
    uint32_t least; /* bytes of an access */
};

static void expect(const struct kernel_thread *thread, uint32_t at, uint32_t bytes, unsigned kind)
{
    uint32_t granule = UINT32_C(1) << thread->shift;
    uint32_t first = at & ~(granule - 1), last = (at + bytes - 1) | (granule - 1);
    for (uint32_t i = first; i <= last; i++)
        __atomic_store_n(&expected[kind][i], 1, __ATOMIC_RELAXED);
}

static void access_one(struct kernel_thread *thread)
{
    static const uint32_t flags[KINDS] = {
        SANITIZER_MEMORY_DEVICE_FLAG_READ, SANITIZER_MEMORY_DEVICE_FLAG_WRITE,
        SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE};
    uint32_t what = random_below(&thread->seed, 32), kind = what % KINDS;
    uint32_t bytes = thread->least << random_below(&thread->seed, 3);
    uint32_t at = random_below(&thread->seed, SPAN / 2 / bytes) * bytes;
    if (what < 28) {
        csan_patch_access(thread->userdata, 0, (void *)(BASE + at), bytes, flags[kind],
                          kind == 1 ? &at : NULL);
    } else {
        uint32_t blocks = 1 + random_below(&thread->seed, 200);
        at &= ~15u;
        bytes = what == 28 ? 16 : 16 * blocks;
        kind = what == 28 ? 0 : what - 29;
        if (what == 28)
            csan_patch_copy(thread->userdata, 0, (void *)(BASE + at), 0, 16);
        else if (what == 29)
            csan_patch_bulk_read(thread->userdata, 0, BASE + at, 0, 0, blocks, 0);
        else if (what == 30)
            csan_patch_bulk_write(thread->userdata, 0, BASE + at, 0, blocks);
        else
            csan_patch_bulk_reduce(thread->userdata, 0, BASE + at, 0, blocks);
    }
    expect(thread, at, bytes, kind);
}

static void *access_many(void *argument)
{
    struct kernel_thread *thread = argument;
    for (uint32_t i = 0; i < thread->accesses; i++)
        access_one(thread);
    return NULL;
}

static void *userdata(const struct buffer *buffer, uint32_t shift)
{
    return (void *)record_userdata(buffer->record, shift, buffer->size);
}

static void launch(const struct buffer *buffer, uint32_t shift, uint32_t least, uint32_t seed,
                   uint32_t accesses)
{
    pthread_t threads[THREADS];
    struct kernel_thread work[THREADS];
    memset(expected, 0, sizeof expected);
    for (uint32_t i = 0; i < THREADS; i++) {
        work[i] = (struct kernel_thread){userdata(buffer, shift), shift, seed * THREADS + i,
                                         accesses, least};
        assert_int_equal(pthread_create(&threads[i], NULL, access_many, &work[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Exactly what was expected, each byte in one range of its kind. */
static void compare(const struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++) {
        const struct device_trace_range *range = &recorded->ranges[i];
        uint64_t outer = range->dims > 0 ? range->count[0] : 1;
        uint64_t inner = range->dims > 1 ? range->count[1] : 1;
        for (uint64_t o = 0; o < outer; o++)
            for (uint64_t k = 0; k < inner; k++)
                for (uint64_t b = 0; b < range->bytes; b++) {
                    uint64_t at = range->address - BASE + b +
                                  (range->dims ? o * range->stride[0] : 0) +
                                  (range->dims > 1 ? k * range->stride[1] : 0);
                    assert_true(at < SPAN);
                    assert_int_equal(expected[range->kind][at], 1);
                    expected[range->kind][at] = 0;
                }
    }
    for (unsigned kind = 0; kind < KINDS; kind++)
        assert_null(memchr(expected[kind], 1, SPAN));
}

/* ---- Tests ---- */

static uint32_t check_sized(uint32_t size, uint32_t shift, uint32_t least, uint32_t seed,
                            uint32_t accesses)
{
    struct recorded recorded = {0};
    struct buffer *buffer = buffer_take(pool, size);
    assert_non_null(buffer);
    assert_int_equal(buffer->size, size);
    launch(buffer, shift, least, seed, accesses);
    assert_true(buffer_read(buffer, shift, &recorded));
    assert_true(recorded.whole);
    const uint32_t flags = recorded.flags;
    compare(&recorded);
    recorded_clear(&recorded);
    return flags;
}

static uint32_t check(uint32_t shift, uint32_t least, uint32_t seed, uint32_t accesses)
{
    return check_sized(seed % RECORD_SIZES, shift, least, seed, accesses);
}

/* One record, taken and given back each time: it must be empty again. */
static void records_are_what_was_touched(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 3, 50, 5000};
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(check(i % 2 ? 2 : 0, i % 2 ? 4 : 1, i, counts[i % 5]), 0);
}

static void coarse_records_are_whole_granules(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(check(6, 4, i, 1000), RECORD_NARROW);
        assert_int_equal(check(14, 4, i, 100), RECORD_NARROW);
    }
}

static void narrow_accesses_are_said(void **state)
{
    (void)state;
    assert_int_equal(check(2, 1, 7, 200), RECORD_NARROW);
    assert_int_equal(check(2, 4, 7, 200), 0);
    assert_int_equal(check(4, 16, 7, 200), 0);
}

static uint32_t slots_of(uint32_t size)
{
    return UINT32_C(1) << record_slot_shift(size);
}

/* Each in a chunk of its own. */
static void touch_chunks(const struct buffer *buffer, uint32_t count)
{
    for (uint64_t i = 0; i < count; i++)
        csan_patch_access(userdata(buffer, 2), 0,
                          (void *)(BASE + (i << (RECORD_CHUNK_SHIFT + 2)) + 4 * (i % 1000)), 4,
                          SANITIZER_MEMORY_DEVICE_FLAG_READ, NULL);
}

/* More chunks than there are: that some had no room is said. */
static void full_records_are_said(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < RECORD_SIZES; size++) {
        struct recorded recorded = {0};
        struct buffer *buffer = buffer_take(pool, size);
        touch_chunks(buffer, slots_of(size) + 1);
        assert_true(buffer_read(buffer, 2, &recorded));
        assert_int_equal(recorded.flags, RECORD_FULL);
        recorded_clear(&recorded);
        assert_int_equal(check_sized(size, 2, 4, 1, 100), 0);
    }
}

/* Three quarters of a record's chunks have room, all of them bytes that are there. */
static void records_hold_most_of_their_chunks(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < RECORD_SIZES; size++) {
        struct recorded recorded = {0};
        uint32_t count = slots_of(size) / 4 * 3;
        struct buffer *buffer = buffer_take(pool, size);
        touch_chunks(buffer, count);
        assert_true(buffer_read(buffer, 2, &recorded));
        assert_int_equal(recorded.flags, 0);
        const struct device_trace_range *ranges = recorded.ranges;
        uint64_t bytes = 0;
        for (size_t i = 0; i < recorded.count; i++)
            bytes += ranges[i].bytes * (ranges[i].dims > 0 ? ranges[i].count[0] : 1) *
                     (ranges[i].dims > 1 ? ranges[i].count[1] : 1);
        assert_int_equal(bytes, 4 * (uint64_t)count);
        recorded_clear(&recorded);
    }
}

/* A run of bytes over the ends of words and chunks is one. */
static void runs_go_over_the_ends_of_chunks(void **state)
{
    (void)state;
    struct recorded recorded = {0};
    struct buffer *buffer = buffer_take(pool, 0);
    const uint64_t end = BASE + (UINT64_C(1) << RECORD_CHUNK_SHIFT);
    csan_patch_bulk_write(userdata(buffer, 0), 0, end - 4800, 0, 600);
    csan_patch_access(userdata(buffer, 0), 0, (void *)(end + 4801), 1,
                      SANITIZER_MEMORY_DEVICE_FLAG_READ, NULL);
    assert_true(buffer_read(buffer, 0, &recorded));
    const struct device_trace_range *ranges = recorded.ranges;
    assert_int_equal(recorded.count, 2);
    assert_int_equal(ranges[0].kind, DEVICE_TRACE_READ);
    assert_int_equal(ranges[0].address, end + 4801);
    assert_int_equal(ranges[0].bytes, 1);
    assert_int_equal(ranges[1].kind, DEVICE_TRACE_WRITE);
    assert_int_equal(ranges[1].address, end - 4800);
    assert_int_equal(ranges[1].bytes, 9600);
    recorded_clear(&recorded);
}

/* As a launch is that is not traced, and a prefetch. */
static void what_is_not_traced_leaves_nothing(void **state)
{
    (void)state;
    struct buffer *buffer = buffer_take(pool, 0);
    csan_patch_access(NULL, 0, (void *)BASE, 4, SANITIZER_MEMORY_DEVICE_FLAG_WRITE, &buffer);
    csan_patch_bulk_write(NULL, 0, BASE, 0, 4);
    csan_patch_access(userdata(buffer, 2), 0, (void *)BASE, 4,
                      SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH,
                      NULL);
    assert_int_equal(((const struct record *)buffer->record)->use_count, 0);
    buffer_return(buffer);
}

static void records_are_as_many_as_the_limit_lets(void **state)
{
    (void)state;
    struct buffer_pool *small = buffer_pool_create((CUcontext)0x20, 2 * record_bytes(0));
    assert_int_equal(buffer_pool_largest(small), 0);
    struct buffer *first = buffer_take(small, 0), *second = buffer_take(small, 2);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(second->size, 0); /* the largest there is */
    assert_null(buffer_take(small, 0));
    buffer_return(first);
    assert_ptr_equal(buffer_take(small, 0), first);
    buffer_drop(first); /* its memory is gone for good */
    assert_null(buffer_take(small, 0));
    buffer_pool_close(small);
    buffer_pool_release(small);
    assert_int_equal(buffer_state(second), BUFFER_BROKEN);
    buffer_return(second); /* the last that holds the pool */
    assert_null(buffer_pool_create((CUcontext)0x20, record_bytes(0) - 1));
}

/* However many small ones are wanted, there is one of each larger size; and a small one is a larger
 * one when there is no other. */
static void small_records_leave_room_for_large_ones(void **state)
{
    (void)state;
    struct buffer_pool *mixed =
        buffer_pool_create((CUcontext)0x20, 2 * record_bytes(1) + record_bytes(0) / 2);
    struct buffer *taken[32] = {0};
    uint32_t small = 0, count = 0;
    assert_int_equal(buffer_pool_largest(mixed), 1);
    while ((taken[count] = buffer_take(mixed, 0))) {
        small += taken[count]->size == 0;
        count++;
    }
    assert_int_equal(small, (record_bytes(1) + record_bytes(0) / 2) / record_bytes(0));
    assert_int_equal(count, small + 1);
    assert_int_equal(taken[count - 1]->size, 1);
    while (count)
        buffer_return(taken[--count]);
    struct buffer *large = buffer_take(mixed, 1);
    assert_int_equal(large->size, 1);
    assert_null(buffer_take(mixed, 1));
    buffer_return(large);
    buffer_pool_release(mixed);
}

/* What the device did not clear holds anything: it is never handed out. */
static void records_that_are_not_clear_are_not_used(void **state)
{
    (void)state;
    struct buffer_pool *broken = buffer_pool_create((CUcontext)0x20, 2 * record_bytes(0));
    clears_refused = 1;
    assert_null(buffer_take(broken, 0));
    clears_refused = 0;
    struct buffer *second = buffer_take(broken, 0);
    assert_non_null(second);
    assert_int_equal(((const struct record *)second->record)->use_count, 0);
    assert_null(buffer_take(broken, 0));
    buffer_return(second);
    buffer_pool_release(broken);
}

int main(void)
{
    pool = buffer_pool_create((CUcontext)0x20, 3 * record_bytes(2));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_what_was_touched),
        cmocka_unit_test(coarse_records_are_whole_granules),
        cmocka_unit_test(narrow_accesses_are_said),
        cmocka_unit_test(full_records_are_said),
        cmocka_unit_test(records_hold_most_of_their_chunks),
        cmocka_unit_test(runs_go_over_the_ends_of_chunks),
        cmocka_unit_test(what_is_not_traced_leaves_nothing),
        cmocka_unit_test(records_are_as_many_as_the_limit_lets),
        cmocka_unit_test(small_records_leave_room_for_large_ones),
        cmocka_unit_test(records_that_are_not_clear_are_not_used),
    };
    int failed = cmocka_run_group_tests_name("tracer_record", tests, NULL, NULL);
    buffer_pool_release(pool);
    while (memory_count)
        free(memory[--memory_count]);
    return failed;
}
