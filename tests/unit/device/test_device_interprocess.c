/* Memory and events that two processes share on the embedded device. Each test forks two processes,
 * an owner and one that opens the owner's handles; they speak through pipes. */
#include "tests/unit/device/test_device.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

enum { WORDS = 3000 };

/* In a process of the two: cmocka's checks work in the test's own process only. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define works(call) must((call) == CUDA_SUCCESS)

static int from_other, to_other;

static void put(const void *bytes, size_t count)
{
    must(write(to_other, bytes, count) == (ssize_t)count);
}
static void get(void *bytes, size_t count)
{
    must(read(from_other, bytes, count) == (ssize_t)count);
}
static void say(void)
{
    put("", 1);
}
static void hear(void)
{
    char byte;
    get(&byte, 1);
}

static pid_t process(void (*body)(void), int from, int to, int other_from, int other_to)
{
    pid_t child = fork();
    if (child)
        return child;
    close(other_from);
    close(other_to);
    from_other = from;
    to_other = to;
    works(cuInit(0));
    works(cuDevicePrimaryCtxRetain(&context, 0));
    works(cuCtxSetCurrent(context));
    body();
    _exit(0);
}

/* The two processes, connected by pipes, until both have ended. */
static void run_both(void (*owner)(void), void (*opener)(void), int status[2])
{
    int there[2], back[2];
    assert_int_equal(pipe(there) | pipe(back), 0);
    pid_t first = process(owner, back[0], there[1], there[0], back[1]);
    pid_t second = process(opener, there[0], back[1], back[0], there[1]);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
    waitpid(first, &status[0], 0);
    waitpid(second, &status[1], 0);
}

static void run(void (*owner)(void), void (*opener)(void))
{
    int status[2] = {-1, -1};
    run_both(owner, opener, status);
    assert_int_equal(status[0], 0);
    assert_int_equal(status[1], 0);
}

static void the_owner_is_killed(void (*owner)(void), void (*opener)(void))
{
    int status[2] = {-1, -1};
    run_both(owner, opener, status);
    assert_true(WIFSIGNALED(status[0]));
    assert_int_equal(status[1], 0);
}

static CUipcMemHandle handle_of(CUdeviceptr memory)
{
    CUipcMemHandle handle;
    works(cuIpcGetMemHandle(&handle, memory));
    return handle;
}
static CUdeviceptr opened(CUipcMemHandle handle)
{
    CUdeviceptr memory;
    works(cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return memory;
}
static unsigned word_at(CUdeviceptr memory, unsigned i)
{
    unsigned word;
    works(cuMemcpyDtoH(&word, memory + 4 * i, 4));
    return word;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Two allocations that share pages, before and after handles were made. */
static void memory_owner(void)
{
    CUdeviceptr one, two;
    works(cuMemAlloc(&one, 4 * WORDS));
    works(cuMemAlloc(&two, 64));
    works(cuMemsetD32(one, 1, WORDS));
    works(cuMemsetD32(two, 2, 16));
    CUipcMemHandle handles[] = {handle_of(one), handle_of(two), handle_of(one + 8)};
    must(memcmp(&handles[0], &handles[2], sizeof *handles) == 0);
    put(handles, sizeof handles);
    hear();
    must(word_at(one, 0) == 5 && word_at(one, WORDS - 1) == 5 && word_at(two, 15) == 6);
    works(cuMemsetD32(one, 7, WORDS));
    works(cuCtxSynchronize());
    say();
    hear();
    works(cuMemFree(one));
    works(cuMemFree(two));
}
static void memory_opener(void)
{
    CUipcMemHandle handles[3];
    CUdeviceptr base;
    size_t bytes;
    get(handles, sizeof handles);
    CUdeviceptr one = opened(handles[0]), two = opened(handles[1]);
    must(word_at(one, 0) == 1 && word_at(one, WORDS - 1) == 1 && word_at(two, 15) == 2);
    works(cuMemGetAddressRange(&base, &bytes, one + 12));
    must(base == one && bytes == 4 * WORDS);
    must(cuMemsetD32(one, 5, WORDS + 1) == CUDA_ERROR_INVALID_VALUE);
    works(cuMemsetD32(one, 5, WORDS));
    works(cuMemsetD32(two, 6, 16));
    works(cuCtxSynchronize());
    say();
    hear();
    must(word_at(one, 11) == 7);
    must(cuMemFree(one) == CUDA_ERROR_INVALID_VALUE);
    /* "the reference count on the handle is incremented by 1 and the existing device pointer is
     * returned" */
    must(opened(handles[0]) == one);
    works(cuIpcCloseMemHandle(one));
    must(word_at(one, 11) == 7);
    works(cuIpcCloseMemHandle(one));
    must(cuIpcCloseMemHandle(one) == CUDA_ERROR_INVALID_VALUE);
    must(cuMemsetD32(one, 5, 1) != CUDA_SUCCESS);
    works(cuIpcCloseMemHandle(two));
    say();
}
static void memory_is_one(void **state)
{
    (void)state;
    run(memory_owner, memory_opener);
}

/* What is open stays, with its bytes, and the owner's next memory is not the same. */
static void freed_owner(void)
{
    CUdeviceptr memory, next[40];
    works(cuMemAlloc(&memory, 4 << 20));
    works(cuMemsetD32(memory, 1, 1 << 20));
    CUipcMemHandle handle = handle_of(memory);
    put(&handle, sizeof handle);
    hear();
    works(cuMemFree(memory));
    for (int i = 0; i < 40; i++) {
        works(cuMemAlloc(&next[i], 4 << 20));
        works(cuMemsetD32(next[i], 9, 1 << 20));
    }
    works(cuCtxSynchronize());
    say();
    hear();
}
static void freed_opener(void)
{
    CUipcMemHandle handle;
    CUdeviceptr again;
    get(&handle, sizeof handle);
    CUdeviceptr memory = opened(handle);
    say();
    hear();
    must(word_at(memory, 4096) == 1);
    works(cuIpcCloseMemHandle(memory));
    must(cuIpcOpenMemHandle(&again, handle, 1) == CUDA_ERROR_INVALID_HANDLE);
    say();
}
static void freed_memory_is_refused(void **state)
{
    (void)state;
    run(freed_owner, freed_opener);
}

/* ---- Handles that are no good ---------------------------------------------------------------- */

static void bad_owner(void)
{
    CUdeviceptr memory, managed;
    CUipcMemHandle handle, other;
    CUipcEventHandle event_handle, other_event;
    CUevent event, plain, again;
    works(cuMemAlloc(&memory, 64));
    works(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    works(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    works(cuEventCreate(&plain, 0));
    must(cuEventCreate(&again, CU_EVENT_INTERPROCESS) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcGetMemHandle(&handle, managed) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)&memory) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcGetMemHandle(NULL, memory) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcGetEventHandle(&event_handle, plain) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcGetEventHandle(&event_handle, NULL) == CUDA_ERROR_INVALID_HANDLE);
    handle = handle_of(memory);
    works(cuIpcGetEventHandle(&event_handle, event));
    must(cuIpcOpenMemHandle(&managed, handle, 1) == CUDA_ERROR_INVALID_CONTEXT);
    must(cuIpcOpenEventHandle(&again, event_handle) == CUDA_ERROR_INVALID_CONTEXT);
    must(cuIpcCloseMemHandle(memory) == CUDA_ERROR_INVALID_VALUE);
    memcpy(&other, &event_handle, sizeof other);
    must(cuIpcOpenMemHandle(&managed, other, 1) == CUDA_ERROR_INVALID_HANDLE);
    memset(&other_event, 0x5a, sizeof other_event);
    must(cuIpcOpenEventHandle(&again, other_event) == CUDA_ERROR_INVALID_HANDLE);
    put(&handle, sizeof handle);
    put(&event_handle, sizeof event_handle);
    hear();
    works(cuEventDestroy(event));
    say();
    hear();
    raise(SIGKILL);
}
static void bad_opener(void)
{
    CUipcMemHandle handle;
    CUipcEventHandle event_handle;
    CUdeviceptr memory;
    CUevent event;
    get(&handle, sizeof handle);
    get(&event_handle, sizeof event_handle);
    must(cuIpcOpenMemHandle(&memory, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcOpenMemHandle(NULL, handle, 1) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcOpenEventHandle(NULL, event_handle) == CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < sizeof handle; i++) { /* each byte counts, or nothing changes */
        CUipcMemHandle wrong = handle;
        wrong.reserved[i] ^= 0x40;
        if (cuIpcOpenMemHandle(&memory, wrong, 1) == CUDA_SUCCESS)
            works(cuIpcCloseMemHandle(memory));
    }
    works(cuIpcOpenEventHandle(&event, event_handle));
    works(cuEventDestroy(event));
    say();
    hear();
    must(cuIpcOpenEventHandle(&event, event_handle) == CUDA_ERROR_INVALID_HANDLE);
    say();
    char byte;
    must(read(from_other, &byte, 1) == 0); /* the owner has ended */
    for (int i = 0; i < 1000 && cuIpcOpenMemHandle(&memory, handle, 1) == CUDA_SUCCESS; i++) {
        works(cuIpcCloseMemHandle(memory));
        usleep(1000);
    }
    must(cuIpcOpenMemHandle(&memory, handle, 1) == CUDA_ERROR_INVALID_HANDLE);
    must(cuIpcOpenEventHandle(&event, event_handle) == CUDA_ERROR_INVALID_HANDLE);
}
static void bad_handles_are_errors(void **state)
{
    (void)state;
    the_owner_is_killed(bad_owner, bad_opener);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static CUmemoryPool pool_with(CUmemAllocationHandleType handles)
{
    CUmemoryPool pool;
    const CUmemPoolProps what = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .handleTypes = handles,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    works(cuMemPoolCreate(&pool, &what));
    return pool;
}

/* What a program sends by a socket: here the path of the descriptor. */
static void put_pool(CUmemoryPool pool)
{
    char path[64] = "";
    int file;
    works(
        cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    put(path, sizeof path);
}
static CUmemoryPool get_pool(void)
{
    char path[64];
    CUmemoryPool pool;
    get(path, sizeof path);
    const int file = open(path, O_RDWR);
    works(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)file,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(file);
    return pool;
}

static void pool_owner(void)
{
    CUdeviceptr memory, other, again;
    CUmemPoolPtrExportData data[2];
    int file;
    CUmemoryPool pool = pool_with(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 second = pool_with(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 alone = pool_with(CU_MEM_HANDLE_TYPE_NONE);
    cuuint64_t all = UINT64_MAX;
    works(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    works(cuMemAllocFromPoolAsync(&memory, 4 * WORDS, pool, 0));
    works(cuMemAllocFromPoolAsync(&other, 64, second, 0));
    works(cuMemsetD32(memory, 1, WORDS));
    works(cuMemsetD32(other, 2, 16));
    put_pool(pool);
    put_pool(second);
    works(cuMemPoolExportPointer(&data[0], memory));
    works(cuMemPoolExportPointer(&data[1], other));
    put(data, sizeof data);
    hear();
    must(word_at(memory, WORDS - 1) == 5);
    works(cuMemFreeAsync(memory, 0));
    works(cuCtxSynchronize());
    /* The pool gives the same memory out again: what others have open is that, too. */
    works(cuMemAllocFromPoolAsync(&again, 4 * WORDS, pool, 0));
    must(again == memory);
    works(cuMemsetD32(again, 8, WORDS));
    works(cuCtxSynchronize());
    say();
    hear();
    /* None of these has handles. */
    works(cuMemAllocFromPoolAsync(&other, 64, alone, 0));
    must(cuMemPoolExportPointer(&data[0], other) == CUDA_ERROR_INVALID_VALUE);
    must(cuMemPoolExportToShareableHandle(&file, alone, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                          0) == CUDA_ERROR_INVALID_VALUE);
    works(cuMemAlloc(&other, 64));
    must(cuMemPoolExportPointer(&data[0], other) == CUDA_ERROR_INVALID_VALUE);
}
static void pool_opener(void)
{
    CUdeviceptr memory, again, none;
    CUmemPoolPtrExportData data[2], wrong;
    CUmemoryPool pool = get_pool(), second = get_pool();
    get(data, sizeof data);
    works(cuMemPoolImportPointer(&memory, pool, &data[0]));
    must(word_at(memory, WORDS - 1) == 1);
    /* Another pool's pointer, no pointer, and no memory of its own. */
    must(cuMemPoolImportPointer(&none, pool, &data[1]) == CUDA_ERROR_INVALID_VALUE);
    memset(&wrong, 7, sizeof wrong);
    must(cuMemPoolImportPointer(&none, pool, &wrong) == CUDA_ERROR_INVALID_VALUE);
    must(cuMemAllocFromPoolAsync(&none, 64, pool, 0) == CUDA_ERROR_INVALID_VALUE);
    works(cuMemPoolImportPointer(&again, second, &data[1]));
    must(word_at(again, 15) == 2);
    works(cuMemFree(again));
    must(cuMemFree(again) == CUDA_ERROR_INVALID_VALUE);
    must(cuIpcCloseMemHandle(memory) == CUDA_ERROR_INVALID_VALUE);
    works(cuMemsetD32(memory, 5, WORDS));
    works(cuCtxSynchronize());
    say();
    hear();
    must(word_at(memory, 0) == 8);
    /* The free waits for what the stream did before. */
    works(cuMemsetD32Async(memory, 6, WORDS, 0));
    works(cuMemFreeAsync(memory, 0));
    works(cuCtxSynchronize());
    must(cuMemsetD32(memory, 5, 1) != CUDA_SUCCESS);
    must(cuMemPoolImportPointer(&memory, pool, &data[0]) == CUDA_ERROR_INVALID_HANDLE);
    works(cuMemPoolDestroy(pool));
    works(cuMemPoolDestroy(second));
    say();
}
static void pools_are_shared(void **state)
{
    (void)state;
    run(pool_owner, pool_opener);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Under the other schedules work runs once nobody calls for some milliseconds. */
static unsigned rounds(void)
{
    return strcmp(schedule, "eager") == 0 ? 300 : 9;
}

/* The two hand a word to and fro: each waits in its stream for what the other recorded. */
static void event_owner(void)
{
    CUstream stream;
    CUdeviceptr memory;
    CUevent mine, other;
    CUipcEventHandle handle, their_handle;
    works(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    works(cuMemAlloc(&memory, 4 * WORDS));
    works(cuEventCreate(&mine, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    works(cuEventQuery(mine));
    works(cuEventSynchronize(mine)); /* never recorded */
    CUipcMemHandle memory_handle = handle_of(memory);
    works(cuIpcGetEventHandle(&handle, mine));
    put(&memory_handle, sizeof memory_handle);
    put(&handle, sizeof handle);
    get(&their_handle, sizeof their_handle);
    works(cuIpcOpenEventHandle(&other, their_handle));
    must(cuIpcGetEventHandle(&handle, other) == CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < rounds(); i++) {
        works(cuMemsetD32Async(memory, 2 * i, WORDS, stream));
        works(cuEventRecord(mine, stream));
        say();
        hear();
        works(cuStreamWaitEvent(stream, other, 0));
        must(i % 7 || (cuStreamSynchronize(stream) == CUDA_SUCCESS &&
                       word_at(memory, WORDS - 1) == 2 * i + 1));
    }
    works(cuStreamSynchronize(stream));
    works(cuEventDestroy(other));
}
static void event_opener(void)
{
    CUstream stream;
    CUevent mine, other;
    CUipcMemHandle memory_handle;
    CUipcEventHandle handle, their_handle;
    get(&memory_handle, sizeof memory_handle);
    get(&their_handle, sizeof their_handle);
    works(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    works(cuEventCreate(&mine, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    works(cuIpcGetEventHandle(&handle, mine));
    put(&handle, sizeof handle);
    works(cuIpcOpenEventHandle(&other, their_handle));
    CUdeviceptr memory = opened(memory_handle);
    unsigned seen[2];
    for (unsigned i = 0; i < rounds(); i++) {
        hear();
        if (i % 3 == 0) {
            works(cuEventSynchronize(other));
            works(cuEventQuery(other));
        } else if (i % 3 == 1) {
            CUresult result;
            while ((result = cuEventQuery(other)) == CUDA_ERROR_NOT_READY)
                continue;
            works(result);
        } else {
            works(cuStreamWaitEvent(stream, other, 0));
        }
        works(cuMemcpyDtoHAsync(seen, memory + 4 * (WORDS - 1), 4, stream));
        works(cuStreamSynchronize(stream));
        must(seen[0] == 2 * i);
        works(cuMemsetD32Async(memory, 2 * i + 1, WORDS, stream));
        works(cuEventRecord(mine, stream));
        say();
    }
    works(cuStreamSynchronize(stream));
}
static void events_order_processes(void **state)
{
    (void)state;
    run(event_owner, event_opener);
}

/* A wait whose record never ends, because its process was killed. */
static void killed_owner(void)
{
    CUstream stream;
    CUevent event;
    CUipcEventHandle handle;
    CUdeviceptr word;
    works(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    works(cuMemAlloc(&word, 4));
    works(cuMemsetD32(word, 0, 1));
    works(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    works(cuIpcGetEventHandle(&handle, event));
    works(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    works(cuEventRecord(event, stream));
    put(&handle, sizeof handle);
    hear();
    kill(getpid(), SIGKILL);
}
static void killed_opener(void)
{
    CUipcEventHandle handle;
    CUevent event;
    get(&handle, sizeof handle);
    works(cuIpcOpenEventHandle(&event, handle));
    must(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    say();
    works(cuEventSynchronize(event));
}
static void a_wait_ends_with_its_process(void **state)
{
    (void)state;
    the_owner_is_killed(killed_owner, killed_opener);
}

int main(int count, char **arguments)
{
    (void)count;
    (void)start;
    (void)finish;
    schedule = test_schedule();
    if (!schedule)
        return test_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_one),          cmocka_unit_test(freed_memory_is_refused),
        cmocka_unit_test(bad_handles_are_errors), cmocka_unit_test(pools_are_shared),
        cmocka_unit_test(events_order_processes), cmocka_unit_test(a_wait_ends_with_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
